#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace nir {

// Times of the elements of a pipeline, in its order: what --time-passes and --trace show. Of a
// fixpoint they include all that it holds. Reads no clock unless it is switched on.
class Timing {
public:
  Timing(bool totals, bool events) : totals_(totals), events_on_(events) {}

  // Adds an element at the given nesting; elements are told apart by the order of these calls.
  void add_element(std::string label, unsigned depth, bool is_fixpoint);

  using Clock = std::chrono::steady_clock;
  Clock::time_point now() const { return is_on() ? Clock::now() : Clock::time_point(); }
  // A run of an element that began at `begin` and ends now. `round` is that of the innermost
  // fixpoint around a pass, 0 where there is none, or the number of rounds of a fixpoint.
  void record(std::size_t element, Clock::time_point begin, bool changed, std::uint64_t round);

  // A table in the pipeline's order, times in seconds of wall clock.
  std::string report() const;
  // Chrome's trace event format, times in microseconds.
  std::string chrome_trace() const;

private:
  struct Element {
    std::string label;
    unsigned depth;
    bool is_fixpoint;
    double seconds = 0;
    std::uint64_t runs = 0;
    std::uint64_t rounds = 0; // of all runs of a fixpoint
  };
  struct Event {
    std::size_t element;
    double begin_us;
    double duration_us;
    bool changed;
    std::uint64_t round;
  };
  bool is_on() const { return totals_ || events_on_; }

  bool totals_;
  bool events_on_;
  Clock::time_point origin_ = Clock::now();
  std::vector<Element> elements_;
  std::vector<Event> events_;
};

} // namespace nir
