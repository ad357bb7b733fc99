// Copies, movers, DMA, offloaded instructions, iota and memset.
#include "tests/unit/support/eval_module.h"

namespace nir::test {
namespace {

constexpr std::string_view two_by_three =
    "tensor $a : float32[2, 3] sbuf const = dense(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)\n";

// What `instruction`, which reads $a of shape [2, 3], writes into a tensor of the type.
std::string moved(std::string_view instruction, std::string_view type) {
  return results(std::string(two_by_three) +
                 fmt::format("tensor $y : {} sbuf output\n{} -> $y\n", type, instruction));
}

TEST(EvalMove, Transpose) {
  EXPECT_EQ(moved("transpose $a {perm = [1, 0]}", "float32[3, 2]"), "1.0 4.0 2.0 5.0 3.0 6.0");
  EXPECT_EQ(moved("transpose $a {perm = [0, 1]}", "int8[2, 3]"), "1 2 3 4 5 6");
}

TEST(EvalMove, TransposeOfThreeDimensions) {
  EXPECT_EQ(results("tensor $y : int32[3, 1, 2] sbuf output\n"
                    "%i = iota {dim = 2} : int32[1, 2, 3]\n"
                    "%j = iota {dim = 1} : int32[1, 2, 3]\n"
                    "%k = tensor_scalar %j, multiply 10 : int32[1, 2, 3]\n"
                    "%l = tensor_tensor add %i, %k : int32[1, 2, 3]\n"
                    "transpose %l {perm = [2, 0, 1]} -> $y\n"),
            "0 10 1 11 2 12");
}

TEST(EvalMove, TransposeKeepsBitsAndCastsIntegersExactly) {
  EXPECT_EQ(result_codes("tensor $a : float32[1, 2] sbuf const = dense(-nan(0x7f800001), -0.0)\n"
                         "tensor $y : float32[2, 1] sbuf output\n"
                         "transpose $a {perm = [1, 0]} -> $y\n"),
            "ff800001 80000000");
  EXPECT_EQ(results("tensor $a : int32[1, 2] sbuf const = dense(16777217, -70000)\n"
                    "tensor $y : int16[2, 1] sbuf output\n"
                    "tensor $z : int64[2, 1] sbuf output\n"
                    "transpose $a {perm = [1, 0]} -> $y\n"
                    "transpose $a {perm = [1, 0]} -> $z\n"),
            "32767 -32768 | 16777217 -70000");
}

TEST(EvalMove, Reshape) {
  EXPECT_EQ(moved("reshape $a", "float32[3, 2]"), "1.0 2.0 3.0 4.0 5.0 6.0");
  EXPECT_EQ(results(std::string(two_by_three) + "tensor $y : float32[4] sbuf output\n"
                                                "reshape $a[0 : 2, 0 : 2 : 2] -> $y\n"),
            "1.0 3.0 4.0 6.0");
}

TEST(EvalMove, Broadcast) {
  EXPECT_EQ(results("tensor $a : float32[2, 1] sbuf const = dense(1.0, 2.0)\n"
                    "tensor $y : float32[2, 3] sbuf output\n"
                    "broadcast $a {dims = [0, 1]} -> $y\n"),
            "1.0 1.0 1.0 2.0 2.0 2.0");
  EXPECT_EQ(results("tensor $a : float32[2] sbuf const = dense(1.0, 2.0)\n"
                    "tensor $y : float32[3, 2] sbuf output\n"
                    "broadcast $a {dims = [1]} -> $y\n"),
            "1.0 2.0 1.0 2.0 1.0 2.0");
  EXPECT_EQ(results("tensor $a : float32[2, 3] sbuf const = dense(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)\n"
                    "tensor $y : float32[3, 2] sbuf output\n"
                    "broadcast $a {dims = [1, 0]} -> $y\n"),
            "1.0 4.0 2.0 5.0 3.0 6.0");
  EXPECT_EQ(results("tensor $a : float32[] sbuf const = dense(7.0)\n"
                    "tensor $y : float32[2, 2] sbuf output\n"
                    "broadcast $a {dims = []} -> $y\n"),
            "7.0 7.0 7.0 7.0");
}

TEST(EvalMove, Slice) {
  EXPECT_EQ(moved("slice $a {start = [1, 0], size = [1, 2], stride = [1, 2]}", "float32[1, 2]"),
            "4.0 6.0");
  EXPECT_EQ(moved("slice $a {start = [0, 1], size = [2, 2]}", "float32[2, 2]"), "2.0 3.0 5.0 6.0");
}

TEST(EvalMove, Concat) {
  EXPECT_EQ(moved("concat $a, $a[0 : 1, 0 : 3]", "float32[3, 3]"),
            "1.0 2.0 3.0 4.0 5.0 6.0 1.0 2.0 3.0");
  EXPECT_EQ(moved("concat $a[0 : 2, 2 : 1], $a {dim = 1}", "float32[2, 4]"),
            "3.0 1.0 2.0 3.0 6.0 4.0 5.0 6.0");
}

TEST(EvalMove, Iota) {
  EXPECT_EQ(
      results("tensor $y : float32[2, 3] sbuf output\n tensor $z : float32[2, 3] sbuf output\n"
              "iota -> $y\n iota {dim = 1} -> $z\n"),
      "0.0 0.0 0.0 1.0 1.0 1.0 | 0.0 1.0 2.0 0.0 1.0 2.0");
}

TEST(EvalMove, IotaRoundsAndSaturates) {
  EXPECT_EQ(results("tensor $y : bfloat16[1] sbuf output\n tensor $z : int8[1] sbuf output\n"
                    "%i = iota : bfloat16[260]\n %j = iota : int8[260]\n"
                    "slice %i {start = [259], size = [1]} -> $y\n"
                    "slice %j {start = [259], size = [1]} -> $z\n"),
            "260.0 | 127");
}

TEST(EvalMove, Memset) {
  EXPECT_EQ(results("tensor $y : float32[3] sbuf output\n tensor $z : int16[2] sbuf output\n"
                    "memset 1.5 -> $y[0 : 2 : 2]\n memset -7 -> $z\n"),
            "1.5 0.0 1.5 | -7 -7");
}

TEST(EvalMove, CopyOfOneDtypeKeepsBits) {
  EXPECT_EQ(
      result_codes(over("tensor_copy $a", "float32", "-nan(0x7f800001), nan, -0.0", "", "float32")),
      "ff800001 7fc00000 80000000");
}

TEST(EvalMove, ACastKeepsTheSignOfNan) {
  EXPECT_EQ(
      result_codes(over("tensor_copy $a", "float32", "-nan(0x7f800001), nan", "", "bfloat16")),
      "ffc0 7fc0");
}

TEST(EvalMove, CopyBetweenIntegersPassesThroughFp32) {
  EXPECT_EQ(copied("int32", "16777217, 300, -5", "int64"), "16777216 300 -5");
  EXPECT_EQ(copied("int32", "16777217, 300, -5", "int64", "{exact_ints}"), "16777217 300 -5");
  EXPECT_EQ(copied("int32", "16777217, 300, -5", "uint8", "{exact_ints}"), "255 255 0");
}

TEST(EvalMove, CopyToIntegersRoundsAndSaturates) {
  EXPECT_EQ(copied("float32", "0.5, 1.5, -1e9, nan, -nan, inf", "int8"), "0 2 -128 127 -128 127");
  EXPECT_EQ(copied("float32", "0.5, -1.0, 1e9, nan, -nan", "uint16"), "0 0 65535 65535 0");
}

TEST(EvalMove, CopyToEightBitFloatsSaturates) {
  // As text has them, with the fewest digits: 448, 57344 and 2^-16.
  EXPECT_EQ(copied("float32", "464.0, 1e9, -inf", "float8_e4m3fn"), "450.0 450.0 -450.0");
  EXPECT_EQ(copied("float32", "248.0, 1e9, -inf", "float8e4"), "240.0 240.0 -240.0");
  EXPECT_EQ(copied("float32", "1e9, 0x1p-16", "float8e5"), "60000.0 2e-05");
  EXPECT_EQ(copied("float32", "15.75, 0.25", "float8e3"), "15.5 0.25");
}

TEST(EvalMove, ScalesCastAsTheirByte) {
  EXPECT_EQ(copied("float32", "3.5, -1.0, 300.0", "float8_e8m0fnu"), "4 0 255");
  EXPECT_EQ(copied("float8_e8m0fnu", "127, 0, 255", "float32"), "127.0 0.0 255.0");
}

TEST(EvalMove, LoadAndStore) {
  EXPECT_EQ(results("tensor $a : float32[4] dram const = dense(1.0, 2.0, 3.00390625, 4.0)\n"
                    "tensor $y : bfloat16[4] dram output\n"
                    "%a = load $a[1 : 2] : float32[2]\n store %a -> $y[0 : 2 : 2]\n"),
            "2.0 0.0 3.0 0.0");
}

TEST(EvalMove, LoadCastsThroughFp32) {
  EXPECT_EQ(results("tensor $a : int32[1] dram const = dense(16777217)\n"
                    "tensor $y : int64[1] dram output\n"
                    "%a = load $a : int64[1]\n store %a -> $y\n"),
            "16777216");
}

TEST(EvalMove, Offloaded) {
  EXPECT_EQ(results("tensor $a : float32[2, 3] dram const = dense(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)\n"
                    "tensor $b : float32[3, 2] dram output\n"
                    "tensor $c : int8[6] dram output\n"
                    "tensor $d : float32[3, 2] dram output\n"
                    "tensor $e : float32[2, 2, 3] dram output\n"
                    "tensor $f : float32[1, 2] dram output\n"
                    "tensor $g : float32[4, 3] dram output\n"
                    "offloaded_memcpy $a -> $b\n offloaded_memcast $a -> $c\n"
                    "offloaded_transpose $a {perm = [1, 0]} -> $d\n"
                    "offloaded_broadcast $a {dims = [1, 2]} -> $e\n"
                    "offloaded_slice $a[1 : 1, 0 : 2 : 2] -> $f\n"
                    "offloaded_concat $a, $a -> $g\n"),
            "1.0 2.0 3.0 4.0 5.0 6.0 | 1 2 3 4 5 6 | 1.0 4.0 2.0 5.0 3.0 6.0 | "
            "1.0 2.0 3.0 4.0 5.0 6.0 1.0 2.0 3.0 4.0 5.0 6.0 | 4.0 6.0 | "
            "1.0 2.0 3.0 4.0 5.0 6.0 1.0 2.0 3.0 4.0 5.0 6.0");
}

TEST(EvalMove, OffloadedBitcast) {
  EXPECT_EQ(result_codes("tensor $a : float32[2] dram const = dense(1.0, -2.0)\n"
                         "tensor $b : uint16[4] dram output\n tensor $c : uint64[1] dram output\n"
                         "offloaded_bitcast $a -> $b\n offloaded_bitcast $a -> $c\n"),
            "0 3f80 0 c000 | c00000003f800000");
}

TEST(EvalMove, ContainersMove) {
  EXPECT_EQ(result_codes("tensor $a : float8_e4m3fn_x4[2] dram const = hex(\"0102030405060708\")\n"
                         "tensor $b : float4_e2m1fn_x4[1] dram const = hex(\"3412\")\n"
                         "tensor $y : float8_e4m3fn_x4[2] dram output\n"
                         "tensor $z : float4_e2m1fn_x4[2] dram output\n"
                         "%a = load $a : float8_e4m3fn_x4[2]\n store %a -> $y\n"
                         "%b = load $b : float4_e2m1fn_x4[1]\n"
                         "%c = concat %b, %b : float4_e2m1fn_x4[2]\n store %c -> $z\n"),
            "4030201 8070605 | 1234 1234");
}

TEST(EvalMove, EveryDtypeMovesItsBytes) {
  for (const DType dtype : all_dtypes()) {
    if (dtype == DType::Float4E2m1fn)
      continue;
    std::string hex;
    for (unsigned i = 0; i < 3 * sizeinbytes(dtype); ++i)
      hex += fmt::format("{:02x}", (i * 37 + 129) & 0xff);
    const EvalModule module(in_f(fmt::format(
        "tensor $a : {0}[3] dram const = hex(\"{1}\")\n tensor $y : {0}[3] dram output\n"
        "%a = load $a : {0}[3]\n %b = reshape %a : {0}[1, 3]\n"
        "%c = slice %b {{start = [0, 0], size = [1, 3]}} : {0}[1, 3]\n"
        "%d = reshape %c : {0}[3]\n store %d -> $y\n",
        dtype2str(dtype), hex)));
    const auto outputs = evaluate(module.function(), {});
    ASSERT_TRUE(outputs) << dtype2str(dtype);
    std::string found;
    for (const std::byte byte : outputs->front().bytes)
      found += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    EXPECT_EQ(found, hex) << dtype2str(dtype);
  }
}

// Small whole numbers are in every dtype that computes.
TEST(EvalMove, EveryDtypeComputes) {
  for (const DType dtype : all_dtypes()) {
    if (is_x4_dtype(dtype) || dtype == DType::Float8E8m0fnu || dtype == DType::Float4E2m1fn)
      continue;
    const std::string_view name = dtype2str(dtype);
    const bool integer = is_int_type(dtype);
    EXPECT_EQ(tensor_op("add", name, integer ? "1, 2" : "1.0, 2.0", integer ? "3, 4" : "3.0, 4.0"),
              integer ? "4 6" : "4.0 6.0")
        << name;
    EXPECT_EQ(copied(name, integer ? "1, 7" : "1.0, 7.0", "int32"), "1 7") << name;
    EXPECT_EQ(copied("int8", "1, 7", name), integer ? "1 7" : "1.0 7.0") << name;
  }
}

} // namespace
} // namespace nir::test
