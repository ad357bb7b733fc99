#include "ir/numeric/mx.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "ir/numeric/cast_engine.h"
#include "ir/numeric/float_format.h"
#include "ir/numeric/fp_environment.h"

namespace nir {
namespace {

bool lane_is_a_byte(DType container) { return sizeinbytes(container) == info(container).lanes; }

void scale_block(float *values, std::size_t count, uint8_t scale_code) {
  const uint32_t scale_bits = decode_e8m0_ocp(scale_code);
  const float scale = std::bit_cast<float>(scale_bits);
  if (is_nan_code(DType::Float32, scale_bits)) {
    std::fill_n(values, count, scale);
    return;
  }
  // A NaN is kept as it is: what a product makes of its bits is the machine's affair.
  for (std::size_t i = 0; i < count; ++i) {
    const bool nan = is_nan_code(DType::Float32, std::bit_cast<uint32_t>(values[i]));
    values[i] = nan ? values[i] : values[i] * scale;
  }
}

} // namespace

void unpack_x4(DType container, const void *src, uint8_t *lanes, std::size_t containers) {
  assert(is_x4_dtype(container));
  const std::size_t bytes = sizeinbytes(container) * containers;
  if (lane_is_a_byte(container)) {
    std::memcpy(lanes, src, bytes);
    return;
  }
  const auto *pairs = static_cast<const uint8_t *>(src);
  for (std::size_t i = 0; i < bytes; ++i) {
    lanes[2 * i] = pairs[i] & 0xf;
    lanes[2 * i + 1] = pairs[i] >> 4;
  }
}

void pack_x4(DType container, const uint8_t *lanes, void *dst, std::size_t containers) {
  assert(is_x4_dtype(container));
  const std::size_t bytes = sizeinbytes(container) * containers;
  if (lane_is_a_byte(container)) {
    std::memcpy(dst, lanes, bytes);
    return;
  }
  auto *pairs = static_cast<uint8_t *>(dst);
  for (std::size_t i = 0; i < bytes; ++i)
    pairs[i] = static_cast<uint8_t>((lanes[2 * i] & 0xf) | lanes[2 * i + 1] << 4);
}

bool is_mx_element(DType elements) {
  const DType element = launder_x4_dtype(elements);
  return is_float_type(element) && sizeinbytes(element) == 1;
}

void dequantize_mx(DType elements, const void *src, const uint8_t *scales, float *dst,
                   std::size_t count) {
  assert(is_mx_element(elements));
  decode_array(elements, src, dst, count);
  const DefaultFpEnvironment environment;
  for (std::size_t first = 0; first < count; first += mx_block_size)
    scale_block(dst + first, std::min(mx_block_size, count - first), scales[first / mx_block_size]);
}

} // namespace nir
