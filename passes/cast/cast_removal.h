#pragma once

#include "passes/core/pass.h"

namespace nir {

// How the removal of a cast, into all of its producers at once, counts.
struct RemovalKind {
  bool exact = true;    // the same results for every input
  bool inserted = true; // all producers' narrowings are a pass's

  RemovalKind &operator&=(const RemovalKind &other) {
    exact &= other.exact;
    inserted &= other.inserted;
    return *this;
  }
};

// Its class (passes, Remark classes): `inserted` where the cast, too, is a pass's.
RemarkClass class_of_removal(const Instruction &cast, const RemovalKind &kind);

// Why a rewrite of that class may not be done in the function: what removes an author's rounding
// is for functions that are not strict, and for `excess-precision=on`. nullptr where it may.
const char *why_rounding_stays(RemarkClass remark_class, const Function &function,
                               bool excess_precision);

// Whether operands that have one dtype in legal form differ: they are promoted before anything is
// computed, so that none of them tells in which dtype the result is held.
bool operands_disagree(const Instruction &inst);

// Why a producer may not absorb the cast for the sake of integers; nullptr where it may. `exact` is
// absorbing_copy_is_exact of the two. A copy with exact_ints and one through fp32 do not merge; and
// a clamp or a wrap is no rounding, at no setting.
const char *why_exact_ints_stay(const Instruction &producer, const Instruction &cast, bool exact);
const char *why_clamp_stays(const Instruction &producer, const Instruction &cast, bool exact);

} // namespace nir
