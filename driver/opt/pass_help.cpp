#include "driver/opt/pass_help.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/cli/cli.h"
#include "passes/pipeline/registry.h"

namespace nir {
namespace {

// `src-match=require|forbid|any`, as one writes it.
std::string option_syntax(const PassOption &option) {
  switch (option.kind) {
  case PassOption::Flag:
    return std::string(option.name);
  case PassOption::Choice:
    return fmt::format("{}={}", option.name, fmt::join(option.choices, "|"));
  case PassOption::Number:
    return fmt::format("{}=N", option.name);
  }
  return std::string(option.name);
}

std::string option_table(std::span<const PassOption> options) {
  std::vector<std::string> words;
  std::vector<std::string> texts;
  for (const PassOption &option : options) {
    words.push_back(option_syntax(option));
    texts.push_back(fmt::format("{} (default: {})", option.doc, option.default_value));
  }
  std::vector<HelpRow> rows;
  for (std::size_t i = 0; i < words.size(); ++i)
    rows.push_back({words[i], texts[i]});
  return help_table("Options", rows);
}

} // namespace

std::string pass_list() {
  std::vector<HelpRow> rows;
  for (const PassInfo *pass : all_passes())
    rows.push_back({pass->name, pass->description});
  return help_table("Passes", rows);
}

std::string pass_help(const PassInfo &pass) {
  std::string text = fmt::format("{}: {}\n", pass.name, pass.description);
  if (!pass.options.empty())
    text += '\n' + option_table(pass.options);
  if (!pass.statistics.empty()) {
    std::vector<HelpRow> rows;
    for (const PassStatistic &statistic : pass.statistics)
      rows.push_back({statistic.name, statistic.unit});
    text += '\n' + help_table("Statistics", rows);
  }
  return text;
}

} // namespace nir
