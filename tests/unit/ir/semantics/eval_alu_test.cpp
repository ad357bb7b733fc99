// Every operator, on floats and integers (language reference, Arithmetic).
#include "tests/unit/support/eval_module.h"

namespace nir::test {
namespace {

constexpr std::string_view f32 = "float32";

TEST(EvalAlu, AddRoundsToNearestEven) {
  // 1 + 2^-24 is halfway and goes down, 1 + 3 * 2^-24 goes up.
  EXPECT_EQ(tensor_op("add", f32, "1.0, 0x1.000002p0, 1.5, -0.0", "0x1p-24, 0x1p-24, 2.25, -0.0"),
            "1.0 1.0000002 3.75 -0.0");
}

TEST(EvalAlu, AddOfInfinitiesIsTheOneNan) {
  EXPECT_EQ(result_codes(over("tensor_tensor add $a, $b", f32, "inf, -nan, nan(0x7f800001)",
                              "-inf, 1.0, 1.0", f32)),
            "7fc00000 7fc00000 7fc00000");
}

TEST(EvalAlu, AddHonoursSubnormals) {
  EXPECT_EQ(result_codes(over("tensor_tensor add $a, $b", f32, "0x1p-149, 0x1p-126",
                              "0x1p-149, -0x1p-149", f32)),
            "2 7fffff");
}

TEST(EvalAlu, Subtract) {
  EXPECT_EQ(tensor_op("subtract", f32, "1.0, 3.0, 0.0, inf", "0.5, 4.0, 0.0, inf"),
            "0.5 -1.0 0.0 nan");
}

TEST(EvalAlu, Multiply) {
  EXPECT_EQ(tensor_op("multiply", f32, "2.0, -3.0, 3e38, 0.0", "4.0, 0.0, 10.0, inf"),
            "8.0 -0.0 inf nan");
}

TEST(EvalAlu, Divide) {
  EXPECT_EQ(tensor_op("divide", f32, "1.0, 1.0, -1.0, 0.0, 7.0", "3.0, 0.0, 0.0, 0.0, 2.0"),
            "0.33333334 inf -inf nan 3.5");
}

TEST(EvalAlu, MaxPutsPositiveZeroAbove) {
  EXPECT_EQ(
      tensor_op("max", f32, "1.0, -0.0, 0.0, -0.0, nan, 1.0", "2.0, 0.0, -0.0, -0.0, 1.0, nan"),
      "2.0 0.0 0.0 -0.0 nan nan");
}

TEST(EvalAlu, MinPutsNegativeZeroBelow) {
  EXPECT_EQ(
      tensor_op("min", f32, "1.0, -0.0, 0.0, 0.0, nan, -inf", "2.0, 0.0, -0.0, 0.0, 1.0, 1.0"),
      "1.0 -0.0 -0.0 0.0 nan -inf");
}

TEST(EvalAlu, MaxOfNansIsCanonical) {
  EXPECT_EQ(result_codes(
                over("tensor_tensor max $a, $b", f32, "-nan, -nan(0x7f800001)", "1.0, nan", f32)),
            "7fc00000 7fc00000");
}

TEST(EvalAlu, Pow) {
  EXPECT_EQ(tensor_op("pow", f32, "2.0, 9.0, -8.0, 0.0, -1.0", "10.0, 0.5, 0.5, 0.0, 3.0"),
            "1024.0 3.0 nan 1.0 -1.0");
}

TEST(EvalAlu, ModHasTheSignOfTheDividend) {
  EXPECT_EQ(
      tensor_op("mod", f32, "7.0, -7.0, 7.0, -6.0, 1.0, 5.0", "3.0, 3.0, -3.0, 3.0, 0.0, inf"),
      "1.0 -1.0 1.0 -0.0 nan 5.0");
}

TEST(EvalAlu, AbsMax) {
  EXPECT_EQ(tensor_op("abs_max", f32, "-3.0, 1.0, -0.0, nan", "2.0, -4.0, -0.0, 1.0"),
            "3.0 4.0 0.0 nan");
}

TEST(EvalAlu, ComparisonsGiveOneOrZero) {
  const auto compared = [](std::string_view op) {
    return tensor_op(op, f32, "1.0, 2.0, 3.0, 0.0", "2.0, 2.0, 2.0, -0.0");
  };
  EXPECT_EQ(compared("is_equal"), "0.0 1.0 0.0 1.0");
  EXPECT_EQ(compared("not_equal"), "1.0 0.0 1.0 0.0");
  EXPECT_EQ(compared("is_lt"), "1.0 0.0 0.0 0.0");
  EXPECT_EQ(compared("is_le"), "1.0 1.0 0.0 1.0");
  EXPECT_EQ(compared("is_gt"), "0.0 0.0 1.0 0.0");
  EXPECT_EQ(compared("is_ge"), "0.0 1.0 1.0 1.0");
}

TEST(EvalAlu, ComparisonsWithNanGiveZeroButNotEqual) {
  for (const char *op : {"is_equal", "is_lt", "is_le", "is_gt", "is_ge"})
    EXPECT_EQ(tensor_op(op, f32, "nan, 1.0, nan", "1.0, nan, nan", "uint8"), "0 0 0") << op;
  EXPECT_EQ(tensor_op("not_equal", f32, "nan, 1.0, nan", "1.0, nan, nan", "uint8"), "1 1 1");
}

TEST(EvalAlu, NanIsTrue) {
  EXPECT_EQ(tensor_op("logical_and", f32, "nan, nan, 0.0, -0.0", "1.0, 0.0, 2.0, 1.0", "int8"),
            "1 0 0 0");
  EXPECT_EQ(tensor_op("logical_or", f32, "nan, 0.0, 0.0, -0.0", "0.0, 0.5, 0.0, -0.0", "int8"),
            "1 1 0 0");
  EXPECT_EQ(tensor_op("logical_xor", f32, "nan, nan, 0.0, 3.0", "0.0, 1.0, 0.0, 0.0", "int8"),
            "1 0 0 1");
}

TEST(EvalAlu, IntegersWrap) {
  EXPECT_EQ(tensor_op("add", "int8", "127, -128, 100", "1, -1, 27"), "-128 127 127");
  EXPECT_EQ(tensor_op("subtract", "uint8", "0, 5, 255", "1, 250, 255"), "255 11 0");
  EXPECT_EQ(tensor_op("multiply", "int16", "256, 300, -32768", "256, 300, -1"), "0 24464 -32768");
  EXPECT_EQ(tensor_op("add", "int32", "2147483647", "1"), "-2147483648");
  EXPECT_EQ(tensor_op("multiply", "uint32", "0x80000001", "3"), "2147483651");
  EXPECT_EQ(tensor_op("add", "int64", "9223372036854775807", "1"), "-9223372036854775808");
  EXPECT_EQ(tensor_op("subtract", "uint64", "0", "1"), "18446744073709551615");
  EXPECT_EQ(tensor_op("add", "uint16", "65535", "2"), "1");
}

TEST(EvalAlu, IntegersKeepAllBits) {
  EXPECT_EQ(tensor_op("add", "int32", "16777217", "16777217"), "33554434");
  EXPECT_EQ(tensor_op("subtract", "int64", "9007199254740993", "1"), "9007199254740992");
}

TEST(EvalAlu, IntegerDivisionTruncates) {
  EXPECT_EQ(tensor_op("divide", "int32", "7, -7, 7, -7", "2, 2, -2, -2"), "3 -3 -3 3");
  EXPECT_EQ(tensor_op("divide", "uint8", "255, 7", "2, 8"), "127 0");
}

TEST(EvalAlu, IntegerDivisionByZero) {
  EXPECT_EQ(tensor_op("divide", "int16", "5, -5, 0", "0, 0, 0"), "-1 -1 -1");
  EXPECT_EQ(tensor_op("divide", "uint16", "5, 0", "0, 0"), "65535 65535");
  EXPECT_EQ(tensor_op("divide", "uint64", "5", "0"), "18446744073709551615");
}

TEST(EvalAlu, TheLowestIntegerByMinusOne) {
  EXPECT_EQ(tensor_op("divide", "int8", "-128", "-1"), "-128");
  EXPECT_EQ(tensor_op("divide", "int64", "-9223372036854775808", "-1"), "-9223372036854775808");
  EXPECT_EQ(tensor_op("mod", "int64", "-9223372036854775808", "-1"), "0");
}

TEST(EvalAlu, IntegerMod) {
  EXPECT_EQ(tensor_op("mod", "int32", "7, -7, 7, -7, 9", "3, 3, -3, -3, 0"), "1 -1 1 -1 9");
  EXPECT_EQ(tensor_op("mod", "uint8", "200, 200", "7, 0"), "4 200");
}

TEST(EvalAlu, IntegerMaxMinAbsMax) {
  EXPECT_EQ(tensor_op("max", "int8", "-1, 5", "1, -5"), "1 5");
  EXPECT_EQ(tensor_op("max", "uint8", "255, 5", "1, 6"), "255 6");
  EXPECT_EQ(tensor_op("min", "int64", "-9223372036854775808, 1", "0, 2"), "-9223372036854775808 1");
  EXPECT_EQ(tensor_op("abs_max", "int8", "-7, 3", "5, -4"), "7 4");
  // The magnitude of the lowest number wraps to itself.
  EXPECT_EQ(tensor_op("abs_max", "int8", "-128, -128", "5, -128"), "5 -128");
}

TEST(EvalAlu, IntegerComparisonsAreExact) {
  EXPECT_EQ(tensor_op("is_equal", "int32", "16777216, 5", "16777217, 5"), "0 1");
  EXPECT_EQ(tensor_op("is_lt", "uint64", "18446744073709551615", "1"), "0");
  EXPECT_EQ(tensor_op("is_gt", "int64", "-1", "1"), "0");
  EXPECT_EQ(tensor_op("not_equal", "uint8", "1, 2", "1, 3"), "0 1");
  EXPECT_EQ(tensor_op("is_le", "int8", "-1, 2", "-1, 1"), "1 0");
  EXPECT_EQ(tensor_op("is_ge", "int8", "-1, 2", "-1, 3"), "1 0");
}

TEST(EvalAlu, IntegerLogic) {
  EXPECT_EQ(tensor_op("logical_and", "int8", "2, 2, 0", "-1, 0, 0"), "1 0 0");
  EXPECT_EQ(tensor_op("logical_or", "int8", "2, 0, 0", "0, -128, 0"), "1 1 0");
  EXPECT_EQ(tensor_op("logical_xor", "uint8", "2, 2, 0", "3, 0, 0"), "0 1 0");
}

TEST(EvalAlu, Bitwise) {
  EXPECT_EQ(tensor_op("bitwise_and", "uint8", "0xf0, 0xff", "0x3c, 0x0f"), "48 15");
  EXPECT_EQ(tensor_op("bitwise_or", "int8", "-128, 1", "1, 2"), "-127 3");
  EXPECT_EQ(tensor_op("bitwise_xor", "int32", "-1, 6", "1, 3"), "-2 5");
}

TEST(EvalAlu, ShiftLeft) {
  EXPECT_EQ(tensor_op("logical_shift_left", "uint8", "1, 255, 1, 1", "7, 4, 8, 255"),
            "128 240 0 0");
  EXPECT_EQ(tensor_op("logical_shift_left", "int8", "1, 64, 1, 1", "7, 1, 8, -1"), "-128 -128 0 0");
}

TEST(EvalAlu, LogicalShiftRightMovesZerosIn) {
  EXPECT_EQ(tensor_op("logical_shift_right", "int8", "-1, -128, -1, -1", "1, 7, 8, -1"),
            "127 1 0 0");
  EXPECT_EQ(tensor_op("logical_shift_right", "int64", "-1", "63"), "1");
  EXPECT_EQ(tensor_op("logical_shift_right", "uint32", "0x80000000", "31"), "1");
}

TEST(EvalAlu, ArithmeticShiftRightKeepsTheSign) {
  EXPECT_EQ(tensor_op("arith_shift_right", "int8", "-128, -1, 64, -3, 3", "7, 8, 3, -1, 9"),
            "-1 -1 8 -1 0");
  EXPECT_EQ(tensor_op("arith_shift_right", "uint8", "128, 128", "7, 8"), "1 0");
}

TEST(EvalAlu, PowOfIntegersIsInFp32) {
  EXPECT_EQ(tensor_op("pow", "int32", "3, 2, 10", "4, -1, 12"), "81 0 2147483647");
}

TEST(EvalAlu, AnIntegerResultIsWrittenExactlyAndSaturated) {
  EXPECT_EQ(tensor_op("add", "int32", "16777216, -5", "1, 0", "int64"), "16777217 -5");
  EXPECT_EQ(tensor_op("add", "int32", "16777216, -5, 300", "1, 0, 0", "uint8"), "255 0 255");
  EXPECT_EQ(tensor_op("add", "uint64", "18446744073709551615", "0", "int32"), "2147483647");
}

TEST(EvalAlu, AnIntegerResultAsFloat) {
  EXPECT_EQ(tensor_op("add", "int32", "16777216, 3", "1, 4", "float32"), "16777216.0 7.0");
  EXPECT_EQ(tensor_op("add", "int8", "127, 3", "1, 4", "bfloat16"), "-128.0 7.0");
}

TEST(EvalAlu, AFloatResultAsInteger) {
  EXPECT_EQ(tensor_op("add", f32, "0.5, 1.5, -2.5, 300.0, nan, -inf",
                      "0.0, 0.0, 0.0, 0.0, 0.0, 0.0", "int8"),
            "0 2 -2 127 127 -128");
}

TEST(EvalAlu, ResultsAreRoundedOnceToTheirDtype) {
  EXPECT_EQ(tensor_op("add", "bfloat16", "1.0, 256.0", "0.00390625, 1.0"), "1.0 256.0");
  EXPECT_EQ(tensor_op("add", "float16", "65504.0, 1.0", "16.0, 0x1p-11"), "inf 1.0");
  EXPECT_EQ(tensor_op("multiply", "float8e4", "16.0, -16.0", "32.0, 32.0"), "240.0 -240.0");
  EXPECT_EQ(tensor_op("add", "float32r", "1.0, 1.0", "0x1p-11, 0x1p-12"), "1.0005 1.0");
}

TEST(EvalAlu, OperandsThatDifferMeetInTheirPromotedDtype) {
  const auto mixed = [](std::string_view a, std::string_view b, std::string_view to) {
    return results(std::string(a) + std::string(b) +
                   fmt::format("tensor $y : {}[2] sbuf output\n"
                               "tensor_tensor add $a, $b -> $y\n",
                               to));
  };
  // int8 with uint8 is int16: nothing wraps.
  EXPECT_EQ(mixed(constant("a", "int8", "127, -128"), constant("b", "uint8", "255, 0"), "int32"),
            "382 -128");
  // 2049 is 2048 in float16.
  EXPECT_EQ(
      mixed(constant("a", "int32", "2049, 2051"), constant("b", "float16", "0.0, 0.0"), "float32"),
      "2048.0 2052.0");
  // uint64 with a signed one is float32.
  EXPECT_EQ(
      mixed(constant("a", "uint64", "1, 16777217"), constant("b", "int8", "-2, 0"), "float32"),
      "-1.0 16777216.0");
  // float16 is rounded to bfloat16 first.
  EXPECT_EQ(mixed(constant("a", "float16", "1.001, 2.0"), constant("b", "bfloat16", "0.0, 1.0"),
                  "float32"),
            "1.0 3.0");
}

TEST(EvalAlu, NoPromotionPath) {
  EXPECT_EQ(results("tensor $a : float8_e8m0fnu[1] sbuf\n tensor $b : float32[1] sbuf\n"
                    "%y = tensor_tensor add $a, $b : float32[1]\n"),
            "error: No available implicit dtype promotion path for input dtypes float8_e8m0fnu and "
            "float32. Use .astype(dtype) explicitly.");
  EXPECT_EQ(results("tensor $a : float8_e8m0fnu[1] sbuf\n"
                    "%y = tensor_tensor add $a, $a : float32[1]\n"),
            "error: No available implicit dtype promotion path for input dtypes float8_e8m0fnu and "
            "float8_e8m0fnu. Use .astype(dtype) explicitly.");
}

} // namespace
} // namespace nir::test
