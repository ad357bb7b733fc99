// tensor_scalar and select.
#include "tests/unit/support/eval_module.h"

namespace nir::test {
namespace {

std::string scalar_op(std::string_view operators, std::string_view dtype, std::string_view a,
                      std::string_view to = "") {
  return results(
      over(fmt::format("tensor_scalar $a, {}", operators), dtype, a, "", to.empty() ? dtype : to));
}

TEST(EvalScalar, ANumberIsAnFp32Scalar) {
  // 0.1 is rounded to fp32, not to bfloat16.
  EXPECT_EQ(scalar_op("multiply 0.1", "bfloat16", "1.0", "float32"), "0.1");
  EXPECT_EQ(scalar_op("add 0.1", "float32", "1.0"), "1.1");
}

TEST(EvalScalar, TwoOperators) {
  EXPECT_EQ(scalar_op("multiply 2.0, add 1.0", "float32", "3.0, -1.0"), "7.0 -1.0");
}

TEST(EvalScalar, EachOperatorRounds) {
  // 1 + 2^-24 goes down to 1 before the second operator sees it.
  EXPECT_EQ(scalar_op("add 0x1p-24, subtract 1.0", "float32", "1.0"), "0.0");
}

TEST(EvalScalar, Reverse) {
  EXPECT_EQ(scalar_op("subtract 10.0 {reverse0}", "float32", "3.0"), "7.0");
  EXPECT_EQ(scalar_op("subtract 10.0, divide 1.0 {reverse1}", "float32", "12.0"), "0.5");
  EXPECT_EQ(scalar_op("subtract 10.0, divide 14.0 {reverse0, reverse1}", "float32", "3.0"), "2.0");
  EXPECT_EQ(scalar_op("pow 2.0 {reverse0}", "float32", "3.0"), "8.0");
}

TEST(EvalScalar, AScalarForEachPartition) {
  EXPECT_EQ(results("tensor $a : float32[2, 2] sbuf const = dense(1.0, 2.0, 3.0, 4.0)\n"
                    "tensor $s : float32[2, 1] sbuf const = dense(10.0, 100.0)\n"
                    "tensor $t : float32[] sbuf const = splat(0.5)\n"
                    "tensor $y : float32[2, 2] sbuf output\n"
                    "tensor_scalar $a, multiply $s, add $t -> $y\n"),
            "10.5 20.5 300.5 400.5");
}

TEST(EvalScalar, IntegersStayIntegers) {
  EXPECT_EQ(scalar_op("add 1", "int32", "16777217"), "16777218");
  EXPECT_EQ(scalar_op("multiply 2, add 1", "uint8", "200"), "145");
  EXPECT_EQ(scalar_op("subtract 2", "uint8", "0, 1, 2"), "254 255 0");
  EXPECT_EQ(scalar_op("bitwise_and 0x0f, logical_shift_left 4", "uint8", "0xab"), "176");
}

TEST(EvalScalar, AFloatScalarMakesItFloat) {
  EXPECT_EQ(results(constant("a", "int32", "16777217, 3") +
                    "tensor $s : float32[] sbuf const = dense(0.5)\n"
                    "tensor $y : float32[2] sbuf output\n"
                    "tensor_scalar $a, add $s -> $y\n"),
            "16777216.0 3.5");
}

TEST(EvalScalar, IntegerScalarsOfAnotherDtypeMeetInOneThatHoldsBoth) {
  EXPECT_EQ(results(constant("a", "int8", "127, -128") +
                    "tensor $s : int32[] sbuf const = dense(1000)\n"
                    "tensor $y : int32[2] sbuf output\n"
                    "tensor_scalar $a, add $s -> $y\n"),
            "1127 872");
}

TEST(EvalScalar, PowAndWhatFollowsItComputeInFp32) {
  EXPECT_EQ(scalar_op("pow 2, divide 2", "int32", "3, 5", "float32"), "4.5 12.5");
  EXPECT_EQ(scalar_op("add 1, pow 2", "int32", "3, -5"), "16 16");
  EXPECT_EQ(scalar_op("pow 2, bitwise_and 6", "int32", "3, 5"), "0 0");
  EXPECT_EQ(scalar_op("pow 3, bitwise_or 1", "int32", "2"), "9");
}

TEST(EvalScalar, InPlaceWithTheScalarInTheTensor) {
  EXPECT_EQ(results("tensor $t : float32[3, 1] sbuf output\n"
                    "%i = iota : float32[3, 1]\n"
                    "tensor_scalar %i, add 1.0 -> $t\n"
                    "tensor_scalar $t, multiply $t, add $t -> $t\n"),
            "2.0 6.0 12.0");
}

std::string selected(std::string_view dtypes, std::string_view a, std::string_view b,
                     std::string_view to) {
  const auto comma = dtypes.find(',');
  const auto count = std::count(a.begin(), a.end(), ',') + 1;
  return result_codes(
      "tensor $p : uint8[3] sbuf const = dense(0, 1, 255)\n" +
      constant("a", dtypes.substr(0, comma), a) + constant("b", dtypes.substr(comma + 1), b) +
      fmt::format("tensor $y : {}[{}] sbuf output\n", to, count) + "select $p, $a, $b -> $y\n");
}

TEST(EvalSelect, KeepsBits) {
  EXPECT_EQ(selected("float32,float32", "1.0, -nan(0x7f800001), -0.0", "nan(0x7fc00005), 2.0, 3.0",
                     "float32"),
            "7fc00005 ff800001 80000000");
}

TEST(EvalSelect, CastsToTheDestination) {
  EXPECT_EQ(
      selected("float32,float32", "1.0, 1.00390625, -nan(0x7f800001)", "2.0, 3.0, 4.0", "bfloat16"),
      "4000 3f80 ffc0");
}

TEST(EvalSelect, ArmsThatDifferMeet) {
  // 2049 becomes 2048 in float16, on its way to float32.
  EXPECT_EQ(selected("int32,float16", "1, 2049, 7", "0.5, 1.0, 1.0", "float32"),
            "3f000000 45000000 40e00000");
}

TEST(EvalSelect, IntegersAreExact) {
  EXPECT_EQ(selected("int32,int32", "1, 16777217, -1", "300, 0, 0", "int64"),
            "12c 1000001 ffffffffffffffff");
  EXPECT_EQ(selected("int32,int32", "1, 16777217, -1", "300, 0, 0", "uint8"), "ff ff 0");
}

TEST(EvalSelect, InPlace) {
  EXPECT_EQ(results("tensor $t : float32[3] sbuf output\n"
                    "tensor $p : uint8[3] sbuf const = dense(0, 1, 0)\n"
                    "%i = iota : float32[3]\n"
                    "tensor_scalar %i, add 10.0 -> $t\n"
                    "select $p, %i, $t -> $t\n"),
            "10.0 1.0 12.0");
}

} // namespace
} // namespace nir::test
