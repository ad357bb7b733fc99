// Calls and opaque instructions.
#include "tests/unit/support/eval_module.h"

namespace nir::test {
namespace {

TEST(EvalCall, InputsAndOutputs) {
  EXPECT_EQ(evaluated(EvalModule("func @double {\n tensor $o : int32[2] sbuf output\n"
                                 " tensor $i : int32[2] sbuf input\n"
                                 " tensor_tensor add $i, $i -> $o\n}\n"
                                 "func @f {\n tensor $a : int32[2] sbuf const = dense(1, 2)\n"
                                 " tensor $b : int32[2] sbuf\n tensor $y : int32[2] sbuf output\n"
                                 " call @double($a, $b)\n call @double($b, $y)\n}\n")),
            "4 8");
}

TEST(EvalCall, OutputsAndInternalTensorsStartAsZerosEachTime) {
  EXPECT_EQ(evaluated(EvalModule("func @g {\n tensor $o : int32[2] sbuf output\n"
                                 " tensor $t : int32[1] sbuf\n"
                                 " tensor_scalar $t, add 1 -> $t\n"
                                 " tensor_tensor add $o[0 : 1], $t -> $o[0 : 1]\n}\n"
                                 "func @f {\n tensor $y : int32[2] sbuf output\n memset 7 -> $y\n"
                                 " for %i in 0..3 { call @g($y) }\n}\n")),
            "1 0");
}

TEST(EvalCall, OneTensorForSeveralInputs) {
  EXPECT_EQ(
      evaluated(EvalModule("func @g {\n tensor $a : int32[1] sbuf input\n"
                           " tensor $b : int32[1] sbuf input\n tensor $o : int32[1] sbuf output\n"
                           " tensor_tensor multiply $a, $b -> $o\n}\n"
                           "func @f {\n tensor $x : int32[1] sbuf const = splat(5)\n"
                           " tensor $y : int32[1] sbuf output\n call @g($x, $x, $y)\n}\n")),
      "25");
}

TEST(EvalCall, AReinterpretedArgument) {
  EXPECT_EQ(evaluated(EvalModule("func @g {\n tensor $a : uint16[2] sbuf input\n"
                                 " tensor $o : uint16[2] sbuf output\n"
                                 " tensor_scalar $a, bitwise_xor 0x8000 -> $o\n}\n"
                                 "func @f {\n tensor $x : bfloat16[2] sbuf\n"
                                 " tensor $y : bfloat16[2] sbuf output\n memset 1.5 -> $x\n"
                                 " call @g($x as uint16, $y as uint16)\n}\n")),
            "-1.5 -1.5");
}

TEST(EvalCall, AReinterpretedArgumentOfTheReference) {
  EvalOptions options;
  options.reference = true;
  EXPECT_EQ(evaluated(EvalModule("func @g {\n tensor $a : uint16[2] sbuf input\n"
                                 " tensor $o : uint16[2] sbuf output\n"
                                 " tensor_scalar $a, bitwise_xor 0x8000 -> $o\n}\n"
                                 "func @f {\n tensor $x : bfloat16[2] sbuf\n"
                                 " tensor $y : bfloat16[2] sbuf output\n memset 1.5 -> $x\n"
                                 " call @g($x as uint16, $y as uint16)\n}\n"),
                      options),
            "-1.5 -1.5");
}

TEST(EvalCall, AChainOfAHundredThousand) {
  std::string text;
  constexpr int count = 100'000;
  for (int i = 0; i < count; ++i)
    text += fmt::format("func @f{} {{\n tensor $o : int32[1] sbuf output\n call @f{}($o)\n"
                        " tensor_scalar $o, add 1 -> $o\n}}\n",
                        i, i + 1);
  text += fmt::format("func @f{} {{\n tensor $o : int32[1] sbuf output\n}}\n"
                      "func @f {{\n tensor $o : int32[1] sbuf output\n call @f0($o)\n}}\n",
                      count);
  EXPECT_EQ(evaluated(EvalModule(std::move(text))), "100000");
}

std::string opaque(OpaqueMode mode, std::string_view body) {
  EvalOptions options;
  options.opaque = mode;
  return results(body, options);
}

constexpr std::string_view opaque_body = "tensor $a : float32[2] sbuf const = dense(1.5, 2.5)\n"
                                         "tensor $t : float32[2] sbuf output\n"
                                         "tensor $y : int8[2] sbuf output\n"
                                         "memset 9.0 -> $t\n"
                                         "opaque \"k\"($a, $t) -> $y\n";

TEST(EvalOpaque, IsAnErrorUnlessSomethingStandsIn) {
  EXPECT_EQ(opaque(OpaqueMode::Error, opaque_body),
            "error: opaque \"k\" cannot be evaluated: nothing stands in for it");
}

TEST(EvalOpaque, Zero) { EXPECT_EQ(opaque(OpaqueMode::Zero, opaque_body), "0.0 0.0 | 0 0"); }

TEST(EvalOpaque, IdentityIsACast) {
  EXPECT_EQ(opaque(OpaqueMode::Identity, opaque_body), "9.0 9.0 | 2 2");
}

TEST(EvalOpaque, IdentityWithoutAnOperandOfTheShapeIsZero) {
  EXPECT_EQ(opaque(OpaqueMode::Identity, "tensor $a : float32[3] sbuf const = splat(1.0)\n"
                                         "tensor $y : float32[2] sbuf output\n"
                                         "%v = opaque \"k\"($a) : float32[2]\n"
                                         "tensor_copy %v -> $y\n"),
            "0.0 0.0");
}

TEST(EvalOpaque, HashDependsOnNameAndOperands) {
  const auto hashed = [](std::string_view name, std::string_view number) {
    return opaque(OpaqueMode::Hash,
                  fmt::format("tensor $a : float32[2] sbuf const = dense(1.5, {})\n"
                              "tensor $y : float32[4] sbuf output\nopaque \"{}\"($a) -> $y\n",
                              number, name));
  };
  EXPECT_EQ(hashed("k", "1.0"), hashed("k", "1.0"));
  EXPECT_NE(hashed("k", "1.0"), hashed("k", "2.0"));
  EXPECT_NE(hashed("k", "1.0"), hashed("l", "1.0"));
}

TEST(EvalOpaque, HashWritesWhatItMayWrite) {
  const std::string found = opaque(OpaqueMode::Hash, opaque_body);
  EXPECT_EQ(found.find("9.0 9.0"), std::string::npos) << found;
}

} // namespace
} // namespace nir::test
