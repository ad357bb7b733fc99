#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/verifier.h"
#include "passes/pipeline.h"

namespace nir {

enum class PrintChanged : std::uint8_t { Off, Text, Diff };

// Watches a pipeline from outside, one run of a pass after the other, and may stop it.
class PassObserver {
public:
  virtual ~PassObserver() = default;
  // `step` is the pass's element of the pipeline.
  virtual void before_pass(const PipelineNode &step, Module &module) = 0;
  // After a pass that refused nothing, with what its rewrites claim. Returns what is wrong, or an
  // empty text: anything else is an internal error of the pass.
  virtual std::string after_pass(const PipelineNode &step, Module &module, bool changed,
                                 const RewriteLog &rewrites) = 0;
};

// What is done around the passes (passes, The pass manager). Everything is off by default.
struct PassManagerOptions {
  bool verify_each = false;
  std::vector<std::string> print_before; // pass names
  std::vector<std::string> print_after;
  bool print_before_all = false;
  bool print_after_all = false;
  PrintChanged print_changed = PrintChanged::Off;
  bool check_changed = false;
  bool time_passes = false; // keep times for timing_report
  bool trace = false;       // keep events for chrome_trace
  std::uint64_t shuffle_seed = 0;
  std::optional<std::uint64_t> bisect_limit; // run only the first N passes, and say which
  RemarkFilter remarks;
  bool werror = false; // a fixpoint that meets its maximum is an error
  unsigned jobs = 1;   // threads for passes that look at one function at a time
  PassObserver *observer = nullptr;
  Explanation *explanation = nullptr; // passes say there why casts stay
  // Dumps, bisect lines and rounds go here, as they happen.
  std::function<void(std::string_view)> log;
};

// How a pipeline ended.
enum class PipelineStatus : std::uint8_t {
  Success,
  InputError,    // a pass refused the input; diagnostics say where
  InternalError, // the verifier, the interface check or a claim failed after a pass
};

class PassManager {
public:
  PassManager(Pipeline pipeline, PassManagerOptions options);
  ~PassManager();
  PassManager(const PassManager &) = delete;
  PassManager &operator=(const PassManager &) = delete;

  // Runs the pipeline. Errors, warnings and remarks go to `diagnostics`. May be called for several
  // modules; statistics and times add up.
  PipelineStatus run(Module &module, DiagnosticEngine &diagnostics);

  // After an InternalError: the pass that failed and what was wrong, as in `pass 'dce': …`. The
  // same is among the diagnostics.
  const std::string &failed_pass() const { return failed_pass_; }
  // Whether a pass that establishes legal form has run.
  bool has_legal_form() const { return legal_form_; }

  // All counters of every pass that is in the pipeline, in order of first appearance, zeros
  // included.
  const std::vector<PassCounters> &statistics() const { return counters_; }
  // Adds the counters of a manager of the same pipeline, which ran beside this one.
  void add_statistics(const PassManager &other);
  std::string statistics_text() const; // a table with units
  std::string statistics_json() const; // tools: one object on one line, without line end
  std::string timing_report() const;
  std::string chrome_trace() const;
  // Of each fixpoint in the pipeline, outer ones first: the rounds of its last run.
  std::vector<std::uint64_t> fixpoint_rounds() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string failed_pass_;
  std::vector<PassCounters> counters_;
  bool legal_form_ = false;
};

// A hash of everything that the module's text shows: equal modules have equal hashes, in every
// process. O(module), much faster than printing. Renumbers functions whose orders are stale.
std::uint64_t structural_hash(Module &module);

} // namespace nir
