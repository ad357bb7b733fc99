#pragma once

#include "ir/core/access.h"
#include "ir/core/value.h"
#include "ir/isa/attribute.h"
#include "ir/isa/opcode.h"

namespace nir {

class Block;
class Function;
class Loop;
class Module;

// A position in the module's source: a byte offset, or none for what passes made from nothing.
using SourceOffset = std::uint32_t;
constexpr SourceOffset no_source = ~SourceOffset{0};

// What a block holds: an instruction or a loop.
class Stmt : public Value {
public:
  static bool classof(const Value *value) {
    return value->kind() == ValueKind::Instruction || value->kind() == ValueKind::Loop;
  }
  Stmt *prev() const { return prev_; }
  Stmt *next() const { return next_; }
  Block *parent() const { return parent_; }
  Function *function() const;
  // The loop around it; nullptr at the top of the function.
  Loop *parent_loop() const;
  SourceOffset source() const { return source_; }
  void set_source(SourceOffset source) { source_ = source; }

  // Its place in program order, as Function::renumber last left it: a loop counts before its body.
  std::uint32_t order() const { return order_; }

protected:
  using Value::Value;
  friend class Block;
  friend class Function;
  RelPtr<Stmt> prev_;
  RelPtr<Stmt> next_;
  RelPtr<Block> parent_;
  std::uint32_t order_ = 0;
  SourceOffset source_ = no_source;
};

// Flag bits of an instruction: an AttrKey of kind Flag each, and whether the last use is a
// destination.
namespace inst_flag {
constexpr std::uint16_t HasDst = 1 << 0;
constexpr std::uint16_t Reverse0 = 1 << 1;
constexpr std::uint16_t Reverse1 = 1 << 2;
constexpr std::uint16_t ExactInts = 1 << 3;
constexpr std::uint16_t Accumulate = 1 << 4;
constexpr std::uint16_t Fixed = 1 << 5;
} // namespace inst_flag

// The bit of a flag attribute.
std::uint16_t flag_bit(AttrKey key);

// An operand as it is handed to creation: a value, a number (Immediate), or a tensor with an
// access.
struct Operand {
  Value *value = nullptr;
  const Access *access = nullptr;
};

// Everything that makes an instruction.
struct InstructionDesc {
  Opcode opcode{};
  std::uint8_t fn = 0;                 // ActivationFn of activation
  std::uint8_t op0 = 0;                // AluOp of tensor_scalar, tensor_tensor and tensor_reduce
  std::uint8_t op1 = 0;                // AluOp of tensor_scalar's second operator
  std::span<const Operand> operands{}; // without the destination
  Operand dst{};                       // value is nullptr where there is none
  const Type *type = nullptr;          // of the defined value; nullptr where it defines none
  Name name{};
  std::uint16_t flags = 0; // inst_flag, HasDst is added
  Name autocast{};
  const AttrList *attrs = nullptr;
  SourceOffset source = no_source;
};

// An engine instruction, data movement, call or opaque. The value that it defines is the
// instruction itself.
class Instruction : public Stmt {
public:
  static bool classof(const Value *value) { return value->kind() == ValueKind::Instruction; }

  Opcode opcode() const { return static_cast<Opcode>(tag_[0]); }
  const OpcodeInfo &opcode_info() const { return info(opcode()); }
  bool has_trait(std::uint16_t trait) const { return opcode_info().has(trait); }
  ActivationFn fn() const { return static_cast<ActivationFn>(tag_[1]); }
  AluOp op(unsigned i = 0) const { return static_cast<AluOp>(tag_[1 + i]); }

  // All operand slots: data operands, then the destination where there is one.
  std::span<Use> uses_of_operands() { return {first_use(), num_uses_}; }
  std::span<const Use> uses_of_operands() const { return {first_use(), num_uses_}; }
  unsigned num_operands() const { return num_uses_ - (has_dst() ? 1 : 0); }
  std::span<Use> operands() { return {first_use(), num_operands()}; }
  std::span<const Use> operands() const { return {first_use(), num_operands()}; }
  Use &operand(unsigned i) { return operands()[i]; }
  const Use &operand(unsigned i) const { return operands()[i]; }

  bool has_dst() const { return has_flag(inst_flag::HasDst); }
  // The access that it writes; nullptr where it defines a value or stands bare.
  Use *dst() { return has_dst() ? first_use() + num_uses_ - 1 : nullptr; }
  const Use *dst() const { return has_dst() ? first_use() + num_uses_ - 1 : nullptr; }
  bool defines_value() const { return type_ != nullptr; }
  bool is_bare() const { return !has_dst() && !defines_value(); }

  // The dtype that it writes (passes, Vocabulary). Not for bare calls and opaques.
  DType dst_dtype() const { return has_dst() ? dst()->dtype() : dtype(); }
  // The shape that it writes.
  std::span<const std::int64_t> dst_shape() const { return has_dst() ? dst()->shape() : shape(); }
  // The first data operand, for select the first arm; nullptr where there is none.
  const Use *src() const;
  Use *src() { return const_cast<Use *>(std::as_const(*this).src()); }

  // The operands that have one dtype in legal form: those of tensor_tensor, the arms of select;
  // empty for other instructions (language reference, Legal form).
  std::span<const Use> matched_operands() const;
  std::span<Use> matched_operands() {
    const std::span<const Use> uses = std::as_const(*this).matched_operands();
    return {const_cast<Use *>(uses.data()), uses.size()};
  }

  std::uint16_t flags() const { return flags_; } // inst_flag
  bool has_flag(std::uint16_t flag) const { return (flags_ & flag) != 0; }
  void set_flag(std::uint16_t flag, bool on) {
    flags_ = static_cast<std::uint16_t>(on ? flags_ | flag : flags_ & ~flag);
  }
  bool is_fixed() const { return has_flag(inst_flag::Fixed); }
  bool exact_ints() const { return has_flag(inst_flag::ExactInts); }
  bool accumulates() const { return has_flag(inst_flag::Accumulate); }
  // The pass that inserted this cast or narrowing; empty where an author wrote it.
  Name autocast() const { return autocast_; }
  void set_autocast(Name pass) { autocast_ = pass; }

  const AttrList *attrs() const { return attrs_; }
  void set_attrs(const AttrList *attrs) { attrs_ = attrs; }
  // An attribute that is no flag; nullptr where it is absent.
  const AttrValue *attr(AttrKey key) const {
    return attrs_ == nullptr ? nullptr : attrs_->find(key);
  }
  // The list of an attribute, its default where it is absent (empty for stride: all ones).
  std::span<const std::int64_t> int_list(AttrKey key) const;
  std::int64_t int_attr(AttrKey key) const; // likewise; the default is 0
  Function *callee() const;                 // of a call
  std::string_view opaque_name() const;     // of an opaque

  // Changes the type of the value that it defines. Callers keep the language's rules.
  void set_result_type(const Type *type) { set_type(type); }

  // Takes it out of its block and gives back its memory. It must have no users.
  void erase();

private:
  friend class Block;
  friend class Use;
  explicit Instruction(const InstructionDesc &desc);
  static Instruction *create(Arena &arena, const InstructionDesc &desc);
  Use *first_use() { return reinterpret_cast<Use *>(this + 1); }
  const Use *first_use() const { return reinterpret_cast<const Use *>(this + 1); }

  std::uint32_t num_uses_;
  RelPtr<const AttrList> attrs_;
  Name autocast_;
  std::uint16_t flags_;
};

static_assert(sizeof(Use) == 20);
static_assert(sizeof(Instruction) == 52, "an instruction's size is a budget: see the design notes");

// Whether the slot reads what its tensor holds; a value operand is always read. `accumulate` reads
// its destination, an opaque reads everything that it is given (passes, Vocabulary).
bool reads(const Use &use);
// Whether the slot writes its tensor: a destination, an output of a call, or what an opaque is
// given and may write.
bool writes(const Use &use);

inline Instruction *Use::user() const {
  auto *first = const_cast<Use *>(this) - index_;
  return reinterpret_cast<Instruction *>(first) - 1;
}

inline const Use *Instruction::src() const {
  const unsigned first = opcode() == Opcode::Select ? 1 : 0;
  return num_operands() > first ? &operand(first) : nullptr;
}

inline std::span<const Use> Instruction::matched_operands() const {
  if (opcode() == Opcode::TensorTensor)
    return operands();
  if (opcode() == Opcode::Select)
    return operands().subspan(1);
  return {};
}

inline Instruction *Use::defining_instruction() const { return dyn_cast<Instruction>(value()); }

inline DType Use::dtype() const { return reinterprets() ? access_->view() : value()->dtype(); }

inline std::span<const std::int64_t> Use::shape() const {
  return access_ != nullptr ? access_->shape() : value()->shape();
}

inline bool Use::reinterprets() const { return access_ != nullptr && access_->reinterprets(); }

} // namespace nir
