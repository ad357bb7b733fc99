// dce: removes instructions whose value nobody uses, and loops whose body is empty.
//
// Requires: a well-formed module. Preserves: legal form, the interface, everything that is written.
//
// What counts as unused: an instruction that defines a value without users, loads included. A call
// and an opaque are never dead, whoever uses their results; an instruction that writes a tensor is
// not this pass's business (see drop-dead-tensors). `fixed` keeps nothing alive: it speaks of a
// rounding that must not change for those who see it, and here nobody does.
//
// Termination and cost: one sweep in reverse program order, O(statements). Values are defined
// before they are used, so the sweep has met all users of a value, and erased the dead ones, when
// it comes to its definition: chains of any length go at once, and a second run finds nothing.
//
// Numbers: nothing that remains computes anything else.

#include "passes/core/pass.h"
#include "passes/rewrite/mutate.h"
#include "passes/rewrite/reverse_sweep.h"

namespace nir {
namespace {

enum Statistic : unsigned { InstructionsRemoved, LoopsRemoved };
constexpr PassStatistic statistics[] = {
    {"Number of instructions removed", "instructions"},
    {"Number of loops removed", "loops"},
};

bool is_dead(const Instruction &inst) {
  return inst.defines_value() && inst.use_empty() && !inst.has_trait(op_trait::NeverDead);
}

class Dce final : public FunctionPass {
public:
  bool run(Function &function, PassContext &context) override {
    std::uint64_t instructions = 0;
    const std::uint64_t loops = sweep_backwards(function, [&](Instruction &inst) {
      if (!is_dead(inst))
        return;
      if (context.wants_applied() && is_cast(inst))
        context.remark(RemarkClass::Exact, inst, "removed " + describe(inst) + ", which is unused");
      inst.erase();
      ++instructions;
    });
    context.count(InstructionsRemoved, instructions);
    context.count(LoopsRemoved, loops);
    return instructions != 0 || loops != 0;
  }
};

} // namespace

namespace passes {

extern const PassInfo pass_dce;
const PassInfo pass_dce = {
    .name = "dce",
    .description = "Removes instructions whose value nobody uses, and empty loops",
    .options = {},
    .statistics = statistics,
    .create = [](const PassOptions &) -> std::unique_ptr<Pass> { return std::make_unique<Dce>(); },
    .idempotent = true,
};

} // namespace passes
} // namespace nir
