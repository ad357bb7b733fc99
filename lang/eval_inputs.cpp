#include "lang/eval_inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <xxhash.h>

#include "ir/float_format.h"
#include "lang/eval_cast.h"

namespace nir {
namespace {

// SplitMix64: every bit of the result depends on every bit of the state.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15u;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9u;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBu;
  return x ^ (x >> 31);
}

std::uint64_t code_of(DType dtype, double value) {
  std::uint64_t code = 0;
  eval::cast_codes(DType::Float64, dtype, reinterpret_cast<const std::byte *>(&value),
                   reinterpret_cast<std::byte *>(&code), 1, eval::CastRule::Reference);
  return code;
}

double value_of(const FloatFormat &format, std::uint64_t code) {
  const ExactValue exact = exact_value(format.dtype, code);
  return std::ldexp(static_cast<double>(exact.mantissa), exact.exponent);
}

// Positive numbers at which some dtype turns, float64 left out: its own are beyond fp32.
std::vector<double> turning_points() {
  std::vector<double> points = {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 0x1p24, 0x1p24 + 1};
  for (const DType dtype : all_dtypes()) {
    if (is_int_type(dtype)) {
      const auto max = static_cast<double>(int_range(dtype).max);
      points.insert(points.end(), {max - 1, max, max + 0.5, max + 1});
    }
    const FloatFormat *format = float_format(dtype);
    if (format == nullptr || dtype == DType::Float64)
      continue;
    const double max = value_of(*format, format->max_finite_code());
    const double half_ulp = std::ldexp(1.0, -format->mantissa_bits - 1); // of 1.0
    const double tiny = std::ldexp(1.0, format->min_quantum());
    const double normal = std::ldexp(1.0, format->min_exponent());
    const double beyond = max * (1 + half_ulp / 2);
    points.insert(points.end(), {max, beyond, max * 2, 1 + half_ulp, 1 + 2 * half_ulp,
                                 1 + 3 * half_ulp, tiny / 2, tiny, tiny * 1.5, normal - tiny,
                                 normal, normal + tiny});
  }
  return points;
}

void add_specials(const FloatFormat &format, std::vector<std::uint64_t> &codes) {
  std::vector<std::uint64_t> magnitudes = {format.max_finite_code()};
  if (format.has_infinity)
    magnitudes.push_back(format.infinity_code());
  if (format.nan != NanKind::None)
    magnitudes.push_back(format.nan_code());
  for (const std::uint64_t magnitude : magnitudes)
    codes.insert(codes.end(), {magnitude, magnitude | format.sign_mask()});
}

constexpr std::uint64_t edge_choice = 2; // one in so many

// A number of -1..1 times a power of two from 1/16 to 4.
double random_float(std::uint64_t bits) {
  const auto numerator = static_cast<std::int32_t>(bits >> 32);
  const int exponent = static_cast<int>(bits & 0xff) % 7 - 4;
  return std::ldexp(static_cast<double>(numerator), exponent - 31);
}

std::uint64_t random_int(DType dtype, std::uint64_t bits) {
  constexpr std::uint64_t few = 4;
  constexpr std::uint64_t magnitudes = 100;
  const std::uint64_t number = bits >> 8;
  if ((bits & 1) != 0)
    return number % few;
  if (is_signed_int(dtype))
    return number % (2 * magnitudes + 1) - magnitudes;
  return number % (2 * magnitudes + 1);
}

// Scales between 2^-8 and 2^7.
std::uint64_t random_scale(std::uint64_t bits) { return 119 + (bits >> 8) % 16; }

} // namespace

std::vector<std::uint64_t> edge_codes(DType dtype) {
  std::vector<std::uint64_t> codes;
  for (const double point : turning_points())
    codes.insert(codes.end(), {code_of(dtype, point), code_of(dtype, -point)});
  if (const FloatFormat *format = float_format(dtype)) {
    add_specials(*format, codes);
  } else {
    const IntRange range = int_range(dtype);
    const std::uint64_t lowest = -range.min_magnitude;
    for (const std::uint64_t code : {range.max, range.max - 1, lowest, lowest + 1})
      codes.push_back(code & code_mask(dtype));
  }
  std::ranges::sort(codes);
  codes.erase(std::ranges::unique(codes).begin(), codes.end());
  return codes;
}

InputStream::InputStream(DType dtype, std::uint64_t seed, InputKind kind)
    : dtype_(dtype), seed_(seed) {
  if (kind == InputKind::Edges)
    edges_ = edge_codes(launder_x4_dtype(dtype));
}

std::uint64_t InputStream::element_code(DType dtype, std::uint64_t bits) const {
  const std::uint64_t choice = mixed(bits);
  if (!edges_.empty() && choice % edge_choice == 0)
    return edges_[(choice >> 8) % edges_.size()];
  if (is_int_type(dtype))
    return random_int(dtype, bits) & code_mask(dtype);
  if (dtype == DType::Float8E8m0fnu)
    return random_scale(bits);
  return code_of(dtype, random_float(bits));
}

std::uint64_t InputStream::code(std::uint64_t index) const {
  const std::uint64_t bits = mixed(seed_ ^ mixed(index));
  if (!is_x4_dtype(dtype_))
    return element_code(dtype_, bits);
  const unsigned lanes = info(dtype_).lanes;
  const unsigned lane_bits = 8 * sizeinbytes(dtype_) / lanes;
  const std::uint64_t lane_mask = (std::uint64_t{1} << lane_bits) - 1;
  std::uint64_t code = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    code |= (element_code(launder_x4_dtype(dtype_), mixed(bits + lane)) & lane_mask)
            << (lane * lane_bits);
  return code;
}

void InputStream::fill(std::uint64_t first, std::size_t count, std::byte *out) const {
  const unsigned bytes = sizeinbytes(dtype_);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t element = code(first + i);
    std::memcpy(out + i * bytes, &element, bytes);
  }
}

HostTensor make_input(const Type *type, std::string_view name, std::uint64_t seed,
                      InputKind kind) {
  HostTensor tensor{type, std::vector<std::byte>(static_cast<std::size_t>(type->size_in_bytes()))};
  const InputStream stream(type->dtype(), XXH64(name.data(), name.size(), seed), kind);
  stream.fill(0, static_cast<std::size_t>(type->num_elements()), tensor.bytes.data());
  return tensor;
}

} // namespace nir
