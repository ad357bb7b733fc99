// Every function of activation, against long double where there is one.
#include <bit>
#include <cmath>
#include <functional>

#include "tests/unit/support/eval_module.h"

namespace nir::test {
namespace {

using Exact = std::function<long double(long double)>;

// All exponents and both signs, some mantissas each; NaNs and infinities among them.
std::vector<std::uint32_t> sample_bits() {
  std::vector<std::uint32_t> bits;
  for (std::uint32_t high = 0; high < 0x200; ++high)
    for (const std::uint32_t low : {0u, 1u, 0x2aaaaau, 0x400000u, 0x5a5a5au, 0x7fffffu})
      bits.push_back(high << 23 | low);
  return bits;
}

std::vector<float> applied(std::string_view fn, const std::vector<std::uint32_t> &bits) {
  const EvalModule module(fmt::format("func @f {{\n tensor $x : float32[{0}] sbuf input\n"
                                      " tensor $y : float32[{0}] sbuf output\n"
                                      " activation {1} $x -> $y\n}}\n",
                                      bits.size(), fn));
  HostTensor input{module.function().first_tensor()->type(), {}};
  input.bytes.resize(bits.size() * 4);
  std::memcpy(input.bytes.data(), bits.data(), input.bytes.size());
  const auto outputs = evaluate(module.function(), std::span(&input, 1));
  std::vector<float> values(bits.size());
  std::memcpy(values.data(), outputs->front().bytes.data(), input.bytes.size());
  return values;
}

double ulps_off(float found, long double exact) {
  const auto rounded = static_cast<float>(exact);
  if (std::isinf(rounded) || std::isinf(found))
    return rounded == found ? 0 : 1e9;
  const int exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
  return static_cast<double>(std::fabs(found - exact) / std::ldexp(1.0L, exponent - 23));
}

void expect_close(std::string_view fn, const Exact &exact, double max_ulps = 1) {
  const auto bits = sample_bits();
  const auto values = applied(fn, bits);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const auto x = std::bit_cast<float>(bits[i]);
    const long double expected = exact(x);
    if (std::isnan(expected)) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(values[i]), 0x7fc00000u) << fn << " " << x;
      continue;
    }
    EXPECT_LE(ulps_off(values[i], expected), max_ulps) << fn << " of " << x << " is " << values[i];
  }
}

long double logistic(long double x) { return 1 / (1 + std::exp(-x)); }
// x times something that goes to 0 with it: 0 at -inf.
long double gated(long double x, long double gate) {
  return std::isinf(x) && x < 0 ? -0.0L : x * gate;
}

TEST(EvalFunctions, Identity) {
  EXPECT_EQ(function_of("identity", "1.5, -0.0, inf, 0x1p-149"), "1.5 -0.0 inf 1e-45");
  expect_close(
      "identity", [](long double x) { return x; }, 0);
}

TEST(EvalFunctions, Exp) {
  EXPECT_EQ(function_of("exp", "0.0, 1.0, -inf, inf, 89.0, -104.0"),
            "1.0 2.7182817 0.0 inf inf 0.0");
  expect_close("exp", [](long double x) { return std::exp(x); });
}

TEST(EvalFunctions, Log) {
  EXPECT_EQ(function_of("log", "1.0, 0.0, -0.0, -1.0, inf"), "0.0 -inf -inf nan inf");
  expect_close("log", [](long double x) { return std::log(x); });
}

TEST(EvalFunctions, Sqrt) {
  EXPECT_EQ(function_of("sqrt", "4.0, 2.0, -0.0, -1.0, inf"), "2.0 1.4142135 -0.0 nan inf");
  expect_close(
      "sqrt", [](long double x) { return std::sqrt(x); }, 0.5);
}

TEST(EvalFunctions, Rsqrt) {
  EXPECT_EQ(function_of("rsqrt", "4.0, 0.0, -0.0, -1.0, inf"), "0.5 inf -inf nan 0.0");
  expect_close("rsqrt", [](long double x) { return 1 / std::sqrt(x); });
}

TEST(EvalFunctions, Reciprocal) {
  EXPECT_EQ(function_of("reciprocal", "4.0, 3.0, 0.0, -0.0, -inf"),
            "0.25 0.33333334 inf -inf -0.0");
  expect_close(
      "reciprocal", [](long double x) { return 1 / x; }, 0.5);
}

TEST(EvalFunctions, Square) {
  EXPECT_EQ(function_of("square", "-3.0, 1e20, -0.0"), "9.0 inf 0.0");
  expect_close(
      "square", [](long double x) { return x * x; }, 0.5);
}

TEST(EvalFunctions, Abs) {
  EXPECT_EQ(function_of("abs", "-3.0, -0.0, -inf"), "3.0 0.0 inf");
  expect_close(
      "abs", [](long double x) { return std::fabs(x); }, 0);
}

TEST(EvalFunctions, Sign) {
  EXPECT_EQ(function_of("sign", "-3.0, 0x1p-149, 0.0, -0.0, inf, nan"),
            "-1.0 1.0 0.0 -0.0 1.0 nan");
}

TEST(EvalFunctions, Relu) {
  EXPECT_EQ(function_of("relu", "-3.0, 2.0, -0.0, -inf, inf, nan"), "0.0 2.0 0.0 0.0 inf nan");
}

TEST(EvalFunctions, Gelu) {
  EXPECT_EQ(function_of("gelu", "0.0, -0.0, inf, -inf, 1.0, -1.0"),
            "0.0 -0.0 inf -0.0 0.8413448 -0.15865526");
  expect_close("gelu",
               [](long double x) { return gated(x, 0.5L * std::erfc(-x * std::sqrt(0.5L))); });
}

TEST(EvalFunctions, GeluTanh) {
  EXPECT_EQ(function_of("gelu_tanh", "0.0, inf, -inf, 1.0"), "0.0 inf -0.0 0.841192");
  expect_close("gelu_tanh", [](long double x) {
    const long double u = std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x);
    return gated(x, logistic(2 * u));
  });
}

TEST(EvalFunctions, Sigmoid) {
  EXPECT_EQ(function_of("sigmoid", "0.0, inf, -inf, 1.0"), "0.5 1.0 0.0 0.7310586");
  expect_close("sigmoid", logistic);
}

TEST(EvalFunctions, Silu) {
  EXPECT_EQ(function_of("silu", "0.0, -0.0, inf, -inf, 1.0"), "0.0 -0.0 inf -0.0 0.7310586");
  expect_close("silu", [](long double x) { return gated(x, logistic(x)); });
}

TEST(EvalFunctions, Tanh) {
  EXPECT_EQ(function_of("tanh", "0.0, -0.0, inf, -inf, 1.0"), "0.0 -0.0 1.0 -1.0 0.7615942");
  expect_close("tanh", [](long double x) { return std::tanh(x); });
}

TEST(EvalFunctions, Sin) {
  EXPECT_EQ(function_of("sin", "0.0, -0.0, inf, 1.0"), "0.0 -0.0 nan 0.84147096");
  expect_close("sin", [](long double x) { return std::sin(x); });
}

TEST(EvalFunctions, Cos) {
  EXPECT_EQ(function_of("cos", "0.0, inf, 1.0"), "1.0 nan 0.5403023");
  expect_close("cos", [](long double x) { return std::cos(x); });
}

TEST(EvalFunctions, Softplus) {
  EXPECT_EQ(function_of("softplus", "0.0, inf, -inf, 100.0"), "0.6931472 inf 0.0 100.0");
  expect_close("softplus", [](long double x) {
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  });
}

TEST(EvalFunctions, Erf) {
  EXPECT_EQ(function_of("erf", "0.0, -0.0, inf, -inf, 1.0"), "0.0 -0.0 1.0 -1.0 0.8427008");
  expect_close("erf", [](long double x) { return std::erf(x); });
}

TEST(EvalFunctions, EveryFunctionOfNanIsTheOneNan) {
  for (const std::string_view fn : all_activation_fns())
    EXPECT_EQ(result_codes(over(fmt::format("activation {} $a", fn), "float32",
                                "nan, -nan, -nan(0x7f800001)", "", "float32")),
              "7fc00000 7fc00000 7fc00000")
        << fn;
}

// The same bits for an element, wherever it stands and whoever computes it.
TEST(EvalFunctions, EveryFunctionGivesTheSameBitsOnEveryPath) {
  for (const std::string_view fn : all_activation_fns()) {
    const auto bits = sample_bits();
    const auto all = applied(fn, bits);
    for (std::size_t i = 1000; i < bits.size(); i += 517) {
      const auto one = applied(fn, {bits[i]});
      EXPECT_EQ(std::bit_cast<std::uint32_t>(one[0]), std::bit_cast<std::uint32_t>(all[i])) << fn;
    }
  }
}

TEST(EvalFunctions, ScaleAndBiasRoundSeparately) {
  // (1 + 2^-12)^2 is 1 + 2^-11 + 2^-24, whose last term is rounded away before the bias comes.
  EXPECT_EQ(results(constant("a", "float32", "0x1.001p0") +
                    "tensor $c : float32[] sbuf const = dense(-0x1.002p0)\n"
                    "tensor $y : float32[1] sbuf output\n"
                    "activation identity $a, $c {scale = 0x1.001p0} -> $y\n"),
            "0.0");
}

TEST(EvalFunctions, ABiasForEachPartition) {
  EXPECT_EQ(results("tensor $a : float32[2, 3] sbuf const = dense(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)\n"
                    "tensor $b : float32[2, 1] sbuf const = dense(10.0, -10.0)\n"
                    "tensor $y : float32[2, 3] sbuf output\n"
                    "activation relu $a, $b {scale = 2.0} -> $y\n"),
            "12.0 14.0 16.0 0.0 0.0 2.0");
}

TEST(EvalFunctions, NoBiasKeepsNegativeZero) {
  EXPECT_EQ(function_of("identity", "-0.0"), "-0.0");
  EXPECT_EQ(results(over("activation identity $a {scale = -1.0}", "float32", "0.0", "", "float32")),
            "-0.0");
}

TEST(EvalFunctions, IntegersComputeInFp32) {
  EXPECT_EQ(results(over("activation square $a", "int32", "3, -5, 16777217", "", "float32")),
            "9.0 25.0 2.8147498e+14");
  EXPECT_EQ(results(over("activation sqrt $a", "uint8", "16, 2", "", "int8")), "4 1");
}

TEST(EvalFunctions, ResultsOfNarrowDtypesAreRoundedOnce) {
  EXPECT_EQ(function_of("exp", "1.0", "bfloat16"), "2.72");
  EXPECT_EQ(function_of("reciprocal", "3.0", "float16"), "0.3333");
  EXPECT_EQ(function_of("exp", "10.0", "float8e5"), "20000.0"); // 20480
  EXPECT_EQ(function_of("square", "100.0", "float8e4"), "240.0");
}

} // namespace
} // namespace nir::test
