#include "ir/semantics/eval_cast.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "ir/numeric/cast_engine.h"
#include "ir/numeric/float_format.h"

namespace nir::eval {
namespace {

constexpr std::size_t widening_block = 512;

std::uint64_t load_code(const std::byte *at, unsigned bytes) {
  std::uint64_t code = 0;
  std::memcpy(&code, at, bytes);
  return code;
}

void store_code(std::byte *at, std::uint64_t code, unsigned bytes) {
  std::memcpy(at, &code, bytes);
}

double int_to_double(DType dtype, std::uint64_t code) {
  const ExactValue value = exact_value(dtype, code);
  const auto magnitude = static_cast<double>(value.mantissa);
  return value.negative ? -magnitude : magnitude;
}

// Floats up to fp32 widen through it, exactly.
void floats_to_double(DType from, const std::byte *src, std::byte *dst, std::size_t count) {
  float narrow[widening_block];
  const unsigned bytes = sizeinbytes(from);
  for (std::size_t done = 0; done < count; done += widening_block) {
    const std::size_t part = std::min(widening_block, count - done);
    cast_codes(from, DType::Float32, src + done * bytes, reinterpret_cast<std::byte *>(narrow),
               part, CastRule::Device);
    for (std::size_t i = 0; i < part; ++i) {
      const double wide = narrow[i];
      std::memcpy(dst + (done + i) * sizeof wide, &wide, sizeof wide);
    }
  }
}

void to_double(DType from, const std::byte *src, std::byte *dst, std::size_t count) {
  if (is_float_type(from))
    return floats_to_double(from, src, dst, count);
  const unsigned bytes = sizeinbytes(from);
  for (std::size_t i = 0; i < count; ++i) {
    const double wide = int_to_double(from, load_code(src + i * bytes, bytes));
    std::memcpy(dst + i * sizeof wide, &wide, sizeof wide);
  }
}

// One rounding, from float64 to any dtype. What is no finite number passes through fp32, which
// keeps it.
std::uint64_t encode_from_double(DType to, double value) {
  if (!std::isfinite(value))
    return encode_from_fp32(to, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  const ExactValue exact = exact_value(DType::Float64, std::bit_cast<std::uint64_t>(value));
  const FloatFormat *format = float_format(to);
  return format != nullptr ? encode_exact(*format, exact) : encode_exact_int(to, exact);
}

void from_double(DType to, const std::byte *src, std::byte *dst, std::size_t count) {
  const unsigned bytes = sizeinbytes(to);
  for (std::size_t i = 0; i < count; ++i) {
    double value;
    std::memcpy(&value, src + i * sizeof value, sizeof value);
    store_code(dst + i * bytes, encode_from_double(to, value), bytes);
  }
}

} // namespace

void cast_codes(DType from, DType to, const std::byte *src, std::byte *dst, std::size_t count,
                CastRule rule) {
  if (from == to) {
    if (src != dst)
      std::memcpy(dst, src, count * sizeinbytes(from));
    return;
  }
  if (rule == CastRule::Reference) {
    if (to == DType::Float64)
      return to_double(from, src, dst, count);
    if (from == DType::Float64)
      return from_double(to, src, dst, count);
  }
  const bool exact_ints = rule != CastRule::Device && is_int_type(from) && is_int_type(to);
  cast_array(from, to, src, dst, count, {.saturate = true, .exact_ints = exact_ints});
}

} // namespace nir::eval
