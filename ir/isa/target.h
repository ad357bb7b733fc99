#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "ir/numeric/dtype.h"

namespace nir {

// What `matmult-*` modes of auto-cast make of float32 matmul operands (passes, auto-cast-fp32).
enum class MatmulMode : std::uint8_t { None, Bfloat16, Float16, Float32r };

// A machine (tools, Targets). The rows are in ir/isa/targets.def; a module holds a copy, so that
// single features can be switched on the command line.
struct Target {
  std::string_view name;
  std::int64_t partitions; // rows of sbuf and psum
  std::int64_t sbuf_bytes_per_partition;
  std::int64_t psum_bytes_per_partition;
  bool dma_cast;  // DMA may change dtype on the way
  bool x4_matmul; // matmul takes packed x4 containers
  MatmulMode matmul_mode = MatmulMode::None;

  // Whether matmul multiplies operands of this dtype.
  bool multiplies(DType dtype) const;
  // The dtype to which a matmul operand of `dtype` is cast; nothing where there is none (x4 without
  // x4 matmul, float8_e8m0fnu).
  std::optional<DType> matmul_operand_dtype(DType dtype) const;
};

std::span<const Target> all_targets();
const Target &default_target();
std::span<const std::string_view> target_names();
// nullptr where the name is unknown.
const Target *find_target(std::string_view name);

// A switchable feature: `dma-cast`, `x4-matmul`.
struct TargetFeature {
  std::string_view name;
  bool Target::*member;
  std::string_view doc;
};
std::span<const TargetFeature> all_target_features();

// Applies `+dma-cast,-x4-matmul` to `target`; the error names the unknown feature.
tl::expected<void, std::string> apply_target_features(Target &target, std::string_view features);

} // namespace nir
