#include "ir/core/builder.h"

#include <array>
#include <bit>

namespace nir {

const Type *Builder::type(DType dtype, std::span<const std::int64_t> shape) {
  return module().types().get(dtype, shape).value();
}

Tensor *Builder::tensor(std::string_view name, const Type *type, Space space, Role role,
                        ConstData *init) {
  return function_->add_tensor(module().intern(name), type, space, role, init, source_);
}

Operand Builder::access(Tensor *tensor, std::span<const AccessDim> dims) const {
  std::vector<std::int64_t> sizes;
  bool whole = true;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const AccessDim &dim = dims[i];
    sizes.push_back(dim.size);
    whole = whole && dim.terms.empty() && dim.constant == 0 && dim.size == tensor->shape()[i];
  }
  if (whole)
    return {tensor, nullptr};
  const Type *box = module().types().get(tensor->dtype(), sizes).value();
  return {tensor, Access::create(module().arena(), box, dims, false, false)};
}

Operand Builder::view(Tensor *tensor, DType dtype) const {
  std::vector<AccessDim> dims;
  for (const std::int64_t size : tensor->shape())
    dims.push_back({.size = size});
  const Type *box = module().types().get(dtype, tensor->shape()).value();
  return {tensor, Access::create(module().arena(), box, dims, true, true)};
}

std::span<const AffineTerm> Builder::terms(std::initializer_list<AffineTerm> list) const {
  return module().arena().copy(std::span(list.begin(), list.size()));
}

Loop *Builder::loop(std::string_view variable, std::int64_t lo, std::int64_t hi,
                    std::int64_t step) {
  return block_->insert_loop(module().intern(variable), lo, hi, step, before_, source_);
}

const AttrList *Builder::ints(AttrKey key, std::initializer_list<std::int64_t> values) {
  Attr attr;
  attr.key = key;
  attr.value = AttrValue::of_ints(module().arena().copy(std::span(values.begin(), values.size())));
  return AttrList::create(module().arena(), {&attr, 1});
}

Instruction *Builder::create(const InstructionDesc &desc) {
  InstructionDesc marked = desc;
  if (marked.autocast.empty())
    marked.autocast = autocast_;
  if (marked.source == no_source)
    marked.source = source_;
  return block_->insert_instruction(marked, before_);
}

const Type *Builder::operand_type(const Operand &operand, DType dtype) const {
  const auto shape = operand.access != nullptr ? operand.access->shape() : operand.value->shape();
  return module().types().get(dtype, shape).value();
}

Instruction *Builder::load(Operand access, DType dtype) {
  return create(
      {.opcode = Opcode::Load, .operands = {&access, 1}, .type = operand_type(access, dtype)});
}

Instruction *Builder::store(Value *value, Operand access) {
  const Operand src{value, nullptr};
  return create({.opcode = Opcode::Store, .operands = {&src, 1}, .dst = access});
}

Instruction *Builder::tensor_copy(Operand src, DType dtype) {
  return create(
      {.opcode = Opcode::TensorCopy, .operands = {&src, 1}, .type = operand_type(src, dtype)});
}

Instruction *Builder::tensor_copy_to(Operand src, Operand dst) {
  return create({.opcode = Opcode::TensorCopy, .operands = {&src, 1}, .dst = dst});
}

Instruction *Builder::activation(ActivationFn fn, Operand src, DType dtype) {
  return create({.opcode = Opcode::Activation,
                 .fn = static_cast<std::uint8_t>(fn),
                 .operands = {&src, 1},
                 .type = operand_type(src, dtype)});
}

Instruction *Builder::tensor_scalar(Operand src, AluOp op, float scalar, DType dtype) {
  Value *number = module().immediate(DType::Float32, std::bit_cast<std::uint32_t>(scalar));
  const std::array<Operand, 2> operands{src, Operand{number, nullptr}};
  return create({.opcode = Opcode::TensorScalar,
                 .op0 = static_cast<std::uint8_t>(op),
                 .operands = operands,
                 .type = operand_type(src, dtype)});
}

Instruction *Builder::tensor_tensor(AluOp op, Operand a, Operand b, DType dtype) {
  const std::array<Operand, 2> operands{a, b};
  return create({.opcode = Opcode::TensorTensor,
                 .op0 = static_cast<std::uint8_t>(op),
                 .operands = operands,
                 .type = operand_type(a, dtype)});
}

Instruction *Builder::tensor_reduce(AluOp op, Operand src, std::initializer_list<std::int64_t> axes,
                                    DType dtype) {
  const auto shape = src.access != nullptr ? src.access->shape() : src.value->shape();
  std::vector<std::int64_t> reduced(shape.begin(), shape.end());
  for (const std::int64_t axis : axes)
    reduced[static_cast<std::size_t>(axis)] = 1;
  return create({.opcode = Opcode::TensorReduce,
                 .op0 = static_cast<std::uint8_t>(op),
                 .operands = {&src, 1},
                 .type = type(dtype, reduced),
                 .attrs = ints(AttrKey::Axes, axes)});
}

} // namespace nir
