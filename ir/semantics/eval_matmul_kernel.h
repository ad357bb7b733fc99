// The inner loops of matmul. Every element of the result is one chain of rounded products, added in
// ascending order of the contracted index: what is computed side by side are elements, never parts
// of one sum.
#pragma once

#include <cstddef>

namespace nir::eval {

// A tile of the result: `matmul_rows` rows of `matmul_columns<T>` elements.
constexpr std::size_t matmul_rows = 4;
template <class T> constexpr std::size_t matmul_columns = 128 / sizeof(T);

// The tile of lhs * rhs, where `lhs` holds matmul_rows elements and `rhs` matmul_columns elements
// for each of `depth` contracted indices. Adds to what `acc` holds where `accumulate` is set.
void multiply_tile(const float *lhs, const float *rhs, std::size_t depth, bool accumulate,
                   float *acc);
void multiply_tile(const double *lhs, const double *rhs, std::size_t depth, bool accumulate,
                   double *acc);

} // namespace nir::eval
