#include "driver/opt/phase_times.h"

#include <algorithm>

#include <fmt/format.h>

namespace nir {

PhaseTimes::Scope::Scope(PhaseTimes &times, std::string_view phase)
    : times_(times), phase_(phase), start_(std::chrono::steady_clock::now()) {}

PhaseTimes::Scope::~Scope() {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  times_.add(phase_, elapsed.count());
}

void PhaseTimes::add(std::string_view phase, double seconds) {
  const auto row =
      std::find_if(rows_.begin(), rows_.end(), [phase](const Row &r) { return r.phase == phase; });
  if (row != rows_.end())
    row->seconds += seconds;
  else
    rows_.push_back({phase, seconds});
}

std::string PhaseTimes::report() const {
  double total = 0;
  for (const Row &row : rows_)
    total += row.seconds;
  // As the pass manager's table, so that the two read as one.
  std::string text = fmt::format("{:>12}  {:>7}  {}\n", "seconds", "percent", "phase");
  for (const Row &row : rows_)
    text += fmt::format("{:>12.6f}  {:>6.1f}%  {}\n", row.seconds,
                        total > 0 ? 100 * row.seconds / total : 0.0, row.phase);
  return text + fmt::format("{:>12.6f}  {:>6.1f}%  total\n", total, 100.0);
}

} // namespace nir
