// fold-noop-casts: removes copies that copy nothing: a tensor_copy that defines a value, keeps the
// dtype, reads a value, and is not `fixed`.
//
// Requires: a well-formed module. Preserves: legal form, the interface. May leave loops empty: dce
// removes them.
//
// A copy from an access stays: it reads the memory at its own time, and its users would read later.
// Where a `fixed` copy stands it stays, whether it rounds or not. There are no marks to merge,
// since the user takes the very value that was copied.
//
// Termination and cost: one sweep in program order. The source of a copy is final when the sweep
// comes to it, so each use is redirected once, and a second run finds nothing. O(instructions +
// uses).
//
// Numbers: a copy that keeps its dtype keeps every bit (numerics, Casts), so every fold is exact
// and allowed in strict functions.

#include "passes/core/pass.h"
#include "passes/rewrite/mutate.h"

namespace nir {
namespace {

enum Statistic : unsigned { CopiesFolded };
constexpr PassStatistic statistics[] = {{"Number of copies folded", "copies"}};

bool is_noop(const Instruction &inst) {
  return inst.opcode() == Opcode::TensorCopy && inst.defines_value() &&
         !inst.operand(0).is_access() && inst.operand(0).dtype() == inst.dtype();
}

class FoldNoopCasts final : public FunctionPass {
public:
  bool run(Function &function, PassContext &context) override {
    std::uint64_t folded = 0;
    for (Stmt &stmt : function.statements()) {
      Instruction *inst = dyn_cast<Instruction>(&stmt);
      if (inst != nullptr && is_noop(*inst))
        folded += fold(*inst, context) ? 1 : 0;
    }
    context.count(CopiesFolded, folded);
    return folded != 0;
  }

private:
  static bool fold(Instruction &copy, PassContext &context) {
    if (copy.is_fixed()) {
      if (context.wants_missed())
        context.remark(RemarkClass::Declined, copy, describe(copy) + " is fixed");
      return false;
    }
    if (context.wants_applied())
      context.remark(RemarkClass::Exact, copy,
                     "folded " + describe(copy) + ", which keeps its dtype");
    copy.replace_all_uses_with(copy.operand(0).value());
    copy.erase();
    return true;
  }
};

} // namespace

namespace passes {

extern const PassInfo pass_fold_noop_casts;
const PassInfo pass_fold_noop_casts = {
    .name = "fold-noop-casts",
    .description = "Removes copies of values that keep the dtype",
    .options = {},
    .statistics = statistics,
    .create = [](const PassOptions &) -> std::unique_ptr<Pass> {
      return std::make_unique<FoldNoopCasts>();
    },
    .idempotent = true,
};

} // namespace passes
} // namespace nir
