#include "passes/instrument/timing.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace nir {

void Timing::add_element(std::string label, unsigned depth, bool is_fixpoint) {
  elements_.push_back({std::move(label), depth, is_fixpoint});
}

void Timing::record(std::size_t element, Clock::time_point begin, bool changed,
                    std::uint64_t round) {
  if (!is_on())
    return;
  const Clock::time_point end = Clock::now();
  Element &row = elements_[element];
  row.seconds += std::chrono::duration<double>(end - begin).count();
  ++row.runs;
  row.rounds += row.is_fixpoint ? round : 0;
  if (!events_on_)
    return;
  using Microseconds = std::chrono::duration<double, std::micro>;
  events_.push_back({element, Microseconds(begin - origin_).count(),
                     Microseconds(end - begin).count(), changed, round});
}

std::string Timing::report() const {
  double total = 0;
  for (const Element &row : elements_)
    total += row.depth == 0 ? row.seconds : 0;
  std::string out = fmt::format("{:>12}  {:>7}  {:>6}  {}\n", "seconds", "percent", "runs", "pass");
  const auto append = [&out, total](double seconds, const std::string &runs,
                                    const std::string &label) {
    const double percent = total > 0 ? seconds / total * 100 : 0;
    out += fmt::format("{:>12.6f}  {:>6.1f}%  {:>6}  {}\n", seconds, percent, runs, label);
  };
  for (const Element &row : elements_) {
    const std::string rounds =
        row.is_fixpoint ? fmt::format(" ({} round{})", row.rounds, row.rounds == 1 ? "" : "s") : "";
    append(row.seconds, std::to_string(row.runs),
           std::string(std::size_t{row.depth} * 2, ' ') + row.label + rounds);
  }
  append(total, "", "total");
  return out;
}

std::string Timing::chrome_trace() const {
  auto list = nlohmann::ordered_json::array();
  for (const Event &event : events_) {
    const Element &row = elements_[event.element];
    list.push_back(
        {{"name", row.label},
         {"cat", row.is_fixpoint ? "fixpoint" : "pass"},
         {"ph", "X"},
         {"ts", event.begin_us},
         {"dur", event.duration_us},
         {"pid", 1},
         {"tid", 1},
         {"args",
          {{"changed", event.changed}, {row.is_fixpoint ? "rounds" : "round", event.round}}}});
  }
  const nlohmann::ordered_json trace{{"traceEvents", std::move(list)}, {"displayTimeUnit", "ms"}};
  return trace.dump();
}

} // namespace nir
