// Kernels for x86 with AVX2 and F16C. Only the functions marked so are compiled for them: the file
// itself, with what it includes, is for every machine.
#include "ir/numeric/cast_engine_ops.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define NIR_AVX2 [[gnu::target("avx2,f16c")]]

namespace nir {
namespace {

struct Avx2 {
  template <class Op>
  NIR_AVX2 static void run(const std::byte *__restrict src, std::byte *__restrict dst,
                           std::size_t count) {
    cast_ops::apply_all<Op>(src, dst, 0, count);
  }
};

// The instructions keep the payload of a NaN; the casts do not.
NIR_AVX2 inline __m256 canonical_nan(__m256 values) {
  const __m256 is_nan = _mm256_cmp_ps(values, values, _CMP_UNORD_Q);
  const __m256 sign = _mm256_and_ps(values, _mm256_set1_ps(-0.0f));
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(cast_ops::fp32_nan));
  return _mm256_blendv_ps(values, _mm256_or_ps(nan, sign), is_nan);
}

NIR_AVX2 void decode_float16(const std::byte *__restrict src, std::byte *__restrict dst,
                             std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i_u *>(src + i * 2));
    const __m256 values = canonical_nan(_mm256_cvtph_ps(codes));
    _mm256_storeu_si256(reinterpret_cast<__m256i_u *>(dst + i * 4), _mm256_castps_si256(values));
  }
  cast_ops::apply_all<cast_ops::DecodeFloat<DType::Float16>>(src, dst, i, count);
}

NIR_AVX2 void encode_float16(const std::byte *__restrict src, std::byte *__restrict dst,
                             std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i_u *>(src + i * 4));
    const __m256 values = canonical_nan(_mm256_castsi256_ps(bits));
    const __m128i codes = _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i_u *>(dst + i * 2), codes);
  }
  cast_ops::apply_all<cast_ops::EncodeFloat<DType::Float16, true>>(src, dst, i, count);
}

constexpr CastKernels make_avx2_kernels() {
  CastKernels kernels = cast_ops::make_kernels<Avx2>("avx2");
  constexpr unsigned float16 = dtype_index(DType::Float16);
  kernels.decode[float16] = &decode_float16;
  kernels.encode[float16] = {&encode_float16, &encode_float16};
  return kernels;
}

constexpr CastKernels kernel_set = make_avx2_kernels();

} // namespace

const CastKernels *avx2_cast_kernels() {
  const bool supported = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  return supported ? &kernel_set : nullptr;
}

} // namespace nir

#else

namespace nir {

const CastKernels *avx2_cast_kernels() { return nullptr; }

} // namespace nir

#endif
