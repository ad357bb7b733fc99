// The operators and functions of the arithmetic instructions, over arrays (language reference,
// Arithmetic).
//
// They compute in one of four element types, the lanes: float; double, of the reference evaluation;
// and std::int64_t and std::uint64_t, which hold integers of every signed and unsigned dtype.
// Results of float lanes may be any NaN; `make_nans_canonical` follows once an instruction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/isa/opcode.h"
#include "ir/numeric/dtype.h"

namespace nir::eval {

enum class Lane : std::uint8_t { Float, Double, Signed, Unsigned };

// The dtype whose codes are the lane's elements.
constexpr DType lane_dtype(Lane lane) {
  constexpr DType dtypes[] = {DType::Float32, DType::Float64, DType::Int64, DType::Uint64};
  return dtypes[static_cast<unsigned>(lane)];
}
constexpr bool is_int_lane(Lane lane) { return lane == Lane::Signed || lane == Lane::Unsigned; }
constexpr Lane int_lane(DType dtype) {
  return is_signed_int(dtype) ? Lane::Signed : Lane::Unsigned;
}

// What an operator needs to know beside its operands. In integer lanes operands are in the range of
// a dtype of `width` bits, and so are results: they wrap.
struct AluContext {
  Lane lane;
  unsigned width = 64;
};

// out[i] = op(a[i], b[i]). `out` may be `a` or `b`. Bitwise operators take integer lanes only, pow
// float lanes only.
void apply_op(AluOp op, AluContext context, const void *a, const void *b, void *out,
              std::size_t count);

// What a reduction starts with: the first term, but a truth value as 0 or 1 and, for abs_max, a
// magnitude.
void start_reduction(AluOp op, AluContext context, const void *terms, void *acc, std::size_t count);

// acc = op(… op(op(acc, terms[0]), terms[1]) …), of one accumulator.
void fold(AluOp op, AluContext context, void *acc, const void *terms, std::size_t count);

// data[i] = fn(data[i]), in float lanes.
void apply_function(ActivationFn fn, Lane lane, void *data, std::size_t count);

// Every NaN becomes the one that instructions compute: 0x7fc00000 and its like in float64.
void make_nans_canonical(Lane lane, void *data, std::size_t count);

} // namespace nir::eval
