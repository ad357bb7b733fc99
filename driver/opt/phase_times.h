#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace nir {

// Wall times of the phases of a tool, in order of first appearance; those of a phase add up.
class PhaseTimes {
public:
  // Measures from its making to its end.
  class Scope {
  public:
    Scope(PhaseTimes &times, std::string_view phase);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    PhaseTimes &times_;
    std::string_view phase_;
    std::chrono::steady_clock::time_point start_;
  };

  // `phase` must outlive the table: a literal.
  void add(std::string_view phase, double seconds);
  // A table: seconds and share of each phase.
  std::string report() const;

private:
  struct Row {
    std::string_view phase;
    double seconds = 0;
  };
  std::vector<Row> rows_;
};

} // namespace nir
