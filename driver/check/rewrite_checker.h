// nir-opt --check: every pass against what its rewrites claim, on concrete inputs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/check/checked_evaluation.h"
#include "ir/diagnostics/diagnostic.h"
#include "passes/manager/pass_manager.h"
#include "passes/rewrite/rewrite_log.h"

namespace nir {

struct CheckOptions {
  unsigned inputs = 0;    // for each function; 0: no check
  bool excess = false;    // report errors against the reference evaluation as well
  std::string reproducer; // file; empty: nir-check-PASS.nir in the current folder
  std::string command;    // `nir-opt` and what else decides what passes do, without FILE and passes
  CheckLimits limits;
};

// What a check of a pipeline has done.
struct CheckCounts {
  std::uint64_t passes = 0;    // runs that changed the module
  std::uint64_t functions = 0; // compared after a pass
  std::uint64_t skipped = 0;   // not compared after a pass: they could not be evaluated
  std::uint64_t constants = 0; // inputs that were made constant
};

// Watches a pipeline on one module at a time. After each pass that changed something, every
// function that it changed, or that calls such a function, is evaluated as it was before, with
// exactly the roundings left out that the pass claims to have removed, and as it is now, without
// those that it claims to have added; the outputs must be the same, bit for bit, but for the
// payloads of NaNs.
class RewriteChecker : public PassObserver {
public:
  explicit RewriteChecker(CheckOptions options);
  ~RewriteChecker() override;

  // Before the pipeline. Warnings about functions that cannot be checked go to `diagnostics`, each
  // once.
  void start(Module &module, DiagnosticEngine &diagnostics);
  // After it: turning any input into a const of the same bytes must not change an output, neither
  // of the module as it was nor as it is. What is wrong, or an empty text.
  std::string finish(Module &module);
  // With `excess`, after `finish`: how the errors against the reference changed, as a table.
  std::string excess_report() const { return excess_report_; }

  void before_pass(const PipelineNode &step, Module &module) override;
  std::string after_pass(const PipelineNode &step, Module &module, bool changed,
                         const RewriteLog &rewrites) override;

  const CheckCounts &counts() const { return counts_; }

private:
  struct Snapshot;
  struct Comparison;

  std::unique_ptr<Snapshot> take_snapshot(Module &module) const;
  std::string compare(const PipelineNode &step, Module &module, Snapshot &now,
                      const RewriteLog &rewrites);
  std::string compare_function(Comparison &comparison, std::size_t index);
  bool can_evaluate(const Function &function, const Function &reported);
  void warn_once(std::string text, SourceOffset source);
  std::string describe(const Comparison &comparison, const Function &function, unsigned input,
                       const Outputs &before, const Outputs &after, const Difference &difference);
  std::string write_reproducer(const PipelineNode &step, std::string_view message) const;

  CheckOptions options_;
  DiagnosticEngine *diagnostics_ = nullptr;
  std::unique_ptr<Snapshot> first_; // of the module before the pipeline
  std::unique_ptr<Snapshot> last_;  // of the module as the last pass left it
  std::vector<std::string> warned_;
  std::string excess_report_;
  CheckCounts counts_;
};

} // namespace nir
