#include "ir/semantics/eval_alu.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace nir::eval {
namespace {

template <class T> constexpr bool is_float = std::is_floating_point_v<T>;
template <class T> constexpr T quiet_nan = std::numeric_limits<T>::quiet_NaN();

template <class T> struct BitsOf { using type = std::make_unsigned_t<T>; };
template <> struct BitsOf<float> { using type = std::uint32_t; };
template <> struct BitsOf<double> { using type = std::uint64_t; };
template <class T> using Bits = typename BitsOf<T>::type;

// An integer result cut to its dtype's width: sign-extended in signed lanes.
template <class T> T wrapped(Bits<T> bits, unsigned width) {
  if constexpr (is_float<T>)
    return std::bit_cast<T>(bits);
  else {
    const unsigned unused = 64 - width;
    return static_cast<T>(bits << unused) >> unused;
  }
}

template <class T> T magnitude(T x, unsigned width) {
  if constexpr (is_float<T>)
    return std::fabs(x);
  else if constexpr (std::is_signed_v<T>)
    return x < 0 ? wrapped<T>(Bits<T>{0} - static_cast<Bits<T>>(x), width) : x;
  else
    return x;
}

// NaN where either is one; of the two zeros the positive is the larger, which as bits is their
// conjunction. Equal numbers that are not zero have equal bits.
template <class T> T larger(T a, T b) {
  if constexpr (!is_float<T>)
    return a > b ? a : b;
  else {
    const T equal = std::bit_cast<T>(std::bit_cast<Bits<T>>(a) & std::bit_cast<Bits<T>>(b));
    const T result = a > b ? a : (a < b ? b : equal);
    return (a != a) | (b != b) ? quiet_nan<T> : result;
  }
}

template <class T> T smaller(T a, T b) {
  if constexpr (!is_float<T>)
    return a < b ? a : b;
  else {
    const T equal = std::bit_cast<T>(std::bit_cast<Bits<T>>(a) | std::bit_cast<Bits<T>>(b));
    const T result = a < b ? a : (a > b ? b : equal);
    return (a != a) | (b != b) ? quiet_nan<T> : result;
  }
}

template <class T> T quotient(T a, T b, unsigned width) {
  if constexpr (is_float<T>)
    return a / b;
  else {
    if (b == 0)
      return wrapped<T>(~Bits<T>{0}, width);
    if constexpr (std::is_signed_v<T>)
      if (b == -1) // the lowest number has no opposite, and wraps to itself
        return wrapped<T>(Bits<T>{0} - static_cast<Bits<T>>(a), width);
    return a / b;
  }
}

template <class T> T remainder(T a, T b) {
  if constexpr (is_float<T>)
    return std::fmod(a, b);
  else {
    if (b == 0)
      return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return 0;
    return a % b;
  }
}

template <class T> T power(T a, T b) {
  return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
}

template <AluOp op, class T> T shifted(T a, T count, unsigned width) {
  const bool in_range = count >= 0 && count < static_cast<T>(width);
  if constexpr (op == AluOp::ArithShiftRight) {
    if (!in_range)
      return a < 0 ? static_cast<T>(-1) : T{0};
    return a >> count;
  } else {
    if (!in_range)
      return 0;
    const auto bits = static_cast<Bits<T>>(a);
    if constexpr (op == AluOp::LogicalShiftLeft)
      return wrapped<T>(bits << count, width);
    else
      return wrapped<T>((bits & (~Bits<T>{0} >> (64 - width))) >> count, width);
  }
}

template <class T> Bits<T> as_bits(T x) { return static_cast<Bits<T>>(x); }

// Integers in unsigned arithmetic, where overflow is defined.
template <AluOp op, class T> T arithmetic(T a, T b, unsigned width) {
  if constexpr (is_float<T>) {
    if constexpr (op == AluOp::Add)
      return a + b;
    else if constexpr (op == AluOp::Subtract)
      return a - b;
    else
      return a * b;
  } else {
    if constexpr (op == AluOp::Add)
      return wrapped<T>(as_bits(a) + as_bits(b), width);
    else if constexpr (op == AluOp::Subtract)
      return wrapped<T>(as_bits(a) - as_bits(b), width);
    else
      return wrapped<T>(as_bits(a) * as_bits(b), width);
  }
}

constexpr bool is_shift(AluOp op) {
  return op == AluOp::LogicalShiftLeft || op == AluOp::LogicalShiftRight ||
         op == AluOp::ArithShiftRight;
}

// Whether a lane has the operator: bitwise ones are for integers, pow is for floats.
template <AluOp op, class T> constexpr bool has_op() {
  const bool bitwise = op == AluOp::BitwiseAnd || op == AluOp::BitwiseOr || op == AluOp::BitwiseXor;
  if (is_float<T>)
    return !bitwise && !is_shift(op);
  return op != AluOp::Pow;
}

template <AluOp op, class T> T apply(T a, T b, unsigned width) {
  if constexpr (op == AluOp::Add || op == AluOp::Subtract || op == AluOp::Multiply)
    return arithmetic<op>(a, b, width);
  else if constexpr (op == AluOp::Divide)
    return quotient(a, b, width);
  else if constexpr (op == AluOp::Max)
    return larger(a, b);
  else if constexpr (op == AluOp::Min)
    return smaller(a, b);
  else if constexpr (op == AluOp::Pow)
    return power(a, b);
  else if constexpr (op == AluOp::Mod)
    return remainder(a, b);
  else if constexpr (op == AluOp::AbsMax)
    return larger(magnitude(a, width), magnitude(b, width));
  else if constexpr (op == AluOp::IsEqual)
    return static_cast<T>(a == b);
  else if constexpr (op == AluOp::NotEqual)
    return static_cast<T>(a != b);
  else if constexpr (op == AluOp::IsLt)
    return static_cast<T>(a < b);
  else if constexpr (op == AluOp::IsLe)
    return static_cast<T>(a <= b);
  else if constexpr (op == AluOp::IsGt)
    return static_cast<T>(a > b);
  else if constexpr (op == AluOp::IsGe)
    return static_cast<T>(a >= b);
  else if constexpr (op == AluOp::LogicalAnd)
    return static_cast<T>((a != 0) & (b != 0)); // NaN is not equal to 0, and so true
  else if constexpr (op == AluOp::LogicalOr)
    return static_cast<T>((a != 0) | (b != 0));
  else if constexpr (op == AluOp::LogicalXor)
    return static_cast<T>((a != 0) ^ (b != 0));
  else if constexpr (op == AluOp::BitwiseAnd)
    return a & b;
  else if constexpr (op == AluOp::BitwiseOr)
    return a | b;
  else if constexpr (op == AluOp::BitwiseXor)
    return a ^ b;
  else
    return shifted<op>(a, b, width);
}

template <AluOp op, class T> T first_term(T x, unsigned width) {
  if constexpr (op == AluOp::AbsMax)
    return magnitude(x, width);
  else if constexpr (op == AluOp::LogicalAnd || op == AluOp::LogicalOr || op == AluOp::LogicalXor)
    return static_cast<T>(x != 0);
  else
    return x;
}

// One row of a table for each operator; empty where the lane has none.
struct Kernels {
  void (*map)(const void *, const void *, void *, std::size_t, unsigned) = nullptr;
  void (*start)(const void *, void *, std::size_t, unsigned) = nullptr;
  void (*fold)(void *, const void *, std::size_t, unsigned) = nullptr;
};

template <AluOp op, class T>
void map_kernel(const void *a, const void *b, void *out, std::size_t count, unsigned width) {
  const T *x = static_cast<const T *>(a);
  const T *y = static_cast<const T *>(b);
  T *z = static_cast<T *>(out);
  for (std::size_t i = 0; i < count; ++i)
    z[i] = apply<op>(x[i], y[i], width);
}

template <AluOp op, class T>
void start_kernel(const void *terms, void *acc, std::size_t count, unsigned width) {
  const T *x = static_cast<const T *>(terms);
  T *z = static_cast<T *>(acc);
  for (std::size_t i = 0; i < count; ++i)
    z[i] = first_term<op>(x[i], width);
}

template <AluOp op, class T>
void fold_kernel(void *acc, const void *terms, std::size_t count, unsigned width) {
  const T *x = static_cast<const T *>(terms);
  T result = *static_cast<T *>(acc);
  for (std::size_t i = 0; i < count; ++i)
    result = apply<op>(result, x[i], width);
  *static_cast<T *>(acc) = result;
}

template <AluOp op, class T> constexpr Kernels kernels_of() {
  if constexpr (has_op<op, T>())
    return {map_kernel<op, T>, start_kernel<op, T>, fold_kernel<op, T>};
  else
    return {};
}

constexpr std::size_t num_ops = 0
#define ALU(...) +1
#include "ir/isa/alu_ops.def"
#undef ALU
    ;

template <class T, std::size_t... i>
constexpr std::array<Kernels, num_ops> make_table(std::index_sequence<i...>) {
  return {kernels_of<static_cast<AluOp>(i), T>()...};
}
template <class T> constexpr auto table = make_table<T>(std::make_index_sequence<num_ops>());

const Kernels &kernels(AluOp op, Lane lane) {
  const auto row = static_cast<std::size_t>(op);
  switch (lane) {
  case Lane::Float:
    return table<float>[row];
  case Lane::Double:
    return table<double>[row];
  case Lane::Signed:
    return table<std::int64_t>[row];
  case Lane::Unsigned:
    break;
  }
  return table<std::uint64_t>[row];
}

template <class T> void canonical_kernel(void *data, std::size_t count) {
  T *x = static_cast<T *>(data);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = x[i] != x[i] ? quiet_nan<T> : x[i];
}

} // namespace

void apply_op(AluOp op, AluContext context, const void *a, const void *b, void *out,
              std::size_t count) {
  kernels(op, context.lane).map(a, b, out, count, context.width);
}

void start_reduction(AluOp op, AluContext context, const void *terms, void *acc,
                     std::size_t count) {
  kernels(op, context.lane).start(terms, acc, count, context.width);
}

void fold(AluOp op, AluContext context, void *acc, const void *terms, std::size_t count) {
  kernels(op, context.lane).fold(acc, terms, count, context.width);
}

void make_nans_canonical(Lane lane, void *data, std::size_t count) {
  if (lane == Lane::Float)
    canonical_kernel<float>(data, count);
  else if (lane == Lane::Double)
    canonical_kernel<double>(data, count);
}

} // namespace nir::eval
