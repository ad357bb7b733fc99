#include "tests/unit/support/run_pass.h"

#include <gmock/gmock.h>

#include "ir/core/builder.h"

namespace nir::test {
namespace {

constexpr std::string_view pass = "dce";

TEST(Dce, RemovesAChainFromItsEnd) {
  expect_becomes(pass, R"(  tensor $x : float32[8, 4] dram input
  tensor $y : float32[8, 4] dram output

  %a = load $x : float32[8, 4]
  %b = activation exp %a : float32[8, 4]
  %c = tensor_copy %b : bfloat16[8, 4]
  store %a -> $y
)",
                 R"(  tensor $x : float32[8, 4] dram input
  tensor $y : float32[8, 4] dram output

  %a = load $x : float32[8, 4]
  store %a -> $y
)");
}

TEST(Dce, RemovesLoads) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $x : float32[8, 4] dram input

  %a = load $x : float32[8, 4]
)"));
  EXPECT_EQ(outcome.text, in_function("  tensor $x : float32[8, 4] dram input\n"));
  EXPECT_EQ(outcome.counts, (std::vector<std::uint64_t>{1, 0}));
}

TEST(Dce, KeepsWhatWritesATensor) {
  expect_unchanged(pass, R"(  tensor $t : float32[8, 4] sbuf

  memset 0.0 -> $t
  activation exp $t -> $t
)");
}

TEST(Dce, KeepsOpaquesAndWhatTheyAreGiven) {
  expect_unchanged(pass, R"(  %a = iota : float32[8, 4]
  %b = opaque "f"(%a) : float32[8, 4]
)");
}

TEST(Dce, KeepsCalls) {
  const std::string text = R"(func @g {
  tensor $x : float32[8, 4] dram input
}

func @f {
  tensor $x : float32[8, 4] dram input

  call @g($x)
}
)";
  EXPECT_EQ(run_pass(pass, text).text, text);
}

TEST(Dce, FixedKeepsNothingAlive) {
  expect_becomes(pass, R"(  tensor $t : float32[8, 4] sbuf

  %a = tensor_copy $t {fixed} : bfloat16[8, 4]
)",
                 "  tensor $t : float32[8, 4] sbuf\n");
}

TEST(Dce, AValueWithOneLiveUserStays) {
  expect_becomes(pass, R"(  tensor $t : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  %b = activation exp %a : float32[8, 4]
  tensor_copy %a -> $t
)",
                 R"(  tensor $t : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  tensor_copy %a -> $t
)");
}

TEST(Dce, AValueUsedTwiceByOneDeadUserGoes) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  %a = iota : float32[8, 4]
  %b = tensor_tensor add %a, %a : float32[8, 4]
)"));
  EXPECT_EQ(outcome.text, "func @f {\n}\n");
  EXPECT_EQ(outcome.counts, (std::vector<std::uint64_t>{2, 0}));
}

TEST(Dce, RemovesLoopsThatBecomeEmptyInnermostFirst) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  %a = iota : float32[8, 4]
  for %i in 0..4 {
    for %j in 0..4 {
      %b = activation exp %a : float32[8, 4]
    }
  }
)"));
  EXPECT_EQ(outcome.text, "func @f {\n}\n");
  EXPECT_EQ(outcome.counts, (std::vector<std::uint64_t>{2, 2}));
}

TEST(Dce, RemovesLoopsThatWereEmpty) {
  const PassOutcome outcome = run_pass(pass, "func @f {\n  for %i in 0..4 {\n  }\n}\n");
  EXPECT_EQ(outcome.text, "func @f {\n}\n");
  EXPECT_TRUE(outcome.changed);
}

TEST(Dce, KeepsALoopWithSomethingInIt) {
  expect_becomes(pass, R"(  tensor $t : float32[8, 4] sbuf

  for %i in 0..4 {
    for %j in 0..4 {
      %b = iota : float32[8, 4]
    }
    memset 0.0 -> $t[%i : 1, 0 : 4]
  }
)",
                 R"(  tensor $t : float32[8, 4] sbuf

  for %i in 0..4 {
    memset 0.0 -> $t[%i : 1, 0 : 4]
  }
)");
}

TEST(Dce, SaysThatARemovedCastWasUnused) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $t : float32[8, 4] sbuf

  %a = tensor_copy $t : bfloat16[8, 4]
)"));
  ASSERT_EQ(outcome.messages.size(), 1u);
  EXPECT_THAT(outcome.messages[0], testing::StartsWith("4: remark: "));
  EXPECT_THAT(outcome.messages[0], testing::HasSubstr("exact: removed '%a' (tensor_copy)"));
}

TEST(Dce, AnEmptyModuleIsUnchanged) { EXPECT_FALSE(run_pass(pass, "").changed); }

TEST(Dce, AMillionLongChainGoesAtOnce) {
  constexpr std::uint64_t length = 1'000'000;
  Module module;
  Function *function = module.add_function(module.intern("f"));
  Builder builder(*function);
  const Type *type = builder.type(DType::Float32, {8, 4});
  Value *value = builder.create({.opcode = Opcode::Iota, .type = type});
  for (std::uint64_t i = 1; i < length; ++i)
    value = builder.activation(ActivationFn::Exp, value, DType::Float32);
  const SourceFile none("", "");
  const PassOutcome outcome = run_once(pass, module, none);
  EXPECT_EQ(outcome.text, "func @f {\n}\n");
  EXPECT_EQ(outcome.counts[0], length);
}

TEST(Dce, NestedEmptyLoopsOfTheGreatestDepthGo) {
  std::string text = "func @f {\n";
  for (int i = 0; i < 1000; ++i)
    text += "for %i" + std::to_string(i) + " in 0..2 {\n";
  text += "%a = iota : float32[8, 4]\n" + std::string(1000, '}') + "}\n";
  const PassOutcome outcome = run_pass(pass, text);
  EXPECT_EQ(outcome.text, "func @f {\n}\n");
  EXPECT_EQ(outcome.counts, (std::vector<std::uint64_t>{1, 1000}));
}

} // namespace
} // namespace nir::test
