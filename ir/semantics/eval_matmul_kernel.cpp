#include "ir/semantics/eval_matmul_kernel.h"

#include <cstring>

// One build serves CPUs with wider vectors as well. Which of the copies runs changes no bit: none
// may fuse a product with a sum (-ffp-contract=off).
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define NIR_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define NIR_CLONES
#endif

namespace nir::eval {
namespace {

template <class T> struct VectorOf {
  typedef T type __attribute__((vector_size(64)));
  typedef T in_memory __attribute__((vector_size(64), aligned(alignof(T)), may_alias));
};
template <class T> using Vector = typename VectorOf<T>::type;
template <class T> using VectorInMemory = typename VectorOf<T>::in_memory;
constexpr std::size_t vectors = 2; // a row of a tile

template <class T>
inline __attribute__((always_inline)) void tile(const T *lhs, const T *rhs, std::size_t depth,
                                                bool accumulate, T *acc) {
  constexpr std::size_t lanes = sizeof(Vector<T>) / sizeof(T);
  const auto at =
      [](const T *from, std::size_t i) __attribute__((always_inline))->const VectorInMemory<T> & {
    return reinterpret_cast<const VectorInMemory<T> *>(from)[i];
  };
  Vector<T> sum[matmul_rows][vectors];
  std::size_t k = 0;
  if (accumulate) {
    for (std::size_t i = 0; i < matmul_rows; ++i)
      for (std::size_t j = 0; j < vectors; ++j)
        sum[i][j] = at(acc, i * vectors + j);
  } else {
    // A sum begins with its first term: 0 + -0.0 would be another number.
    for (std::size_t i = 0; i < matmul_rows; ++i)
      for (std::size_t j = 0; j < vectors; ++j)
        sum[i][j] = lhs[i] * at(rhs, j);
    k = 1;
  }
  for (; k < depth; ++k) {
    const T *row = rhs + k * vectors * lanes;
    for (std::size_t i = 0; i < matmul_rows; ++i)
      for (std::size_t j = 0; j < vectors; ++j)
        sum[i][j] += lhs[k * matmul_rows + i] * at(row, j);
  }
  std::memcpy(acc, sum, sizeof sum);
}

} // namespace

NIR_CLONES void multiply_tile(const float *lhs, const float *rhs, std::size_t depth,
                              bool accumulate, float *acc) {
  tile(lhs, rhs, depth, accumulate, acc);
}

NIR_CLONES void multiply_tile(const double *lhs, const double *rhs, std::size_t depth,
                              bool accumulate, double *acc) {
  tile(lhs, rhs, depth, accumulate, acc);
}

} // namespace nir::eval
