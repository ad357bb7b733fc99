// Runs generated modules through passes and pipelines with the checker of nir-opt --check.
//
//   check_random FIRST COUNT    the seeds FIRST, …, FIRST + COUNT - 1
//
// Each seed gives one module of `random`, a few programs that are full of casts (cast_programs.h)
// and of float32 (float_programs.h), and every eighth seed one of every other shape. What fails is
// named on standard output, with the command or the program that shows it again; the status is
// then 1.

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/generator/generator.h"
#include "driver/check/rewrite_checker.h"
#include "driver/cli/module_copy.h"
#include "driver/reduce/shrink_dims.h"
#include "ir/print/printer.h"
#include "passes/pipeline/opt_levels.h"
#include "tests/check/cast_programs.h"
#include "tests/check/float_programs.h"

namespace nir {
namespace {

constexpr std::uint64_t random_size = 40;
constexpr std::uint64_t shape_size = 20; // of the other shapes
constexpr std::int64_t max_extent = 16;  // of the other shapes, whose tensors are larger
constexpr std::uint64_t programs_per_seed = 4;
constexpr unsigned check_inputs = 2; // random and edge cases

// Every pass alone and with every option that decides what is removed, on modules as they come and
// in legal form.
constexpr std::string_view pipelines[] = {
    "legalize-dtype",
    "dce",
    "drop-dead-tensors",
    "fold-noop-casts",
    "neuron-eliminate-casts",
    "cast-op-elimination",
    "legalize-dtype,neuron-eliminate-casts{src-match=any}",
    "legalize-dtype,neuron-eliminate-casts{src-match=forbid}",
    "legalize-dtype,neuron-eliminate-casts{excess-precision=off},"
    "cast-op-elimination{excess-precision=off}",
    "legalize-dtype,neuron-eliminate-casts{only-autocast}",
    "legalize-dtype,cast-op-elimination",
    "dtype-mutator",
    "enforce-alu-dt-acc",
    "legalize-dtype,enforce-alu-dt-acc{excess-precision=off}",
    "legalize-dtype,dtype-mutator,enforce-alu-dt-acc,dtype-mutator",
    "legalize-dtype,dtype-mutator{mutate-multi-users}",
    "legalize-dtype,dtype-mutator{mutate-multi-users,excess-precision=off,profit=on}",
    "hoist-casts",
    "sink-casts",
    "legalize-dtype,share-casts,dtype-mutator",
    "absorb-widening",
    "legalize-dtype,fixpoint{max=8}(hoist-casts,sink-casts,absorb-widening)",
    "legalize-dtype,absorb-widening,neuron-eliminate-casts{src-match=any},cast-op-elimination",
    "legalize-dtype,sink-casts,absorb-widening,hoist-casts,fold-noop-casts,dce,drop-dead-tensors",
    "legalize-dtype,fixpoint{max=8}(hoist-casts,sink-casts,absorb-widening,"
    "neuron-eliminate-casts{src-match=any},fold-noop-casts,cast-op-elimination,drop-dead-tensors,"
    "dce)",
};

// Passes that insert casts: what follows each of them is -O1.
constexpr std::string_view inserting[] = {
    "auto-cast-fp32{mode=all}",
    "auto-cast-fp32{mode=all,profit=on}",
    "legalize-dtype,auto-cast-fp32{mode=all-fp16}",
    "legalize-dtype,auto-cast-fp32{mode=all-fp16,inline-cast=off}",
    "auto-cast-fp32{mode=all-fp8e4}",
    "auto-cast-fp32{mode=all-fp8e4,profit=on}",
    "legalize-dtype,auto-cast-fp32{mode=all-fp32r}",
    "legalize-dtype,auto-cast-fp32{mode=all,inline-cast=off,profit=on}",
    "auto-cast-inputs",
    "legalize-dtype,auto-cast-inputs{mode=all-fp16,inline-cast=off}",
    "auto-cast-inputs{mode=all-fp8e4,profit=on}",
    "auto-cast-tc-inputs{mode=matmult}",
    "legalize-dtype,auto-cast-tc-inputs{mode=matmult-fp16}",
    "legalize-dtype,auto-cast-tc-inputs{mode=matmult-fp32r}",
    "legalize-dtype,auto-cast-tc-inputs{mode=matmult,profit=on}",
    "auto-cast-fp32{mode=matmult-fp16,profit=on}",
};

// All that run beside -O1.
constexpr std::size_t num_pipelines = std::size(pipelines) + std::size(inserting);
std::string pipeline_at(std::size_t index) {
  if (index < std::size(pipelines))
    return std::string(pipelines[index]);
  return fmt::format("{},{}", inserting[index - std::size(pipelines)], opt_level_pipeline(1));
}

struct Totals {
  std::uint64_t modules = 0;
  std::uint64_t runs = 0;
  std::uint64_t failures = 0;
  CheckCounts counts;
};

void add(CheckCounts &sum, const CheckCounts &one) {
  sum.passes += one.passes;
  sum.functions += one.functions;
  sum.skipped += one.skipped;
  sum.constants += one.constants;
}

// The failure, or an empty text.
std::string run(const std::string &text, const Target &target, std::string_view pipeline_text,
                Totals &totals) {
  const ModuleCopy copy = copy_module(text, target);
  const Pipeline pipeline = parse_pipeline(pipeline_text).value();
  CheckOptions options;
  options.inputs = check_inputs;
  options.command = fmt::format("nir-opt --check={}", check_inputs);
  RewriteChecker checker(options);
  PassManagerOptions manager_options;
  manager_options.observer = &checker;
  manager_options.log = [](std::string_view) {};
  PassManager manager(pipeline, manager_options);
  DiagnosticEngine diagnostics;
  checker.start(*copy.module, diagnostics);
  const PipelineStatus status = manager.run(*copy.module, diagnostics);
  std::string failure;
  if (status == PipelineStatus::InternalError)
    failure = manager.failed_pass();
  else if (status == PipelineStatus::InputError)
    failure = "a pass refuses the module: " + diagnostics.diagnostics().front().message;
  else
    failure = checker.finish(*copy.module);
  for (const Diagnostic &diagnostic : diagnostics.diagnostics())
    if (failure.empty() && diagnostic.message.starts_with("fixpoint"))
      failure = diagnostic.message; // it met its maximum
  ++totals.runs;
  add(totals.counts, checker.counts());
  return failure;
}

void report(const std::string &failure, std::string_view pipeline, const Target &target,
            const std::string &origin, Totals &totals) {
  if (failure.empty())
    return;
  ++totals.failures;
  fmt::print("{}\n--target={} --passes='{}' --check={}\n  {}\n", origin, target.name, pipeline,
             check_inputs, failure);
  std::fflush(stdout);
}

std::string whole_chain(std::uint64_t seed) {
  const std::vector<std::string_view> modes = fp32_cast_modes();
  return opt_level_pipeline(
      2, {.fp32_cast = modes[seed % modes.size()], .excess_precision = seed % 3 != 0});
}

// -O1, -O2 in one of its modes, and one of the other pipelines: all of them in the long run.
void check_text(const std::string &text, const Target &target, std::uint64_t seed,
                const std::string &origin, Totals &totals) {
  ++totals.modules;
  for (const std::string &pipeline :
       {opt_level_pipeline(1), whole_chain(seed), pipeline_at(seed % num_pipelines)}) {
    report(run(text, target, pipeline, totals), pipeline, target, origin, totals);
  }
}

void check_shape(std::string_view shape, std::uint64_t size, std::uint64_t seed, Totals &totals) {
  const auto targets = all_targets();
  const GeneratorOptions options{shape, size, seed, targets[seed % targets.size()]};
  const std::unique_ptr<Module> module = generate(options);
  std::string origin = fmt::format("nir-gen {} --size {} --seed {} --target {}", shape, size, seed,
                                   options.target.name);
  if (shape != "random") {
    DiagnosticEngine remarks;
    shrink_dims(*module, max_extent, remarks);
    origin += fmt::format(" with --shrink-dims={}", max_extent);
  }
  check_text(to_string(*module), options.target, seed, origin, totals);
}

void check_cast_programs(std::uint64_t seed, Totals &totals) {
  for (std::uint64_t i = 0; i < programs_per_seed; ++i) {
    const std::uint64_t number = seed * programs_per_seed + i;
    const std::string text = cast_program(number);
    check_text(text, default_target(), number, text, totals);
    const std::string moving = mover_program(number);
    check_text(moving, default_target(), number, moving, totals);
  }
}

// -O2; an inserting pass, then -O1; the two together as a fixpoint, which must end soon; and the
// pass on its own result, where it must find nothing to do.
void check_float_programs(std::uint64_t seed, Totals &totals) {
  for (std::uint64_t i = 0; i < programs_per_seed; ++i) {
    const std::uint64_t number = seed * programs_per_seed + i;
    const Target &target = all_targets()[seed % all_targets().size()];
    const std::string text = float_program(number, target.dma_cast);
    const std::string_view pass = inserting[number % std::size(inserting)];
    const std::string rest = opt_level_pipeline(1);
    ++totals.modules;
    for (const std::string &pipeline : {whole_chain(number), fmt::format("{},{}", pass, rest),
                                        fmt::format("fixpoint{{max=8}}({},{})", pass, rest),
                                        fmt::format("{},fixpoint{{max=1}}({})", pass, pass)})
      report(run(text, target, pipeline, totals), pipeline, target, text, totals);
  }
}

bool parse(const char *text, std::uint64_t &number) {
  const char *end = text + std::strlen(text);
  return std::from_chars(text, end, number).ptr == end;
}

int run_seeds(std::uint64_t first, std::uint64_t count) {
  constexpr std::uint64_t shape_period = 8;
  const auto begin = std::chrono::steady_clock::now();
  Totals totals;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    check_shape("random", random_size, seed, totals);
    check_cast_programs(seed, totals);
    check_float_programs(seed, totals);
    if (seed % shape_period != 0)
      continue;
    for (const ShapeInfo &shape : all_shapes())
      if (shape.name != "random")
        check_shape(shape.name, shape_size, seed, totals);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("{} modules, {} pipelines, {} changes by passes, {} functions compared, {} skipped, "
             "{} inputs made const, {} failures; {:.1f} seconds\n",
             totals.modules, totals.runs, totals.counts.passes, totals.counts.functions,
             totals.counts.skipped, totals.counts.constants, totals.failures, seconds);
  return totals.failures == 0 ? 0 : 1;
}

} // namespace
} // namespace nir

int main(int argc, char **argv) {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  if (argc == 3 && nir::parse(argv[1], first) && nir::parse(argv[2], count))
    return nir::run_seeds(first, count);
  std::fputs("usage: check_random FIRST COUNT\n", stderr);
  return 2;
}
