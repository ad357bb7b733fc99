#include "passes/sweep/drop_dead_tensors.h"

#include <gmock/gmock.h>

#include "ir/core/builder.h"
#include "tests/unit/support/run_pass.h"

namespace nir::test {
namespace {

constexpr std::string_view pass = "drop-dead-tensors";

TEST(DropDeadTensors, ATensorThatIsOnlyWrittenGoesWithItsWriters) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $t : float32[8, 4] sbuf

  memset 0.0 -> $t
  memset 1.0 -> $t[0 : 1, 0 : 4]
)"));
  EXPECT_EQ(outcome.text, "func @f {\n}\n");
  EXPECT_EQ(outcome.counts, (std::vector<std::uint64_t>{1, 128, 2, 0}));
}

TEST(DropDeadTensors, AnUnusedTensorGoes) {
  const PassOutcome outcome =
      run_pass(pass, in_function("  tensor $t : float32[8, 4] sbuf\n"
                                 "  tensor $k : float32[1] sbuf const = splat(1.0)\n"));
  EXPECT_EQ(outcome.text, "func @f {\n}\n");
  EXPECT_EQ(outcome.counts, (std::vector<std::uint64_t>{2, 132, 0, 0}));
}

TEST(DropDeadTensors, InputsAndOutputsStay) {
  expect_unchanged(pass, R"(  tensor $x : float32[8, 4] dram input
  tensor $y : float32[8, 4] dram output
)");
}

TEST(DropDeadTensors, WhatAnOutputIsMadeOfStays) {
  expect_unchanged(pass, R"(  tensor $y : float32[8, 4] dram output
  tensor $t : float32[8, 4] sbuf
  tensor $k : float32[8, 4] sbuf const = splat(1.0)

  tensor_scalar $k, add 1.0 -> $t
  %a = tensor_copy $t : float32[8, 4]
  store %a -> $y
)");
}

TEST(DropDeadTensors, ATensorReadOnlyByAnUnusedLoadGoesWithTheLoad) {
  expect_becomes(pass, R"(  tensor $t : float32[8, 4] dram

  %a = load $t : float32[8, 4]
)",
                 "");
}

TEST(DropDeadTensors, UsersOfARemovedValueGo) {
  expect_becomes(pass, R"(  tensor $t : float32[8, 4] dram

  %a = load $t : float32[8, 4]
  %b = activation exp %a : float32[8, 4]
)",
                 "");
}

TEST(DropDeadTensors, WhatOnlyFeedsADeadTensorGoes) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $x : float32[8, 4] dram input
  tensor $t : float32[8, 4] dram

  %a = load $x : float32[8, 4]
  %b = activation exp %a : float32[8, 4]
  %c = tensor_tensor add %a, %b : float32[8, 4]
  store %c -> $t
)"));
  EXPECT_EQ(outcome.text, in_function("  tensor $x : float32[8, 4] dram input\n"));
  EXPECT_EQ(outcome.counts, (std::vector<std::uint64_t>{1, 128, 4, 0}));
}

TEST(DropDeadTensors, WhatAlsoFeedsSomethingLiveStays) {
  expect_becomes(pass, R"(  tensor $x : float32[8, 4] dram input
  tensor $y : float32[8, 4] dram output
  tensor $t : float32[8, 4] dram

  %a = load $x : float32[8, 4]
  %b = activation exp %a : float32[8, 4]
  store %b -> $t
  store %a -> $y
)",
                 R"(  tensor $x : float32[8, 4] dram input
  tensor $y : float32[8, 4] dram output

  %a = load $x : float32[8, 4]
  store %a -> $y
)");
}

TEST(DropDeadTensors, WhatWasUnusedBeforeIsLeftToDce) {
  expect_unchanged(pass, R"(  tensor $x : float32[8, 4] dram input

  %a = load $x : float32[8, 4]
  %b = iota : float32[8, 4]
)");
}

TEST(DropDeadTensors, AnUnusedUserKeepsWhatElseOnlyFedADeadTensor) {
  expect_becomes(pass, R"(  tensor $t : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  %b = activation exp %a : float32[8, 4]
  tensor_copy %a -> $t
)",
                 R"(  %a = iota : float32[8, 4]
  %b = activation exp %a : float32[8, 4]
)");
}

TEST(DropDeadTensors, ACircleThatOnlyFeedsItselfGoes) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $a : float32[8, 4] sbuf
  tensor $b : float32[8, 4] sbuf

  for %i in 0..4 {
    activation exp $a -> $b
    activation exp $b -> $a
  }
)"));
  EXPECT_EQ(outcome.text, "func @f {\n}\n");
  EXPECT_EQ(outcome.counts, (std::vector<std::uint64_t>{2, 256, 2, 1}));
}

TEST(DropDeadTensors, ACircleWithAWayOutStays) {
  expect_unchanged(pass, R"(  tensor $a : float32[8, 4] sbuf
  tensor $b : float32[8, 4] sbuf
  tensor $y : float32[8, 4] dram output

  for %i in 0..4 {
    activation exp $a -> $b
    activation exp $b -> $a
  }
  store $a -> $y
)");
}

TEST(DropDeadTensors, ATensorThatFeedsItselfGoes) {
  expect_becomes(pass, R"(  tensor $a : float32[8, 4] sbuf

  activation exp $a -> $a
)",
                 "");
}

TEST(DropDeadTensors, AChainOfTensorsGoesAtOnce) {
  expect_becomes(pass, R"(  tensor $x : float32[8, 4] dram input
  tensor $a : float32[8, 4] dram
  tensor $b : bfloat16[8, 4] dram
  tensor $c : float32[8, 4] dram

  offloaded_memcpy $x -> $a
  offloaded_memcast $a -> $b
  offloaded_memcast $b -> $c
)",
                 "  tensor $x : float32[8, 4] dram input\n");
}

TEST(DropDeadTensors, WhatAnOpaqueIsGivenStays) {
  expect_unchanged(pass, R"(  tensor $t : float32[8, 4] sbuf
  tensor $u : float32[8, 4] sbuf
  tensor $k : float32[8, 4] sbuf const = splat(1.0)

  memset 0.0 -> $t
  opaque "f"($t, $k)
  opaque "g"() -> $u
)");
}

TEST(DropDeadTensors, AnOpaqueKeepsTheValuesThatItIsGiven) {
  expect_unchanged(pass, R"(  tensor $t : float32[8, 4] sbuf

  %a = activation exp $t : float32[8, 4]
  opaque "f"(%a)
)");
}

TEST(DropDeadTensors, AnOpaqueStaysWhereItsResultOnlyFedADeadTensor) {
  expect_becomes(pass, R"(  tensor $t : float32[8, 4] sbuf

  %a = opaque "f"() : float32[8, 4]
  tensor_copy %a -> $t
)",
                 "  %a = opaque \"f\"() : float32[8, 4]\n");
}

TEST(DropDeadTensors, WhatACallIsGivenStays) {
  const std::string text = R"(func @g {
  tensor $x : float32[8, 4] dram input
  tensor $y : float32[8, 4] dram output

  offloaded_memcpy $x -> $y
}

func @f {
  tensor $s : float32[8, 4] dram
  tensor $t : float32[8, 4] dram

  call @g($s, $t)
}
)";
  EXPECT_EQ(run_pass(pass, text).text, text);
}

TEST(DropDeadTensors, AnAccumulatingMatmulKeepsNothingAlive) {
  expect_becomes(pass, R"(  tensor $a : bfloat16[8, 4] sbuf
  tensor $p : float32[4, 4] psum

  matmul $a, $a {accumulate} -> $p
)",
                 "");
}

TEST(DropDeadTensors, FixedKeepsNothingAlive) {
  expect_becomes(pass, R"(  tensor $x : float32[8, 4] dram input
  tensor $t : bfloat16[8, 4] sbuf

  %a = load $x : float32[8, 4]
  tensor_copy %a {fixed} -> $t
)",
                 "  tensor $x : float32[8, 4] dram input\n");
}

TEST(DropDeadTensors, LoopsThatWereEmptyGo) {
  const PassOutcome outcome =
      run_pass(pass, "func @f {\n  for %i in 0..4 {\n    for %j in 0..4 {\n    }\n  }\n}\n");
  EXPECT_EQ(outcome.text, "func @f {\n}\n");
  EXPECT_EQ(outcome.counts, (std::vector<std::uint64_t>{0, 0, 0, 2}));
}

TEST(DropDeadTensors, ALoopWithSomethingLeftStays) {
  expect_becomes(pass, R"(  tensor $t : float32[8, 4] sbuf
  tensor $u : float32[8, 4] sbuf

  for %i in 0..4 {
    memset 0.0 -> $t[%i : 1, 0 : 4]
    memset 1.0 -> $u
  }
  opaque "f"($u)
)",
                 R"(  tensor $u : float32[8, 4] sbuf

  for %i in 0..4 {
    memset 1.0 -> $u
  }
  opaque "f"($u)
)");
}

TEST(DropDeadTensors, EachFunctionIsItsOwn) {
  const PassOutcome outcome = run_pass(pass, R"(func @a {
  tensor $t : float32[8, 4] sbuf

  memset 0.0 -> $t
}

func @b {
  tensor $t : float32[8, 4] sbuf

  memset 0.0 -> $t
  opaque "f"($t)
}
)");
  EXPECT_EQ(outcome.counts, (std::vector<std::uint64_t>{1, 128, 1, 0}));
  EXPECT_THAT(outcome.text, testing::HasSubstr("opaque \"f\"($t)"));
}

TEST(DropDeadTensors, SaysThatARemovedMemcastWasDead) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $x : float32[8, 4] dram input
  tensor $t : bfloat16[8, 4] dram

  offloaded_memcast $x -> $t
)"));
  ASSERT_EQ(outcome.messages.size(), 1u);
  EXPECT_THAT(outcome.messages[0], testing::HasSubstr("exact: removed an offloaded_memcast"));
}

TEST(DropDeadTensors, TheEngineNeedsNoContext) {
  ParsedModule parsed{in_function("  tensor $t : float32[8, 4] sbuf\n\n  memset 0.0 -> $t\n")};
  const DroppedTensors dropped = drop_dead_tensors(*parsed.module->functions()[0]);
  EXPECT_EQ(dropped.tensors, 1u);
  EXPECT_EQ(dropped.bytes, 128u);
  EXPECT_EQ(dropped.instructions, 1u);
  EXPECT_TRUE(dropped.any());
  EXPECT_FALSE(drop_dead_tensors(*parsed.module->functions()[0]).any());
}

TEST(DropDeadTensors, AMillionAccessesAndAMillionLongChainAreLinear) {
  constexpr std::uint64_t length = 1'000'000;
  Module module;
  Function *function = module.add_function(module.intern("f"));
  Builder builder(*function);
  const Type *type = builder.type(DType::Float32, {8, 4});
  Tensor *tensor = builder.tensor("t", type, Space::Sbuf);
  Value *value = builder.create({.opcode = Opcode::Iota, .type = type});
  for (std::uint64_t i = 0; i < length; ++i) {
    value = builder.activation(ActivationFn::Exp, value, DType::Float32);
    builder.tensor_copy_to({value, nullptr}, {tensor, nullptr});
  }
  const DroppedTensors dropped = drop_dead_tensors(*function);
  EXPECT_EQ(dropped.instructions, 2 * length + 1);
  EXPECT_TRUE(function->body().empty());
}

} // namespace
} // namespace nir::test
