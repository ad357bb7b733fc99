// The functions of `activation`. What is no IEEE operation of the lane itself is computed in
// float64 and rounded to the lane once. For fp32 that leaves it within 1 ulp of the exact result,
// and exp and what is made of it is computed here, in plain arithmetic that vectorises, with a
// relative error of 2^-35 before that rounding; the rest, and all of the reference evaluation, is
// the C library's.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <type_traits>
#include <utility>

#include "ir/semantics/eval_alu.h"

namespace nir::eval {
namespace {

constexpr double sqrt_half = std::numbers::sqrt2 / 2;
constexpr double sqrt_2_over_pi = 0.79788456080286535588;
constexpr double gelu_tanh_cubic = 0.044715;

// a[0] + a[1] * x + a[2] * x^2 + …
template <std::size_t n> double polynomial(const double (&a)[n], double x) {
  double sum = a[n - 1];
  for (std::size_t i = n - 1; i-- > 0;)
    sum = sum * x + a[i];
  return sum;
}

// 2^n * e^r with |r| at most ln(2) / 2, of e^r the Taylor series. Beyond the ends, where fp32 has
// only 0 and infinity, the number at the end stands for all.
double exp_for_fp32(double x) {
  constexpr double series[] = {1.0,       1.0,       1.0 / 2,    1.0 / 6,     1.0 / 24,
                               1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880};
  constexpr double lowest = -700;
  constexpr double highest = 700;
  constexpr double to_integer = 0x1.8p52; // adding it leaves the nearest integer in the low bits
  x = x < lowest ? lowest : x;
  x = x > highest ? highest : x;
  const double shifted = x * std::numbers::log2e + to_integer;
  const double r = x - (shifted - to_integer) * std::numbers::ln2;
  const auto exponent = std::bit_cast<std::uint64_t>(shifted) << 52;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(polynomial(series, r)) + exponent);
}

template <class T> double exponential(double x) {
  if constexpr (std::is_same_v<T, float>)
    return exp_for_fp32(x);
  else
    return std::exp(x);
}

// (e^2x - 1) / (e^2x + 1) cancels near 0; there the Taylor series is as good.
double tanh_for_fp32(double x) {
  constexpr double series[] = {1.0, -1.0 / 3, 2.0 / 15, -17.0 / 315, 62.0 / 2835, -1382.0 / 155925};
  constexpr double small = 0.25;
  constexpr double saturated = 20; // 1 - tanh is beyond fp32
  const double near_zero = x * polynomial(series, x * x);
  double bounded = x > saturated ? saturated : x;
  bounded = bounded < -saturated ? -saturated : bounded;
  const double power = exp_for_fp32(2 * bounded);
  const double elsewhere = (power - 1) / (power + 1);
  return (x < small) & (x > -small) ? near_zero : elsewhere;
}

template <class T> double hyperbolic_tangent(double x) {
  if constexpr (std::is_same_v<T, float>)
    return tanh_for_fp32(x);
  else
    return std::tanh(x);
}

template <class T> double sigmoid(double x) { return 1 / (1 + exponential<T>(-x)); }

// x times a factor that falls like e^x or faster below 0: far out nothing is left of it.
double damped(double x, double factor) {
  constexpr double far_out = -10000;
  return x < far_out ? -0.0 : x * factor;
}

// 1 + tanh(u) is 2 * sigmoid(2 * u), which does not cancel.
template <class T> double gelu_tanh(double x) {
  const double u = sqrt_2_over_pi * (x + gelu_tanh_cubic * x * x * x);
  return damped(x, sigmoid<T>(2 * u));
}

double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

template <ActivationFn fn, class T> double wide_function(double x) {
  if constexpr (fn == ActivationFn::Exp)
    return exponential<T>(x);
  else if constexpr (fn == ActivationFn::Log)
    return std::log(x);
  else if constexpr (fn == ActivationFn::Rsqrt)
    return 1 / std::sqrt(x);
  else if constexpr (fn == ActivationFn::Gelu)
    return damped(x, 0.5 * std::erfc(-x * sqrt_half));
  else if constexpr (fn == ActivationFn::GeluTanh)
    return gelu_tanh<T>(x);
  else if constexpr (fn == ActivationFn::Sigmoid)
    return sigmoid<T>(x);
  else if constexpr (fn == ActivationFn::Silu)
    return damped(x, sigmoid<T>(x));
  else if constexpr (fn == ActivationFn::Tanh)
    return hyperbolic_tangent<T>(x);
  else if constexpr (fn == ActivationFn::Sin)
    return std::sin(x);
  else if constexpr (fn == ActivationFn::Cos)
    return std::cos(x);
  else if constexpr (fn == ActivationFn::Softplus)
    return softplus(x);
  else
    return std::erf(x);
}

template <ActivationFn fn, class T> T function(T x) {
  if constexpr (fn == ActivationFn::Identity)
    return x;
  else if constexpr (fn == ActivationFn::Sqrt)
    return std::sqrt(x);
  else if constexpr (fn == ActivationFn::Reciprocal)
    return 1 / x;
  else if constexpr (fn == ActivationFn::Square)
    return x * x;
  else if constexpr (fn == ActivationFn::Abs)
    return std::fabs(x);
  else if constexpr (fn == ActivationFn::Sign)
    return x > 0 ? T{1} : (x < 0 ? T{-1} : x); // zeros keep their sign
  else if constexpr (fn == ActivationFn::Relu)
    return x > 0 ? x : (x != x ? x : T{0});
  else
    return static_cast<T>(wide_function<fn, T>(static_cast<double>(x)));
}

template <ActivationFn fn, class T> void kernel(void *data, std::size_t count) {
  T *x = static_cast<T *>(data);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = function<fn>(x[i]);
}

constexpr std::size_t num_functions = 0
#define FN(...) +1
#include "ir/isa/functions.def"
#undef FN
    ;

using Kernel = void (*)(void *, std::size_t);
template <class T, std::size_t... i>
constexpr std::array<Kernel, num_functions> make_table(std::index_sequence<i...>) {
  return {kernel<static_cast<ActivationFn>(i), T>...};
}
template <class T> constexpr auto table = make_table<T>(std::make_index_sequence<num_functions>());

} // namespace

void apply_function(ActivationFn fn, Lane lane, void *data, std::size_t count) {
  const auto row = static_cast<std::size_t>(fn);
  if (lane == Lane::Float)
    table<float>[row](data, count);
  else
    table<double>[row](data, count);
}

} // namespace nir::eval
