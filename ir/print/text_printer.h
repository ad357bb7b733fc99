// How a module becomes text, shared by the sources of this room: one class, whose parts are the
// statements (printer.cpp), tensors and accesses (print_tensor.cpp) and attributes
// (print_attribute.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ir/core/module.h"
#include "ir/print/print_text.h"
#include "ir/support/scratch_map.h"

namespace nir {

class Printer {
public:
  Printer(const NameTable &names, TextBuffer &out) : names_(names), out_(out) {}

  void print_module(const Module &module);
  void print_header(const Module &module);
  void print_function(const Function &function);
  void print_stmt(const Stmt &stmt);
  void print_operand(const Use &use);

private:
  void number_unnamed(const Function &function);
  void print_body(const Block &body);
  void print_loop_header(const Loop &loop);
  void print_instruction(const Instruction &inst);
  void print_instruction_body(const Instruction &inst);
  void print_operands(const Instruction &inst);
  void print_operands_with_operators(const Instruction &inst);

  void print_tensor(const Tensor &tensor);
  void print_init(const Tensor &tensor);
  void print_hex(const ConstData &data);
  void print_access(const Tensor &tensor, const Access *access);
  void print_dim(const AccessDim &dim);
  void print_affine(const AccessDim &dim);

  void print_attributes(const Instruction &inst);
  void print_marks(const Instruction &inst);
  void print_opaque_attributes(const AttrList &attrs);
  void print_attribute(const Instruction &inst, AttrKey key);
  void start_attribute();
  void print_attr_value(const AttrValue &value);
  void print_attr_scalar(const AttrValue &value);
  void print_int_list(std::span<const std::int64_t> ints);

  void print_string(std::string_view text);
  void print_code(DType dtype, std::uint64_t code);
  void print_type(const Type &type);
  void print_name(char sigil, Name name);
  void print_value_name(const Stmt &stmt);
  void print_indent(unsigned depth);

  const NameTable &names_;
  TextBuffer &out_;
  TextCache<Type> types_;
  TextCache<Immediate> numbers_;
  ScratchMap<const Stmt *, std::uint32_t> unnamed_; // the numbers of values without a name
  std::string scratch_;
  bool any_attribute_ = false; // of the instruction at hand
};

} // namespace nir
