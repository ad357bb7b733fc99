#include "ir/numeric/float_format.h"

#include <bit>
#include <cassert>

namespace nir {
namespace {

constexpr const FloatFormat &fp32_format = *float_format(DType::Float32);

// Integers, and the scale, whose casts have integer semantics. Only asserted.
[[maybe_unused]] bool casts_as_int(DType dtype) {
  return is_int_type(dtype) || dtype == DType::Float8E8m0fnu;
}

// The integer nearest to mantissa * 2^-shift, ties to even; `sticky` adds something below the last
// bit.
uint64_t shift_right_rne(uint64_t mantissa, int shift, bool sticky) {
  assert(shift > 0);
  if (shift > 64)
    return 0;
  const uint64_t kept = shift == 64 ? 0 : mantissa >> shift;
  const uint64_t half = uint64_t{1} << (shift - 1);
  const uint64_t rest = mantissa & (half | (half - 1));
  const bool up = rest > half || (rest == half && (sticky || (kept & 1)));
  return kept + up;
}

// The magnitude code for what lies beyond max finite, infinity included.
uint64_t overflow_code(const FloatFormat &format, bool saturate) {
  const bool clamps = format.overflow == OverflowKind::Saturate ||
                      (format.overflow == OverflowKind::SaturateOption && saturate);
  if (clamps)
    return format.max_finite_code();
  return format.has_infinity ? format.infinity_code() : format.nan_code();
}

uint64_t nan_result(const FloatFormat &format, bool negative) {
  if (format.nan == NanKind::None)
    return format.max_finite_code();
  return format.nan_code() | (negative ? format.sign_mask() : 0);
}

// Magnitude of `value` in `format`, not yet checked against max finite. The leading exponent is in
// range.
uint64_t rounded_magnitude(const FloatFormat &format, const ExactValue &value) {
  const int exponent = std::max(leading_exponent(value), format.min_exponent());
  const int shift = exponent - format.mantissa_bits - value.exponent;
  assert(shift > 0 || !value.sticky);
  const uint64_t significand =
      shift > 0 ? shift_right_rne(value.mantissa, shift, value.sticky) : value.mantissa << -shift;
  // The hidden bit, where there is one, adds the last 1 to the exponent field, and so does a carry.
  const uint64_t field = static_cast<uint64_t>(exponent - format.min_exponent());
  return ((field << format.mantissa_bits) + significand) << format.trailing_bits;
}

uint64_t clamped_int(DType dtype, bool negative, uint64_t magnitude, bool too_large) {
  const IntRange range = int_range(dtype);
  const uint64_t limit = negative ? range.min_magnitude : range.max;
  const uint64_t clamped = too_large ? limit : std::min(magnitude, limit);
  return (negative ? -clamped : clamped) & code_mask(dtype);
}

// NaN and infinity have no exact value; each conversion answers for them first.
enum class Special : uint8_t { Finite, Infinity, Nan };

Special classify(const FloatFormat &format, uint64_t code) {
  if (is_nan_code(format, code))
    return Special::Nan;
  const bool infinite =
      format.has_infinity && (code & format.magnitude_mask()) == format.infinity_code();
  return infinite ? Special::Infinity : Special::Finite;
}

ExactValue finite_value(const FloatFormat &format, uint64_t code) {
  const bool negative = (code & format.sign_mask()) != 0;
  const uint64_t mantissa = code & format.stored_mantissa_mask();
  const int field =
      static_cast<int>((code & format.exponent_mask()) >> format.stored_mantissa_bits());
  const uint64_t hidden = field ? uint64_t{1} << format.stored_mantissa_bits() : 0;
  const int exponent = std::max(field, 1) - format.bias - format.stored_mantissa_bits();
  return {negative, mantissa | hidden, exponent};
}

// A code of one float format in another, through no intermediate.
uint64_t convert_float(const FloatFormat &from, const FloatFormat &to, uint64_t code,
                       bool saturate) {
  const bool negative = (code & from.sign_mask()) != 0;
  const uint64_t sign = negative ? to.sign_mask() : 0;
  switch (classify(from, code)) {
  case Special::Nan:
    return nan_result(to, negative);
  case Special::Infinity:
    return overflow_code(to, saturate) | sign;
  case Special::Finite:
    break;
  }
  return encode_exact(to, finite_value(from, code), saturate);
}

uint64_t fp32_to_int(DType dtype, uint32_t fp32_bits) {
  const bool negative = (fp32_bits & fp32_format.sign_mask()) != 0;
  if (classify(fp32_format, fp32_bits) != Special::Finite)
    return clamped_int(dtype, negative, 0, true);
  return encode_exact_int(dtype, finite_value(fp32_format, fp32_bits));
}

} // namespace

uint64_t encode_exact(const FloatFormat &format, const ExactValue &value, bool saturate) {
  const uint64_t sign = value.negative ? format.sign_mask() : 0;
  if (value.mantissa == 0)
    return sign;
  // Exponents far out, which would not fit the field, are decided before it is built.
  const int top_exponent = (1 << format.exponent_bits) - format.bias;
  if (leading_exponent(value) > top_exponent)
    return overflow_code(format, saturate) | sign;
  const uint64_t magnitude = rounded_magnitude(format, value);
  if (magnitude > format.max_finite_code())
    return overflow_code(format, saturate) | sign;
  return magnitude | sign;
}

uint64_t encode_exact_int(DType dtype, const ExactValue &value) {
  assert(casts_as_int(dtype));
  if (value.mantissa == 0)
    return 0;
  if (leading_exponent(value) >= 64)
    return clamped_int(dtype, value.negative, 0, true);
  if (value.exponent >= 0)
    return clamped_int(dtype, value.negative, value.mantissa << value.exponent, false);
  const uint64_t magnitude = shift_right_rne(value.mantissa, -value.exponent, value.sticky);
  return clamped_int(dtype, value.negative, magnitude, false);
}

ExactValue exact_value(DType dtype, uint64_t code) {
  if (const FloatFormat *format = float_format(dtype)) {
    assert(classify(*format, code) == Special::Finite);
    return finite_value(*format, code);
  }
  assert(casts_as_int(dtype));
  const uint64_t mask = code_mask(dtype);
  const bool negative = is_signed_int(dtype) && (code & mask) > mask >> 1;
  return {negative, (negative ? -code : code) & mask, 0};
}

uint32_t decode_to_fp32(DType dtype, uint64_t code) {
  if (const FloatFormat *format = float_format(dtype))
    return static_cast<uint32_t>(convert_float(*format, fp32_format, code, true));
  return static_cast<uint32_t>(encode_exact(fp32_format, exact_value(dtype, code)));
}

uint64_t encode_from_fp32(DType dtype, uint32_t fp32_bits, bool saturate) {
  if (const FloatFormat *format = float_format(dtype))
    return convert_float(fp32_format, *format, fp32_bits, saturate);
  return fp32_to_int(dtype, fp32_bits);
}

uint64_t convert_code(DType from, DType to, uint64_t code, bool saturate) {
  if (from == to)
    return code;
  return encode_from_fp32(to, decode_to_fp32(from, code), saturate);
}

uint64_t convert_code_exact_ints(DType from, DType to, uint64_t code) {
  assert(is_int_type(from) && is_int_type(to));
  return encode_exact_int(to, exact_value(from, code));
}

uint32_t decode_e8m0_ocp(uint8_t code) {
  if (code == 0xff)
    return static_cast<uint32_t>(fp32_format.nan_code());
  return static_cast<uint32_t>(encode_exact(fp32_format, {false, 1, code - 127}));
}

uint8_t encode_e8m0_ocp(uint32_t fp32_bits, bool saturate) {
  constexpr uint8_t nan = 0xff;
  constexpr uint8_t max = 0xfe;
  const bool negative = (fp32_bits & fp32_format.sign_mask()) != 0;
  const Special special = classify(fp32_format, fp32_bits);
  if (special == Special::Nan)
    return nan;
  const bool zero = (fp32_bits & fp32_format.magnitude_mask()) == 0;
  if (negative || zero)
    return saturate ? 0 : nan;
  if (special == Special::Infinity)
    return saturate ? max : nan;
  const ExactValue value = finite_value(fp32_format, fp32_bits);
  // Nearest of 2^e and 2^(e+1): their midpoint is 1.5 * 2^e, the bit below the leading one.
  const int bits = 64 - std::countl_zero(value.mantissa);
  const bool up = bits > 1 && (value.mantissa >> (bits - 2) & 1);
  const int code = std::max(leading_exponent(value) + up + 127, 0);
  if (code > max)
    return saturate ? max : nan;
  return static_cast<uint8_t>(code);
}

} // namespace nir
