// tensor_reduce and matmul: the order of their sums above all.
#include <bit>

#include "tests/unit/support/eval_module.h"

namespace nir::test {
namespace {

std::string reduced(std::string_view op, std::string_view dtype, std::string_view numbers,
                    std::string_view to = "") {
  return results(constant("a", dtype, numbers) +
                 fmt::format("tensor $y : {}[1] sbuf output\n"
                             "tensor_reduce {} $a {{axes = [0]}} -> $y\n",
                             to.empty() ? dtype : to, op));
}

TEST(EvalReduce, SumsInAscendingOrder) {
  // From the left, 1 is lost in 2^24 twice; from the right it would not be.
  EXPECT_EQ(reduced("add", "float32", "16777216.0, 1.0, 1.0"), "16777216.0");
  EXPECT_EQ(reduced("add", "float32", "1.0, 1.0, 16777216.0"), "16777218.0");
}

TEST(EvalReduce, BeginsWithTheFirstTerm) {
  EXPECT_EQ(reduced("add", "float32", "-0.0, -0.0"), "-0.0");
  EXPECT_EQ(reduced("add", "float32", "-0.0"), "-0.0");
}

TEST(EvalReduce, EveryOperatorOnFloats) {
  EXPECT_EQ(reduced("multiply", "float32", "2.0, -3.0, 4.0"), "-24.0");
  EXPECT_EQ(reduced("max", "float32", "-0.0, 0.0, -5.0"), "0.0");
  EXPECT_EQ(reduced("max", "float32", "1.0, nan, 5.0"), "nan");
  EXPECT_EQ(reduced("min", "float32", "0.0, -0.0, 5.0"), "-0.0");
  EXPECT_EQ(reduced("abs_max", "float32", "-7.0, 3.0, 6.0"), "7.0");
  EXPECT_EQ(reduced("abs_max", "float32", "-7.0"), "7.0");
  EXPECT_EQ(reduced("logical_and", "float32", "nan, 3.0"), "1.0");
  EXPECT_EQ(reduced("logical_and", "float32", "5.0"), "1.0");
  EXPECT_EQ(reduced("logical_or", "float32", "0.0, -0.0"), "0.0");
  EXPECT_EQ(reduced("logical_xor", "float32", "1.0, 2.0, 3.0"), "1.0");
}

TEST(EvalReduce, EveryOperatorOnIntegers) {
  EXPECT_EQ(reduced("add", "int8", "100, 100, -128"), "72");
  EXPECT_EQ(reduced("multiply", "uint8", "16, 16, 3"), "0");
  EXPECT_EQ(reduced("max", "uint64", "1, 18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(reduced("min", "int64", "1, -9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(reduced("abs_max", "int16", "-300, 20"), "300");
  EXPECT_EQ(reduced("logical_and", "int8", "5, 3"), "1");
  EXPECT_EQ(reduced("logical_or", "int8", "0, 0"), "0");
  EXPECT_EQ(reduced("logical_xor", "int8", "5, 3"), "0");
  EXPECT_EQ(reduced("bitwise_and", "uint8", "0xf3, 0x3f"), "51");
  EXPECT_EQ(reduced("bitwise_or", "int8", "-128, 1"), "-127");
  EXPECT_EQ(reduced("bitwise_xor", "uint8", "0xff, 0x0f, 1"), "241");
}

TEST(EvalReduce, IntegersAccumulateInTheirDtype) {
  // The sum wraps before it is written.
  EXPECT_EQ(reduced("add", "int8", "100, 100", "int32"), "-56");
  EXPECT_EQ(reduced("add", "int32", "16777216, 1, 1", "float32"), "16777218.0");
}

TEST(EvalReduce, FloatsAccumulateInFp32) {
  EXPECT_EQ(reduced("add", "bfloat16", "256.0, 1.0, 1.0"), "258.0");
  EXPECT_EQ(reduced("add", "float8e4", "240.0, 240.0, -240.0"), "240.0");
}

constexpr std::string_view cube =
    "%i = iota : int32[2, 3, 4]\n %j = iota {dim = 1} : int32[2, 3, 4]\n"
    "%k = iota {dim = 2} : int32[2, 3, 4]\n"
    "%a = tensor_scalar %i, multiply 100 : int32[2, 3, 4]\n"
    "%b = tensor_scalar %j, multiply 10 : int32[2, 3, 4]\n"
    "%c = tensor_tensor add %a, %b : int32[2, 3, 4]\n"
    "%x = tensor_tensor add %c, %k : int32[2, 3, 4]\n";

std::string cube_sum(std::string_view axes, std::string_view shape) {
  return results(fmt::format("tensor $y : int32{} sbuf output\n{}"
                             "tensor_reduce add %x {{axes = {}}} -> $y\n",
                             shape, cube, axes));
}

TEST(EvalReduce, Axes) {
  EXPECT_EQ(cube_sum("[2]", "[2, 3, 1]"), "6 46 86 406 446 486");
  EXPECT_EQ(cube_sum("[1]", "[2, 1, 4]"), "30 33 36 39 330 333 336 339");
  EXPECT_EQ(cube_sum("[0]", "[1, 3, 4]"), "100 102 104 106 120 122 124 126 140 142 144 146");
  EXPECT_EQ(cube_sum("[0, 2]", "[1, 3, 1]"), "412 492 572");
  EXPECT_EQ(cube_sum("[0, 1, 2]", "[1, 1, 1]"), "1476");
  EXPECT_EQ(cube_sum("[1, 0]", "[1, 1, 4]"), "360 366 372 378");
}

// Over the terms of a plain loop, for shapes beyond one block and rows that do not divide it.
TEST(EvalReduce, LongSumsEqualAPlainLoop) {
  for (const auto &[rows, columns, axis] :
       {std::tuple(3, 5000, 1), std::tuple(5000, 3, 0), std::tuple(3, 5000, 0),
        std::tuple(777, 13, 0), std::tuple(777, 13, 1)}) {
    const EvalModule module(fmt::format("func @f {{\n tensor $x : float32[{0}, {1}] sbuf input\n"
                                        " tensor $y : float32[{2}, {3}] sbuf output\n "
                                        "tensor_reduce add $x {{axes = [{4}]}} -> $y\n}}\n",
                                        rows, columns, axis == 0 ? 1 : rows,
                                        axis == 1 ? 1 : columns, axis));
    std::vector<float> x(static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>((i * 2654435761u) % 1000) * 0.37F - 150;
    HostTensor input{module.function().first_tensor()->type(), {}};
    input.bytes.resize(x.size() * 4);
    std::memcpy(input.bytes.data(), x.data(), input.bytes.size());
    const auto outputs = evaluate(module.function(), std::span(&input, 1));
    ASSERT_TRUE(outputs);
    const int kept = axis == 0 ? columns : rows;
    for (int i = 0; i < kept; ++i) {
      float sum = 0;
      for (int k = 0; k < (axis == 0 ? rows : columns); ++k) {
        const int at = axis == 0 ? k * columns + i : i * columns + k;
        sum = k == 0 ? x[static_cast<std::size_t>(at)] : sum + x[static_cast<std::size_t>(at)];
      }
      EXPECT_EQ(code_at(outputs->front(), static_cast<std::size_t>(i)),
                std::bit_cast<std::uint32_t>(sum));
    }
  }
}

std::string product(std::string_view lhs, std::string_view rhs, std::string_view to,
                    std::string_view attributes = "") {
  return results(fmt::format("tensor $a : {}\n tensor $b : {}\n tensor $y : float32{} psum output\n"
                             "matmul $a, $b {} -> $y\n",
                             lhs, rhs, to, attributes));
}

TEST(EvalMatmul, ContractsTheFirstDimensions) {
  EXPECT_EQ(product("float32[2, 2] sbuf const = dense(1.0, 2.0, 3.0, 4.0)",
                    "float32[2, 3] sbuf const = dense(1.0, 0.0, 2.0, 0.0, 1.0, 10.0)", "[2, 3]"),
            "1.0 3.0 32.0 2.0 4.0 44.0");
}

TEST(EvalMatmul, OtherDimensions) {
  EXPECT_EQ(product("float32[2, 2] sbuf const = dense(1.0, 2.0, 3.0, 4.0)",
                    "float32[3, 2] sbuf const = dense(1.0, 0.0, 0.0, 1.0, 2.0, 10.0)", "[2, 3]",
                    "{lhs_contract = [1], rhs_contract = [1]}"),
            "1.0 2.0 22.0 3.0 4.0 46.0");
}

TEST(EvalMatmul, Batches) {
  EXPECT_EQ(product("float32[2, 2] sbuf const = dense(1.0, 2.0, 3.0, 4.0)",
                    "float32[2, 2] sbuf const = dense(5.0, 6.0, 7.0, 8.0)", "[2]",
                    "{lhs_contract = [1], rhs_contract = [1], lhs_batch = [0], rhs_batch = [0]}"),
            "17.0 53.0");
}

TEST(EvalMatmul, SeveralContractedDimensions) {
  EXPECT_EQ(product("float32[2, 2, 1] sbuf const = dense(1.0, 2.0, 3.0, 4.0)",
                    "float32[2, 2, 1] sbuf const = dense(5.0, 6.0, 7.0, 8.0)", "[1, 1]",
                    "{lhs_contract = [0, 1], rhs_contract = [1, 0]}"),
            "69.0"); // 1*5 + 2*7 + 3*6 + 4*8
}

TEST(EvalMatmul, NothingContracted) {
  EXPECT_EQ(product("float32[2] sbuf const = dense(1.0, 2.0)",
                    "float32[2] sbuf const = dense(3.0, -0.0)", "[2, 2]",
                    "{lhs_contract = [], rhs_contract = []}"),
            "3.0 -0.0 6.0 -0.0");
}

TEST(EvalMatmul, AscendingOrderFromTheFirstProduct) {
  EXPECT_EQ(product("float32[3, 1] sbuf const = dense(16777216.0, 1.0, 1.0)",
                    "float32[3, 1] sbuf const = splat(1.0)", "[1, 1]"),
            "16777216.0");
  EXPECT_EQ(product("float32[2, 1] sbuf const = dense(-1.0, -1.0)",
                    "float32[2, 1] sbuf const = splat(0.0)", "[1, 1]"),
            "-0.0");
}

TEST(EvalMatmul, ProductsAreRoundedFirst) {
  // (1 + 2^-12)^2 loses its 2^-24, which a fused sum would keep.
  EXPECT_EQ(product("float32[2, 1] sbuf const = dense(-0x1.002p0, 0x1.001p0)",
                    "float32[2, 1] sbuf const = dense(1.0, 0x1.001p0)", "[1, 1]"),
            "0.0");
}

TEST(EvalMatmul, AccumulateAddsToTheOldElement) {
  EXPECT_EQ(
      results("tensor $a : float32[2, 1] sbuf const = dense(1.0, 1.0)\n"
              "tensor $b : float32[2, 2] sbuf const = dense(1.0, 2.0, 3.0, 4.0)\n"
              "tensor $y : float32[1, 2] psum output\n memset 16777216.0 -> $y[0 : 1, 0 : 1]\n"
              "for %i in 0..2 { matmul $a, $b {accumulate} -> $y }\n"),
      // 2^24 + 1 is 2^24 and + 3 is 2^24 + 4, twice.
      "16777224.0 12.0");
}

TEST(EvalMatmul, OperandsAreCastAsTheTargetWants) {
  EXPECT_EQ(product("int32[1, 1] sbuf const = dense(16777217)", "int8[1, 1] sbuf const = dense(-1)",
                    "[1, 1]"),
            "-16777216.0");
  EXPECT_EQ(product("bfloat16[1, 1] sbuf const = dense(1.5)",
                    "float8e4[1, 1] sbuf const = dense(240.0)", "[1, 1]"),
            "360.0");
}

TEST(EvalMatmul, ContainersAreNotEvaluated) {
  EXPECT_EQ(evaluated(EvalModule("module @m {target = \"trn3\"}\nfunc @f {\n"
                                 "tensor $a : float8_e4m3fn_x4[1, 1] sbuf\n"
                                 "%y = matmul $a, $a : float32[1, 1]\n}\n")),
            "error: matmul of float8_e4m3fn_x4 is not evaluated in this version");
}

// All sizes about the tiles' against a plain loop, bit for bit, with accumulation and threads.
TEST(EvalMatmul, TilesEqualAPlainLoop) {
  for (const auto &[depth, rows, columns] :
       {std::tuple(1, 1, 1), std::tuple(7, 5, 33), std::tuple(64, 4, 32), std::tuple(3, 130, 2500),
        std::tuple(200, 9, 31)}) {
    const EvalModule module(
        fmt::format("func @f {{\n tensor $a : float32[{0}, {1}] sbuf input\n tensor $b : "
                    "float32[{0}, {2}] sbuf input\n"
                    " tensor $y : float32[{1}, {2}] psum output\n matmul $a, $b -> $y\n"
                    " matmul $a, $b {{accumulate}} -> $y\n}}\n",
                    depth, rows, columns));
    std::vector<float> a(static_cast<std::size_t>(depth * rows));
    std::vector<float> b(static_cast<std::size_t>(depth * columns));
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = static_cast<float>(i % 97) * 0.013F - 0.5F;
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = static_cast<float>(i % 89) * -0.017F + 0.7F;
    std::vector<HostTensor> inputs(2);
    const Tensor *tensor = module.function().first_tensor();
    for (const auto *values : {&a, &b}) {
      HostTensor &input = inputs[values == &a ? 0 : 1];
      input.type = tensor->type();
      input.bytes.resize(values->size() * 4);
      std::memcpy(input.bytes.data(), values->data(), input.bytes.size());
      tensor = tensor->next();
    }
    for (const unsigned threads : {1u, 3u}) {
      EvalOptions options;
      options.threads = threads;
      const auto outputs = evaluate(module.function(), inputs, options);
      ASSERT_TRUE(outputs);
      for (int m = 0; m < rows; ++m)
        for (int n = 0; n < columns; ++n) {
          volatile float sum = 0;
          for (int round = 0; round < 2; ++round)
            for (int k = 0; k < depth; ++k) {
              const volatile float term = a[static_cast<std::size_t>(k * rows + m)] *
                                          b[static_cast<std::size_t>(k * columns + n)];
              sum = round == 0 && k == 0 ? term : sum + term;
            }
          const auto at = static_cast<std::size_t>(m * columns + n);
          ASSERT_EQ(code_at(outputs->front(), at), std::bit_cast<std::uint32_t>(float{sum}))
              << m << " " << n << " of " << rows << " " << columns;
        }
    }
  }
}

} // namespace
} // namespace nir::test
