#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/core/pass.h"

namespace nir {

// Runs function passes over the functions of one module, on several threads where that is asked
// for, and leaves out those on which a pass is known to have nothing to do. Neither shows: what
// passes change, count and report is the same, in the same order.
class FunctionRunner {
public:
  FunctionRunner(Module &module, unsigned jobs) : module_(module), jobs_(jobs) {}

  // Returns whether any function was changed. `place` is the pass's place in the pipeline, if it
  // may come to be run there again: a function that it left as it was there, without a word, and
  // that nobody has changed since, is not shown to it again; nor is one that only an idempotent
  // pass itself has changed.
  bool run(FunctionPass &pass, std::optional<std::size_t> place, PassContext &context);
  // After a pass that is none of a function: anything may have changed.
  void forget();

private:
  using Times = std::vector<std::uint32_t>; // by a function's place in the module
  struct Part;

  void run_part(FunctionPass &pass, Times *settled, Part &part, PassContext &context);
  bool run_parallel(FunctionPass &pass, Times *settled, PassContext &context);
  Times *times_of(std::optional<std::size_t> place);

  Module &module_;
  unsigned jobs_;
  std::uint32_t clock_ = 0;    // counts runs, in twos: what follows from one lies behind it
  Times changed_;              // when a pass changed a function last
  std::vector<Times> settled_; // by place: when its pass last had nothing to do, 0 for never
};

} // namespace nir
