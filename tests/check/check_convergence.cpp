// Runs every pair and triple of passes to a fixpoint, on generated modules and on graphs.
//
//   check_convergence random FIRST COUNT    modules of the seeds FIRST, …, FIRST + COUNT - 1
//   check_convergence graphs FOLDER         the .nir files of a folder; 77 where there is none
//
// -O2, in each mode of --fp32-cast, must not make the bytes moved grow, but for the casts that
// legal form demands.
//
// A list of passes that goes in circles, or that still changes a module after eight rounds, is
// named with the module; the status is then 1. A graph meets every list. A generated module meets a
// part of them, all in the long run, and beside each pass by itself also the passes with their
// options.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/generator/generator.h"
#include "bench/generator/generator_rng.h"
#include "driver/cli/files.h"
#include "driver/cli/module_copy.h"
#include "ir/print/printer.h"
#include "passes/manager/pass_manager.h"
#include "passes/pipeline/opt_levels.h"
#include "passes/pipeline/registry.h"
#include "passes/rewrite/bytes_moved.h"
#include "tests/check/cast_programs.h"
#include "tests/check/float_programs.h"

namespace nir {
namespace {

constexpr unsigned max_rounds = 8;
constexpr std::uint64_t random_size = 40;
constexpr std::uint64_t programs_per_seed = 2; // of each kind
constexpr std::size_t lists_per_module = 40;   // of plain passes
constexpr std::size_t option_lists_per_module = 20;

// Each pass as it comes.
std::vector<std::string> plain_passes() {
  std::vector<std::string> passes;
  for (const PassInfo *pass : all_passes())
    passes.emplace_back(pass->name);
  return passes;
}

// Each pass with each value of each option, one at a time.
std::vector<std::string> passes_with_options() {
  std::vector<std::string> passes = plain_passes();
  for (const PassInfo *pass : all_passes())
    for (const PassOption &option : pass->options) {
      if (option.kind == PassOption::Flag)
        passes.push_back(fmt::format("{}{{{}}}", pass->name, option.name));
      for (const std::string_view choice : option.choices)
        if (choice != option.default_value)
          passes.push_back(fmt::format("{}{{{}={}}}", pass->name, option.name, choice));
    }
  return passes;
}

// Every pair and every triple of different passes, in the order of the registry and turned round.
std::vector<std::string> all_lists(const std::vector<std::string> &passes) {
  std::vector<std::string> lists;
  for (std::size_t a = 0; a < passes.size(); ++a)
    for (std::size_t b = a + 1; b < passes.size(); ++b) {
      lists.push_back(fmt::format("{},{}", passes[a], passes[b]));
      lists.push_back(fmt::format("{},{}", passes[b], passes[a]));
      for (std::size_t c = b + 1; c < passes.size(); ++c) {
        lists.push_back(fmt::format("{},{},{}", passes[a], passes[b], passes[c]));
        lists.push_back(fmt::format("{},{},{}", passes[c], passes[b], passes[a]));
      }
    }
  return lists;
}

struct Totals {
  std::uint64_t modules = 0;
  std::uint64_t runs = 0;
  std::uint64_t refused = 0; // by a pass: no path to legal form
  std::uint64_t failures = 0;
  std::uint64_t rounds = 0; // of the longest
};

void check(const std::string &text, const Target &target, const std::string &list,
           const std::string &origin, Totals &totals) {
  const ModuleCopy copy = copy_module(text, target);
  PassManagerOptions options;
  options.werror = true;
  options.log = [](std::string_view) {};
  PassManager manager(
      parse_pipeline(fmt::format("fixpoint{{max={}}}({})", max_rounds, list)).value(), options);
  DiagnosticEngine diagnostics;
  const PipelineStatus status = manager.run(*copy.module, diagnostics);
  ++totals.runs;
  totals.rounds = std::max(totals.rounds, manager.fixpoint_rounds().front());
  if (status == PipelineStatus::Success)
    return;
  const std::string &message = diagnostics.diagnostics().back().message;
  if (status == PipelineStatus::InputError && message.find("still changes") == std::string::npos) {
    ++totals.refused;
    return;
  }
  ++totals.failures;
  fmt::print("{}\n{}\n  {}\n", origin, list, message);
  std::fflush(stdout);
}

PipelineStatus run(Module &module, std::string_view pipeline) {
  PassManagerOptions options;
  options.log = [](std::string_view) {};
  DiagnosticEngine diagnostics;
  return PassManager(parse_pipeline(pipeline).value(), options).run(module, diagnostics);
}

void check_bytes(const std::string &text, const Target &target, const std::string &origin,
                 Totals &totals) {
  for (const std::string_view mode : fp32_cast_modes()) {
    const ModuleCopy copy = copy_module(text, target);
    if (run(*copy.module, "legalize-dtype") != PipelineStatus::Success)
      return;
    const std::uint64_t before = bytes_moved(*copy.module);
    const std::string pipeline = opt_level_pipeline(2, {.fp32_cast = mode});
    const PipelineStatus status = run(*copy.module, pipeline);
    const std::uint64_t after = bytes_moved(*copy.module);
    ++totals.runs;
    if (status == PipelineStatus::Success && after <= before)
      continue;
    ++totals.failures;
    fmt::print("{}\n{}\n  bytes moved grow from {} to {}\n", origin, pipeline, before, after);
  }
}

class Checker {
public:
  void check_module(const std::string &text, const Target &target, std::uint64_t seed,
                    const std::string &origin) {
    ++totals_.modules;
    check_bytes(text, target, origin, totals_);
    for (std::size_t i = 0; i < lists_per_module; ++i)
      check(text, target, lists_[(seed * lists_per_module + i) % lists_.size()], origin, totals_);
    Random random(seed);
    for (std::size_t i = 0; i < option_lists_per_module; ++i) {
      const auto pick = [&] { return random.pick_from(variants_); };
      check(text, target, fmt::format("{},{},{}", pick(), pick(), pick()), origin, totals_);
    }
  }

  void check_seed(std::uint64_t seed) {
    const auto targets = all_targets();
    const Target &target = targets[seed % targets.size()];
    const GeneratorOptions options{"random", random_size, seed, target};
    check_module(to_string(*generate(options)), target, seed,
                 fmt::format("nir-gen random --size {} --seed {} --target {}", random_size, seed,
                             target.name));
    for (std::uint64_t i = 0; i < programs_per_seed; ++i) {
      const std::uint64_t number = seed * programs_per_seed + i;
      for (const std::string &text :
           {cast_program(number), mover_program(number), float_program(number, target.dma_cast)})
        check_module(text, target, number, text);
    }
  }

  bool check_graph(const std::string &file) {
    const auto read = read_input(file);
    if (!read) {
      fmt::print(stderr, "check_convergence: {}\n", read.error());
      return false;
    }
    const std::string text(read->view());
    ++totals_.modules;
    check_bytes(text, default_target(), file, totals_);
    for (const std::string &list : lists_)
      check(text, default_target(), list, file, totals_);
    return true;
  }

  int report() const {
    fmt::print("{} modules, {} pipelines, {} refused, {} rounds at most, {} failures\n",
               totals_.modules, totals_.runs, totals_.refused, totals_.rounds, totals_.failures);
    return totals_.failures == 0 ? 0 : 1;
  }

private:
  std::vector<std::string> lists_ = all_lists(plain_passes());
  std::vector<std::string> variants_ = passes_with_options();
  Totals totals_;
};

bool parse(const char *text, std::uint64_t &number) {
  const char *end = text + std::strlen(text);
  return std::from_chars(text, end, number).ptr == end;
}

int check_folder(const std::string &folder, Checker &checker) {
  constexpr int skipped = 77;
  std::error_code error;
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder, error))
    if (entry.path().extension() == ".nir")
      files.push_back(entry.path().string());
  if (files.empty()) {
    fmt::print("skipped: there are no graphs in '{}'\n", folder);
    return skipped;
  }
  std::ranges::sort(files);
  for (const std::string &file : files)
    if (!checker.check_graph(file))
      return 1;
  return checker.report();
}

int run(int argc, char **argv) {
  constexpr int usage_error = 2;
  const std::string_view what = argc > 1 ? argv[1] : "";
  Checker checker;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  if (what == "random" && argc == 4 && parse(argv[2], first) && parse(argv[3], count)) {
    for (std::uint64_t seed = first; seed < first + count; ++seed)
      checker.check_seed(seed);
    return checker.report();
  }
  if (what == "graphs" && argc == 3)
    return check_folder(argv[2], checker);
  std::fputs("usage: check_convergence random FIRST COUNT | graphs FOLDER\n", stderr);
  return usage_error;
}

} // namespace
} // namespace nir

int main(int argc, char **argv) { return nir::run(argc, argv); }
