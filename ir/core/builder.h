#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "ir/core/module.h"

namespace nir {

// Makes statements at one place of a function: for passes, generators and tests. It checks types
// only as far as it must to make them; the verifier checks the rest.
class Builder {
public:
  explicit Builder(Function &function) : function_(&function), block_(&function.body()) {}

  Function &function() const { return *function_; }
  Module &module() const { return function_->module(); }
  Block &block() const { return *block_; }
  void insert_at_end(Block &block) {
    block_ = &block;
    before_ = nullptr;
  }
  void insert_before(Stmt &stmt) {
    block_ = stmt.parent();
    before_ = &stmt;
  }
  // Marks what is made from here on, as passes do with what they insert.
  void set_autocast(Name pass) { autocast_ = pass; }
  void set_source(SourceOffset source) { source_ = source; }

  // Types; the shape must be a legal one.
  const Type *type(DType dtype, std::span<const std::int64_t> shape);
  const Type *type(DType dtype, std::initializer_list<std::int64_t> shape) {
    return type(dtype, std::span(shape.begin(), shape.size()));
  }
  Tensor *tensor(std::string_view name, const Type *type, Space space, Role role = Role::Internal,
                 ConstData *init = nullptr);
  // A box of a tensor: one AccessDim a dimension.
  Operand access(Tensor *tensor, std::span<const AccessDim> dims) const;
  Operand access(Tensor *tensor, std::initializer_list<AccessDim> dims) const {
    return access(tensor, std::span(dims.begin(), dims.size()));
  }
  // The whole tensor under another dtype of the same size.
  Operand view(Tensor *tensor, DType dtype) const;
  std::span<const AffineTerm> terms(std::initializer_list<AffineTerm> list) const;

  Loop *loop(std::string_view variable, std::int64_t lo, std::int64_t hi, std::int64_t step = 1);

  // Attribute lists.
  const AttrList *ints(AttrKey key, std::initializer_list<std::int64_t> values);

  // The general way; the others are short forms of it.
  Instruction *create(const InstructionDesc &desc);
  Instruction *load(Operand access, DType dtype);
  Instruction *load(Tensor *tensor) { return load({tensor, nullptr}, tensor->dtype()); }
  Instruction *store(Value *value, Operand access);
  Instruction *tensor_copy(Operand src, DType dtype);
  Instruction *tensor_copy(Value *src, DType dtype) { return tensor_copy({src, nullptr}, dtype); }
  Instruction *tensor_copy_to(Operand src, Operand dst);
  Instruction *activation(ActivationFn fn, Operand src, DType dtype);
  Instruction *activation(ActivationFn fn, Value *src, DType dtype) {
    return activation(fn, {src, nullptr}, dtype);
  }
  Instruction *tensor_scalar(Operand src, AluOp op, float scalar, DType dtype);
  Instruction *tensor_tensor(AluOp op, Operand a, Operand b, DType dtype);
  Instruction *tensor_reduce(AluOp op, Operand src, std::initializer_list<std::int64_t> axes,
                             DType dtype);

private:
  const Type *operand_type(const Operand &operand, DType dtype) const;
  Function *function_;
  Block *block_;
  Stmt *before_ = nullptr;
  Name autocast_;
  SourceOffset source_ = no_source;
};

} // namespace nir
