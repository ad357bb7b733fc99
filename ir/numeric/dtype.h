// Element types of values and tensors: the catalogue of dtypes.def as an enum, a table of facts and
// the predicates of the family (numerics, Catalogue).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>

namespace nir {

enum class DType : uint8_t {
#define NIR_DTYPE(enumerator, ...) enumerator,
#include "ir/numeric/dtypes.def"
};

// The numeric class of a dtype. PackedFloat is an x4 container; Scale is float8_e8m0fnu, a scale
// exponent that casts as a raw byte.
enum class DTypeClass : uint8_t { Unsigned, Signed, Float, PackedFloat, Scale, Unknown };

inline constexpr int host_only = -1;
inline constexpr int no_wire_tag = -1;

// Facts of one catalogue row.
struct DTypeInfo {
  std::string_view name;
  std::string_view aliases; // separated by single spaces, may be empty
  int16_t ordinal;          // host_only where the accelerator does not store it
  int16_t wire_tag;         // no_wire_tag likewise
  int16_t wire_tag_before_trn3;
  uint8_t bytes; // size of one element; of the whole container for x4
  uint8_t lanes;
  DTypeClass cls;
  DType element; // of a container; the dtype itself otherwise
};

namespace detail {

// The last row stands for every value that is no enumerator, so that a lookup never leaves the
// table.
inline constexpr DTypeInfo dtype_table[] = {
#define NIR_DTYPE(enumerator, ordinal, name, bytes, tag, old_tag, lanes, cls, element, aliases)    \
  {name, aliases, ordinal, tag, old_tag, bytes, lanes, DTypeClass::cls, DType::element},
#include "ir/numeric/dtypes.def"
    {"unknown", "", host_only, no_wire_tag, no_wire_tag, 0, 0, DTypeClass::Unknown, DType{0xff}},
};

} // namespace detail

inline constexpr unsigned num_dtypes = std::size(detail::dtype_table) - 1;

constexpr unsigned dtype_index(DType dtype) { return static_cast<unsigned>(dtype); }

// Facts of `dtype`; a value that is no enumerator gives the row "unknown".
constexpr const DTypeInfo &info(DType dtype) {
  return detail::dtype_table[std::min(dtype_index(dtype), num_dtypes)];
}

// Every dtype, in the order of the catalogue.
constexpr auto all_dtypes() {
  return std::views::iota(0u, num_dtypes) |
         std::views::transform([](unsigned index) { return static_cast<DType>(index); });
}

namespace detail {

constexpr bool ordinals_are_enumerators() {
  for (DType dtype : all_dtypes()) {
    const int ordinal = info(dtype).ordinal;
    if (ordinal != host_only && ordinal != static_cast<int>(dtype_index(dtype)))
      return false;
  }
  return true;
}
static_assert(ordinals_are_enumerators(),
              "rows of dtypes.def must stand in order of their ordinals");

} // namespace detail

// The name that the printer writes.
constexpr std::string_view dtype2str(DType dtype) { return info(dtype).name; }

// The dtype of a name or an alias; nothing for any other word. One hash and one comparison.
std::optional<DType> str2dtype(std::string_view word);

// Bytes of one element, of the whole container for x4.
constexpr unsigned sizeinbytes(DType dtype) { return info(dtype).bytes; }

constexpr bool is_unsigned_int(DType dtype) { return info(dtype).cls == DTypeClass::Unsigned; }
constexpr bool is_signed_int(DType dtype) { return info(dtype).cls == DTypeClass::Signed; }
constexpr bool is_int_type(DType dtype) { return is_unsigned_int(dtype) || is_signed_int(dtype); }

// A float that computes: neither a packed container nor the scale exponent.
constexpr bool is_float_type(DType dtype) { return info(dtype).cls == DTypeClass::Float; }

// Every float, packed float and scale.
constexpr bool is_floating(DType dtype) {
  const DTypeClass cls = info(dtype).cls;
  return cls == DTypeClass::Float || cls == DTypeClass::PackedFloat || cls == DTypeClass::Scale;
}

// Integers of 32 bits, of either sign; and of 64.
constexpr bool is_int32_dtypes(DType dtype) {
  return is_int_type(dtype) && sizeinbytes(dtype) == 4;
}
constexpr bool is_int64_dtypes(DType dtype) {
  return is_int_type(dtype) && sizeinbytes(dtype) == 8;
}

constexpr bool is_host_only(DType dtype) { return info(dtype).ordinal == host_only; }

constexpr bool is_x4_dtype(DType dtype) { return info(dtype).cls == DTypeClass::PackedFloat; }

// The element of an x4 container; nothing for any other dtype.
constexpr std::optional<DType> get_x1_from_x4(DType dtype) {
  if (!is_x4_dtype(dtype))
    return std::nullopt;
  return info(dtype).element;
}

// The element of a container, else the dtype itself.
constexpr DType launder_x4_dtype(DType dtype) {
  return is_x4_dtype(dtype) ? info(dtype).element : dtype;
}

// The `has_` forms: is any of the list so?
constexpr bool has_int_type(std::span<const DType> list) {
  return std::ranges::any_of(list, is_int_type);
}
constexpr bool has_float_type(std::span<const DType> list) {
  return std::ranges::any_of(list, is_float_type);
}
constexpr bool has_floating(std::span<const DType> list) {
  return std::ranges::any_of(list, is_floating);
}
constexpr bool has_int32_dtypes(std::span<const DType> list) {
  return std::ranges::any_of(list, is_int32_dtypes);
}
constexpr bool has_int64_dtypes(std::span<const DType> list) {
  return std::ranges::any_of(list, is_int64_dtypes);
}
constexpr bool has_x4_dtype(std::span<const DType> list) {
  return std::ranges::any_of(list, is_x4_dtype);
}

// All bits of one element, which is at most 8 bytes.
constexpr uint64_t code_mask(DType dtype) { return ~uint64_t{0} >> (64 - 8 * sizeinbytes(dtype)); }

// The extremes of an integer dtype, or of the scale's byte: from -min_magnitude to max.
struct IntRange {
  uint64_t max;
  uint64_t min_magnitude; // 0 for unsigned
};

constexpr IntRange int_range(DType dtype) {
  const uint64_t all = code_mask(dtype);
  if (is_signed_int(dtype))
    return {all >> 1, (all >> 1) + 1};
  return {all, 0};
}

// The number that stands for `dtype` on the wire, of targets before trn3 on request; nothing for a
// host-only dtype.
constexpr std::optional<uint8_t> wire_tag(DType dtype, bool before_trn3 = false) {
  const int tag = before_trn3 ? info(dtype).wire_tag_before_trn3 : info(dtype).wire_tag;
  if (tag == no_wire_tag)
    return std::nullopt;
  return static_cast<uint8_t>(tag);
}

} // namespace nir
