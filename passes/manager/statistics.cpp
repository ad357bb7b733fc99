// The two forms in which --stats shows counters.

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ir/support/saturating.h"
#include "passes/manager/pass_manager.h"

namespace nir {
namespace {

struct Row {
  std::string_view pass;
  std::string_view name;
  std::string_view unit;
  std::uint64_t value;
};

std::vector<Row> rows_of(const std::vector<PassCounters> &counters) {
  std::vector<Row> rows;
  for (const PassCounters &of_pass : counters)
    for (std::size_t i = 0; i < of_pass.values.size(); ++i) {
      const PassStatistic &statistic = of_pass.pass->statistics[i];
      rows.push_back({of_pass.pass->name, statistic.name, statistic.unit, of_pass.values[i]});
    }
  return rows;
}

std::string json_string(std::string_view text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// ` (1.5 KiB)` behind bytes from one KiB on.
std::string human_readable(const Row &row) {
  constexpr std::array<std::string_view, 6> units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr double step = 1024;
  if (row.unit != "bytes" || row.value < static_cast<std::uint64_t>(step))
    return {};
  double value = static_cast<double>(row.value) / step;
  std::size_t unit = 0;
  for (; value >= step && unit + 1 < units.size(); ++unit)
    value /= step;
  return fmt::format(" ({:.1f} {})", value, units[unit]);
}

} // namespace

void PassManager::add_statistics(const PassManager &other) {
  for (std::size_t i = 0; i < counters_.size(); ++i)
    for (std::size_t j = 0; j < counters_[i].values.size(); ++j)
      counters_[i].values[j] = saturating_add(counters_[i].values[j], other.counters_[i].values[j]);
}

std::string PassManager::statistics_json() const {
  std::string out = "{\"statistics\": [";
  std::string_view separator;
  for (const Row &row : rows_of(counters_)) {
    out +=
        fmt::format("{}{{\"pass\": {}, \"name\": {}, \"unit\": {}, \"value\": {}}}", separator,
                    json_string(row.pass), json_string(row.name), json_string(row.unit), row.value);
    separator = ", ";
  }
  return out + "]}";
}

std::string PassManager::statistics_text() const {
  const std::vector<Row> rows = rows_of(counters_);
  std::vector<std::string> units;
  std::size_t value_width = 0;
  std::size_t unit_width = 0;
  std::size_t pass_width = 0;
  for (const Row &row : rows) {
    units.push_back(std::string(row.unit) + human_readable(row));
    value_width = std::max(value_width, std::to_string(row.value).size());
    unit_width = std::max(unit_width, units.back().size());
    pass_width = std::max(pass_width, row.pass.size());
  }
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i)
    out += fmt::format("{:>{}}  {:<{}}  {:<{}}  {}\n", rows[i].value, value_width, units[i],
                       unit_width, rows[i].pass, pass_width, rows[i].name);
  return out;
}

} // namespace nir
