// The loops behind cast_engine.h, one set for each kind of machine; for the engine, its tests and
// benchmarks.
#pragma once

#include <array>
#include <cstddef>

#include "ir/numeric/cast_engine.h"

namespace nir {

// Converts `count` elements between arrays that do not overlap, at any alignment. Kernels run under
// DefaultFpEnvironment.
using CastKernel = void (*)(const std::byte *src, std::byte *dst, std::size_t count);

// The two stages of a cast for every dtype but containers, whose entries are null.
struct CastKernels {
  const char *name = nullptr;
  std::array<CastKernel, num_dtypes> decode{};                // to fp32 bits
  std::array<std::array<CastKernel, 2>, num_dtypes> encode{}; // from fp32 bits; [saturate]
};

// For every machine.
const CastKernels &portable_cast_kernels();

// With AVX2 and F16C; null where the machine has not both.
const CastKernels *avx2_cast_kernels();

// The fastest set of this machine.
const CastKernels &best_cast_kernels();

// From one integer dtype to another with the exact value clamped; null where either is no integer.
CastKernel exact_int_kernel(DType from, DType to);

// The functions of cast_engine.h with a given set.
void cast_array(const CastKernels &kernels, DType from, DType to, const void *src, void *dst,
                std::size_t count, CastMode mode = {});
void decode_array(const CastKernels &kernels, DType from, const void *src, float *dst,
                  std::size_t count);
void encode_array(const CastKernels &kernels, DType to, const float *src, void *dst,
                  std::size_t count, bool saturate = true);

} // namespace nir
