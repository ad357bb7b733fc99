// What both directions of moving a memcast into its neighbours speak of: the memcast with its two
// tensors, why a direction is refused, and the conditions that they share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "passes/core/pass.h"
#include "passes/rewrite/bytes_moved.h"
#include "passes/rewrite/mutate.h"

namespace nir {

// `Y = offloaded_memcast(X)`.
struct FusionCandidate {
  explicit FusionCandidate(Instruction &inst)
      : memcast(inst), x(*inst.operand(0).tensor()), y(*inst.dst()->tensor()),
        function(*inst.function()), target(function.module().target()) {}

  Instruction &memcast;
  Tensor &x;
  Tensor &y;
  Function &function;
  const Target &target;
};

// Why one direction of a fusion is refused: a constant text, and the tensor or instruction that it
// speaks of (nullptr where it speaks of none). Without a text it is no refusal.
struct FusionRefusal {
  const char *text = nullptr;
  const Value *about = nullptr;
  BytesChange change{}; // where it is refused because of them
  explicit operator bool() const { return text != nullptr; }
};

// Why a memcast stays: the reason of each direction.
struct DeclinedFusion {
  FusionRefusal src;
  FusionRefusal dst;
};
std::string to_string(const DeclinedFusion &declined, const Function &function);

// Of one direction: why not, or the class that the fusion has.
struct FusionVerdict {
  FusionRefusal refusal;
  RemarkClass remark_class = RemarkClass::Exact; // the weakest of all instructions to be rewritten
};

inline FusionRefusal refuse(const char *text, const Value &about) { return {text, &about}; }

inline bool is_on_chip(const Tensor &tensor) { return tensor.space() != Space::Dram; }

inline bool is_inserted(const Instruction &inst) { return !inst.autocast().empty(); }

// A pair of casts that is not exact: both made by passes, or not.
inline RemarkClass class_of_rounding(const Instruction &memcast, const Instruction &other) {
  return is_inserted(memcast) && is_inserted(other) ? RemarkClass::Inserted
                                                    : RemarkClass::Permitted;
}

// What the first of the conditions that refuses says. They are asked in order, and no further.
template <class... Conditions> FusionRefusal first_refusal(Conditions... conditions) {
  FusionRefusal refusal;
  static_cast<void>((static_cast<bool>(refusal = conditions()) || ...));
  return refusal;
}

// What `judge` says of all users of the tensor in one role, `reads` or `writes`: the first refusal,
// `none` where there is no such user, else the weakest class.
template <class Judge>
FusionVerdict judge_users(Tensor &tensor, bool (*role)(const Use &), const char *none,
                          Judge judge) {
  FusionVerdict all;
  bool any = false;
  for (Use &use : tensor.uses()) {
    if (!role(use))
      continue;
    any = true;
    const FusionVerdict one = judge(*use.user());
    if (one.refusal)
      return one;
    all.remark_class = std::max(all.remark_class, one.remark_class);
  }
  if (!any)
    return {refuse(none, tensor)};
  return all;
}

// Conditions of both directions.
FusionRefusal memcast_is_fixed(const FusionCandidate &c);
FusionRefusal memcast_reinterprets(const FusionCandidate &c);
FusionRefusal is_not_internal(const Tensor &tensor);
FusionRefusal is_reinterpreted(const Tensor &tensor);
FusionRefusal shapes_differ(const FusionCandidate &c);

// What the readers, or the writers, of a tensor move, if they found `dtype` there.
std::uint64_t bytes_of(const Tensor &tensor, bool (*role)(const Use &), DType dtype);

// Of all writers of X, call and opaque included (fuse_src.cpp).
FusionVerdict judge_stores(const FusionCandidate &c);
// The writers of X must have been judged: they stand in the memcast's block.
FusionRefusal y_is_read_before_memcast(const FusionCandidate &c);
// Where X is written more often than the memcast runs, in a wider dtype.
FusionRefusal writers_would_move_more(const FusionCandidate &c);

// Of all readers of Y (fuse_dst.cpp).
FusionVerdict judge_readers(const FusionCandidate &c);
FusionRefusal readers_would_move_more(const FusionCandidate &c);
// The mark of a reader that takes the memcast in: kept or taken only where no author's rounding is
// in what it then does (passes, Marks).
Name mark_after_reading_x(const FusionCandidate &c, const Instruction &reader);

} // namespace nir
