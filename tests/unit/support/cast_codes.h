// Arrays of codes for the tests of casts: which codes, and between numbers and bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <vector>

#include "ir/numeric/cast_engine_kernels.h"

namespace nir {

using Codes = std::vector<uint64_t>;
using Bytes = std::vector<uint8_t>;

inline std::vector<const CastKernels *> kernel_sets() {
  std::vector<const CastKernels *> sets{&portable_cast_kernels()};
  if (avx2_cast_kernels())
    sets.push_back(avx2_cast_kernels());
  return sets;
}

// Dtypes with one lane.
inline std::vector<DType> plain_dtypes() {
  std::vector<DType> list;
  std::ranges::copy_if(all_dtypes(), std::back_inserter(list),
                       [](DType dtype) { return !is_x4_dtype(dtype); });
  return list;
}

inline std::vector<DType> plain_dtypes_of(unsigned bytes) {
  std::vector<DType> list = plain_dtypes();
  std::erase_if(list, [&](DType dtype) { return sizeinbytes(dtype) != bytes; });
  return list;
}

inline std::vector<DType> int_dtypes() {
  std::vector<DType> list = plain_dtypes();
  std::erase_if(list, [](DType dtype) { return !is_int_type(dtype); });
  return list;
}

inline Bytes to_bytes(DType dtype, const Codes &codes) {
  const std::size_t size = sizeinbytes(dtype);
  Bytes bytes(codes.size() * size);
  for (std::size_t i = 0; i < codes.size(); ++i)
    std::memcpy(&bytes[i * size], &codes[i], size);
  return bytes;
}

inline Codes to_codes(DType dtype, const Bytes &bytes) {
  const std::size_t size = sizeinbytes(dtype);
  Codes codes(bytes.size() / size);
  for (std::size_t i = 0; i < codes.size(); ++i)
    std::memcpy(&codes[i], &bytes[i * size], size);
  return codes;
}

inline Codes cast(const CastKernels &kernels, DType from, DType to, const Codes &codes,
                  CastMode mode = {}) {
  const Bytes src = to_bytes(from, codes);
  Bytes dst(codes.size() * sizeinbytes(to));
  cast_array(kernels, from, to, src.data(), dst.data(), codes.size(), mode);
  return to_codes(to, dst);
}

inline Codes all_codes(DType dtype) {
  Codes codes(std::size_t{1} << (8 * sizeinbytes(dtype)));
  for (std::size_t i = 0; i < codes.size(); ++i)
    codes[i] = i;
  return codes;
}

// Patterns a constant step apart, all exponents among them, and where a step of one matters.
inline Codes sampled_codes(DType dtype) {
  const uint64_t mask = code_mask(dtype);
  const uint64_t step = (sizeinbytes(dtype) == 4 ? 0x1fff3 : uint64_t{0x1fff3} << 32) | 1;
  Codes codes;
  for (uint64_t code = 0, i = 0; i < (1u << 15); ++i, code += step)
    codes.push_back(code & mask);
  for (unsigned bit = 0; bit < 8 * sizeinbytes(dtype); ++bit) {
    for (uint64_t near : {-2, -1, 0, 1, 2}) {
      const uint64_t code = (uint64_t{1} << bit) + near;
      codes.insert(codes.end(), {code & mask, ~code & mask});
    }
  }
  return codes;
}

inline Codes random_codes(DType dtype, std::size_t count) {
  std::mt19937_64 random(dtype_index(dtype));
  Codes codes(count);
  for (uint64_t &code : codes) // of every magnitude
    code = (random() >> (random() % 64)) & code_mask(dtype);
  return codes;
}

} // namespace nir
