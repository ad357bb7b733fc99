#include "tests/unit/support/run_pass.h"

#include <gmock/gmock.h>

#include "ir/core/builder.h"
#include "passes/pipeline/registry.h"

namespace nir::test {
namespace {

constexpr std::string_view pass = "fold-noop-casts";

TEST(FoldNoopCasts, UsersTakeTheSource) {
  expect_becomes(pass, R"(  tensor $x : float32[8, 4] dram input
  tensor $y : float32[8, 4] dram output

  %a = load $x : float32[8, 4]
  %b = tensor_copy %a : float32[8, 4]
  %c = tensor_tensor add %b, %b : float32[8, 4]
  store %c -> $y
)",
                 R"(  tensor $x : float32[8, 4] dram input
  tensor $y : float32[8, 4] dram output

  %a = load $x : float32[8, 4]
  %c = tensor_tensor add %a, %a : float32[8, 4]
  store %c -> $y
)");
}

TEST(FoldNoopCasts, AChainFoldsAtOnce) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $t : int32[8, 4] sbuf

  %a = iota : int32[8, 4]
  %b = tensor_copy %a : int32[8, 4]
  %c = tensor_copy %b : int32[8, 4]
  %d = tensor_copy %c : int32[8, 4]
  tensor_copy %d -> $t
)"));
  EXPECT_EQ(outcome.text, in_function(R"(  tensor $t : int32[8, 4] sbuf

  %a = iota : int32[8, 4]
  tensor_copy %a -> $t
)"));
  EXPECT_EQ(outcome.counts, std::vector<std::uint64_t>{3});
}

TEST(FoldNoopCasts, ACastStays) {
  expect_unchanged(pass, R"(  tensor $t : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  %b = tensor_copy %a : bfloat16[8, 4]
  %c = tensor_copy %b : float32[8, 4]
  tensor_copy %c -> $t
)");
}

TEST(FoldNoopCasts, DtypesOfOneSizeAreNotEqual) {
  expect_unchanged(pass, R"(  tensor $t : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  %b = tensor_copy %a : float32r[8, 4]
  tensor_copy %b -> $t
)");
}

TEST(FoldNoopCasts, ACopyFromAnAccessStays) {
  expect_unchanged(pass, R"(  tensor $t : float32[8, 4] sbuf

  %a = tensor_copy $t : float32[8, 4]
  memset 0.0 -> $t
  activation exp %a -> $t
)");
}

TEST(FoldNoopCasts, ACopyIntoATensorStays) {
  expect_unchanged(pass, R"(  tensor $t : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  tensor_copy %a -> $t
)");
}

TEST(FoldNoopCasts, AFixedCopyStaysAndSaysSo) {
  const std::string text = in_function(R"(  tensor $t : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  %b = tensor_copy %a {fixed} : float32[8, 4]
  tensor_copy %b -> $t
)");
  const PassOutcome outcome = run_pass(pass, text);
  EXPECT_EQ(outcome.text, text);
  ASSERT_EQ(outcome.messages.size(), 1u);
  EXPECT_THAT(outcome.messages[0], testing::HasSubstr("declined: '%b' (tensor_copy) is fixed"));
}

TEST(FoldNoopCasts, AFixedCopyOfAFoldedOneTakesItsSource) {
  expect_becomes(pass, R"(  tensor $t : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  %b = tensor_copy %a : float32[8, 4]
  %c = tensor_copy %b {fixed} : float32[8, 4]
  tensor_copy %c -> $t
)",
                 R"(  tensor $t : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  %c = tensor_copy %a {fixed} : float32[8, 4]
  tensor_copy %c -> $t
)");
}

TEST(FoldNoopCasts, MarkedCopiesFoldAlsoInStrictFunctions) {
  const PassOutcome outcome = run_pass(pass, R"(func @f strict {
  tensor $t : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  %b = tensor_copy %a {autocast = "legalize-dtype"} : float32[8, 4]
  %c = tensor_copy %b : float32[8, 4]
  tensor_copy %c -> $t
}
)");
  EXPECT_EQ(outcome.counts, std::vector<std::uint64_t>{2});
}

TEST(FoldNoopCasts, AnUnusedCopyGoes) {
  expect_becomes(pass, R"(  %a = iota : float32[8, 4]
  %b = tensor_copy %a : float32[8, 4]
)",
                 "  %a = iota : float32[8, 4]\n");
}

TEST(FoldNoopCasts, UsersInInnerLoopsTakeTheSource) {
  expect_becomes(pass, R"(  tensor $t : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  for %i in 0..4 {
    %b = tensor_copy %a : float32[8, 4]
    for %j in 0..4 {
      tensor_copy %b -> $t
    }
  }
)",
                 R"(  tensor $t : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  for %i in 0..4 {
    for %j in 0..4 {
      tensor_copy %a -> $t
    }
  }
)");
}

TEST(FoldNoopCasts, OpaquesTakeTheSource) {
  expect_becomes(pass, R"(  %a = iota : float32[8, 4]
  %b = tensor_copy %a : float32[8, 4]
  opaque "f"(%b)
)",
                 R"(  %a = iota : float32[8, 4]
  opaque "f"(%a)
)");
}

TEST(FoldNoopCasts, EveryDtypeFoldsItsOwnCopy) {
  for (const DType dtype : all_dtypes()) {
    if (is_x4_dtype(dtype) || dtype == DType::Float4E2m1fn)
      continue;
    const std::string type = std::string(dtype2str(dtype)) + "[8, 4]";
    const PassOutcome outcome = run_pass(
        pass, in_function("  tensor $x : " + type +
                          " sbuf\n\n  %a = slice $x {start = [0, 0], size = [8, 4]} : " + type +
                          "\n  %b = tensor_copy %a : " + type + "\n  opaque \"f\"(%b)\n"));
    EXPECT_EQ(outcome.counts, std::vector<std::uint64_t>{1}) << type;
  }
}

TEST(FoldNoopCasts, AMillionLongChainWithUsersAtTheEndIsLinear) {
  Module module;
  Function *function = module.add_function(module.intern("f"));
  Builder builder(*function);
  const Type *type = builder.type(DType::Float32, {8, 4});
  Value *first = builder.create({.opcode = Opcode::Iota, .type = type});
  Value *value = first;
  for (int i = 0; i < 1'000'000; ++i)
    value = builder.tensor_copy(value, DType::Float32);
  for (int i = 0; i < 1000; ++i)
    builder.activation(ActivationFn::Exp, value, DType::Float32);
  const SourceFile none("", "");
  const PassInfo *info = find_pass(pass);
  PassCounters counters{.pass = info, .values = {0}};
  DiagnosticEngine diagnostics;
  PassContext context(*info, diagnostics, counters, {}, 0);
  EXPECT_TRUE(info->create(PassOptions())->run(module, context));
  EXPECT_EQ(counters.values[0], 1'000'000u);
  for (const Stmt &stmt : function->statements()) {
    if (const auto *inst = cast<Instruction>(&stmt); inst != first) {
      EXPECT_EQ(inst->operand(0).value(), first);
    }
  }
}

} // namespace
} // namespace nir::test
