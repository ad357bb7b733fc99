#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/core/builder.h"
#include "ir/verify/verifier.h"

namespace nir {

// What an instruction has beside its operands and type.
struct With {
  Operand dst = {};
  const AttrList *attrs = nullptr;
  AluOp op0{};
  AluOp op1{};
  std::uint16_t flags = 0;
  std::string_view name = {};
};

// A module with one function @f and short ways to fill it. Values and tensors are made as a broken
// text or a broken pass would make them: nothing is checked on the way.
class IrTest : public testing::Test {
protected:
  const Type *type(DType dtype, std::initializer_list<std::int64_t> shape) {
    return b.type(dtype, shape);
  }
  Tensor *tensor(std::string_view name, DType dtype, std::initializer_list<std::int64_t> shape,
                 Space space = Space::Sbuf, Role role = Role::Internal) {
    return b.tensor(name, type(dtype, shape), space, role);
  }
  Instruction *make(Opcode opcode, std::initializer_list<Operand> operands,
                    const Type *result = nullptr, const With &with = {}) {
    return b.create({.opcode = opcode,
                     .op0 = static_cast<std::uint8_t>(with.op0),
                     .op1 = static_cast<std::uint8_t>(with.op1),
                     .operands = std::span(operands.begin(), operands.size()),
                     .dst = with.dst,
                     .type = result,
                     .name = with.name.empty() ? Name() : module.intern(with.name),
                     .flags = with.flags,
                     .attrs = with.attrs});
  }
  // A value of the type, from an opaque.
  Instruction *value(DType dtype, std::initializer_list<std::int64_t> shape,
                     std::string_view name = "") {
    return make(
        Opcode::Opaque, {}, type(dtype, shape),
        {.attrs = attrs({attr(AttrKey::OpaqueName, AttrValue::of_string("v"))}), .name = name});
  }
  Instruction *call(Function &callee, std::initializer_list<Operand> operands) {
    return make(Opcode::Call, operands, nullptr,
                {.attrs = attrs({attr(AttrKey::Callee, AttrValue::of_function(&callee))})});
  }
  const AttrList *attrs(std::initializer_list<Attr> list) {
    return AttrList::create(module.arena(), std::span(list.begin(), list.size()));
  }
  static Attr attr(AttrKey key, AttrValue value) { return {key, Name(), value}; }
  Attr ints(AttrKey key, std::initializer_list<std::int64_t> values) {
    const auto copy = module.arena().copy(std::span(values.begin(), values.size()));
    return attr(key, AttrValue::of_ints(copy));
  }
  Immediate *number(DType dtype, std::uint64_t bits) { return module.immediate(dtype, bits); }

  // What the verifier says of the module.
  std::vector<std::string> errors(VerifyLevel level = VerifyLevel::Structure) {
    DiagnosticEngine diagnostics;
    const bool ok = verify(module, level, diagnostics);
    EXPECT_EQ(ok, !diagnostics.has_errors());
    std::vector<std::string> messages;
    for (const Diagnostic &diagnostic : diagnostics.diagnostics())
      messages.push_back(diagnostic.message);
    return messages;
  }

  Module module;
  Function *f = module.add_function(module.intern("f"));
  Builder b{*f};
};

} // namespace nir
