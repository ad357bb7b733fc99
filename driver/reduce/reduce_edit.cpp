#include "driver/reduce/reduce_edit.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/core/builder.h"

namespace nir {
namespace {

// What the whole copy shares: the new module, and what the old one's functions and types became.
class ModuleRebuild {
public:
  ModuleRebuild(const Module &old, const EditSet &edits)
      : old_(old), edits_(edits), module_(std::make_unique<Module>()) {}

  Module &module() { return *module_; }
  const EditSet &edits() const { return edits_; }
  bool has(Edit::Kind kind, const void *object, std::uint64_t index = 0) const {
    return edits_.has(kind, object, index);
  }
  std::unique_ptr<Module> finish() { return failed_ ? nullptr : std::move(module_); }

  void copy_header();
  void declare_functions();
  // nullptr where it is dropped.
  Function *function(const Function *old) const {
    const auto found = functions_.find(old);
    return found == functions_.end() ? nullptr : found->second;
  }

  Name name(Name old) {
    return old.empty() || old.is_number() ? old : module_->intern(old_.names().view(old));
  }
  // Extents, also as they stand in subscripts: a multiple of one stays that multiple.
  std::int64_t extent(std::int64_t old) const;
  std::int64_t offset(std::int64_t old) const;
  const Type *type(DType dtype, std::span<const std::int64_t> old_shape);
  const Type *type(const Type *old) { return type(old->dtype(), old->shape()); }
  AttrValue value(const AttrValue &old);

private:
  const Module &old_;
  const EditSet &edits_;
  std::unique_ptr<Module> module_;
  std::unordered_map<const Function *, Function *> functions_;
  bool failed_ = false;
};

void ModuleRebuild::copy_header() {
  module_->set_target(old_.target());
  if (!old_.has_header() || has(Edit::DropHeader, &old_))
    return;
  module_->set_header(name(old_.name()));
  module_->set_prints_target(old_.prints_target());
}

void ModuleRebuild::declare_functions() {
  for (const Function *function : old_.functions())
    if (!has(Edit::DropFunction, function))
      functions_[function] = module_->declare_function(name(function->name()));
}

std::int64_t ModuleRebuild::extent(std::int64_t old) const {
  const auto key = static_cast<std::uint64_t>(old);
  if (has(Edit::ShrinkExtent, &old_, key))
    return 1;
  return has(Edit::HalveExtent, &old_, key) ? old / 2 : old;
}

std::int64_t ModuleRebuild::offset(std::int64_t old) const {
  // The largest divisor counts: 256 is two blocks of 128 and not four of 64.
  for (std::int64_t blocks = 1; blocks <= 16; ++blocks)
    if (old != 0 && old % blocks == 0 && extent(std::abs(old / blocks)) != std::abs(old / blocks))
      return (old > 0 ? blocks : -blocks) * extent(std::abs(old / blocks));
  return old;
}

const Type *ModuleRebuild::type(DType dtype, std::span<const std::int64_t> old_shape) {
  std::vector<std::int64_t> shape;
  for (const std::int64_t dim : old_shape)
    shape.push_back(extent(dim));
  const auto found = module_->types().get(dtype, shape);
  failed_ = failed_ || !found;
  return found.value_or(nullptr);
}

// Recursion is as deep as an attribute list may be, which the language bounds.
AttrValue ModuleRebuild::value(const AttrValue &old) {
  Arena &arena = module_->arena();
  switch (old.kind) {
  case AttrValueKind::Word:
    return AttrValue::of_word(arena.copy(old.text()));
  case AttrValueKind::String:
    return AttrValue::of_string(arena.copy(old.text()));
  case AttrValueKind::IntList:
    return AttrValue::of_ints(arena.copy(old.ints()));
  case AttrValueKind::List: {
    std::vector<AttrValue> items;
    for (const AttrValue &item : old.list())
      items.push_back(value(item));
    return AttrValue::of_list(arena.copy(std::span<const AttrValue>(items)));
  }
  case AttrValueKind::Function:
    return AttrValue::of_function(function(old.function));
  default:
    return old;
  }
}

// Values in sight, by type, in order of definition.
class VisibleValues {
public:
  void add(Value *value) {
    by_type_[value->type()].push_back(value);
    log_.push_back(value->type());
  }
  // The first one of the type; nullptr where there is none.
  Value *first(const Type *type) const {
    const auto found = by_type_.find(type);
    return found == by_type_.end() || found->second.empty() ? nullptr : found->second.front();
  }
  std::size_t mark() const { return log_.size(); }
  void forget_since(std::size_t mark) {
    for (; log_.size() > mark; log_.pop_back())
      by_type_[log_.back()].pop_back();
  }

private:
  std::unordered_map<const Type *, std::vector<Value *>> by_type_;
  std::vector<const Type *> log_;
};

class FunctionRebuild {
public:
  FunctionRebuild(ModuleRebuild &module, const Function &old, Function &copy)
      : m_(module), old_(old), copy_(copy) {}
  void run();

private:
  // A block of the old function that is being copied; `block` is nullptr where it goes.
  struct Frame {
    const Block *old;
    Block *block;
    std::size_t visible;
  };

  void copy_tensor(const Tensor &tensor);
  ConstData *copy_init(const Tensor &tensor, const Type *type);
  void enter(const Loop &loop);
  void leave_to(const Block *block);
  void copy_instruction(const Instruction &inst);

  std::optional<std::vector<Operand>> operands(const Instruction &inst);
  std::optional<std::vector<Operand>> call_operands(const Instruction &inst);
  std::optional<Operand> operand(const Instruction &inst, const Use &use);
  Operand access(const Use &use, Tensor *tensor);
  AccessDim access_dim(const AccessDim &old, bool plain);
  const AttrList *attributes(const Instruction &inst);
  std::uint16_t flags(const Instruction &inst) const;

  bool is_needed(const Instruction &inst, const Type *type) const;
  void replace(const Instruction &inst);
  Value *zeros(const Type *type);
  Instruction *insert(const InstructionDesc &desc);
  Name name(const Stmt &stmt);
  Block &block() { return *frames_.back().block; }

  ModuleRebuild &m_;
  const Function &old_;
  Function &copy_;
  std::vector<Frame> frames_;
  VisibleValues visible_;
  std::unordered_map<const Value *, Value *> values_; // nullptr: there is none in its place
  std::unordered_map<const Tensor *, Tensor *> tensors_;
  std::unordered_map<const Loop *, const Loop *> loops_; // nullptr: the body stands alone
  std::unordered_set<std::uint32_t> names_;
  std::vector<Instruction *> replacements_; // in order
};

void FunctionRebuild::run() {
  copy_.set_strict(old_.is_strict() && !m_.has(Edit::DropStrict, &old_));
  for (const Tensor *tensor = old_.first_tensor(); tensor != nullptr; tensor = tensor->next())
    if (!m_.has(Edit::DropTensor, tensor))
      copy_tensor(*tensor);
  frames_.push_back({&old_.body(), &copy_.body(), 0});
  for (const Stmt &stmt : old_.statements()) {
    leave_to(stmt.parent());
    if (const Loop *loop = dyn_cast<Loop>(&stmt))
      enter(*loop);
    else if (frames_.back().block != nullptr)
      copy_instruction(*cast<Instruction>(&stmt));
  }
  for (std::size_t i = replacements_.size(); i > 0; --i)
    if (replacements_[i - 1]->use_empty())
      replacements_[i - 1]->erase();
}

void FunctionRebuild::copy_tensor(const Tensor &tensor) {
  const Type *type = m_.type(tensor.type());
  if (type == nullptr)
    return;
  const bool internal = m_.has(Edit::MakeInternal, &tensor);
  const Role role = internal ? Role::Internal : tensor.role();
  ConstData *init = role == Role::Const ? copy_init(tensor, type) : nullptr;
  tensors_[&tensor] = copy_.add_tensor(m_.name(tensor.name()), type, tensor.space(), role, init);
}

ConstData *FunctionRebuild::copy_init(const Tensor &tensor, const Type *type) {
  ConstData data = *tensor.init();
  const std::size_t item = sizeinbytes(type->dtype());
  if (m_.has(Edit::SplatInit, &tensor)) {
    data.form = InitForm::Splat;
    data.bytes.resize(item);
  }
  if (data.form != InitForm::Splat)
    data.bytes.resize(static_cast<std::size_t>(type->num_elements()) * item);
  return m_.module().add_const_data(std::move(data));
}

void FunctionRebuild::enter(const Loop &loop) {
  Frame frame{&loop.body(), nullptr, visible_.mark()};
  const bool goes = frames_.back().block == nullptr || m_.has(Edit::DropStmt, &loop);
  if (!goes && m_.has(Edit::UnwrapLoop, &loop)) {
    loops_[&loop] = nullptr;
    frame.block = &block();
    // What the body defines stays in sight.
    frames_.push_back(frame);
    return;
  }
  if (!goes) {
    const bool once = m_.has(Edit::ShrinkLoop, &loop);
    Loop *copy = block().insert_loop(name(loop), loop.lo(), once ? loop.lo() + 1 : loop.hi(),
                                     once ? 1 : loop.step());
    loops_[&loop] = copy;
    frame.block = &copy->body();
  }
  frames_.push_back(frame);
}

void FunctionRebuild::leave_to(const Block *block) {
  while (frames_.back().old != block) {
    const Frame frame = frames_.back();
    frames_.pop_back();
    if (frame.block != frames_.back().block)
      visible_.forget_since(frame.visible);
  }
}

// Names that unwrapping a loop has made visible twice are given up.
Name FunctionRebuild::name(const Stmt &stmt) {
  const Name name = m_.has(Edit::DropName, &stmt) ? Name() : m_.name(stmt.name());
  return name.empty() || names_.insert(name.bits()).second ? name : Name();
}

Instruction *FunctionRebuild::insert(const InstructionDesc &desc) {
  Instruction *inst = block().insert_instruction(desc);
  if (inst->defines_value())
    visible_.add(inst);
  return inst;
}

// A value of the type that says nothing; nullptr where the language has none.
Value *FunctionRebuild::zeros(const Type *type) {
  const DType dtype = type->dtype();
  if (!is_x4_dtype(dtype) && dtype != DType::Float8E8m0fnu) {
    const Operand number{m_.module().immediate(dtype, 0), nullptr};
    replacements_.push_back(
        insert({.opcode = Opcode::Memset, .operands = {&number, 1}, .type = type}));
    return replacements_.back();
  }
  for (Tensor *tensor = copy_.first_tensor(); tensor != nullptr; tensor = tensor->next()) {
    if (tensor->type() != type)
      continue;
    const Operand source{tensor, nullptr};
    replacements_.push_back(
        insert({.opcode = Opcode::Load, .operands = {&source, 1}, .type = type}));
    return replacements_.back();
  }
  return nullptr;
}

// Others use in place of its value an operand of the same type, or what else there is.
void FunctionRebuild::replace(const Instruction &inst) {
  if (!inst.defines_value() || inst.use_empty())
    return;
  Value *&value = values_[&inst];
  value = nullptr;
  const Type *type = m_.type(inst.type());
  if (type == nullptr)
    return;
  for (const Use &use : inst.operands()) {
    const auto found = use.is_access() ? values_.end() : values_.find(use.value());
    if (found == values_.end() || found->second == nullptr || found->second->type() != type)
      continue;
    value = found->second;
    return;
  }
  value = visible_.first(type);
  if (value == nullptr)
    value = zeros(type);
}

AccessDim FunctionRebuild::access_dim(const AccessDim &old, bool plain) {
  AccessDim dim{.size = m_.extent(old.size)};
  if (plain)
    return dim;
  dim.stride = old.stride;
  dim.constant = m_.offset(old.constant);
  std::vector<AffineTerm> terms;
  for (const AffineTerm &term : old.terms) {
    const Loop *loop = loops_.at(term.loop);
    const std::int64_t factor = m_.offset(term.factor);
    if (loop != nullptr)
      terms.push_back({loop, factor});
    else
      dim.constant += factor * term.loop->lo();
  }
  dim.terms = m_.module().arena().copy(std::span<const AffineTerm>(terms));
  return dim;
}

Operand FunctionRebuild::access(const Use &use, Tensor *tensor) {
  if (use.access() == nullptr)
    return {tensor, nullptr};
  const bool plain = m_.has(Edit::PlainAccess, use.user(), use.index());
  std::vector<AccessDim> dims;
  bool whole = true;
  for (const AccessDim &old : use.access()->dims()) {
    const AccessDim &dim = dims.emplace_back(access_dim(old, plain));
    whole = whole && dim.terms.empty() && dim.constant == 0 && dim.stride == 1 &&
            dim.size == tensor->shape()[dims.size() - 1];
  }
  const bool reinterprets = use.access()->reinterprets();
  if (whole && !reinterprets)
    return {tensor, nullptr};
  const Type *box = m_.type(use.dtype(), use.access()->shape());
  if (box == nullptr)
    return {tensor, nullptr};
  return {tensor, Access::create(m_.module().arena(), box, dims, whole, reinterprets)};
}

// Nothing where there is none any more.
std::optional<Operand> FunctionRebuild::operand(const Instruction &inst, const Use &use) {
  if (const auto *number = dyn_cast<Immediate>(use.value()))
    return Operand{m_.module().immediate(number->dtype(), number->bits()), nullptr};
  const bool forward = m_.has(Edit::ForwardOperand, &inst, use.index());
  const auto type = [&] { return m_.type(use.dtype(), use.shape()); };
  if (const Tensor *tensor = use.tensor()) {
    const auto found = tensors_.find(tensor);
    if (found != tensors_.end() && !forward)
      return access(use, found->second);
    if (inst.has_trait(op_trait::Offloaded) || inst.opcode() == Opcode::Load)
      return std::nullopt;
  }
  Value *value = nullptr;
  if (forward || use.is_access()) {
    if (const Type *wanted = type()) {
      value = visible_.first(wanted);
      value = value != nullptr ? value : zeros(wanted);
    }
  } else {
    value = values_.at(use.value());
  }
  if (value == nullptr)
    return std::nullopt;
  return Operand{value, nullptr};
}

// What is passed for a parameter that stays one.
std::optional<std::vector<Operand>> FunctionRebuild::call_operands(const Instruction &inst) {
  if (m_.function(inst.callee()) == nullptr)
    return std::nullopt;
  const std::vector<Tensor *> parameters = inst.callee()->interface();
  std::vector<Operand> result;
  for (const Use &use : inst.operands()) {
    const Tensor *parameter = parameters[use.index()];
    if (m_.has(Edit::DropTensor, parameter) || m_.has(Edit::MakeInternal, parameter))
      continue;
    const auto found = tensors_.find(use.tensor());
    if (found == tensors_.end())
      return std::nullopt;
    result.push_back({found->second, nullptr});
  }
  return result;
}

std::optional<std::vector<Operand>> FunctionRebuild::operands(const Instruction &inst) {
  if (inst.opcode() == Opcode::Call)
    return call_operands(inst);
  std::vector<Operand> result;
  for (const Use &use : inst.operands()) {
    if (m_.has(Edit::DropOperand, &inst, use.index()))
      continue;
    if (const auto copied = operand(inst, use))
      result.push_back(*copied);
    else if (inst.opcode() != Opcode::Opaque)
      return std::nullopt;
  }
  return result;
}

const AttrList *FunctionRebuild::attributes(const Instruction &inst) {
  if (inst.attrs() == nullptr)
    return nullptr;
  std::vector<Attr> attrs;
  std::size_t place = 0;
  for (const Attr &old : inst.attrs()->items()) {
    if (m_.has(Edit::DropAttribute, &inst, place++))
      continue;
    Attr attr = old;
    attr.custom_name = m_.name(old.custom_name);
    attr.value = m_.value(old.value);
    if (old.key == AttrKey::Size || old.key == AttrKey::Start) {
      std::vector<std::int64_t> ints;
      for (const std::int64_t item : old.value.ints())
        ints.push_back(old.key == AttrKey::Size ? m_.extent(item) : m_.offset(item));
      attr.value =
          AttrValue::of_ints(m_.module().arena().copy(std::span<const std::int64_t>(ints)));
    }
    attrs.push_back(attr);
  }
  return attrs.empty() ? nullptr : AttrList::create(m_.module().arena(), attrs);
}

std::uint16_t FunctionRebuild::flags(const Instruction &inst) const {
  std::uint16_t flags = 0;
  for (unsigned bit = inst_flag::Reverse0; bit <= inst_flag::Fixed; bit <<= 1)
    if (inst.has_flag(static_cast<std::uint16_t>(bit)) && !m_.has(Edit::DropFlag, &inst, bit))
      flags = static_cast<std::uint16_t>(flags | bit);
  return flags;
}

// Whether nothing but another memset could stand in its place.
bool FunctionRebuild::is_needed(const Instruction &inst, const Type *type) const {
  return inst.opcode() == Opcode::Memset && type != nullptr && !inst.use_empty() &&
         visible_.first(type) == nullptr;
}

void FunctionRebuild::copy_instruction(const Instruction &inst) {
  const Use *dst = inst.dst();
  const Type *type = inst.defines_value() ? m_.type(inst.type()) : nullptr;
  const bool has_no_dst = dst != nullptr && !tensors_.contains(dst->tensor());
  if (has_no_dst || (m_.has(Edit::DropStmt, &inst) && !is_needed(inst, type)))
    return replace(inst);
  if (m_.has(Edit::BecomeMemset, &inst)) {
    if (Value *value = type != nullptr ? zeros(type) : nullptr) {
      value->set_name(name(inst));
      values_[&inst] = value;
      return;
    }
    return replace(inst);
  }
  const auto copied = operands(inst);
  if (!copied)
    return replace(inst);
  InstructionDesc desc{.opcode = inst.opcode(), .operands = *copied, .type = type};
  if (inst.opcode() == Opcode::Activation)
    desc.fn = static_cast<std::uint8_t>(inst.fn());
  else
    desc.op0 = static_cast<std::uint8_t>(inst.op(0));
  desc.flags = flags(inst);
  if (inst.opcode() == Opcode::TensorScalar && copied->size() > 2)
    desc.op1 = static_cast<std::uint8_t>(inst.op(1));
  else
    desc.flags = static_cast<std::uint16_t>(desc.flags & ~inst_flag::Reverse1);
  if (dst != nullptr)
    desc.dst = access(*dst, tensors_.at(dst->tensor()));
  desc.name = name(inst);
  if (!m_.has(Edit::DropAutocast, &inst))
    desc.autocast = m_.name(inst.autocast());
  desc.attrs = attributes(inst);
  values_[&inst] = insert(desc);
}

} // namespace

std::size_t EditSet::Hash::operator()(const Edit &edit) const {
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(edit.object);
  hash = (hash ^ (edit.index << 8) ^ edit.kind) * 0x9E37'79B9'7F4A'7C15u;
  return hash ^ (hash >> 32);
}

std::unique_ptr<Module> rebuild(const Module &module, const EditSet &edits) {
  ModuleRebuild copy(module, edits);
  copy.copy_header();
  copy.declare_functions();
  for (const Function *old : module.functions()) {
    Function *function = copy.function(old);
    if (function == nullptr)
      continue;
    FunctionRebuild(copy, *old, *function).run();
    copy.module().define(function);
  }
  return copy.finish();
}

} // namespace nir
