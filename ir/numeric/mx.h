// Microscaling (MX) data of the OCP text: blocks of small floats that share a power-of-two scale,
// and the x4 containers that hold such floats (numerics, Casts).
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/numeric/dtype.h"

namespace nir {

// Elements that share one float8_e8m0fnu scale.
inline constexpr std::size_t mx_block_size = 32;

// The codes of `containers` elements of dtype `container`, an x4 dtype, one byte each: lane 0,
// which is in the lowest bits of its container, first. The arrays do not overlap.
void unpack_x4(DType container, const void *src, uint8_t *lanes, std::size_t containers);

// The other way; bits of a byte that its lane has no room for are ignored.
void pack_x4(DType container, const uint8_t *lanes, void *dst, std::size_t containers);

// Is `elements` what an MX block may hold: a float of one byte, or a container of four?
bool is_mx_element(DType elements);

// dst[i] is element i times the OCP value of scales[i / 32], rounded once to fp32; the last block
// may be short. `elements` satisfies is_mx_element, and `count` counts lanes as cast_array does. A
// NaN element stays the canonical NaN of its sign; the scale 0xff makes its whole block the
// positive one. The arrays do not overlap.
void dequantize_mx(DType elements, const void *src, const uint8_t *scales, float *dst,
                   std::size_t count);

} // namespace nir
