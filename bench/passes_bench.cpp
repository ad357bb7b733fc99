// Every registered pass by itself, and the levels.

#include <string>

#include <fmt/format.h>

#include "bench/bench_modules.h"
#include "passes/manager/pass_manager.h"
#include "passes/pipeline/opt_levels.h"
#include "passes/pipeline/registry.h"

namespace nir::bench {
namespace {

void run_pipeline(Module &module, std::string_view text) {
  PassManager manager(parse_pipeline(text).value(), {});
  DiagnosticEngine diagnostics;
  benchmark::DoNotOptimize(manager.run(module, diagnostics));
}

void run_level(benchmark::State &state, unsigned level) {
  const Input input = input_of(state);
  time_prepared(
      state, [&] { return make_module(input); },
      [&](Module &module) { run_pipeline(module, opt_level_pipeline(level)); });
  set_rates(state, num_statements(*make_module(input)));
}

// In legal form, which passes other than legalize-dtype expect.
void run_pass(benchmark::State &state, const PassInfo &pass) {
  const Input input = input_of(state);
  const auto make = [&] {
    auto module = make_module(input);
    if (!pass.establishes_legal_form)
      run_pipeline(*module, "legalize-dtype");
    return module;
  };
  time_prepared(state, make, [&](Module &module) { run_pipeline(module, pass.name); });
  set_rates(state, num_statements(*make_module(input)));
}

const bool registered = [] {
  for (unsigned level = 1; level <= max_opt_level; ++level)
    all_inputs_manual(benchmark::RegisterBenchmark(
        fmt::format("O{}", level).c_str(),
        [level](benchmark::State &state) { run_level(state, level); }));
  for (const PassInfo *pass : all_passes())
    pass_inputs(
        benchmark::RegisterBenchmark(std::string(pass->name).c_str(),
                                     [pass](benchmark::State &state) { run_pass(state, *pass); }));
  return true;
}();

} // namespace
} // namespace nir::bench
