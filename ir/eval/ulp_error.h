// How far results are from exact ones.
#pragma once

#include <cstdint>

#include "ir/eval/evaluator.h"

namespace nir {

struct UlpError {
  double max = 0;
  double mean = 0;
};

// The distance of each element from that of the reference evaluation, in units of the spacing of
// the result's dtype at the exact number: below the smallest normal number that of the subnormals,
// above the largest finite number that below it, and 1 for integers. A NaN is right where the exact
// number is one; an infinity, where that rounds to it; otherwise the distance is infinite. Both
// have one shape; `reference` has the same dtype, or float64 where that is a float. Not for x4
// containers.
UlpError ulp_error(const HostTensor &result, const HostTensor &reference);

// How many elements of two tensors of one type have the same bits, or are NaNs of the same sign.
std::uint64_t identical_elements(const HostTensor &a, const HostTensor &b);

} // namespace nir
