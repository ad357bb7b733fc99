// share-casts: where a value is cast to one dtype more than once, the later casts go and their
// users read the first.
//
//   turn:  %a = tensor_copy %x : bfloat16[…]      into:  %a = tensor_copy %x : bfloat16[…]
//          %b = tensor_copy %x : bfloat16[…]             (users of %b read %a)
//
// Requires: verified IR. Preserves: legal form, order, interfaces. What is left of several casts is
// one reader of %x, so that its producer, or its load, may take the dtype itself.
//
// Only casts of values: a tensor may be written between two reads. A cast is shared within its
// block and the loops inside it, where it is visible. Neither may be `fixed`; `exact_ints` must
// agree; the mark stays only where both carry one, so that the author's stays the author's.
//
// Termination and cost: one sweep in program order, O(1) a cast (O(log nesting depth) where one may
// be shared). Of one value and dtype at most one cast is in scope afterwards, so the newest is all
// that has to be remembered, and a second run finds nothing.
//
// Numbers: the same rounding of the same value, so every removal is exact and allowed in strict
// functions. Bytes moved shrink by what the cast reads and writes.

#include <unordered_map>

#include <fmt/format.h>

#include "passes/core/pass.h"
#include "passes/rewrite/mutate.h"

namespace nir {
namespace {

enum Statistic : unsigned { CastsRemoved, BytesRemoved };
constexpr PassStatistic statistics[] = {
    {"Number of casts removed", "casts"},
    {"Number of bytes of casts removed", "bytes"},
};

// What casts must have in common to be one.
struct CastKey {
  const Value *src;
  DType dtype;
  bool exact_ints;
  bool operator==(const CastKey &) const = default;
};

struct CastKeyHash {
  std::size_t operator()(const CastKey &key) const {
    const std::size_t address = std::hash<const Value *>()(key.src);
    return (address * num_dtypes + dtype_index(key.dtype)) * 2 + (key.exact_ints ? 1 : 0);
  }
};

// Where the value has no other use there is nothing to share.
bool is_sharable(const Instruction &inst) {
  return inst.defines_value() && is_cast(inst) && !inst.operand(0).is_access() &&
         !inst.operand(0).value()->has_one_use();
}

class ShareCasts final : public FunctionPass {
public:
  bool run(Function &function, PassContext &context) override {
    std::unordered_map<CastKey, Instruction *, CastKeyHash> newest; // asked only, never walked
    bool changed = false;
    for (Stmt &stmt : function.statements()) {
      Instruction *inst = dyn_cast<Instruction>(&stmt);
      if (inst == nullptr || !is_sharable(*inst))
        continue;
      const CastKey key{inst->operand(0).value(), inst->dtype(), inst->exact_ints()};
      Instruction *&first = newest[key];
      const bool in_scope = first != nullptr && ancestor_in_block(inst, first->parent()) != nullptr;
      if (in_scope && !inst->is_fixed()) {
        share(*first, *inst, context);
        changed = true;
      } else if (in_scope && context.wants_missed()) {
        context.remark(RemarkClass::Declined, *inst, "the cast is fixed");
      } else if (!in_scope && !inst->is_fixed()) {
        first = inst;
      }
    }
    return changed;
  }

private:
  static void share(Instruction &first, Instruction &later, PassContext &context) {
    if (context.wants_applied())
      context.remark(RemarkClass::Exact, later,
                     fmt::format("{} -> {}: shared with {}", dtype2str(later.src()->dtype()),
                                 dtype2str(later.dtype()), describe(first)));
    context.count(CastsRemoved);
    context.count(BytesRemoved, cast_bytes(later));
    if (later.autocast().empty())
      first.set_autocast(Name());
    later.replace_all_uses_with(&first);
    later.erase();
  }
};

} // namespace

namespace passes {

extern const PassInfo pass_share_casts;
const PassInfo pass_share_casts = {
    .name = "share-casts",
    .description = "lets the users of several casts of a value to one dtype read the first of them",
    .options = {},
    .statistics = statistics,
    .create = [](const PassOptions &) -> std::unique_ptr<Pass> {
      return std::make_unique<ShareCasts>();
    },
};

} // namespace passes
} // namespace nir
