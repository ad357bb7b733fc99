#include "ir/core/type.h"

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

TypeTable::TypeTable(Arena &arena) : arena_(arena) {
  tables_.push_back(std::make_unique<Slots>(64));
  current_ = tables_.back().get();
}

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

std::size_t TypeTable::place_of(const Slots &slots, DType dtype, Shape shape) {
  const std::size_t mask = slots.size() - 1;
  std::size_t place = hash_of(dtype, shape) & mask;
  for (;; place = (place + 1) & mask) {
    const Type *type = slots[place].load(std::memory_order_acquire);
    if (type == nullptr || same(*type, dtype, shape))
      return place;
  }
}

const Type *TypeTable::find_or_add(DType dtype, Shape shape, std::int64_t num_elements) {
  const Slots &known = *current_.load(std::memory_order_acquire);
  if (const Type *type = known[place_of(known, dtype, shape)].load(std::memory_order_acquire))
    return type;
  const std::lock_guard lock(mutex_);
  if ((count_ + 1) * 4 > tables_.back()->size() * 3)
    grow();
  std::atomic<const Type *> &slot = (*tables_.back())[place_of(*tables_.back(), dtype, shape)];
  if (const Type *type = slot.load(std::memory_order_relaxed)) // somebody was faster
    return type;
  void *memory = arena_.allocate(sizeof(Type) + shape.size_bytes());
  auto *type = new (memory) Type(dtype, static_cast<unsigned>(shape.size()), num_elements);
  std::ranges::copy(shape, reinterpret_cast<std::int64_t *>(type + 1));
  slot.store(type, std::memory_order_release);
  ++count_;
  return type;
}

void TypeTable::grow() {
  const Slots &old = *tables_.back();
  auto slots = std::make_unique<Slots>(old.size() * 2);
  for (const auto &slot : old)
    if (const Type *type = slot.load(std::memory_order_relaxed))
      (*slots)[place_of(*slots, type->dtype(), type->shape())].store(type,
                                                                     std::memory_order_relaxed);
  tables_.push_back(std::move(slots));
  current_.store(tables_.back().get(), std::memory_order_release);
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
