#include "ir/core/instruction.h"

#include <array>

#include "ir/core/module.h"

namespace nir {

std::uint16_t flag_bit(AttrKey key) {
  switch (key) {
  case AttrKey::Reverse0:
    return inst_flag::Reverse0;
  case AttrKey::Reverse1:
    return inst_flag::Reverse1;
  case AttrKey::ExactInts:
    return inst_flag::ExactInts;
  case AttrKey::Accumulate:
    return inst_flag::Accumulate;
  case AttrKey::Fixed:
    return inst_flag::Fixed;
  default:
    return 0;
  }
}

[[gnu::always_inline]] inline Instruction::Instruction(const InstructionDesc &desc)
    : Stmt(ValueKind::Instruction, desc.type, desc.name),
      num_uses_(static_cast<std::uint32_t>(desc.operands.size()) +
                (desc.dst.value != nullptr ? 1 : 0)),
      autocast_(desc.autocast), flags_(desc.flags) {
  tag_[0] = static_cast<std::uint8_t>(desc.opcode);
  // An opcode has a function or operators, never both.
  tag_[1] = desc.opcode == Opcode::Activation ? desc.fn : desc.op0;
  tag_[2] = desc.op1;
  source_ = desc.source;
  attrs_ = desc.attrs;
  set_flag(inst_flag::HasDst, desc.dst.value != nullptr);
}

Instruction *Instruction::create(Arena &arena, const InstructionDesc &desc) {
  const std::size_t num_uses = desc.operands.size() + (desc.dst.value != nullptr ? 1 : 0);
  void *memory = arena.allocate(sizeof(Instruction) + num_uses * sizeof(Use), alignof(Instruction));
  auto *inst = new (memory) Instruction(desc);
  for (std::uint32_t i = 0; i < num_uses; ++i) {
    const Operand &operand = i < desc.operands.size() ? desc.operands[i] : desc.dst;
    auto *use = new (inst->first_use() + i) Use(i);
    use->set(operand.value, operand.access);
  }
  return inst;
}

std::span<const std::int64_t> Instruction::int_list(AttrKey key) const {
  static constexpr std::array<std::int64_t, 1> zero{0};
  if (const AttrValue *value = attr(key))
    return value->ints();
  if (info(key).default_text == "[0]")
    return zero;
  return {};
}

std::int64_t Instruction::int_attr(AttrKey key) const {
  const AttrValue *value = attr(key);
  return value == nullptr ? 0 : value->integer;
}

Function *Instruction::callee() const { return attr(AttrKey::Callee)->function; }

std::string_view Instruction::opaque_name() const { return attr(AttrKey::OpaqueName)->text(); }

bool reads(const Use &use) {
  const Instruction &user = *use.user();
  if (&use == user.dst())
    return user.accumulates() || user.opcode() == Opcode::Opaque;
  if (user.opcode() == Opcode::Call)
    return use.index() < user.callee()->num_inputs();
  return true;
}

bool writes(const Use &use) {
  const Instruction &user = *use.user();
  if (!use.is_access())
    return false;
  if (&use == user.dst())
    return true;
  if (user.opcode() == Opcode::Call)
    return use.index() >= user.callee()->num_inputs();
  if (user.opcode() != Opcode::Opaque)
    return false;
  const Role role = use.tensor()->role();
  return role != Role::Input && role != Role::Const;
}

} // namespace nir
