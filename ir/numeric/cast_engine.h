// Casts of whole arrays, bit for bit what convert_code, decode_to_fp32 and encode_from_fp32 of the
// scalar reference give (numerics, Casts), and fast.
//
// Arrays are plain memory in the machine's (little-endian) order, at any alignment; float4_e2m1fn
// outside a container takes a byte, the code in its low four bits. `count` counts elements, and
// each lane of an x4 container is one: where a side is a container, that side has count / 4
// containers and `count` is a multiple of four. Lane 0 is in the lowest bits, so lanes are elements
// in the order of memory. Equal element formats pass the lanes' codes untouched: a cast between a
// container and its element packs or unpacks.
//
// Results depend neither on the thread's rounding mode nor on its flushing of denormals. Safe from
// any thread.
#pragma once

#include <cstddef>

#include "ir/numeric/dtype.h"

namespace nir {

struct CastMode {
  bool saturate = true; // 8-bit floats: beyond max finite is max finite
  bool exact_ints =
      false; // between two integer dtypes: the exact value clamped, not by way of fp32
};

// Casts `count` elements. `src` and `dst` do not overlap; or they are the same, and an element
// takes as many bytes in both.
void cast_array(DType from, DType to, const void *src, void *dst, std::size_t count,
                CastMode mode = {});

// First stage of a cast alone: to fp32 as the device decodes, NaN made canonical even in float32.
// Same rule about overlapping.
void decode_array(DType from, const void *src, float *dst, std::size_t count);

// Second stage of a cast alone.
void encode_array(DType to, const float *src, void *dst, std::size_t count, bool saturate = true);

} // namespace nir
