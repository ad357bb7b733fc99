// fold-transposes: removes a pair of transposes that undo each other.
//
//   turn:  %t = transpose %x {perm = [1, 0]} : T     into:  (users of %u read %x)
//          %u = transpose %t {perm = [1, 0]} : S
//
// Requires: a well-formed module. Preserves: legal form, the interface. Leaves %t, which may have
// other users; dce removes it where it has none.
//
// Terminates: every change removes one transpose. One sweep in program order, O(statements + uses).
//
// Numbers: a transpose that keeps its dtype keeps every bit, so the fold is exact. Where either of
// the two changes the dtype it is a cast too, and stays.
#include "passes/core/pass.h"

namespace {

enum Statistic : unsigned { PairsFolded };
constexpr nir::PassStatistic statistics[] = {{"Number of transpose pairs folded", "pairs"}};

constexpr nir::PassOption options[] = {
    {"single-use",
     nir::PassOption::Flag,
     "false",
     {},
     "fold only where the first transpose has no other user"},
};

// A transpose of a value, to a value, that is no cast and not pinned.
bool is_plain_transpose(const nir::Instruction &inst) {
  return inst.opcode() == nir::Opcode::Transpose && inst.defines_value() && !inst.is_fixed() &&
         !inst.operand(0).is_access() && inst.operand(0).dtype() == inst.dtype();
}

bool undo_each_other(const nir::Instruction &first, const nir::Instruction &second) {
  const auto inner = first.int_list(nir::AttrKey::Perm);
  const auto outer = second.int_list(nir::AttrKey::Perm);
  for (std::size_t i = 0; i < outer.size(); ++i)
    if (inner[static_cast<std::size_t>(outer[i])] != static_cast<std::int64_t>(i))
      return false;
  return true;
}

class FoldTransposes final : public nir::FunctionPass {
public:
  explicit FoldTransposes(const nir::PassOptions &given) : single_use_(given.flag("single-use")) {}

  bool run(nir::Function &function, nir::PassContext &context) override {
    bool changed = false;
    for (nir::Stmt &stmt : function.statements())
      if (auto *inst = nir::dyn_cast<nir::Instruction>(&stmt))
        changed |= fold(*inst, context);
    return changed;
  }

private:
  bool fold(nir::Instruction &second, nir::PassContext &context) const {
    if (!is_plain_transpose(second))
      return false;
    nir::Instruction *first = second.operand(0).defining_instruction();
    if (!is_plain_transpose(*first) || !undo_each_other(*first, second))
      return false;
    if (single_use_ && !first->has_one_use())
      return false;
    if (context.wants_applied())
      context.remark(nir::RemarkClass::Exact, second, "folded a pair of transposes");
    second.replace_all_uses_with(first->operand(0).value());
    second.erase();
    context.count(PairsFolded);
    return true;
  }

  bool single_use_;
};

} // namespace

extern const nir::PassInfo fold_transposes{
    .name = "fold-transposes",
    .description = "removes pairs of transposes that undo each other",
    .options = options,
    .statistics = statistics,
    .create = [](const nir::PassOptions &given) -> std::unique_ptr<nir::Pass> {
      return std::make_unique<FoldTransposes>(given);
    }};
