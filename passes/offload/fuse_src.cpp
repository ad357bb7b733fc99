// fuse_src: what writes X writes Y. Its conditions on the writers of X (passes,
// cast-op-elimination); cast_op_optimizer.cpp says why they suffice.
#include "passes/offload/fusion.h"

#include <algorithm>

#include "ir/support/saturating.h"

namespace nir {
namespace {

// Whether the statement stands in the memcast's block or in a loop inside it, before it.
FusionRefusal stands_before(const FusionCandidate &c, Instruction &store) {
  const Stmt *scope = ancestor_in_block(&store, c.memcast.parent());
  if (scope == nullptr)
    return refuse("writes it outside the memcast's block", store);
  if (scope->order() > c.memcast.order())
    return refuse("writes it after the memcast", store);
  return {};
}

// Conditions of fuse_src on one writer of X.

FusionRefusal store_takes_no_cast(const FusionCandidate &c, const Instruction &store) {
  switch (store.opcode()) {
  case Opcode::Activation:
  case Opcode::TensorScalar:
  case Opcode::TensorCopy:
  case Opcode::TensorTensor:
  case Opcode::Select:
  case Opcode::TensorReduce:
  case Opcode::Transpose:
    return {};
  case Opcode::Store:
    if (c.target.dma_cast)
      return {};
    return refuse("would need a DMA cast, which the target lacks", store);
  default:
    return refuse("writes it and cannot take the cast", store);
  }
}

FusionRefusal store_is_marked(const FusionCandidate &, const Instruction &store) {
  if (store.is_fixed())
    return refuse("writes it and is fixed", store);
  if (store.exact_ints())
    return refuse("writes it with exact_ints", store);
  return {};
}

// Operands that differ are promoted before anything is computed, so that no operand tells in which
// dtype the result is held.
FusionRefusal store_is_not_legal(const FusionCandidate &, const Instruction &store) {
  const std::span<const Use> operands = store.matched_operands();
  const bool differ = std::ranges::any_of(
      operands, [&](const Use &use) { return use.dtype() != operands.front().dtype(); });
  return differ ? refuse("writes it and is not in legal form", store) : FusionRefusal();
}

FusionRefusal store_cannot_reach_y(const FusionCandidate &c, const Instruction &store) {
  if (store.opcode() == Opcode::Store || is_on_chip(c.x) == is_on_chip(c.y))
    return {};
  return refuse("lies in another space than its writers reach", c.y);
}

FusionRefusal store_cannot_write_dtype(const FusionCandidate &c, const Instruction &store) {
  const DType src = store.src()->dtype();
  const DType y = c.y.dtype();
  if (is_x4_dtype(y))
    return refuse("holds packed containers", c.y);
  if (y == DType::Float8E8m0fnu && store.opcode() != Opcode::TensorCopy)
    return refuse("may not write float8_e8m0fnu", store);
  if (store.opcode() == Opcode::Store && src != y && src == DType::Float8E8m0fnu)
    return refuse("may not cast float8_e8m0fnu", store);
  return {};
}

// Gate 4 of neuron-eliminate-casts: no clamp or wrap is lost, at any setting.
FusionRefusal store_loses_integers(const FusionCandidate &c, const Instruction &store) {
  const DType src = store.src()->dtype();
  if (is_int_type(src) != is_int_type(c.x.dtype()))
    return refuse("writes it, converting between integer and float", store);
  const bool exact_only =
      is_int_or_scale(src) || is_int_or_scale(c.x.dtype()) || is_int_or_scale(c.y.dtype());
  if (exact_only && !absorbing_copy_is_exact(store, c.memcast))
    return refuse("writes it, and a clamp or wrap would be lost", store);
  return {};
}

using StoreCondition = FusionRefusal (*)(const FusionCandidate &, const Instruction &);
constexpr StoreCondition store_conditions[] = {
    store_takes_no_cast,  store_is_marked,          store_is_not_legal,
    store_cannot_reach_y, store_cannot_write_dtype, store_loses_integers,
};

FusionVerdict judge_store(const FusionCandidate &c, Instruction &store) {
  for (const StoreCondition condition : store_conditions)
    if (const FusionRefusal refusal = condition(c, store))
      return {refusal};
  if (const FusionRefusal refusal = stands_before(c, store))
    return {refusal};
  if (absorbing_copy_is_exact(store, c.memcast))
    return {};
  return {{}, class_of_rounding(c.memcast, store)};
}

} // namespace

FusionVerdict judge_stores(const FusionCandidate &c) {
  return judge_users(c.x, writes, "is never written",
                     [&](Instruction &store) { return judge_store(c, store); });
}

FusionRefusal y_is_read_before_memcast(const FusionCandidate &c) {
  std::uint32_t first = c.memcast.order();
  for (Use &use : c.x.uses())
    if (writes(use))
      first = std::min(first, ancestor_in_block(use.user(), c.memcast.parent())->order());
  for (Use &use : c.y.uses()) {
    const std::uint32_t order = use.user()->order();
    if (reads(use) && order >= first && order < c.memcast.order())
      return refuse("is read between the writers and the memcast", c.y);
  }
  return {};
}

FusionRefusal writers_would_move_more(const FusionCandidate &c) {
  const BytesChange change{
      saturating_add(bytes_moved(c.memcast), bytes_of(c.x, writes, c.x.dtype())),
      bytes_of(c.x, writes, c.y.dtype())};
  if (!change.grows())
    return {};
  return {"would be written with more bytes than now", &c.y, change};
}

} // namespace nir
