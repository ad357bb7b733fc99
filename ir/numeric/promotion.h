// Implicit dtype promotion and its siblings (numerics, `promote_type`).
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include <tl/expected.hpp>

#include "ir/numeric/dtype.h"

namespace nir {

// The dtype in which `t0` and `t1` meet. Errors are the texts of numerics, word for word:
// "No available implicit dtype promotion path for input dtypes <t0> and <t1>. Use .astype(dtype)
// explicitly." and "unexpected dtype: <name>". Commutative and idempotent, not associative.
tl::expected<DType, std::string> promote_type(DType t0, DType t1);

// The first of these texts, also for operands that must not meet although promote_type has an
// answer: two of float8_e8m0fnu (passes, legalize-dtype).
std::string no_promotion_path(DType t0, DType t1);

// May values of `t0` and `t1` share storage of one dtype? Same numeric class and different sizes,
// or equal dtypes, or float32 with float32r. Containers and scales merge only with themselves.
bool can_merge_type(DType t0, DType t1);

// That dtype: the wider of the two, float32r for float32 with float32r. Error: "Cannot merge
// type!".
tl::expected<DType, std::string> merge_type(DType t0, DType t1);

// Is a cast between the two a reinterpretation of integer bits: both integer, same item size?
bool is_int_bitcast(DType t0, DType t1);

// A scalar of the host language.
using HostScalar = std::variant<bool, int64_t, double>;

// The dtype that a host scalar starts with: bool is uint8, an integer int32 where it fits and else
// int64, a float float64.
DType scalar_dtype(const HostScalar &scalar);

} // namespace nir
