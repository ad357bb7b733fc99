#include "tests/unit/support/run_pass.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "ir/core/builder.h"
#include "passes/narrow/dtype_classes.h"
#include "passes/rewrite/rewrite_log.h"

namespace nir::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Large enough that a quadratic pass or a deep recursion does not end.
constexpr int many = 100'000;

PassOutcome run(std::string_view pass, Module &module) {
  return run_once(pass, module, SourceFile("none", ""));
}

TEST(DTypeClasses, TheSmallestMemberStandsForAll) {
  DTypeClasses classes(6);
  classes.join(5, 3);
  classes.join(4, 5);
  classes.join(1, 2);
  EXPECT_EQ(classes.find(4), 3u);
  EXPECT_EQ(classes.find(2), 1u);
  EXPECT_EQ(classes.find(0), 0u);
  classes.join(2, 4);
  EXPECT_EQ(classes.find(5), 1u);
  EXPECT_EQ(classes.find(0), 0u);
}

TEST(AutoCast, EveryPassIsStableOnItsOwnResult) {
  const std::string text = in_function(R"(  tensor $x : float32[4, 4] dram input
  tensor $z : float32[4, 4] sbuf input
  tensor $y : float32[4, 4] dram output
  tensor $t : float32[4, 4] sbuf

  %x = load $x : float32[4, 4]
  activation exp %x -> $t
  %s = tensor_tensor add $t, $z : float32[4, 4]
  %m = matmul %s, $t : float32[4, 4]
  %r = tensor_reduce add %m {axes = [1]} : float32[4, 1]
  %n = tensor_scalar %m, multiply %r : float32[4, 4]
  store %n -> $y
)");
  for (const std::string_view pass : {"auto-cast-fp32", "auto-cast-inputs", "auto-cast-tc-inputs"})
    EXPECT_TRUE(run_pass(pass, text).changed) << pass;
}

TEST(AutoCast, ALongChainOfMoversThatASumReadsStaysWide) {
  Module module;
  Function *function = module.add_function(module.intern("f"));
  Builder builder(*function);
  Tensor *x = builder.tensor("x", builder.type(DType::Float32, {4, 4}), Space::Dram, Role::Input);
  Value *value = builder.load(x);
  for (int i = 0; i < many; ++i) {
    const Operand src{value, nullptr};
    value = builder.create({.opcode = i % 2 == 0 ? Opcode::Reshape : Opcode::TensorCopy,
                            .operands = {&src, 1},
                            .type = x->type()});
  }
  builder.tensor_reduce(AluOp::Add, {value, nullptr}, {1}, DType::Float32);
  const PassOutcome outcome = run("auto-cast-fp32", module);
  EXPECT_TRUE(outcome.changed);
  EXPECT_EQ(outcome.counts.at(2), 1u); // the sum
  EXPECT_EQ(outcome.counts.at(0), 0u);
}

TEST(AutoCast, ALongChainOfPairsIsOneClass) {
  Module module;
  Function *function = module.add_function(module.intern("f"));
  Builder builder(*function);
  Tensor *x = builder.tensor("x", builder.type(DType::Float32, {4, 4}), Space::Dram, Role::Input);
  Value *value = builder.load(x);
  for (int i = 0; i < many; ++i)
    value = builder.tensor_tensor(AluOp::Add, {value, nullptr}, {value, nullptr}, DType::Float32);
  const PassOutcome outcome = run("auto-cast-fp32", module);
  EXPECT_EQ(outcome.counts.at(2), many + 1u);
  EXPECT_THAT(outcome.text, Not(HasSubstr(": float32[4, 4]\n")));
}

// Values and tensors with many readers, which share a cast or have one each.
TEST(AutoCast, ManyReaders) {
  Module module;
  Function *function = module.add_function(module.intern("f"));
  Builder builder(*function);
  Tensor *x = builder.tensor("x", builder.type(DType::Float32, {4, 4}), Space::Sbuf, Role::Input);
  Instruction *opaque = builder.create({.opcode = Opcode::Matmul,
                                        .operands = std::array<Operand, 2>{{{x}, {x}}},
                                        .type = x->type()});
  for (int i = 0; i < many; ++i) {
    builder.activation(ActivationFn::Exp, opaque, DType::Float32);
    builder.activation(ActivationFn::Exp, x, DType::Float32);
  }
  const PassOutcome outcome = run("auto-cast-fp32", module);
  EXPECT_EQ(outcome.counts.at(0), many + 3u); // %m once, $x for each use
}

// Instructions with many operands, all of which must stay.
TEST(AutoCast, ManyOperands) {
  Module module;
  Function *function = module.add_function(module.intern("f"));
  Builder builder(*function);
  std::vector<Operand> parts;
  for (int i = 0; i < many; ++i)
    parts.push_back(
        {builder.tensor(fmt::format("t{}", i), builder.type(DType::Float32, {1, 4}), Space::Dram)});
  const Type *type = builder.type(DType::Float32, {many, 4});
  Tensor *whole = builder.tensor("whole", type, Space::Dram, Role::Output);
  builder.create({.opcode = Opcode::OffloadedConcat, .operands = parts, .dst = {whole}});
  Attr name;
  name.key = AttrKey::OpaqueName;
  name.value = AttrValue::of_string("f");
  builder.create({.opcode = Opcode::Opaque,
                  .operands = parts,
                  .attrs = AttrList::create(module.arena(), {&name, 1})});
  EXPECT_FALSE(run("auto-cast-fp32", module).changed);
}

TEST(AutoCast, ManyMatmulsOfOneValue) {
  Module module;
  Function *function = module.add_function(module.intern("f"));
  Builder builder(*function);
  Tensor *x = builder.tensor("x", builder.type(DType::Float32, {4, 4}), Space::Dram, Role::Input);
  Value *value = builder.load(x);
  const std::array<Operand, 2> operands{{{value}, {value}}};
  for (int i = 0; i < many; ++i)
    builder.create({.opcode = Opcode::Matmul, .operands = operands, .type = x->type()});
  const PassOutcome outcome = run("auto-cast-tc-inputs", module);
  EXPECT_EQ(outcome.counts.at(0), 1u);
}

// Each of many loaders asks whether the tensor, which many write, can be shrunk.
TEST(AutoCast, ManyLoadersAndWritersOfOneTensor) {
  Module module;
  Function *function = module.add_function(module.intern("f"));
  Builder builder(*function);
  const Type *type = builder.type(DType::Float32, {4, 4});
  Tensor *tensor = builder.tensor("t", type, Space::Sbuf);
  for (int i = 0; i < many; ++i) {
    Value *value = builder.load(tensor);
    const std::array<Operand, 2> operands{{{value}, {value}}};
    builder.create({.opcode = Opcode::Matmul, .operands = operands, .type = type});
  }
  const Operand number{module.immediate(DType::Float32, 0), nullptr};
  for (int i = 0; i < many; ++i)
    builder.create({.opcode = Opcode::Memset, .operands = {&number, 1}, .dst = {tensor}});
  const PassOutcome outcome = run("auto-cast-tc-inputs", module);
  EXPECT_EQ(outcome.counts.at(0), static_cast<std::uint64_t>(many));
  EXPECT_EQ(outcome.counts.at(4), 0u);
}

// The checker evaluates the module after a pass with the numbers that its memsets had before.
TEST(RewriteLog, KeepsTheNumberOfANarrowedMemset) {
  ParsedModule parsed(in_function("  %a = memset 0.1 : float32[4, 4]\n"));
  auto &memset = *cast<Instruction>(parsed.module->functions().front()->body().first());
  RewriteLog log(*parsed.module);
  log.added(memset, DType::Float32);
  const std::vector<AddedRounding> added = log.added();
  ASSERT_EQ(added.size(), 1u);
  EXPECT_EQ(added.front().number, 0x3dcc'cccdu);
  EXPECT_EQ(added.front().instead, DType::Float32);
}

} // namespace
} // namespace nir::test
