#include "ir/eval/ulp_error.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/numeric/float_format.h"
#include "ir/semantics/eval_cast.h"

namespace nir {
namespace {

std::uint64_t code_of(const HostTensor &tensor, std::size_t i) {
  const unsigned bytes = sizeinbytes(tensor.type->dtype());
  std::uint64_t code = 0;
  std::memcpy(&code, tensor.bytes.data() + i * bytes, bytes);
  return code;
}

std::uint64_t cast_code(DType from, DType to, std::uint64_t code) {
  std::uint64_t result = 0;
  eval::cast_codes(from, to, reinterpret_cast<const std::byte *>(&code),
                   reinterpret_cast<std::byte *>(&result), 1, eval::CastRule::Reference);
  return result;
}

double to_double(DType dtype, std::uint64_t code) {
  return std::bit_cast<double>(cast_code(dtype, DType::Float64, code));
}

double spacing(const FloatFormat &format, double exact) {
  const ExactValue largest = exact_value(format.dtype, format.max_finite_code());
  const int exponent = exact == 0 ? format.min_exponent() : std::ilogb(exact);
  const int in_range = std::clamp(exponent, format.min_exponent(), leading_exponent(largest));
  return std::ldexp(1.0, in_range - format.mantissa_bits);
}

double float_distance(const FloatFormat &format, std::uint64_t code, double exact) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double value = to_double(format.dtype, code);
  if (std::isnan(value) || std::isnan(exact))
    return std::isnan(value) && std::isnan(exact) ? 0 : infinity;
  if (std::isinf(value) || std::isinf(exact)) {
    const std::uint64_t right =
        cast_code(DType::Float64, format.dtype, std::bit_cast<std::uint64_t>(exact));
    return right == code ? 0 : infinity;
  }
  return std::fabs(value - exact) / spacing(format, exact);
}

double int_distance(DType dtype, std::uint64_t a, std::uint64_t b) {
  const auto as_wide = [dtype](std::uint64_t code) {
    const ExactValue value = exact_value(dtype, code);
    const auto magnitude = static_cast<__int128>(value.mantissa);
    return value.negative ? -magnitude : magnitude;
  };
  return std::fabs(static_cast<double>(as_wide(a) - as_wide(b)));
}

double distance(const HostTensor &result, const HostTensor &reference, std::size_t i) {
  const DType dtype = result.type->dtype();
  const FloatFormat *format = float_format(dtype);
  if (format == nullptr)
    return int_distance(dtype, code_of(result, i), code_of(reference, i));
  return float_distance(*format, code_of(result, i),
                        to_double(reference.type->dtype(), code_of(reference, i)));
}

bool same_nan(DType dtype, std::uint64_t a, std::uint64_t b) {
  const FloatFormat *format = float_format(dtype);
  return format != nullptr && is_nan_code(*format, a) && is_nan_code(*format, b) &&
         ((a ^ b) & format->sign_mask()) == 0;
}

} // namespace

UlpError ulp_error(const HostTensor &result, const HostTensor &reference) {
  UlpError error;
  const auto count = static_cast<std::size_t>(result.type->num_elements());
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double one = distance(result, reference, i);
    error.max = std::max(error.max, one);
    sum += one;
  }
  error.mean = sum / static_cast<double>(count);
  return error;
}

std::uint64_t identical_elements(const HostTensor &a, const HostTensor &b) {
  const DType dtype = a.type->dtype();
  const auto count = static_cast<std::size_t>(a.type->num_elements());
  std::uint64_t identical = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t x = code_of(a, i);
    const std::uint64_t y = code_of(b, i);
    identical += x == y || same_nan(dtype, x, y);
  }
  return identical;
}

} // namespace nir
