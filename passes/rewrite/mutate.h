#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/core/module.h"

namespace nir {

// The dtype in which an instruction holds its result before it writes: dtype(src) for what only
// moves elements, float32 for every other float instruction, the operands' dtype where it computes
// in integers (passes, Vocabulary, Wide).
DType wide_dtype(const Instruction &inst);

// Whether the instruction computes in integers: every data operand is one, and it does not merely
// copy (activation and pow always compute in fp32).
bool computes_in_integers(const Instruction &inst);

// Whether the copy's two dtypes differ: a tensor_copy that is a cast.
inline bool is_cast(const Instruction &inst) {
  return inst.opcode() == Opcode::TensorCopy && inst.src()->dtype() != inst.dst_dtype();
}

// Dtypes that clamp instead of rounding only: a cast to one of them goes only where that is exact.
inline bool is_int_or_scale(DType dtype) {
  return is_int_type(dtype) || dtype == DType::Float8E8m0fnu;
}

// Why the destination of an instruction may not take a dtype; nullptr where it may. The text is a
// constant and names the first obstacle (passes, Vocabulary, can_mutate_dst_ty).
// `but_for` is the user about to go (a cast), which does not count as a reader.
const char *why_dst_ty_is_fixed(const Instruction &inst, DType dtype, const Instruction *but_for);
inline bool can_mutate_dst_ty(const Instruction &inst, DType dtype, const Instruction *but_for) {
  return why_dst_ty_is_fixed(inst, dtype, but_for) == nullptr;
}

// why_dst_ty_is_fixed with a memory, so that a producer or tensor with many users is looked at once
// per dtype and not once per cast. For questions where `but_for` is a tensor_copy to that dtype:
// such a reader never counts, so the answer is the same for all of them.
class DstMutability {
public:
  const char *why_fixed(const Instruction &inst, DType dtype, const Instruction &but_for);
  // To be called when the object's dtype or uses have changed.
  void forget(const Value &object) {
    if (!answers_.empty())
      answers_.erase(&object);
  }

private:
  std::unordered_map<const Value *, std::vector<std::pair<DType, const char *>>> answers_;
};

// What an instruction retypes with its destination: its own value, or the tensor it writes.
const Value &retyped_object(const Instruction &inst);

// Whether removing `copy`, by letting `producer` write what it writes, gives the same results for
// every input: the triple wide, old, new is exact, and integers do not take another path (passes,
// "Holds, survives").
bool absorbing_copy_is_exact(const Instruction &producer, const Instruction &copy);

// The autocast mark of a producer that absorbs a copy: kept or taken only where no author's
// rounding goes into its new destination dtype (passes, Marks). To be called before anything is
// retyped.
Name mark_after_absorbing(const Instruction &producer, const Instruction &copy);

// Changes what the instruction writes: the type of its value, or its whole destination tensor with
// every access to it. can_mutate_dst_ty must hold.
void mutate_dst_ty(Instruction &inst, DType dtype);

// Bytes of sbuf a partition that a tensor takes (passes, neuron-eliminate-casts, budget).
std::uint64_t sbuf_bytes_per_partition(const Tensor &tensor, DType dtype, const Target &target);
// Their sum over the function's sbuf tensors, saturating.
std::uint64_t sbuf_bytes_per_partition(const Function &function);

// (tile_size_in_bytes // npartitions) * num_dynamic_instances of what the instruction writes,
// saturating: the bytes that a cast costs (passes, count_cast).
std::uint64_t cast_bytes(const Instruction &cast);

// How messages name an instruction: `'%x' (tensor_copy)` or `tensor_copy`.
std::string describe(const Instruction &inst);

} // namespace nir
