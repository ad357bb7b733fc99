#include "ir/eval/eval_inputs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <xxhash.h>

#include "ir/numeric/cast_engine.h"
#include "ir/numeric/float_format.h"
#include "ir/semantics/eval_cast.h"

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
    const double half_ulp = std::ldexp(1.0, -format->mantissa_bits - 1); // of 1
    const double tiny = std::ldexp(1.0, format->min_quantum());
    const double normal = std::ldexp(1.0, format->min_exponent());
    const int last_exponent = leading_exponent(exact_value(dtype, format->max_finite_code()));
    const double beyond = max + std::ldexp(half_ulp, last_exponent); // halfway to the next
    points.insert(points.end(),
                  {max, beyond, max * 2, 1 + half_ulp, 1 + 2 * half_ulp, 1 + 3 * half_ulp, tiny / 2,
                   tiny, tiny * 1.5, normal - tiny, normal, normal + tiny});
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
constexpr std::size_t block_size = 1024; // elements that are made at a time

// A number of -1..1 with 23 bits, times a power of two from 1/16 to 4.
float random_float(std::uint64_t bits) {
  constexpr float scales[] = {0x1p-27F, 0x1p-26F, 0x1p-25F, 0x1p-24F, 0x1p-23F, 0x1p-22F, 0x1p-21F};
  const auto numerator = static_cast<std::int32_t>(bits >> 32) >> 8;
  return static_cast<float>(numerator) * scales[(bits & 0xff) % std::size(scales)];
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
    : dtype_(dtype), element_(launder_x4_dtype(dtype)), seed_(seed) {
  if (kind == InputKind::Edges)
    edges_ = edge_codes(element_);
}

std::uint64_t InputStream::bits_of(std::uint64_t index) const {
  return mixed(seed_ ^ mixed(index));
}

void InputStream::fill(std::uint64_t first, std::size_t count, std::byte *out) const {
  const unsigned lanes = info(dtype_).lanes;
  const unsigned bytes = sizeinbytes(dtype_);
  std::array<std::byte, block_size * 8> codes;
  for (std::size_t done = 0; done < count; done += block_size / lanes) {
    const std::size_t part = std::min<std::size_t>(block_size / lanes, count - done);
    fill_elements((first + done) * lanes, part * lanes, codes.data());
    // Packs the lanes of a container; otherwise the codes stay as they are.
    cast_array(element_, dtype_, codes.data(), out + done * bytes, part * lanes);
  }
}

void InputStream::fill_elements(std::uint64_t first, std::size_t count, std::byte *out) const {
  const unsigned bytes = sizeinbytes(element_);
  if (is_float_type(element_)) {
    std::array<float, block_size> numbers;
    for (std::size_t i = 0; i < count; ++i)
      numbers[i] = random_float(bits_of(first + i));
    cast_array(DType::Float32, element_, numbers.data(), out, count);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits = bits_of(first + i);
      const std::uint64_t code =
          is_int_type(element_) ? random_int(element_, bits) : random_scale(bits);
      std::memcpy(out + i * bytes, &code, bytes);
    }
  }
  if (edges_.empty())
    return;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t choice = mixed(bits_of(first + i));
    if (choice % edge_choice == 0)
      std::memcpy(out + i * bytes, &edges_[(choice >> 8) % edges_.size()], bytes);
  }
}

HostTensor make_input(const Type *type, std::string_view name, std::uint64_t seed, InputKind kind) {
  HostTensor tensor{type, std::vector<std::byte>(static_cast<std::size_t>(type->size_in_bytes()))};
  const InputStream stream(type->dtype(), XXH64(name.data(), name.size(), seed), kind);
  stream.fill(0, static_cast<std::size_t>(type->num_elements()), tensor.bytes.data());
  return tensor;
}

} // namespace nir
