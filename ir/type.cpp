#include "ir/type.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace nir {
namespace {

std::size_t hash_of(DType dtype, std::span<const std::int64_t> shape) {
  std::uint64_t hash = static_cast<std::uint64_t>(dtype) + 0x9E37'79B9'7F4A'7C15u;
  for (const std::int64_t dim : shape) {
    hash = (hash ^ static_cast<std::uint64_t>(dim)) * 0xFF51'AFD7'ED55'8CCDu;
    hash ^= hash >> 32;
  }
  return hash;
}

bool same(const Type &type, DType dtype, std::span<const std::int64_t> shape) {
  return type.dtype() == dtype && std::ranges::equal(type.shape(), shape);
}

bool fits(std::int64_t num_elements, DType dtype) {
  return num_elements <= std::numeric_limits<std::int64_t>::max() / sizeinbytes(dtype);
}

} // namespace

TypeTable::TypeTable(Arena &arena) : arena_(arena), slots_(64) {}

tl::expected<const Type *, std::string> TypeTable::get(DType dtype,
                                                       std::span<const std::int64_t> shape) {
  if (shape.size() > max_rank)
    return tl::unexpected(fmt::format("rank {} is above the limit of {}", shape.size(), max_rank));
  std::int64_t num_elements = 1;
  for (const std::int64_t dim : shape) {
    if (dim < 1)
      return tl::unexpected(fmt::format("dimension {} is below 1", dim));
    if (__builtin_mul_overflow(num_elements, dim, &num_elements) || !fits(num_elements, dtype))
      return tl::unexpected(std::string("the byte size of the type does not fit in 63 bits"));
  }
  return find_or_add(dtype, shape, num_elements);
}

const Type *TypeTable::with_dtype(const Type *type, DType dtype) {
  if (type->dtype() == dtype)
    return type;
  if (!fits(type->num_elements(), dtype))
    return nullptr;
  return find_or_add(dtype, type->shape(), type->num_elements());
}

const Type *TypeTable::find_or_add(DType dtype, std::span<const std::int64_t> shape,
                                   std::int64_t num_elements) {
  if ((count_ + 1) * 4 > slots_.size() * 3)
    grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_of(dtype, shape) & mask;
  for (; slots_[slot] != nullptr; slot = (slot + 1) & mask)
    if (same(*slots_[slot], dtype, shape))
      return slots_[slot];
  void *memory = arena_.allocate(sizeof(Type) + shape.size_bytes());
  auto *type = new (memory) Type(dtype, static_cast<unsigned>(shape.size()), num_elements);
  std::ranges::copy(shape, reinterpret_cast<std::int64_t *>(type + 1));
  slots_[slot] = type;
  ++count_;
  return type;
}

void TypeTable::grow() {
  std::vector<const Type *> slots(slots_.size() * 2);
  const std::size_t mask = slots.size() - 1;
  for (const Type *type : slots_) {
    if (type == nullptr)
      continue;
    std::size_t slot = hash_of(type->dtype(), type->shape()) & mask;
    while (slots[slot] != nullptr)
      slot = (slot + 1) & mask;
    slots[slot] = type;
  }
  slots_ = std::move(slots);
}

void append_type(const Type &type, std::string &out) {
  out += dtype2str(type.dtype());
  out += '[';
  for (unsigned i = 0; i < type.rank(); ++i) {
    if (i != 0)
      out += ", ";
    out += fmt::format_int(type.dim(i)).c_str();
  }
  out += ']';
}

std::string to_string(const Type &type) {
  std::string out;
  append_type(type, out);
  return out;
}

std::string shape_to_string(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

} // namespace nir
