// Loops, subscripts, views and destinations that overlap operands.
#include "tests/unit/support/eval_module.h"

namespace nir::test {
namespace {

TEST(EvalAccess, AnAffineAccessMovesWithItsLoop) {
  EXPECT_EQ(results("tensor $y : float32[6] sbuf output\n"
                    "for %i in 0..3 { memset 1.0 -> $y[%i * 2 : 1] }\n"),
            "1.0 0.0 1.0 0.0 1.0 0.0");
}

TEST(EvalAccess, LoopsNestAndStep) {
  EXPECT_EQ(results("tensor $y : int32[4, 4] sbuf output\n tensor $k : int32[1, 1] sbuf\n"
                    "for %i in 1..4 step 2 {\n for %j in 0..2 {\n"
                    "tensor_scalar $k, add 1 -> $k\n"
                    "tensor_copy $k -> $y[%i : 1, 3 - %j * 2 : 1]\n} }\n"),
            "0 0 0 0 0 2 0 1 0 0 0 0 0 4 0 3");
}

TEST(EvalAccess, ANegativeFactorCountsDown) {
  EXPECT_EQ(
      results("tensor $a : int32[4] dram const = dense(1, 2, 3, 4)\n"
              "tensor $y : int32[4] dram output\n"
              "for %i in 0..4 { %v = load $a[3 - %i : 1] : int32[1]\n store %v -> $y[%i : 1] }\n"),
      "4 3 2 1");
}

TEST(EvalAccess, StridesOnBothSides) {
  EXPECT_EQ(results("tensor $a : int32[2, 4] dram const = dense(1, 2, 3, 4, 5, 6, 7, 8)\n"
                    "tensor $y : int32[4, 2] dram output\n"
                    "%v = load $a[0 : 2, 1 : 2 : 2] : int32[2, 2]\n"
                    "store %v -> $y[1 : 2 : 2, 0 : 2]\n"),
            "0 0 2 4 0 0 6 8");
}

TEST(EvalAccess, AViewReadsTheBytes) {
  EXPECT_EQ(results("tensor $a : float32[2] sbuf const = dense(1.0, -0.0)\n"
                    "tensor $y : uint32[2] sbuf output\n"
                    "tensor_copy $a as uint32 -> $y\n"),
            "1065353216 2147483648");
}

TEST(EvalAccess, AViewWritesTheBytes) {
  EXPECT_EQ(results("tensor $y : bfloat16[2] sbuf output\n"
                    "memset 0x3f80 -> $y[1 : 1] as uint16\n"),
            "0.0 1.0");
}

TEST(EvalAccess, AViewComputes) {
  // The sign bit of each.
  EXPECT_EQ(results("tensor $a : float32[3] sbuf const = dense(1.5, -2.0, 0.0)\n"
                    "tensor $y : float32[3] sbuf output\n"
                    "tensor_scalar $a as uint32, bitwise_or 0x80000000 -> $y as uint32\n"),
            "-1.5 -2.0 -0.0");
}

TEST(EvalAccess, AnOverlappingCopyReadsFirst) {
  EXPECT_EQ(results("tensor $t : int32[5] sbuf output\n iota -> $t\n"
                    "tensor_copy $t[0 : 4] -> $t[1 : 4]\n"),
            "0 0 1 2 3");
  EXPECT_EQ(results("tensor $t : int32[5] sbuf output\n iota -> $t\n"
                    "tensor_copy $t[1 : 4] -> $t[0 : 4]\n"),
            "1 2 3 4 4");
}

TEST(EvalAccess, AnOverlappingTransposeReadsFirst) {
  EXPECT_EQ(results("tensor $t : int32[2, 2] sbuf output\n"
                    "memset 1 -> $t[0 : 1, 1 : 1]\n memset 2 -> $t[1 : 1, 0 : 1]\n"
                    "transpose $t {perm = [1, 0]} -> $t\n"),
            "0 2 1 0");
}

TEST(EvalAccess, AnOverlappingSumReadsFirst) {
  // Longer than a block.
  EXPECT_EQ(results("tensor $t : int32[5000] sbuf\n tensor $y : int32[1] sbuf output\n"
                    "memset 1 -> $t\n"
                    "tensor_tensor add $t[1 : 4999], $t[0 : 4999] -> $t[1 : 4999]\n"
                    "tensor_reduce max $t {axes = [0]} -> $y\n"),
            "2");
}

TEST(EvalAccess, AnOverlappingReductionReadsFirst) {
  EXPECT_EQ(results("tensor $t : int32[2, 3] sbuf output\n iota {dim = 1} -> $t\n"
                    "tensor_reduce add $t {axes = [0]} -> $t[0 : 1, 0 : 3]\n"),
            "0 2 4 0 1 2");
}

TEST(EvalAccess, ColumnsOfTheDestinationAsScalars) {
  EXPECT_EQ(results("tensor $t : float32[2, 3] sbuf output\n"
                    "%i = iota {dim = 1} : float32[2, 3]\n tensor_scalar %i, add 2.0 -> $t\n"
                    "tensor_scalar $t, subtract $t[0 : 2, 0 : 1] -> $t\n"),
            "0.0 1.0 2.0 0.0 1.0 2.0");
}

TEST(EvalAccess, ABiasInTheDestination) {
  EXPECT_EQ(results("tensor $t : float32[2, 1] sbuf output\n memset 3.0 -> $t\n"
                    "activation identity $t, $t {scale = 2.0} -> $t\n"),
            "9.0 9.0");
}

TEST(EvalAccess, ConcatIntoItsOwnOperand) {
  EXPECT_EQ(results("tensor $t : int32[4] sbuf output\n iota -> $t\n"
                    "concat $t[2 : 2], $t[0 : 2] -> $t\n"),
            "2 3 0 1");
}

TEST(EvalAccess, InternalTensorsStartAsZeros) {
  EXPECT_EQ(results("tensor $t : float32[2] sbuf\n tensor $y : float32[2] sbuf output\n"
                    "tensor $z : int8[1] sbuf output\n"
                    "tensor_copy $t -> $y\n"),
            "0.0 0.0 | 0");
}

TEST(EvalAccess, ATensorKeepsItsContentFromTripToTrip) {
  EXPECT_EQ(results("tensor $t : int32[1] sbuf\n tensor $y : int32[1] sbuf output\n"
                    "for %i in 0..10 { %v = tensor_scalar $t, add 1 : int32[1]\n"
                    "tensor_copy %v -> $t }\n tensor_copy $t -> $y\n"),
            "10");
}

TEST(EvalAccess, AValueFromOutsideLivesThroughTheLoop) {
  EXPECT_EQ(results("tensor $y : int32[3] sbuf output\n %v = memset 5 : int32[1]\n"
                    "for %i in 0..3 { for %j in 0..2 { tensor_copy %v -> $y[%i : 1] } }\n"),
            "5 5 5");
}

TEST(EvalAccess, LoopsAThousandDeep) {
  std::string body = "tensor $t : int32[1] sbuf output\n";
  for (int i = 0; i < 1000; ++i)
    body += fmt::format("for %i{} in 0..{} {{\n", i, i < 4 ? 2 : 1);
  body += "tensor_scalar $t, add 1 -> $t\n";
  body.append(1000, '}');
  EXPECT_EQ(results(body), "16");
}

TEST(EvalAccess, EmptyLoopsAreNothing) {
  EXPECT_EQ(results("tensor $y : int32[1] sbuf output\n"
                    "for %i in 0..9000000000000 { }\n memset 1 -> $y\n"
                    "for %i in 0..2 { for %j in 0..3 { } }\n"),
            "1");
}

TEST(EvalAccess, RankZero) {
  EXPECT_EQ(
      results("tensor $a : float32[] sbuf const = splat(2.0)\n tensor $y : float32[] sbuf output\n"
              "%s = tensor_tensor multiply $a, $a : float32[]\n activation sqrt %s -> $y\n"),
      "2.0");
}

TEST(EvalAccess, ASplatIsEveryElement) {
  EXPECT_EQ(
      results(
          "tensor $a : int16[2, 3] sbuf const = splat(7)\n tensor $y : int16[2, 2] sbuf output\n"
          "tensor_copy $a[0 : 2, 0 : 2 : 2] -> $y\n"),
      "7 7 7 7");
}

} // namespace
} // namespace nir::test
