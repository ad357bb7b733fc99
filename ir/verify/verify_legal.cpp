// The legal form that legalize-dtype establishes (language reference, Legal form).

#include "ir/verify/verify_rules.h"

namespace nir {
namespace {

bool check_no_float64(StmtCheck &check) {
  constexpr std::string_view text = "float64 is left, expected what the target stores";
  for (const Use &use : check.inst.uses_of_operands())
    if (use.dtype() == DType::Float64)
      return check.fail(part_of(check, use), "{}", text);
  if (check.inst.defines_value() && check.inst.dtype() == DType::Float64)
    return check.fail({.kind = StmtPart::Result}, "{}", text);
  return true;
}

// Both operands of a tensor_tensor, or both arms of a select, which are its last two operands.
bool check_same_dtype(StmtCheck &check) {
  const Use &a = check.inst.operand(check.inst.num_operands() - 2);
  const Use &b = check.inst.operand(check.inst.num_operands() - 1);
  if (a.dtype() != b.dtype())
    return check.fail(part_of(check, b), "{} of {} and {}, expected the same dtype",
                      check.mnemonic(), dtype2str(a.dtype()), dtype2str(b.dtype()));
  if (a.dtype() == DType::Float8E8m0fnu)
    return check.fail(part_of(check, a), "{} of {}, expected a dtype that computes",
                      check.mnemonic(), dtype2str(a.dtype()));
  return true;
}

bool check_multiplies(StmtCheck &check) {
  bool ok = true;
  for (const Use &use : check.inst.operands())
    if (!check.target().multiplies(use.dtype()))
      ok = check.fail(part_of(check, use), "target {} does not multiply {}", check.target().name,
                      dtype2str(use.dtype()));
  return ok;
}

} // namespace

bool check_legal_form(StmtCheck &check) {
  if (!check_no_float64(check))
    return false;
  switch (check.inst.opcode()) {
  case Opcode::TensorTensor:
  case Opcode::Select:
    return check_same_dtype(check);
  case Opcode::Matmul:
    return check_multiplies(check);
  default:
    return true;
  }
}

bool check_legal_tensor(const Tensor &tensor, SourceRange range, DiagnosticEngine &diagnostics) {
  if (tensor.dtype() != DType::Float64)
    return true;
  diagnostics.error(range,
                    fmt::format("tensor {} has dtype float64, expected what the target stores",
                                tensor_name(tensor)));
  return false;
}

} // namespace nir
