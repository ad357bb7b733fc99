// Building, verifying, printing and hashing modules.

#include "bench/bench_modules.h"
#include "ir/verify/verifier.h"
#include "passes/instrument/structural_hash.h"
#include "passes/manager/pass_manager.h"

namespace nir::bench {
namespace {

// The builder at work, with what the generator adds to it; destroying the module included.
void build(benchmark::State &state) {
  std::int64_t statements = 0;
  for (auto _ : state)
    statements = num_statements(*make_module(input_of(state)));
  set_rates(state, statements);
}
BENCHMARK(build)->Apply(all_inputs);

void verify_structure(benchmark::State &state) {
  const auto module = make_module(input_of(state));
  for (auto _ : state) {
    DiagnosticEngine diagnostics;
    benchmark::DoNotOptimize(verify(*module, VerifyLevel::Structure, diagnostics));
  }
  set_rates(state, num_statements(*module));
}
BENCHMARK(verify_structure)->Apply(all_inputs);

void print_text(benchmark::State &state) {
  const auto module = make_module(input_of(state));
  std::size_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    print(*module, [&bytes](std::string_view text) { bytes += text.size(); });
  }
  set_rates(state, num_statements(*module), bytes);
}
BENCHMARK(print_text)->Apply(all_inputs);

void hash(benchmark::State &state) {
  const auto module = make_module(input_of(state));
  for (auto _ : state)
    benchmark::DoNotOptimize(structural_hash(*module));
  set_rates(state, num_statements(*module));
}
BENCHMARK(hash)->Apply(all_inputs);

} // namespace
} // namespace nir::bench
