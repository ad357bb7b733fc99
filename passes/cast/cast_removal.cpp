#include "passes/cast/cast_removal.h"

#include "passes/rewrite/mutate.h"

namespace nir {

RemarkClass class_of_removal(const Instruction &cast, const RemovalKind &kind) {
  if (kind.exact)
    return RemarkClass::Exact;
  return kind.inserted && !cast.autocast().empty() ? RemarkClass::Inserted : RemarkClass::Permitted;
}

const char *why_rounding_stays(RemarkClass remark_class, const Function &function,
                               bool excess_precision) {
  if (remark_class != RemarkClass::Permitted)
    return nullptr;
  if (function.is_strict())
    return "the function is strict";
  return excess_precision ? nullptr : "excess precision is off";
}

bool operands_disagree(const Instruction &inst) {
  for (const Use &use : inst.matched_operands())
    if (use.dtype() != inst.matched_operands().front().dtype())
      return true;
  return false;
}

const char *why_exact_ints_stay(const Instruction &producer, const Instruction &cast, bool exact) {
  if ((producer.exact_ints() || cast.exact_ints()) && !exact)
    return "exact_ints and a copy through fp32 do not merge";
  return nullptr;
}

const char *why_clamp_stays(const Instruction &producer, const Instruction &cast, bool exact) {
  if (exact)
    return nullptr;
  const Use *src = producer.src();
  const bool exact_only =
      (src != nullptr && is_int_or_scale(src->dtype())) || is_int_or_scale(wide_dtype(producer)) ||
      is_int_or_scale(producer.dst_dtype()) || is_int_or_scale(cast.dst_dtype());
  return exact_only ? "a clamp or wrap to an integer would be lost" : nullptr;
}

} // namespace nir
