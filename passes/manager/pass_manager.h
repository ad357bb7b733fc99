#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "passes/instrument/pass_manager_options.h"
#include "passes/pipeline/pipeline.h"

namespace nir {

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

} // namespace nir
