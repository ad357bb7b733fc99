// The form of a statement: what it delivers and what it takes.

#include "ir/verify/verify_rules.h"

namespace nir {
namespace {

std::string_view found_result(const Instruction &inst) {
  if (inst.has_dst())
    return "a write through '->'";
  return inst.defines_value() ? "a value" : "neither";
}

bool result_fails(StmtCheck &check, std::string_view expected) {
  const StmtPart part =
      check.inst.is_bare() ? StmtPart{.kind = StmtPart::Mnemonic} : result_part(check);
  return check.fail(part, "{} {}, found {}", check.mnemonic(), expected, found_result(check.inst));
}

bool check_result(StmtCheck &check) {
  const Instruction &inst = check.inst;
  if (inst.has_dst() && inst.defines_value())
    return check.fail({.kind = StmtPart::Dst},
                      "{} defines a value and writes a tensor, expected one of the two",
                      check.mnemonic());
  switch (inst.opcode_info().result) {
  case ResultForm::Either:
    if (inst.is_bare())
      return result_fails(check, "defines a value or writes a tensor through '->'");
    return true;
  case ResultForm::ValueOnly:
    if (!inst.defines_value())
      return result_fails(check, "defines a value");
    return true;
  case ResultForm::DstOnly:
    if (!inst.has_dst())
      return result_fails(check, "writes a tensor through '->'");
    return true;
  case ResultForm::Bare:
    if (!inst.is_bare())
      return result_fails(check, "stands alone, with neither a value nor '->'");
    return true;
  case ResultForm::AnyOrBare:
    return true;
  }
  return true;
}

std::string expected_count(const OpcodeInfo &row) {
  const auto operands = [](int count) { return count == 1 ? "operand" : "operands"; };
  if (row.max_operands < 0)
    return fmt::format("at least {} {}", row.min_operands, operands(row.min_operands));
  if (row.max_operands == 0)
    return "no operands";
  if (row.min_operands == row.max_operands)
    return fmt::format("{} {}", row.min_operands, operands(row.min_operands));
  return fmt::format("{} or {} operands", row.min_operands, row.max_operands);
}

bool check_operand_count(StmtCheck &check) {
  const OpcodeInfo &row = check.inst.opcode_info();
  const auto count = static_cast<std::int64_t>(check.inst.num_operands());
  if (count >= row.min_operands && (row.max_operands < 0 || count <= row.max_operands))
    return true;
  return check.fail({.kind = StmtPart::Mnemonic}, "{} takes {}, found {}", row.mnemonic,
                    expected_count(row), count);
}

// What may stand in an operand slot, as bits.
namespace slot {
constexpr unsigned Value = 1;
constexpr unsigned Access = 2;
constexpr unsigned Number = 4;
} // namespace slot

unsigned allowed_kinds(const Instruction &inst, unsigned index) {
  const OpcodeInfo &row = inst.opcode_info();
  if (row.opcode == Opcode::Memset)
    return slot::Number;
  const bool moves_tensors = row.opcode == Opcode::Load || row.opcode == Opcode::Call;
  if (moves_tensors || row.has(op_trait::Offloaded))
    return slot::Access;
  if (row.opcode == Opcode::TensorScalar && index > 0)
    return slot::Value | slot::Access | slot::Number;
  return slot::Value | slot::Access;
}

std::string_view describe_kinds(unsigned kinds) {
  switch (kinds) {
  case slot::Number:
    return "a number";
  case slot::Access:
    return "a tensor";
  case slot::Value | slot::Access:
    return "a value or a tensor";
  default:
    return "a value, a tensor or a number";
  }
}

struct Found {
  unsigned kind; // 0 for what is no operand at all
  std::string_view description;
};

Found found_in(const Use &use) {
  const Value *value = use.value();
  if (value == nullptr)
    return {0, "nothing"};
  switch (value->kind()) {
  case ValueKind::Loop:
    return {0, "a loop variable"};
  case ValueKind::Tensor:
    return {slot::Access, "a tensor"};
  case ValueKind::Immediate:
    return {slot::Number, "a number"};
  case ValueKind::Instruction:
    break;
  }
  if (value->type() == nullptr)
    return {0, "an instruction that defines no value"};
  return {slot::Value, "a value"};
}

bool check_operand_kind(StmtCheck &check, const Use &use) {
  const Found found = found_in(use);
  const unsigned allowed = allowed_kinds(check.inst, use.index());
  if ((found.kind & allowed) == 0)
    return check.fail(part_of(check, use), "operand {} of {} must be {}, found {}", use.index() + 1,
                      check.mnemonic(), describe_kinds(allowed), found.description);
  if (use.access() != nullptr && found.kind != slot::Access)
    return check.fail(part_of(check, use), "operand {} of {} has subscripts but is no tensor",
                      use.index() + 1, check.mnemonic());
  return true;
}

bool check_dst_kind(StmtCheck &check) {
  const Use *dst = check.inst.dst();
  if (dst == nullptr)
    return true;
  const Found found = found_in(*dst);
  if (found.kind == slot::Access)
    return true;
  return check.fail({.kind = StmtPart::Dst}, "the destination of {} must be a tensor, found {}",
                    check.mnemonic(), found.description);
}

bool check_operand_kinds(StmtCheck &check) {
  bool ok = check_dst_kind(check);
  for (const Use &use : check.inst.operands())
    ok &= check_operand_kind(check, use);
  return ok;
}

// Functions and operators are bytes in an instruction: those that a parser read are always known.
bool check_operators(StmtCheck &check) {
  const Instruction &inst = check.inst;
  const auto known = [&](unsigned value, std::size_t count) {
    return value < count || check.fail({.kind = StmtPart::Mnemonic},
                                       "{} has an unknown function or operator (number {})",
                                       check.mnemonic(), value);
  };
  switch (inst.opcode()) {
  case Opcode::Activation:
    return known(static_cast<unsigned>(inst.fn()), all_activation_fns().size());
  case Opcode::TensorTensor:
  case Opcode::TensorReduce:
    return known(static_cast<unsigned>(inst.op()), all_alu_ops().size());
  case Opcode::TensorScalar:
    return known(static_cast<unsigned>(inst.op(0)), all_alu_ops().size()) &&
           known(static_cast<unsigned>(inst.op(1)), all_alu_ops().size());
  default:
    return true;
  }
}

// What a call runs and what an opaque is named are kept with the attributes.
bool check_identity(StmtCheck &check) {
  const Instruction &inst = check.inst;
  if (inst.opcode() == Opcode::Call) {
    const AttrValue *callee = inst.attr(AttrKey::Callee);
    if (callee == nullptr || callee->kind != AttrValueKind::Function || callee->function == nullptr)
      return check.fail({.kind = StmtPart::Mnemonic}, "call names no function");
  }
  if (inst.opcode() == Opcode::Opaque) {
    const AttrValue *name = inst.attr(AttrKey::OpaqueName);
    if (name == nullptr || name->kind != AttrValueKind::String)
      return check.fail({.kind = StmtPart::Mnemonic}, "opaque has no name");
  }
  return true;
}

} // namespace

bool check_form(StmtCheck &check) {
  return check_result(check) && check_operand_count(check) && check_operand_kinds(check) &&
         check_operators(check) && check_identity(check);
}

SourceRange StmtLocator::locate(const Stmt &stmt, StmtPart) const {
  return SourceRange::at(stmt.source());
}

bool verify_statement(const Instruction &inst, const StmtLocator &locator,
                      DiagnosticEngine &diagnostics) {
  StmtCheck check(inst, locator, diagnostics);
  if (!check_form(check))
    return false;
  const bool attributes = check_attributes(check);
  const bool accesses = check_accesses(check);
  const bool places = check_places(check);
  check_dtypes(check);
  // Shapes follow from attributes and accesses: where those are broken, nothing can be expected.
  if (attributes && accesses && places)
    check_shapes(check);
  return check.ok();
}

} // namespace nir
