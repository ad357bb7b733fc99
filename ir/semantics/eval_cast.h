// Conversions between the forms in which the evaluator holds elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/numeric/dtype.h"

namespace nir::eval {

// How integers, and the numbers of the reference evaluation, pass from dtype to dtype.
enum class CastRule : std::uint8_t {
  Device,    // every element passes through fp32 (numerics, Casts)
  ExactInts, // between integers exactly, saturating; otherwise as Device
  Reference, // through float64 and never through anything narrower; integers exactly, saturating
};

// `count` codes of `from` at `src` become codes of `to` at `dst`. Equal dtypes keep their bytes.
// The two must not overlap unless they are the same and so are the dtypes.
void cast_codes(DType from, DType to, const std::byte *src, std::byte *dst, std::size_t count,
                CastRule rule);

} // namespace nir::eval
