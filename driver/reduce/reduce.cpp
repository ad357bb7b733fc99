#include "driver/reduce/reduce.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>

#include "driver/reduce/reduce_stages.h"
#include "ir/print/printer.h"
#include "ir/verify/verifier.h"

namespace nir {
namespace {

std::size_t num_statements(const Module &module) {
  std::size_t count = 0;
  for (const Function *function : module.functions())
    for ([[maybe_unused]] const Stmt &stmt : function->statements())
      ++count;
  return count;
}

class Reducer {
public:
  Reducer(std::unique_ptr<Module> module, const ReduceTest &test, const ReduceOptions &options)
      : module_(std::move(module)), test_(test), options_(options),
        statements_(num_statements(*module_)) {}

  ReduceResult run();

private:
  bool exhausted() const { return tests_ >= options_.max_tests; }
  bool run_stage(const ReduceStage &stage);
  bool accept(std::span<const Edit> edits, const ReduceStage &stage);
  bool holds(const Module &module, std::string_view stage);

  std::unique_ptr<Module> module_;
  const ReduceTest &test_;
  const ReduceOptions &options_;
  std::size_t statements_;
  std::uint64_t tests_ = 0;
  // Hashes of the texts that were tested: rounds repeat themselves, and no text is current twice.
  std::unordered_set<std::size_t> seen_;
};

ReduceResult Reducer::run() {
  if (!holds(*module_, "the input"))
    return {nullptr, tests_};
  for (bool progress = true; progress && !exhausted();) {
    progress = false;
    for (const ReduceStage &stage : reduce_stages())
      progress |= run_stage(stage);
  }
  return {std::move(module_), tests_};
}

// All edits at once, then halves, quarters and so on; from the end, since users stand behind what
// they use.
bool Reducer::run_stage(const ReduceStage &stage) {
  bool progress = false;
  std::vector<Edit> edits = stage.list(*module_);
  for (std::size_t chunk = edits.size(); chunk > 0; chunk /= 2) {
    std::size_t end = edits.size();
    while (end > 0 && !exhausted()) {
      const std::size_t begin = end - std::min(end, chunk);
      const bool accepted = accept(std::span(edits).subspan(begin, end - begin), stage);
      end = begin;
      if (!accepted)
        continue;
      progress = true;
      edits = stage.list(*module_);
      end = std::min(end, edits.size());
    }
    chunk = std::min(chunk, edits.size());
  }
  return progress;
}

bool Reducer::accept(std::span<const Edit> edits, const ReduceStage &stage) {
  std::unique_ptr<Module> candidate = rebuild(*module_, EditSet(edits));
  DiagnosticEngine ignored;
  if (candidate == nullptr || !verify(*candidate, VerifyLevel::Structure, ignored))
    return false;
  if (!holds(*candidate, stage.name))
    return false;
  module_ = std::move(candidate);
  statements_ = num_statements(*module_);
  return true;
}

bool Reducer::holds(const Module &module, std::string_view stage) {
  const std::string text = to_string(module);
  if (!seen_.insert(std::hash<std::string>()(text)).second)
    return false;
  if (options_.progress)
    options_.progress(stage, statements_, tests_);
  ++tests_;
  return test_(text);
}

} // namespace

ReduceResult reduce(std::unique_ptr<Module> module, const ReduceTest &test,
                    const ReduceOptions &options) {
  return Reducer(std::move(module), test, options).run();
}

} // namespace nir
