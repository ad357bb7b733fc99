#include "ir/numeric/cast_engine.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "ir/numeric/cast_engine_kernels.h"
#include "ir/numeric/fp_environment.h"
#include "ir/numeric/mx.h"

namespace nir {
namespace {

// What lies between the two stages stays in the nearest cache. A multiple of the lanes of a
// container.
constexpr std::size_t chunk_size = 1024;

using Fp32Chunk = std::array<std::byte, chunk_size * sizeof(float)>;
using ByteChunk = std::array<std::byte, chunk_size>;

// Of one element; a lane of float4_e2m1fn_x4 has half a byte, all else has whole bytes.
constexpr std::size_t lane_bits(DType dtype) { return 8 * sizeinbytes(dtype) / info(dtype).lanes; }

constexpr std::size_t bytes_of(DType dtype, std::size_t count) {
  return lane_bits(dtype) * count / 8;
}

// Containers whose lanes are whole bytes are arrays of their element already.
constexpr DType as_array_of(DType dtype) {
  return lane_bits(dtype) % 8 == 0 ? launder_x4_dtype(dtype) : dtype;
}

[[maybe_unused]] bool is_whole(DType dtype, std::size_t count) {
  return dtype_index(dtype) < num_dtypes && count % info(dtype).lanes == 0;
}

// Casts at most chunk_size elements between arrays that do not overlap.
class ChunkCast {
public:
  ChunkCast(const CastKernels &kernels, DType from, DType to, CastMode mode)
      : from_(as_array_of(from)), to_(as_array_of(to)), from_element_(launder_x4_dtype(from)),
        to_element_(launder_x4_dtype(to)), decode_(kernels.decode[dtype_index(from_element_)]),
        encode_(kernels.encode[dtype_index(to_element_)][mode.saturate]),
        exact_(mode.exact_ints ? exact_int_kernel(from, to) : nullptr) {}

  // For decode_array and encode_array: the missing stage does not run.
  void decode(const std::byte *src, std::byte *dst, std::size_t count) const {
    ByteChunk codes;
    decode_(unpacked(src, codes, count), dst, count);
  }
  void encode(const std::byte *src, std::byte *dst, std::size_t count) const {
    if (!is_x4_dtype(to_))
      return encode_(src, dst, count);
    ByteChunk codes;
    encode_(src, codes.data(), count);
    pack(codes, dst, count);
  }

  void cast(const std::byte *src, std::byte *dst, std::size_t count) const {
    if (exact_)
      return exact_(src, dst, count);
    if (from_element_ == to_element_)
      return move_codes(src, dst, count);
    if (to_ == DType::Float32)
      return decode(src, dst, count);
    if (from_ == DType::Float32) // encoders make NaN canonical themselves
      return encode(src, dst, count);
    Fp32Chunk values;
    decode(src, values.data(), count);
    encode(values.data(), dst, count);
  }

private:
  const std::byte *unpacked(const std::byte *src, ByteChunk &codes, std::size_t count) const {
    if (!is_x4_dtype(from_))
      return src;
    unpack_x4(from_, src, reinterpret_cast<uint8_t *>(codes.data()), count / info(from_).lanes);
    return codes.data();
  }
  void pack(const ByteChunk &codes, std::byte *dst, std::size_t count) const {
    pack_x4(to_, reinterpret_cast<const uint8_t *>(codes.data()), dst, count / info(to_).lanes);
  }

  // Equal element formats: only the layout may change.
  void move_codes(const std::byte *src, std::byte *dst, std::size_t count) const {
    if (from_ == to_)
      std::memcpy(dst, src, bytes_of(to_, count));
    else if (is_x4_dtype(from_))
      unpack_x4(from_, src, reinterpret_cast<uint8_t *>(dst), count / info(from_).lanes);
    else
      pack_x4(to_, reinterpret_cast<const uint8_t *>(src), dst, count / info(to_).lanes);
  }

  DType from_;
  DType to_;
  DType from_element_;
  DType to_element_;
  CastKernel decode_;
  CastKernel encode_;
  CastKernel exact_;
};

// Calls `convert(src, dst, count)` chunk by chunk; where the arrays are the same each chunk is read
// from a copy.
template <class Convert>
void for_each_chunk(DType from, DType to, const void *src, void *dst, std::size_t count,
                    Convert convert) {
  assert(is_whole(from, count) && is_whole(to, count));
  assert(src != dst || lane_bits(from) == lane_bits(to) || count == 0);
  const DefaultFpEnvironment environment;
  const auto *source = static_cast<const std::byte *>(src);
  auto *destination = static_cast<std::byte *>(dst);
  std::array<std::byte, chunk_size * sizeof(uint64_t)> copy;
  for (std::size_t done = 0; done < count; done += chunk_size) {
    const std::size_t size = std::min(chunk_size, count - done);
    const std::byte *chunk = source + bytes_of(from, done);
    if (src == dst) {
      std::memcpy(copy.data(), chunk, bytes_of(from, size));
      chunk = copy.data();
    }
    convert(chunk, destination + bytes_of(to, done), size);
  }
}

} // namespace

const CastKernels &best_cast_kernels() {
  static const CastKernels &best =
      avx2_cast_kernels() ? *avx2_cast_kernels() : portable_cast_kernels();
  return best;
}

void cast_array(const CastKernels &kernels, DType from, DType to, const void *src, void *dst,
                std::size_t count, CastMode mode) {
  if (count == 0)
    return;
  if (from == to) {
    assert(is_whole(from, count));
    std::memmove(dst, src, bytes_of(from, count));
    return;
  }
  const ChunkCast chunk(kernels, from, to, mode);
  for_each_chunk(from, to, src, dst, count,
                 [&](const std::byte *s, std::byte *d, std::size_t n) { chunk.cast(s, d, n); });
}

void decode_array(const CastKernels &kernels, DType from, const void *src, float *dst,
                  std::size_t count) {
  const ChunkCast chunk(kernels, from, DType::Float32, {});
  for_each_chunk(from, DType::Float32, src, dst, count,
                 [&](const std::byte *s, std::byte *d, std::size_t n) { chunk.decode(s, d, n); });
}

void encode_array(const CastKernels &kernels, DType to, const float *src, void *dst,
                  std::size_t count, bool saturate) {
  const ChunkCast chunk(kernels, DType::Float32, to, {.saturate = saturate});
  for_each_chunk(DType::Float32, to, src, dst, count,
                 [&](const std::byte *s, std::byte *d, std::size_t n) { chunk.encode(s, d, n); });
}

void cast_array(DType from, DType to, const void *src, void *dst, std::size_t count,
                CastMode mode) {
  cast_array(best_cast_kernels(), from, to, src, dst, count, mode);
}

void decode_array(DType from, const void *src, float *dst, std::size_t count) {
  decode_array(best_cast_kernels(), from, src, dst, count);
}

void encode_array(DType to, const float *src, void *dst, std::size_t count, bool saturate) {
  encode_array(best_cast_kernels(), to, src, dst, count, saturate);
}

} // namespace nir
