#include "ir/numeric/promotion.h"

#include <limits>

namespace nir {
namespace {

tl::unexpected<std::string> no_path(DType t0, DType t1) {
  return tl::unexpected(no_promotion_path(t0, t1));
}

// Among floats of one size, the earlier wins.
constexpr DType float_ladder[] = {DType::Float64,      DType::Float32r, DType::Float32,
                                  DType::Bfloat16,     DType::Float16,  DType::Float8E4,
                                  DType::Float8E4m3fn, DType::Float8E5};

// The signed integers, narrowest first.
constexpr DType signed_ints[] = {DType::Int8, DType::Int16, DType::Int32, DType::Int64};

DType wider(DType t0, DType t1) { return sizeinbytes(t1) > sizeinbytes(t0) ? t1 : t0; }

// The container of four lanes of `element`.
std::optional<DType> x4_of(DType element) {
  for (DType dtype : all_dtypes()) {
    if (is_x4_dtype(dtype) && info(dtype).element == element)
      return dtype;
  }
  return std::nullopt;
}

tl::expected<DType, std::string> promote_containers(DType t0, DType t1) {
  if (!is_x4_dtype(t0) || !is_x4_dtype(t1))
    return no_path(t0, t1);
  const auto element = promote_type(launder_x4_dtype(t0), launder_x4_dtype(t1));
  const auto container = element ? x4_of(*element) : std::nullopt;
  if (!container)
    return no_path(t0, t1);
  return *container;
}

tl::expected<DType, std::string> promote_floats(DType t0, DType t1) {
  if (sizeinbytes(t0) != sizeinbytes(t1))
    return wider(t0, t1);
  for (DType rung : float_ladder) {
    if (rung == t0 || rung == t1)
      return rung;
  }
  return no_path(t0, t1);
}

DType promote_ints(DType t0, DType t1) {
  if (is_signed_int(t0) == is_signed_int(t1))
    return wider(t0, t1);
  const DType unsigned_one = is_unsigned_int(t0) ? t0 : t1;
  const DType signed_one = is_unsigned_int(t0) ? t1 : t0;
  for (DType candidate : signed_ints) {
    if (sizeinbytes(candidate) > sizeinbytes(unsigned_one) &&
        sizeinbytes(candidate) >= sizeinbytes(signed_one))
      return candidate;
  }
  return DType::Float32;
}

} // namespace

std::string no_promotion_path(DType t0, DType t1) {
  std::string text = "No available implicit dtype promotion path for input dtypes ";
  text.append(dtype2str(t0)).append(" and ").append(dtype2str(t1));
  text.append(". Use .astype(dtype) explicitly.");
  return text;
}

tl::expected<DType, std::string> promote_type(DType t0, DType t1) {
  // 1. Equal dtypes; containers meet through their elements.
  if (t0 == t1)
    return t0;
  if (is_x4_dtype(t0) || is_x4_dtype(t1))
    return promote_containers(t0, t1);

  // 2. The scale is no value and meets nothing; two floats.
  if (t0 == DType::Float8E8m0fnu || t1 == DType::Float8E8m0fnu)
    return no_path(t0, t1);
  if (is_floating(t0) && is_floating(t1))
    return promote_floats(t0, t1);

  // 3. A float with an integer: the float, whatever the integer's width.
  if (is_floating(t0) && is_int_type(t1))
    return t0;
  if (is_int_type(t0) && is_floating(t1))
    return t1;

  // 4. Two integers.
  if (is_int_type(t0) && is_int_type(t1))
    return promote_ints(t0, t1);

  const DType unexpected = is_floating(t0) || is_int_type(t0) ? t1 : t0;
  return tl::unexpected("unexpected dtype: " + std::string(dtype2str(unexpected)));
}

bool can_merge_type(DType t0, DType t1) { return merge_type(t0, t1).has_value(); }

tl::expected<DType, std::string> merge_type(DType t0, DType t1) {
  if (t0 == t1)
    return t0;
  const DTypeClass cls = info(t0).cls;
  const bool is_value = is_int_type(t0) || is_float_type(t0);
  if (cls == info(t1).cls && is_value) {
    if (sizeinbytes(t0) != sizeinbytes(t1))
      return wider(t0, t1);
    if ((t0 == DType::Float32 && t1 == DType::Float32r) ||
        (t0 == DType::Float32r && t1 == DType::Float32))
      return DType::Float32r;
  }
  return tl::unexpected(std::string("Cannot merge type!"));
}

bool is_int_bitcast(DType t0, DType t1) {
  return is_int_type(t0) && is_int_type(t1) && sizeinbytes(t0) == sizeinbytes(t1);
}

DType scalar_dtype(const HostScalar &scalar) {
  if (std::holds_alternative<bool>(scalar))
    return DType::Uint8;
  if (std::holds_alternative<double>(scalar))
    return DType::Float64;
  const int64_t value = std::get<int64_t>(scalar);
  const bool fits =
      value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
  return fits ? DType::Int32 : DType::Int64;
}

} // namespace nir
