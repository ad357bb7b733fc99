#include "passes/pipeline/opt_levels.h"

#include <array>

#include <fmt/format.h>

#include "passes/pipeline/pipeline.h"
#include "passes/pipeline/registry.h"

namespace nir {
namespace {

constexpr std::string_view no_cast = "none";

std::string eliminate(const OptLevelOptions &options) {
  const std::string_view given = options.excess_precision ? "" : "{excess-precision=off}";
  return fmt::format("legalize-dtype,fixpoint(neuron-eliminate-casts{0},fold-noop-casts,"
                     "cast-op-elimination{0},drop-dead-tensors,dce)",
                     given);
}

// Motion and read-side absorption come first: what they remove is exact. -O2 never makes the bytes
// that are moved grow, so every pass that could has profit=on.
std::string whole_chain(const OptLevelOptions &options) {
  const std::string_view precise = options.excess_precision ? "" : "excess-precision=off,";
  const std::string insert =
      options.fp32_cast == no_cast
          ? std::string()
          : fmt::format("auto-cast-fp32{{mode={},profit=on}},", options.fp32_cast);
  return fmt::format(
      "legalize-dtype,{0}fixpoint(hoist-casts,sink-casts,share-casts,absorb-widening{{profit=on}},"
      "dtype-mutator{{mutate-multi-users,{1}profit=on}},enforce-alu-dt-acc{{{1}profit=on}},"
      "neuron-eliminate-casts{{ops=engine,{1}profit=on}},fold-noop-casts,"
      "cast-op-elimination{{{1}profit=on}},drop-dead-tensors,dce)",
      insert, precise);
}

} // namespace

std::vector<std::string_view> fp32_cast_modes() {
  std::vector<std::string_view> modes{no_cast};
  for (const PassOption &option : find_pass("auto-cast-fp32")->options)
    if (option.name == "mode")
      modes.insert(modes.end(), option.choices.begin(), option.choices.end());
  return modes;
}

std::string opt_level_pipeline(unsigned level, const OptLevelOptions &options) {
  constexpr std::array<std::string (*)(const OptLevelOptions &), max_opt_level + 1> levels{
      [](const OptLevelOptions &) { return std::string(); }, eliminate, whole_chain};
  return levels.at(level)(options);
}

} // namespace nir
