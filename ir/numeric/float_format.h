// The scalar reference of every dtype conversion: one description per float format, and encoding,
// decoding and rounding derived from it (numerics, Casts). Clear rather than fast; bulk casts must
// give the same bits.
//
// A code is the bytes of one element read as a little-endian unsigned integer, in the low bits.
#pragma once

#include <bit>
#include <cstdint>

#include "ir/numeric/dtype.h"

namespace nir {

// Which codes of a format are NaN.
enum class NanKind : uint8_t {
  Ieee,    // exponent all ones, mantissa not zero
  AllOnes, // exponent and mantissa all ones, nothing else
  None,
};

// What becomes of a value beyond max finite after rounding.
enum class OverflowKind : uint8_t {
  Infinity,       // always
  SaturateOption, // max finite with `saturate`, else infinity where there is one, else NaN
  Saturate,       // max finite, always; NaN becomes +max finite
};

// A binary float format: sign, `exponent_bits`, `mantissa_bits`, then `trailing_bits` that an
// encoder leaves zero (float32r sits in an fp32 pattern). A decoder reads trailing bits as
// mantissa, because nothing keeps raw bytes from having them.
struct FloatFormat {
  DType dtype;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;
  NanKind nan;
  OverflowKind overflow;
  int trailing_bits = 0;

  constexpr int stored_mantissa_bits() const { return mantissa_bits + trailing_bits; }
  constexpr uint64_t sign_mask() const {
    return uint64_t{1} << (exponent_bits + stored_mantissa_bits());
  }
  constexpr uint64_t stored_mantissa_mask() const {
    return (uint64_t{1} << stored_mantissa_bits()) - 1;
  }
  constexpr uint64_t magnitude_mask() const { return sign_mask() - 1; }
  constexpr uint64_t exponent_mask() const { return magnitude_mask() & ~stored_mantissa_mask(); }

  // Exponent of the spacing of subnormals, and of the smallest normal value.
  constexpr int min_exponent() const { return 1 - bias; }
  constexpr int min_quantum() const { return min_exponent() - mantissa_bits; }

  // Codes without sign.
  constexpr uint64_t max_finite_code() const {
    const uint64_t last = uint64_t{1} << trailing_bits;
    if (has_infinity)
      return exponent_mask() - last;
    const uint64_t all = magnitude_mask() & ~(last - 1);
    return nan == NanKind::AllOnes ? all - last : all;
  }
  constexpr uint64_t infinity_code() const { return exponent_mask(); } // only with has_infinity
  constexpr uint64_t nan_code() const {                                // the canonical one
    return nan == NanKind::AllOnes
               ? magnitude_mask()
               : exponent_mask() | (uint64_t{1} << (stored_mantissa_bits() - 1));
  }
};

namespace detail {

inline constexpr FloatFormat float_formats[] = {
    {DType::Float8E3, 3, 4, 3, true, NanKind::Ieee, OverflowKind::SaturateOption},
    {DType::Float8E4, 4, 3, 7, true, NanKind::Ieee, OverflowKind::SaturateOption},
    {DType::Float8E4m3fn, 4, 3, 7, false, NanKind::AllOnes, OverflowKind::SaturateOption},
    {DType::Float8E5, 5, 2, 15, true, NanKind::Ieee, OverflowKind::SaturateOption},
    {DType::Bfloat16, 8, 7, 127, true, NanKind::Ieee, OverflowKind::Infinity},
    {DType::Float16, 5, 10, 15, true, NanKind::Ieee, OverflowKind::Infinity},
    {DType::Float32, 8, 23, 127, true, NanKind::Ieee, OverflowKind::Infinity},
    {DType::Float32r, 8, 11, 127, true, NanKind::Ieee, OverflowKind::Infinity, 12},
    {DType::Float64, 11, 52, 1023, true, NanKind::Ieee, OverflowKind::Infinity},
    {DType::Float4E2m1fn, 2, 1, 1, false, NanKind::None, OverflowKind::Saturate},
};

constexpr bool float_formats_match_catalogue() {
  for (DType dtype : all_dtypes()) {
    const auto rows = std::ranges::count(float_formats, dtype, &FloatFormat::dtype);
    if (rows != (is_float_type(dtype) ? 1 : 0))
      return false;
  }
  return std::ranges::all_of(float_formats, [](const FloatFormat &f) {
    const int bits = 1 + f.exponent_bits + f.stored_mantissa_bits();
    return bits == 8 * static_cast<int>(sizeinbytes(f.dtype)) || f.dtype == DType::Float4E2m1fn;
  });
}
static_assert(float_formats_match_catalogue(), "each dtype of class Float needs one row here");

constexpr std::array<const FloatFormat *, num_dtypes> index_float_formats() {
  std::array<const FloatFormat *, num_dtypes> index{};
  for (const FloatFormat &format : float_formats)
    index[dtype_index(format.dtype)] = &format;
  return index;
}
inline constexpr auto float_format_index = index_float_formats();

} // namespace detail

// The description of a dtype of class Float; null for integers, containers and the scale.
constexpr const FloatFormat *float_format(DType dtype) {
  return dtype_index(dtype) < num_dtypes ? detail::float_format_index[dtype_index(dtype)] : nullptr;
}

constexpr bool is_nan_code(const FloatFormat &format, uint64_t code) {
  const uint64_t magnitude = code & format.magnitude_mask();
  switch (format.nan) {
  case NanKind::Ieee:
    return magnitude > format.exponent_mask();
  case NanKind::AllOnes:
    return magnitude == format.magnitude_mask();
  case NanKind::None:
    return false;
  }
  return false;
}

// Is `code` a NaN of `dtype`? Integers, containers and the scale have none.
constexpr bool is_nan_code(DType dtype, uint64_t code) {
  const FloatFormat *format = float_format(dtype);
  return format && is_nan_code(*format, code);
}

// A finite number (-1)^negative * mantissa * 2^exponent. With `sticky` the magnitude lies strictly
// between mantissa and mantissa + 1 (times 2^exponent), and mantissa must have 60 significant bits
// or more.
struct ExactValue {
  bool negative = false;
  uint64_t mantissa = 0;
  int exponent = 0;
  bool sticky = false;
};

// Exponent of the leading bit of `value`, which is not zero.
constexpr int leading_exponent(const ExactValue &value) {
  return value.exponent + 63 - std::countl_zero(value.mantissa);
}

// `value` rounded once to `format`, to nearest, ties to even. Zero keeps its sign.
uint64_t encode_exact(const FloatFormat &format, const ExactValue &value, bool saturate = true);

// `value` rounded to an integer, to nearest, ties to even, then clamped to the range of `dtype`, an
// integer or the scale.
uint64_t encode_exact_int(DType dtype, const ExactValue &value);

// The number that `code`, no NaN and no infinity, stands for; for an integer or the scale the
// integer.
ExactValue exact_value(DType dtype, uint64_t code);

// First stage of a cast: the fp32 bits of a code of any dtype but a container. NaN becomes
// 0x7fc00000 with the code's sign; integers and float64 round to nearest even; the scale is its
// byte as a number.
uint32_t decode_to_fp32(DType dtype, uint64_t code);

// Second stage: the code of fp32 bits in any dtype but a container. NaN becomes the canonical NaN
// with its sign; integers and the scale round to nearest even and clamp, and NaN gives MAX, or MIN
// (0 for unsigned) where its sign is set.
uint64_t encode_from_fp32(DType dtype, uint32_t fp32_bits, bool saturate = true);

// A cast: both stages; equal dtypes pass the code through untouched.
uint64_t convert_code(DType from, DType to, uint64_t code, bool saturate = true);

// A cast with `exact_ints`: both dtypes integers, the exact value clamped to the range of `to`.
uint64_t convert_code_exact_ints(DType from, DType to, uint64_t code);

// float8_e8m0fnu as a power of two (OCP), for MX data only, never for a cast: 2^(code - 127), and
// 0xff is NaN.
uint32_t decode_e8m0_ocp(uint8_t code);

// The nearest power of two, a tie to the larger. With `saturate` NaN is 0xff, what is not above
// zero 0x00, what is too large 0xfe; without it all that has no power of two near is 0xff.
uint8_t encode_e8m0_ocp(uint32_t fp32_bits, bool saturate = true);

} // namespace nir
