// Conversions of one element, written so that a loop over them vectorises: no branches, integer
// arithmetic in 32-bit lanes, floating point only where it is exact or rounds once to nearest even.
// All constants come from the format descriptions. For the kernels only.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "ir/numeric/cast_engine_kernels.h"
#include "ir/numeric/float_format.h"

// Into loops compiled for other instruction sets too, which only inlining makes of use there.
#define NIR_INLINE [[gnu::always_inline]] static inline

namespace nir::cast_ops {

static_assert(std::endian::native == std::endian::little, "codes are read as little-endian");

inline constexpr const FloatFormat &fp32_format = *float_format(DType::Float32);
inline constexpr int32_t fp32_infinity = static_cast<int32_t>(fp32_format.infinity_code());
inline constexpr int32_t fp32_nan = static_cast<int32_t>(fp32_format.nan_code());
inline constexpr int32_t magnitude_bits = static_cast<int32_t>(fp32_format.magnitude_mask());
inline constexpr uint32_t fp32_sign = static_cast<uint32_t>(fp32_format.sign_mask());

template <std::size_t Bytes>
using Code = std::conditional_t<
    Bytes == 1, uint8_t,
    std::conditional_t<Bytes == 2, uint16_t, std::conditional_t<Bytes == 4, uint32_t, uint64_t>>>;

template <DType D> using CodeOf = Code<sizeinbytes(D)>;

// The C++ type of an integer dtype, and of the scale, which casts as its byte.
template <DType D>
using IntOf = std::conditional_t<is_signed_int(D), std::make_signed_t<CodeOf<D>>, CodeOf<D>>;

// Bits of the fp32 number 2^exponent, which is normal.
constexpr int32_t power_of_two_bits(int exponent) { return (exponent + fp32_format.bias) << 23; }

// Adding 2^(23 + quantum) to a smaller fp32 magnitude rounds it to a multiple of 2^quantum, and the
// low bits of the sum count the multiples.
constexpr int32_t aligner_bits(int quantum) { return power_of_two_bits(23 + quantum); }

// Subnormals lie as in fp32: only the mantissa is shorter.
constexpr bool has_exponents_of_fp32(const FloatFormat &format) {
  return format.min_exponent() == fp32_format.min_exponent() &&
         format.exponent_bits == fp32_format.exponent_bits;
}

// fp32 bits to the code of a float format of at most 32 bits.
template <DType D, bool Saturate> struct EncodeFloat {
  static constexpr const FloatFormat &this_format = *float_format(D);
  static constexpr int mantissa_shift = fp32_format.mantissa_bits - this_format.mantissa_bits;

  NIR_INLINE CodeOf<D> apply(uint32_t bits) {
    const int32_t absolute = static_cast<int32_t>(bits) & magnitude_bits;
    const int32_t nan_mask = -(absolute > fp32_infinity);
    // NaN goes along as infinity, so that nothing overflows.
    int32_t magnitude = round(absolute > fp32_infinity ? fp32_infinity : absolute);
    magnitude = magnitude > max_finite ? overflow_kind : magnitude;
    magnitude = (magnitude & ~nan_mask) | (nan_magnitude & nan_mask);
    const uint32_t sign = (bits & fp32_sign) >> sign_distance;
    const uint32_t kept_sign = nan_has_sign ? sign : sign & ~static_cast<uint32_t>(nan_mask);
    const uint32_t code = static_cast<uint32_t>(magnitude) << this_format.trailing_bits | kept_sign;
    return static_cast<CodeOf<D>>(code);
  }

private:
  static constexpr int32_t without_trailing(uint64_t code) {
    return static_cast<int32_t>(code >> this_format.trailing_bits);
  }
  static constexpr uint64_t overflow_code() {
    const bool clamps = this_format.overflow == OverflowKind::Saturate ||
                        (this_format.overflow == OverflowKind::SaturateOption && Saturate);
    if (clamps)
      return this_format.max_finite_code();
    return this_format.has_infinity ? this_format.infinity_code() : this_format.nan_code();
  }

  static constexpr bool nan_has_sign = this_format.nan != NanKind::None;
  static constexpr int sign_distance = 31 - std::countr_zero(this_format.sign_mask());
  static constexpr int32_t max_finite = without_trailing(this_format.max_finite_code());
  static constexpr int32_t overflow_kind = without_trailing(overflow_code());
  static constexpr int32_t nan_magnitude =
      without_trailing(nan_has_sign ? this_format.nan_code() : this_format.max_finite_code());

  // The magnitude code of fp32 bits without sign, without trailing bits, not yet checked against
  // max finite.
  NIR_INLINE int32_t round(int32_t absolute) {
    int32_t normal = absolute;
    if constexpr (mantissa_shift > 0) {
      const int32_t below_half = (1 << (mantissa_shift - 1)) - 1;
      normal = (absolute + below_half + ((absolute >> mantissa_shift) & 1)) >> mantissa_shift;
    }
    if constexpr (has_exponents_of_fp32(this_format)) {
      return normal;
    } else {
      constexpr int32_t aligner = aligner_bits(this_format.min_quantum());
      const float sum = std::bit_cast<float>(absolute) + std::bit_cast<float>(aligner);
      const int32_t subnormal = std::bit_cast<int32_t>(sum) - aligner;
      normal -= (fp32_format.bias - this_format.bias) << this_format.mantissa_bits;
      return absolute < power_of_two_bits(this_format.min_exponent()) ? subnormal : normal;
    }
  }
};

// The code of a float format of 16 or 32 bits to fp32 bits. Formats of 8 bits go through tables.
template <DType D> struct DecodeFloat {
  static constexpr const FloatFormat &this_format = *float_format(D);
  static_assert(this_format.nan == NanKind::Ieee && this_format.has_infinity &&
                sizeinbytes(D) <= 4);

  NIR_INLINE uint32_t apply(CodeOf<D> code) {
    const int32_t magnitude = static_cast<int32_t>(code & this_format.magnitude_mask());
    constexpr int32_t infinity = static_cast<int32_t>(this_format.infinity_code());
    int32_t result = widen(magnitude);
    result = magnitude == infinity ? fp32_infinity : result;
    result = magnitude > infinity ? fp32_nan : result;
    constexpr int sign_shift = 31 - std::countr_zero(this_format.sign_mask());
    return static_cast<uint32_t>(result) | (uint32_t{code} << sign_shift & fp32_sign);
  }

private:
  NIR_INLINE int32_t widen(int32_t magnitude) {
    constexpr int shift = fp32_format.mantissa_bits - this_format.stored_mantissa_bits();
    if constexpr (has_exponents_of_fp32(this_format)) {
      return static_cast<int32_t>(static_cast<uint32_t>(magnitude) << shift);
    } else {
      constexpr int32_t aligner = aligner_bits(this_format.min_quantum());
      const float difference =
          std::bit_cast<float>(aligner + magnitude) - std::bit_cast<float>(aligner);
      const int32_t subnormal = std::bit_cast<int32_t>(difference);
      const int32_t normal = (magnitude << shift) + ((fp32_format.bias - this_format.bias) << 23);
      return magnitude >> this_format.mantissa_bits == 0 ? subnormal : normal;
    }
  }
};

struct DecodeFloat64 {
  NIR_INLINE uint32_t apply(uint64_t code) {
    constexpr const FloatFormat &format = *float_format(DType::Float64);
    const bool nan = (code & format.magnitude_mask()) > format.infinity_code();
    const float narrowed = static_cast<float>(std::bit_cast<double>(code));
    const uint32_t canonical = static_cast<uint32_t>(code >> 32 & fp32_sign) | uint32_t{fp32_nan};
    return nan ? canonical : std::bit_cast<uint32_t>(narrowed);
  }
};

struct EncodeFloat64 {
  NIR_INLINE uint64_t apply(uint32_t bits) {
    constexpr const FloatFormat &format = *float_format(DType::Float64);
    const bool nan = (static_cast<int32_t>(bits) & magnitude_bits) > fp32_infinity;
    const double widened = static_cast<double>(std::bit_cast<float>(bits));
    const uint64_t canonical = uint64_t{bits & fp32_sign} << 32 | format.nan_code();
    return nan ? canonical : std::bit_cast<uint64_t>(widened);
  }
};

// fp32 bits to an integer that fp32 holds.
template <std::integral T> struct EncodeSmallInt {
  NIR_INLINE std::make_unsigned_t<T> apply(uint32_t bits) {
    const int32_t absolute = static_cast<int32_t>(bits) & magnitude_bits;
    // NaN clamps as the infinity of its sign.
    const int32_t ordered = absolute > fp32_infinity ? fp32_infinity : absolute;
    float value = std::bit_cast<float>(static_cast<uint32_t>(ordered) | (bits & fp32_sign));
    constexpr float max = std::numeric_limits<T>::max();
    constexpr float min = std::numeric_limits<T>::min();
    value = value > max ? max : value;
    value = value < min ? min : value;
    // 1.5 * 2^23 keeps the sum in one binade for both signs.
    constexpr float aligner = 12582912.0f;
    const int32_t sum = std::bit_cast<int32_t>(value + aligner);
    return static_cast<std::make_unsigned_t<T>>(sum - std::bit_cast<int32_t>(aligner));
  }
};

// The integer nearest to a magnitude that is no NaN.
NIR_INLINE float round_magnitude(float magnitude) {
  constexpr float aligner = 8388608.0f; // 2^23, from where on there are only integers
  return magnitude < aligner ? (magnitude + aligner) - aligner : magnitude;
}

// fp32 bits to an integer of 32 or 64 bits.
template <std::integral T> struct EncodeWideInt {
  using Unsigned = std::make_unsigned_t<T>;
  using Signed = std::make_signed_t<T>;

  NIR_INLINE Unsigned apply(uint32_t bits) {
    const int32_t absolute = static_cast<int32_t>(bits) & magnitude_bits;
    const bool negative = static_cast<int32_t>(bits) < 0;
    const float magnitude =
        round_magnitude(std::bit_cast<float>(absolute > fp32_infinity ? fp32_infinity : absolute));
    if constexpr (std::is_signed_v<T>)
      return apply_signed(magnitude, negative);
    else
      return apply_unsigned(magnitude, negative);
  }

private:
  // First magnitude that Signed does not hold.
  static constexpr float top_bit = static_cast<float>(Unsigned{1} << (8 * sizeof(T) - 1));

  NIR_INLINE Unsigned apply_signed(float magnitude, bool negative) {
    constexpr Unsigned max = static_cast<Unsigned>(std::numeric_limits<Signed>::max());
    const bool too_large = magnitude >= top_bit;
    const Unsigned value = static_cast<Unsigned>(static_cast<Signed>(too_large ? 0.0f : magnitude));
    const Unsigned sign = negative ? ~Unsigned{0} : Unsigned{0};
    // -x is ~x + 1, and MIN is ~MAX.
    const Unsigned in_range = (value ^ sign) - sign;
    return too_large ? max ^ sign : in_range;
  }

  NIR_INLINE Unsigned apply_unsigned(float magnitude, bool negative) {
    const bool too_large = magnitude >= 2 * top_bit;
    const bool top_half = magnitude >= top_bit;
    const float low = top_half ? magnitude - top_bit : magnitude;
    const Unsigned value = static_cast<Unsigned>(static_cast<Signed>(too_large ? 0.0f : low));
    const Unsigned top = top_half ? Unsigned{1} << (8 * sizeof(T) - 1) : Unsigned{0};
    const Unsigned clamped = too_large ? ~Unsigned{0} : value | top;
    return negative ? Unsigned{0} : clamped;
  }
};

// An integer of 16 bits or more to fp32 bits, rounded once.
template <std::integral T> struct DecodeInt {
  NIR_INLINE uint32_t apply(std::make_unsigned_t<T> code) {
    if constexpr (std::is_same_v<T, uint32_t>) {
      // Both halves are exact, so only the sum rounds.
      const float high = static_cast<float>(static_cast<int32_t>(code >> 16));
      const float low = static_cast<float>(static_cast<int32_t>(code & 0xffff));
      return std::bit_cast<uint32_t>(high * 65536.0f + low);
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      // Where the top bit is set: half the number, whose last bit stands for all that is cut off.
      const uint64_t top = code >> 63;
      const uint64_t signed_range = (code >> top) | (code & top);
      const float rounded = static_cast<float>(static_cast<int64_t>(signed_range));
      return std::bit_cast<uint32_t>(rounded * static_cast<float>(static_cast<int32_t>(1 + top)));
    } else {
      return std::bit_cast<uint32_t>(static_cast<float>(static_cast<T>(code)));
    }
  }
};

// One integer in another type, clamped to its range.
template <std::integral From, std::integral To> struct ExactInt {
  NIR_INLINE std::make_unsigned_t<To> apply(std::make_unsigned_t<From> code) {
    using FromLimits = std::numeric_limits<From>;
    using ToLimits = std::numeric_limits<To>;
    From value = static_cast<From>(code);
    if constexpr (std::cmp_less(FromLimits::min(), ToLimits::min()))
      value = std::max(value, static_cast<From>(ToLimits::min()));
    if constexpr (std::cmp_greater(FromLimits::max(), ToLimits::max()))
      value = std::min(value, static_cast<From>(ToLimits::max()));
    return static_cast<std::make_unsigned_t<To>>(static_cast<To>(value));
  }
};

template <class T> NIR_INLINE T load(const std::byte *src) {
  T value;
  std::memcpy(&value, src, sizeof(T));
  return value;
}

template <class T> NIR_INLINE void store(std::byte *dst, T value) {
  std::memcpy(dst, &value, sizeof(T));
}

template <class Op> struct OpTypes;
template <class Op>
requires requires { &Op::apply; }
struct OpTypes<Op> {
  template <class Out, class In> static In in(Out (*)(In));
  template <class Out, class In> static Out out(Out (*)(In));
  using In = decltype(in(&Op::apply));
  using Out = decltype(out(&Op::apply));
};

// Elements `first` up to `count`. A kernel is a function, compiled for its instruction set, around
// this.
template <class Op>
NIR_INLINE void apply_all(const std::byte *__restrict src, std::byte *__restrict dst,
                          std::size_t first, std::size_t count) {
  using In = typename OpTypes<Op>::In;
  using Out = typename OpTypes<Op>::Out;
  for (std::size_t i = first; i < count; ++i)
    store<Out>(dst + i * sizeof(Out), Op::apply(load<In>(src + i * sizeof(In))));
}

// The operation that decodes `D`, of more than one byte.
template <DType D> consteval auto decode_op() {
  if constexpr (D == DType::Float64)
    return DecodeFloat64{};
  else if constexpr (is_float_type(D))
    return DecodeFloat<D>{};
  else
    return DecodeInt<IntOf<D>>{};
}

template <DType D, bool Saturate> consteval auto encode_op() {
  if constexpr (D == DType::Float64)
    return EncodeFloat64{};
  else if constexpr (is_float_type(D))
    return EncodeFloat<D, Saturate>{};
  else if constexpr (sizeinbytes(D) <= 2)
    return EncodeSmallInt<IntOf<D>>{};
  else
    return EncodeWideInt<IntOf<D>>{};
}

// Decodes the one-byte dtype `D` by looking up.
template <DType D>
void decode_by_table(const std::byte *__restrict src, std::byte *__restrict dst,
                     std::size_t count) {
  static const auto table = [] {
    std::array<uint32_t, 256> entries;
    for (unsigned code = 0; code < entries.size(); ++code)
      entries[code] = decode_to_fp32(D, code);
    return entries;
  }();
  const uint32_t *const entries = table.data();
  for (std::size_t i = 0; i < count; ++i)
    store<uint32_t>(dst + i * sizeof(uint32_t), entries[static_cast<uint8_t>(src[i])]);
}

template <class Target, DType D> constexpr void set_kernels(CastKernels &kernels) {
  if constexpr (!is_x4_dtype(D)) {
    constexpr unsigned index = dtype_index(D);
    if constexpr (sizeinbytes(D) == 1)
      kernels.decode[index] = &decode_by_table<D>;
    else
      kernels.decode[index] = &Target::template run<decltype(decode_op<D>())>;
    kernels.encode[index] = {&Target::template run<decltype(encode_op<D, false>())>,
                             &Target::template run<decltype(encode_op<D, true>())>};
  }
}

// A kernel for every dtype, each the function `Target::run` of its operation.
template <class Target> constexpr CastKernels make_kernels(const char *name) {
  CastKernels kernels;
  kernels.name = name;
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    (set_kernels<Target, static_cast<DType>(Index)>(kernels), ...);
  }
  (std::make_index_sequence<num_dtypes>{});
  return kernels;
}

} // namespace nir::cast_ops

#undef NIR_INLINE
