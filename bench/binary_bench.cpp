// Writing and loading the binary form. lang_bench's parse_checked and parse_unchecked read the same
// modules as text.

#include "bench/bench_modules.h"
#include "ir/binary/binary_reader.h"
#include "ir/binary/binary_writer.h"

namespace nir::bench {
namespace {

// The bytes of an input. The last one is kept, because repetitions ask for the same.
const std::string &bytes_of(const Input &input) {
  static Input kept;
  static std::string bytes;
  if (bytes.empty() || kept != input) {
    kept = input;
    bytes = to_binary(*make_module(input));
  }
  return bytes;
}

void load(benchmark::State &state, bool verify) {
  const std::string &bytes = bytes_of(input_of(state));
  BinaryReadOptions options;
  options.verify = verify;
  for (auto _ : state) {
    DiagnosticEngine diagnostics;
    const auto module = read_binary(bytes, diagnostics, options);
    benchmark::DoNotOptimize(module.get());
  }
  set_rates(state, num_statements(*make_module(input_of(state))), bytes.size());
}

void load_checked(benchmark::State &state) { load(state, true); }
BENCHMARK(load_checked)->Apply(all_inputs);

void load_unchecked(benchmark::State &state) { load(state, false); }
BENCHMARK(load_unchecked)->Apply(all_inputs);

void write(benchmark::State &state) {
  const auto module = make_module(input_of(state));
  std::size_t size = 0;
  for (auto _ : state) {
    size = 0;
    write_binary(*module, [&size](std::string_view part) { size += part.size(); });
    benchmark::DoNotOptimize(size);
  }
  set_rates(state, num_statements(*module), size);
}
BENCHMARK(write)->Apply(all_inputs);

} // namespace
} // namespace nir::bench
