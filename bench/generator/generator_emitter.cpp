#include "bench/generator/generator_emitter.h"

#include <array>
#include <bit>

#include "ir/numeric/float_format.h"

namespace nir {

Emitter::Emitter(const GeneratorOptions &options)
    : module_(std::make_unique<Module>()), random_(options.seed), size_(options.size),
      legal_(options.legal), small_(options.small.value_or(options.size < small_size)) {
  module_->set_target(options.target);
  module_->set_header(module_->intern(options.shape));
  module_->set_prints_target(true);
}

Function *Emitter::begin_function(std::string_view name) {
  const Name id = name.empty() ? Name::number(next_function_++) : module_->intern(name);
  Function *function = module_->add_function(id);
  builder_.emplace(*function);
  next_value_ = 0;
  next_tensor_ = 0;
  return function;
}

Loop *Emitter::begin_loop(std::int64_t trips, std::int64_t step, std::int64_t lo) {
  Loop *loop = builder_->block().insert_loop(Name::number(next_value_++), lo,
                                             lo + (trips - 1) * step + 1, step);
  ++count_;
  loops_.push_back(loop);
  builder_->insert_at_end(loop->body());
  return loop;
}

void Emitter::end_loop() {
  builder_->insert_at_end(*loops_.back()->parent());
  loops_.pop_back();
}

Tensor *Emitter::tensor(const Type *type, Space space, Role role, std::string_view name,
                        ConstData *init) {
  const Name id = name.empty() ? Name::number(next_tensor_++) : module_->intern(name);
  return builder_->function().add_tensor(id, type, space, role, init);
}

AccessDim Emitter::dim(const Loop *loop, std::int64_t factor, std::int64_t constant,
                       std::int64_t size) {
  AccessDim result{.constant = constant, .size = size};
  if (loop != nullptr)
    result.terms = builder_->terms({{loop, factor}});
  return result;
}

Operand Emitter::rows(Tensor *tensor, const Loop *loop, std::int64_t first, std::int64_t count) {
  return box(tensor, {dim(loop, count, first, count), {.size = tensor->shape()[1]}});
}

Instruction *Emitter::add(Instruction *inst) {
  if (inst->defines_value())
    inst->set_name(Name::number(next_value_++));
  ++count_;
  return inst;
}

Instruction *Emitter::activation_bias(ActivationFn fn, Value *src, Value *bias, DType dtype) {
  const std::array<Operand, 2> operands{Operand{src, nullptr}, Operand{bias, nullptr}};
  return add(builder_->create({.opcode = Opcode::Activation,
                               .fn = static_cast<std::uint8_t>(fn),
                               .operands = operands,
                               .type = builder_->type(dtype, src->shape())}));
}

Instruction *Emitter::scalar(Operand src, AluOp op, Operand by, DType dtype) {
  const std::array<Operand, 2> operands{src, by};
  return add(builder_->create({.opcode = Opcode::TensorScalar,
                               .op0 = static_cast<std::uint8_t>(op),
                               .operands = operands,
                               .type = builder_->type(dtype, src.value->shape())}));
}

Instruction *Emitter::transpose(Value *src) {
  const Operand operand{src, nullptr};
  return add(builder_->create({.opcode = Opcode::Transpose,
                               .operands = {&operand, 1},
                               .type = type(src->dtype(), {src->shape()[1], src->shape()[0]}),
                               .attrs = builder_->ints(AttrKey::Perm, {1, 0})}));
}

void Emitter::matmul(Value *stationary, Value *moving, Tensor *psum, bool accumulate) {
  const std::array<Operand, 2> operands{Operand{stationary, nullptr}, Operand{moving, nullptr}};
  write({.opcode = Opcode::Matmul,
         .operands = operands,
         .flags = accumulate ? inst_flag::Accumulate : std::uint16_t{0}},
        {psum, nullptr});
}

void Emitter::fill(float number, Operand dst) {
  const std::uint64_t code =
      encode_from_fp32(dst.value->dtype(), std::bit_cast<std::uint32_t>(number));
  const Operand operand{module_->immediate(dst.value->dtype(), code), nullptr};
  write({.opcode = Opcode::Memset, .operands = {&operand, 1}}, dst);
}

void Emitter::write(InstructionDesc desc, Operand dst) {
  desc.type = nullptr;
  desc.dst = dst;
  add(builder_->create(desc));
}

} // namespace nir
