// Exactness of casts (passes, "Holds, survives"). The answers follow from the format descriptions:
// never from a bit width.
//
// Casts saturate. Two results are equal when they agree bit for bit over every code of A that is no
// NaN; a NaN must give a NaN of the same sign, or where C is an integer the same integer. Every bit
// pattern of a container counts as a code: infinities of the 8-bit floats, which no cast makes, and
// float32r patterns with low bits set.
#pragma once

#include "ir/numeric/dtype.h"

namespace nir {

// Does A to B to C equal A to C, whatever the input? A copy to its own dtype keeps the bytes. False
// where an x4 container would be cast. O(1) once a triple was asked, a few microseconds the first
// time; safe from any thread.
bool triple_is_exact(DType a, DType b, DType c);

// Does `b` hold `a`: A to B to float32 equals A to float32; where one of them is an integer: every
// value of A is one of B?
bool holds(DType b, DType a);

} // namespace nir
