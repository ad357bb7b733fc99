#include "ir/isa/target.h"

#include <fmt/format.h>

namespace nir {
namespace {

constexpr std::int64_t kib = 1024;
constexpr Target target_table[] = {
#define TARGET(name, partitions, sbuf, psum, dma_cast, x4_matmul)                                  \
  {name, partitions, (sbuf)*kib, (psum)*kib, dma_cast, x4_matmul},
#include "ir/isa/targets.def"
#undef TARGET
};

constexpr std::string_view names[] = {
#define TARGET(name, ...) name,
#include "ir/isa/targets.def"
#undef TARGET
};

constexpr std::string_view default_name = "trn2";

constexpr TargetFeature feature_table[] = {
    {"dma-cast", &Target::dma_cast, "DMA may change dtype on the way"},
    {"x4-matmul", &Target::x4_matmul, "matmul takes packed x4 containers"},
};

const TargetFeature *find_feature(std::string_view name) {
  for (const TargetFeature &feature : feature_table)
    if (feature.name == name)
      return &feature;
  return nullptr;
}

} // namespace

std::optional<DType> Target::matmul_operand_dtype(DType dtype) const {
  if (is_x4_dtype(dtype))
    return x4_matmul ? std::optional(dtype) : std::nullopt;
  if (is_int_type(dtype) || dtype == DType::Float64)
    return DType::Float32;
  switch (dtype) {
  case DType::Float32:
    break;
  case DType::Float8E8m0fnu:
  case DType::Float4E2m1fn:
    return std::nullopt;
  default:
    return dtype;
  }
  switch (matmul_mode) {
  case MatmulMode::None:
    return DType::Float32;
  case MatmulMode::Bfloat16:
    return DType::Bfloat16;
  case MatmulMode::Float16:
    return DType::Float16;
  case MatmulMode::Float32r:
    return DType::Float32r;
  }
  return std::nullopt;
}

// A mode chooses what float32 is cast to; float32 itself can always be multiplied.
bool Target::multiplies(DType dtype) const {
  return dtype == DType::Float32 || matmul_operand_dtype(dtype) == dtype;
}

std::span<const Target> all_targets() { return target_table; }

std::span<const std::string_view> target_names() { return names; }

const Target &default_target() { return *find_target(default_name); }

const Target *find_target(std::string_view name) {
  for (const Target &target : target_table)
    if (target.name == name)
      return &target;
  return nullptr;
}

std::span<const TargetFeature> all_target_features() { return feature_table; }

tl::expected<void, std::string> apply_target_features(Target &target, std::string_view features) {
  while (!features.empty()) {
    const std::string_view item = features.substr(0, features.find(','));
    features.remove_prefix(std::min(features.size(), item.size() + 1));
    if (item.empty() || (item[0] != '+' && item[0] != '-'))
      return tl::unexpected(
          fmt::format("target feature '{}' does not start with '+' or '-'", item));
    const TargetFeature *feature = find_feature(item.substr(1));
    if (feature == nullptr)
      return tl::unexpected(fmt::format("unknown target feature '{}'", item.substr(1)));
    target.*(feature->member) = item[0] == '+';
  }
  return {};
}

} // namespace nir
