#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "ir/isa/target.h"
#include "ir/numeric/dtype.h"

namespace nir {

// One value of the option `mode` of the auto-cast passes (passes, auto-cast-fp32): what float32 is
// cast to, everywhere or as an operand of matmul.
struct CastMode {
  std::string_view name;
  DType dtype;            // of the all family
  MatmulMode matmul_mode; // of the matmult family; None elsewhere
};

inline constexpr CastMode cast_modes[] = {
    {"all", DType::Bfloat16, MatmulMode::None},
    {"all-fp16", DType::Float16, MatmulMode::None},
    {"all-fp32r", DType::Float32r, MatmulMode::None},
    {"all-fp8e4", DType::Float8E4, MatmulMode::None},
    {"matmult", DType::Float32, MatmulMode::Bfloat16},
    {"matmult-fp16", DType::Float32, MatmulMode::Float16},
    {"matmult-fp32r", DType::Float32, MatmulMode::Float32r},
};

namespace detail {

constexpr auto names_of_cast_modes() {
  std::array<std::string_view, std::size(cast_modes)> names{};
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = cast_modes[i].name;
  return names;
}
inline constexpr auto cast_mode_names = names_of_cast_modes();

constexpr std::size_t count_of_all_family() {
  std::size_t count = 0;
  while (cast_modes[count].matmul_mode == MatmulMode::None)
    ++count;
  return count;
}

} // namespace detail

// The names, for tables of options: every mode, those of the all family, those of the matmult one.
inline constexpr std::span<const std::string_view> cast_mode_names(detail::cast_mode_names);
inline constexpr auto all_mode_names = cast_mode_names.first(detail::count_of_all_family());
inline constexpr auto matmult_mode_names = cast_mode_names.subspan(detail::count_of_all_family());

// The mode of a name that the table has.
constexpr const CastMode &cast_mode(std::string_view name) {
  return *std::ranges::find(cast_modes, name, &CastMode::name);
}

} // namespace nir
