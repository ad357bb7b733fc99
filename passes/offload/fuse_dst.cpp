// fuse_dst: what reads Y reads X. Its conditions on the readers of Y (passes, cast-op-elimination);
// cast_op_optimizer.cpp says why they suffice.
#include "passes/offload/fusion.h"

#include "ir/numeric/cast_triple.h"
#include "ir/support/saturating.h"

namespace nir {
namespace {

// Whether the statement stands in the memcast's block or in a loop inside it, behind it.
FusionRefusal stands_after(const FusionCandidate &c, Instruction &reader) {
  const Stmt *scope = ancestor_in_block(&reader, c.memcast.parent());
  if (scope == nullptr)
    return refuse("reads it outside the memcast's block", reader);
  if (scope->order() < c.memcast.order())
    return refuse("reads it before the memcast", reader);
  return {};
}

// Conditions of fuse_dst on one reader of Y.

FusionVerdict judge_load(const FusionCandidate &c, const Instruction &load) {
  const DType x = c.x.dtype();
  const DType result = load.dtype();
  if (!c.target.dma_cast)
    return {refuse("would need a DMA cast, which the target lacks", load)};
  if (x == DType::Float8E8m0fnu || result == DType::Float8E8m0fnu)
    return {refuse("may not cast float8_e8m0fnu", load)};
  if (is_x4_dtype(x) || is_x4_dtype(result))
    return {refuse("may not cast packed containers", load)};
  if (triple_is_exact(x, c.y.dtype(), result))
    return {};
  if (is_int_type(x) || is_int_or_scale(c.y.dtype()) || is_int_type(result))
    return {refuse("reads it, and a clamp or wrap would be lost", load)};
  return {{}, class_of_rounding(c.memcast, load)};
}

FusionRefusal reader_takes_no_cast(const Instruction &reader) {
  switch (reader.opcode()) {
  case Opcode::Activation:
  case Opcode::TensorScalar:
  case Opcode::TensorCopy:
  case Opcode::TensorTensor:
  case Opcode::Select:
  case Opcode::TensorReduce:
  case Opcode::Transpose:
  case Opcode::Matmul:
    return {};
  default:
    return refuse("reads it and cannot take the cast", reader);
  }
}

FusionRefusal matmul_refuses_dtype(const FusionCandidate &c, const Instruction &reader) {
  if (reader.opcode() != Opcode::Matmul)
    return {};
  for (const DType dtype : {c.x.dtype(), c.y.dtype()})
    if (c.target.matmul_operand_dtype(dtype) != dtype)
      return refuse("does not multiply the dtype", reader);
  return {};
}

FusionRefusal reader_leaves_legal_form(const FusionCandidate &c, const Instruction &reader) {
  for (const Use &use : reader.matched_operands())
    if (use.value() != &c.y)
      return refuse("would not be in legal form", reader);
  return {};
}

FusionVerdict judge_engine_reader(const FusionCandidate &c, const Instruction &reader) {
  const DType x = c.x.dtype();
  const DType y = c.y.dtype();
  if (const FusionRefusal refusal = reader_takes_no_cast(reader))
    return {refusal};
  if (!is_float_type(x) || !is_float_type(y))
    return {refuse("reads it, and only floats convert on an engine", reader)};
  if (!holds(y, x))
    return {refuse("would read what the memcast had not rounded yet", reader)};
  if (!is_on_chip(c.x))
    return {refuse("is in dram, which its readers do not reach", c.x)};
  if (const FusionRefusal refusal = matmul_refuses_dtype(c, reader))
    return {refusal};
  if (const FusionRefusal refusal = reader_leaves_legal_form(c, reader))
    return {refusal};
  // A copy back to X's dtype passes bits through where the way over Y would have clamped
  // infinities.
  if (!reader.has_trait(op_trait::CopiesBits) || triple_is_exact(x, y, reader.dst_dtype()))
    return {};
  return {{}, class_of_rounding(c.memcast, reader)};
}

FusionVerdict judge_reader(const FusionCandidate &c, Instruction &reader) {
  const FusionVerdict verdict =
      reader.opcode() == Opcode::Load ? judge_load(c, reader) : judge_engine_reader(c, reader);
  if (verdict.refusal)
    return verdict;
  if (reader.is_fixed() && verdict.remark_class != RemarkClass::Exact)
    return {refuse("reads it and is fixed", reader)};
  if (const FusionRefusal refusal = stands_after(c, reader))
    return {refusal};
  return verdict;
}

} // namespace

FusionVerdict judge_readers(const FusionCandidate &c) {
  return judge_users(c.y, reads, "is never read",
                     [&](Instruction &reader) { return judge_reader(c, reader); });
}

FusionRefusal readers_would_move_more(const FusionCandidate &c) {
  const BytesChange change{
      saturating_add(bytes_moved(c.memcast), bytes_of(c.y, reads, c.y.dtype())),
      bytes_of(c.y, reads, c.x.dtype())};
  if (!change.grows())
    return {};
  return {"would be read with more bytes than now", &c.x, change};
}

Name mark_after_reading_x(const FusionCandidate &c, const Instruction &reader) {
  if (!is_inserted(c.memcast))
    return {};
  const DType result = reader.dst_dtype();
  if (!is_inserted(reader) && !holds(result, c.y.dtype()))
    return {};
  const bool rounds = !holds(result, c.x.dtype());
  const bool stays_inserted_cast = is_inserted(reader) && result != c.x.dtype();
  return rounds || stays_inserted_cast ? c.memcast.autocast() : Name();
}

} // namespace nir
