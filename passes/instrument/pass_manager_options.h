#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/pipeline/pipeline.h"

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
  DeclineReasons *decline_reasons = nullptr; // passes say there why casts stay
  // Dumps, bisect lines and rounds go here, as they happen.
  std::function<void(std::string_view)> log;
};

} // namespace nir
