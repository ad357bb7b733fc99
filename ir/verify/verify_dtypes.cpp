// DTypes of operands, numbers and results (language reference, Types and Instructions).

#include "ir/numeric/literal.h"
#include "ir/numeric/promotion.h"
#include "ir/verify/verify_rules.h"

namespace nir {
namespace {

// What the slots of an opcode take beside the dtypes that compute.
namespace special {
constexpr unsigned Packed = 1; // x4 containers
constexpr unsigned Scale = 2;  // float8_e8m0fnu
} // namespace special

// Of a data operand, or of the result and destination where `operand` is false.
unsigned special_dtypes(const StmtCheck &check, bool operand) {
  const OpcodeInfo &row = check.inst.opcode_info();
  switch (row.opcode) {
  case Opcode::TensorCopy:
  case Opcode::OffloadedMemcast:
    return special::Scale;
  case Opcode::TensorTensor:
  case Opcode::Select:
    return operand ? special::Scale : 0;
  case Opcode::Matmul:
    return operand && check.target().x4_matmul ? special::Packed : 0;
  case Opcode::Call:
  case Opcode::Opaque:
    return special::Packed | special::Scale;
  default:
    break;
  }
  constexpr std::uint16_t moving = op_trait::Mover | op_trait::Dma | op_trait::Offloaded;
  return row.has(moving) ? special::Packed | special::Scale : 0;
}

bool check_storable(StmtCheck &check, StmtPart part, DType dtype) {
  if (dtype != DType::Float4E2m1fn)
    return true;
  return check.fail(part, "{} is never stored, expected another dtype", dtype2str(dtype));
}

bool check_special(StmtCheck &check, StmtPart part, DType dtype, bool operand) {
  const unsigned allowed = special_dtypes(check, operand);
  const std::string_view verb = operand ? "take" : "write";
  if (is_x4_dtype(dtype) && (allowed & special::Packed) == 0) {
    if (check.inst.opcode() == Opcode::Matmul && operand)
      return check.fail(part, "matmul cannot take {} on target {}, which has no x4 matmul",
                        dtype2str(dtype), check.target().name);
    return check.fail(part, "{} cannot {} {}: x4 containers are only moved", check.mnemonic(), verb,
                      dtype2str(dtype));
  }
  if (dtype == DType::Float8E8m0fnu && (allowed & special::Scale) == 0)
    return check.fail(part,
                      "{} cannot {} {}: a scale is only moved, and cast by tensor_copy and "
                      "offloaded_memcast",
                      check.mnemonic(), verb, dtype2str(dtype));
  return true;
}

// The rules of single dtypes. One report a statement: a broken one mostly breaks others as well.
bool check_each_dtype(StmtCheck &check) {
  for (const Use &use : check.inst.uses_of_operands()) {
    if (isa<Immediate>(use.value()))
      continue;
    const StmtPart part = part_of(check, use);
    const bool operand = &use != check.inst.dst();
    if (!check_storable(check, part, use.dtype()) ||
        !check_special(check, part, use.dtype(), operand))
      return false;
  }
  if (!check.inst.defines_value())
    return true;
  const StmtPart part{.kind = StmtPart::Result};
  return check_storable(check, part, check.inst.dtype()) &&
         check_special(check, part, check.inst.dtype(), false);
}

bool check_keeps_dtype(StmtCheck &check) {
  if (!check.inst.has_trait(op_trait::KeepsDType))
    return true;
  const DType written = check.inst.dst_dtype();
  for (const Use &use : check.inst.operands())
    if (use.dtype() != written)
      return check.fail(result_part(check), "{} keeps the dtype {} of {}, found {}",
                        check.mnemonic(), dtype2str(use.dtype()), to_string(use),
                        dtype2str(written));
  return true;
}

bool is_special(DType dtype) { return is_x4_dtype(dtype) || dtype == DType::Float8E8m0fnu; }

bool check_dma(StmtCheck &check) {
  const DType from = check.inst.operand(0).dtype();
  const DType to = check.inst.dst_dtype();
  if (from == to)
    return true;
  if (is_special(from) || is_special(to))
    return check.fail(result_part(check), "{} cannot cast {} to {}, expected the same dtype",
                      check.mnemonic(), dtype2str(from), dtype2str(to));
  if (check.target().dma_cast)
    return true;
  return check.fail(result_part(check),
                    "{} from {} to {} changes the dtype, which DMA cannot on target {}",
                    check.mnemonic(), dtype2str(from), dtype2str(to), check.target().name);
}

bool check_memcast(StmtCheck &check) {
  if (check.inst.operand(0).dtype() != check.inst.dst_dtype())
    return true;
  return check.fail(result_part(check),
                    "offloaded_memcast changes the dtype, found {} on both sides",
                    dtype2str(check.inst.dst_dtype()));
}

bool check_matmul(StmtCheck &check) {
  if (check.inst.dst_dtype() == DType::Float32)
    return true;
  return check.fail(result_part(check), "matmul writes float32, found {}",
                    dtype2str(check.inst.dst_dtype()));
}

bool check_select(StmtCheck &check) {
  const Use &pred = check.inst.operand(0);
  if (pred.dtype() == DType::Uint8)
    return true;
  return check.fail(part_of(check, pred), "the predicate of select must be uint8, found {}",
                    dtype2str(pred.dtype()));
}

bool check_exact_ints(StmtCheck &check) {
  const DType from = check.inst.operand(0).dtype();
  const DType to = check.inst.dst_dtype();
  if (!check.inst.exact_ints() || (is_int_type(from) && is_int_type(to)))
    return true;
  return check.fail(attribute_part(AttrKey::ExactInts),
                    "exact_ints is for copies between integer dtypes, found {} to {}",
                    dtype2str(from), dtype2str(to));
}

// A bitwise operator computes in integers, and so needs all operands to be.
bool check_integer_operands(StmtCheck &check, AluOp op) {
  if (!is_integer_only(op))
    return true;
  for (const Use &use : check.inst.operands())
    if (!is_int_type(use.dtype()))
      return check.fail(part_of(check, use), "{} takes integers, found {} of dtype {}",
                        to_string(op), to_string(use), dtype2str(use.dtype()));
  return true;
}

bool check_tensor_tensor(StmtCheck &check) {
  const AluOp op = check.inst.op();
  if (!check_integer_operands(check, op))
    return false;
  if (!is_integer_only(op))
    return true;
  // Operands that differ meet in their promoted dtype, which is a float for uint64 with signed.
  const DType a = check.inst.operand(0).dtype();
  const DType b = check.inst.operand(1).dtype();
  const auto common = promote_type(a, b);
  if (common && is_int_type(*common))
    return true;
  return check.fail({.kind = StmtPart::Operand, .index = 1},
                    "{} takes integers, but {} and {} meet in {}", to_string(op), dtype2str(a),
                    dtype2str(b), common ? dtype2str(*common) : "no dtype");
}

bool check_reduce(StmtCheck &check) {
  const AluOp op = check.inst.op();
  if (!may_reduce(op))
    return check.fail({.kind = StmtPart::Mnemonic},
                      "tensor_reduce cannot reduce with '{}', expected add, multiply, max, min, "
                      "abs_max or an and/or/xor",
                      to_string(op));
  return check_integer_operands(check, op);
}

bool check_number(StmtCheck &check, const Use &use, DType expected) {
  const auto *number = cast<Immediate>(use.value());
  if (number->dtype() != expected)
    return check.fail(part_of(check, use), "the number of {} must be {}, found {}",
                      check.mnemonic(), dtype2str(expected), dtype2str(number->dtype()));
  if (text_reads_back(expected, number->bits()))
    return true;
  return check.fail(part_of(check, use), "no number is the {} with the bits {:#x}",
                    dtype2str(expected), number->bits());
}

bool check_memset(StmtCheck &check) {
  return check_number(check, check.inst.operand(0), check.inst.dst_dtype());
}

bool check_tensor_scalar(StmtCheck &check) {
  const DType src = check.inst.operand(0).dtype();
  const DType number_dtype = is_int_type(src) ? src : DType::Float32;
  for (const Use &use : check.inst.operands())
    if (isa<Immediate>(use.value()) && !check_number(check, use, number_dtype))
      return false;
  for (unsigned i = 0; i + 1 < check.inst.num_operands(); ++i)
    if (!check_integer_operands(check, check.inst.op(i)))
      return false;
  return true;
}

} // namespace

bool check_dtypes(StmtCheck &check) {
  if (!check_each_dtype(check) || !check_keeps_dtype(check))
    return false;
  switch (check.inst.opcode()) {
  case Opcode::Load:
  case Opcode::Store:
    return check_dma(check);
  case Opcode::OffloadedMemcast:
    return check_memcast(check);
  case Opcode::Matmul:
    return check_matmul(check);
  case Opcode::Select:
    return check_select(check);
  case Opcode::TensorCopy:
    return check_exact_ints(check);
  case Opcode::TensorTensor:
    return check_tensor_tensor(check);
  case Opcode::TensorScalar:
    return check_tensor_scalar(check);
  case Opcode::TensorReduce:
    return check_reduce(check);
  case Opcode::Memset:
    return check_memset(check);
  default:
    return true;
  }
}

} // namespace nir
