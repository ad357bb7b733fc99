// Kernels that the compiler vectorises for whatever machine the library is built for.
#include "ir/numeric/cast_engine_ops.h"

namespace nir {
namespace {

struct Portable {
  template <class Op>
  static void run(const std::byte *__restrict src, std::byte *__restrict dst, std::size_t count) {
    cast_ops::apply_all<Op>(src, dst, 0, count);
  }
};

constexpr CastKernels kernel_set = cast_ops::make_kernels<Portable>("portable");

template <DType From, DType To> constexpr CastKernel exact_kernel() {
  if constexpr (is_int_type(From) && is_int_type(To))
    return &Portable::run<cast_ops::ExactInt<cast_ops::IntOf<From>, cast_ops::IntOf<To>>>;
  else
    return nullptr;
}

using ExactRow = std::array<CastKernel, num_dtypes>;

template <DType From, std::size_t... To> constexpr ExactRow exact_row(std::index_sequence<To...>) {
  return {exact_kernel<From, static_cast<DType>(To)>()...};
}

template <std::size_t... From>
constexpr std::array<ExactRow, num_dtypes> exact_rows(std::index_sequence<From...> indices) {
  return {exact_row<static_cast<DType>(From)>(indices)...};
}

constexpr auto exact_kernels = exact_rows(std::make_index_sequence<num_dtypes>{});

} // namespace

const CastKernels &portable_cast_kernels() { return kernel_set; }

CastKernel exact_int_kernel(DType from, DType to) {
  return exact_kernels[dtype_index(from)][dtype_index(to)];
}

} // namespace nir
