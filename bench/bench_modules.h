// The inputs of the benchmark programs and how they measure. Each program includes this once.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>

#include "bench/generator/generator.h"
#include "ir/diagnostics/diagnostic.h"
#include "ir/print/printer.h"

namespace nir::bench {

// A shape, as an index into all_shapes(), and a size: the two arguments of every benchmark.
struct Input {
  std::int64_t shape = 0;
  std::int64_t size = 0;
  friend bool operator==(const Input &, const Input &) = default;
};

inline Input input_of(const benchmark::State &state) { return {state.range(0), state.range(1)}; }

inline std::string_view shape_name(const Input &input) {
  return all_shapes()[static_cast<std::size_t>(input.shape)].name;
}

inline std::unique_ptr<Module> make_module(const Input &input) {
  return generate({.shape = shape_name(input), .size = static_cast<std::uint64_t>(input.size)});
}

// The text of an input. The last one is kept, because repetitions ask for the same.
inline const SourceFile &source_of(const Input &input) {
  static Input kept;
  static std::unique_ptr<SourceFile> file;
  if (file == nullptr || kept != input) {
    kept = input;
    file = std::make_unique<SourceFile>("generated.nir", to_string(*make_module(input)));
  }
  return *file;
}

inline std::int64_t num_statements(const Module &module) {
  std::int64_t count = 0;
  for (const Function *function : module.functions())
    for (const Stmt &stmt : function->statements())
      count += stmt.parent() != nullptr ? 1 : 0;
  return count;
}

// Statements a second and, where text is read or written, bytes a second.
inline void set_rates(benchmark::State &state, std::int64_t statements, std::size_t bytes = 0) {
  state.SetLabel(std::string(shape_name(input_of(state))));
  state.SetItemsProcessed(state.iterations() * statements);
  if (bytes != 0)
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

// Times `run` alone; `make` prepares what it is given. Pausing the timer instead would drown short
// runs. The benchmark must use manual time.
template <class Make, class Run> void time_prepared(benchmark::State &state, Make make, Run run) {
  using Clock = std::chrono::steady_clock;
  for (auto _ : state) {
    auto argument = make();
    const auto begin = Clock::now();
    run(*argument);
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begin).count());
  }
}

inline std::int64_t shape_index(std::string_view name) {
  const auto shapes = all_shapes();
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (shapes[i].name == name)
      return static_cast<std::int64_t>(i);
  return 0;
}

using Registered = benchmark::internal::Benchmark;

inline void add_inputs(Registered *registered, std::initializer_list<std::string_view> shapes,
                       std::initializer_list<std::int64_t> sizes) {
  registered->ArgNames({"shape", "size"})->Unit(benchmark::kMillisecond)->MinTime(0.1);
  for (const std::string_view shape : shapes)
    for (const std::int64_t size : sizes)
      registered->Args({shape_index(shape), size});
}

// Every shape at 10^3 to 10^5 instructions, the main ones at 10^6.
inline void all_inputs(Registered *registered) {
  for (const ShapeInfo &shape : all_shapes())
    add_inputs(registered, {shape.name}, {1'000, 10'000, 100'000});
  add_inputs(registered, {"roundtrip", "attention"}, {1'000'000});
}

inline void all_inputs_manual(Registered *registered) {
  registered->UseManualTime();
  all_inputs(registered);
}

// Enough to see how one pass grows.
inline void pass_inputs(Registered *registered) {
  registered->UseManualTime();
  add_inputs(registered, {"roundtrip", "fanout", "tensors", "random"}, {1'000, 100'000});
  add_inputs(registered, {"roundtrip"}, {1'000'000});
}

} // namespace nir::bench
