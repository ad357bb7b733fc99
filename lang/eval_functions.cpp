// The functions of `activation`. Each is computed in float64 and rounded to fp32 once, which leaves
// it within 1 ulp of the exact result; sqrt, reciprocal, square and what only chooses are IEEE
// operations of the lane itself, or exact.

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "lang/eval_alu.h"

namespace nir::eval {
namespace {

constexpr double sqrt_half = std::numbers::sqrt2 / 2;
constexpr double sqrt_2_over_pi = 0.79788456080286535588;
constexpr double gelu_tanh_cubic = 0.044715;

// x times a factor that vanishes faster than x grows: the limit at -inf is -0.
double damped(double x, double factor) { return std::isinf(x) && factor == 0 ? -0.0 : x * factor; }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// 1 + tanh(u) is 2 * sigmoid(2 * u), which does not cancel.
double gelu_tanh(double x) {
  const double u = sqrt_2_over_pi * (x + gelu_tanh_cubic * x * x * x);
  return damped(x, sigmoid(2 * u));
}

double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

double wide_function(ActivationFn fn, double x) {
  switch (fn) {
  case ActivationFn::Exp:
    return std::exp(x);
  case ActivationFn::Log:
    return std::log(x);
  case ActivationFn::Rsqrt:
    return 1 / std::sqrt(x);
  case ActivationFn::Gelu:
    return damped(x, 0.5 * std::erfc(-x * sqrt_half));
  case ActivationFn::GeluTanh:
    return gelu_tanh(x);
  case ActivationFn::Sigmoid:
    return sigmoid(x);
  case ActivationFn::Silu:
    return damped(x, sigmoid(x));
  case ActivationFn::Tanh:
    return std::tanh(x);
  case ActivationFn::Sin:
    return std::sin(x);
  case ActivationFn::Cos:
    return std::cos(x);
  case ActivationFn::Softplus:
    return softplus(x);
  case ActivationFn::Erf:
    return std::erf(x);
  default:
    return x;
  }
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
    return static_cast<T>(wide_function(fn, static_cast<double>(x)));
}

template <ActivationFn fn, class T> void kernel(void *data, std::size_t count) {
  T *x = static_cast<T *>(data);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = function<fn>(x[i]);
}

constexpr std::size_t num_functions = 0
#define FN(...) +1
#include "ir/functions.def"
#undef FN
    ;

using Kernel = void (*)(void *, std::size_t);
template <class T, std::size_t... i>
constexpr std::array<Kernel, num_functions> make_table(std::index_sequence<i...>) {
  return {kernel<static_cast<ActivationFn>(i), T>...};
}
template <class T>
constexpr auto table = make_table<T>(std::make_index_sequence<num_functions>());

} // namespace

void apply_function(ActivationFn fn, Lane lane, void *data, std::size_t count) {
  const auto row = static_cast<std::size_t>(fn);
  if (lane == Lane::Float)
    table<float>[row](data, count);
  else
    table<double>[row](data, count);
}

} // namespace nir::eval
