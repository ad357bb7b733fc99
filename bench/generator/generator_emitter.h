#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bench/generator/generator.h"
#include "bench/generator/generator_rng.h"
#include "ir/core/builder.h"

namespace nir {

// What every shape is made with: it numbers what it makes, as text by a front end has it, and
// counts instructions and loops against the wanted size.
class Emitter {
public:
  explicit Emitter(const GeneratorOptions &options);

  Random &random() { return random_; }
  bool legal() const { return legal_; }
  bool small() const { return small_; }
  Module &module() { return *module_; }
  Builder &builder() { return *builder_; }
  // The module, made complete.
  std::unique_ptr<Module> finish() { return std::move(module_); }

  bool wants_more() const { return count_ < size_; }
  std::uint64_t count() const { return count_; }
  std::uint64_t missing() const { return wants_more() ? size_ - count_ : 0; }

  // A new function, in which numbering begins anew. Names are `@name`, or a number where that is
  // empty.
  Function *begin_function(std::string_view name = {});
  // Everything goes into the loop until the matching end.
  Loop *begin_loop(std::int64_t trips, std::int64_t step = 1, std::int64_t lo = 0);
  void end_loop();
  unsigned loop_depth() const { return static_cast<unsigned>(loops_.size()); }
  const std::vector<Loop *> &loops() const { return loops_; }

  const Type *type(DType dtype, std::initializer_list<std::int64_t> shape) {
    return builder_->type(dtype, shape);
  }
  // `$name`, or a number where that is empty.
  Tensor *tensor(const Type *type, Space space, Role role = Role::Internal,
                 std::string_view name = {}, ConstData *init = nullptr);

  // Rows `first + 128 * loop` and on of a matrix, all columns; `loop` may be null.
  Operand rows(Tensor *tensor, const Loop *loop, std::int64_t first, std::int64_t count = 128);
  Operand box(Tensor *tensor, std::initializer_list<AccessDim> dims) {
    return builder_->access(tensor, dims);
  }
  AccessDim dim(const Loop *loop, std::int64_t factor, std::int64_t constant, std::int64_t size);

  // Gives it a number and counts it. Every instruction passes through here.
  Instruction *add(Instruction *inst);
  Instruction *load(Operand access) { return add(builder_->load(access, access.value->dtype())); }
  void store(Value *value, Operand access) { add(builder_->store(value, access)); }
  Instruction *copy(Operand src, DType dtype) { return add(builder_->tensor_copy(src, dtype)); }
  Instruction *copy(Value *src, DType dtype) { return copy(Operand{src, nullptr}, dtype); }
  Instruction *activation(ActivationFn fn, Value *src, DType dtype) {
    return add(builder_->activation(fn, src, dtype));
  }
  Instruction *activation_bias(ActivationFn fn, Value *src, Value *bias, DType dtype);
  Instruction *scalar(Value *src, AluOp op, float number, DType dtype) {
    return add(builder_->tensor_scalar({src, nullptr}, op, number, dtype));
  }
  Instruction *scalar(Operand src, AluOp op, Operand by, DType dtype);
  Instruction *binary(AluOp op, Operand a, Operand b, DType dtype) {
    return add(builder_->tensor_tensor(op, a, b, dtype));
  }
  Instruction *binary(AluOp op, Value *a, Value *b, DType dtype) {
    return binary(op, Operand{a, nullptr}, Operand{b, nullptr}, dtype);
  }
  Instruction *reduce(AluOp op, Value *src, DType dtype) { // over dimension 1
    return add(builder_->tensor_reduce(op, {src, nullptr}, {1}, dtype));
  }
  Instruction *transpose(Value *src); // a matrix
  void matmul(Value *stationary, Value *moving, Tensor *psum, bool accumulate);
  void fill(float number, Operand dst);
  // An instruction that writes `dst` in place of the value that `desc` would define.
  void write(InstructionDesc desc, Operand dst);

private:
  std::unique_ptr<Module> module_;
  std::optional<Builder> builder_;
  Random random_;
  std::uint64_t size_;
  bool legal_;
  bool small_;
  std::uint64_t count_ = 0;
  std::uint32_t next_function_ = 0;
  std::uint32_t next_value_ = 0;
  std::uint32_t next_tensor_ = 0;
  std::vector<Loop *> loops_;
};

// The shapes, one function each; generator.cpp has the table.
void generate_roundtrip(Emitter &emitter);
void generate_attention(Emitter &emitter);
void generate_mlp(Emitter &emitter);
void generate_fanout(Emitter &emitter);
void generate_tensors(Emitter &emitter);
void generate_functions(Emitter &emitter);
void generate_nest(Emitter &emitter);
void generate_random(Emitter &emitter);

} // namespace nir
