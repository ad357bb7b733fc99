#include "ir/core/access.h"

#include <algorithm>
#include <vector>

#include "ir/core/function.h"

namespace nir {
namespace {

bool add_product(std::int64_t &sum, std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

} // namespace

std::optional<AffineRange> affine_range(std::span<const AffineTerm> terms, std::int64_t constant) {
  AffineRange range{constant, constant};
  for (const AffineTerm &term : terms) {
    const std::int64_t first = term.loop->lo();
    const std::int64_t last = term.loop->last_value();
    const bool grows = term.factor > 0;
    if (!add_product(range.min, term.factor, grows ? first : last) ||
        !add_product(range.max, term.factor, grows ? last : first))
      return std::nullopt;
  }
  return range;
}

const Access *Access::create(Arena &arena, const Type *box, std::span<const AccessDim> dims,
                             bool whole, bool reinterprets) {
  // The dimensions in one piece of memory, and each one's terms behind it.
  auto *copies = static_cast<AccessDim *>(arena.allocate(dims.size_bytes()));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    auto *copy = new (copies + i) AccessDim(dims[i]);
    copy->terms = arena.copy(dims[i].terms);
  }
  return arena.create<Access>(box, copies, whole, reinterprets);
}

bool same_subscripts(const Access *a, const Access *b) {
  const bool a_whole = a == nullptr || a->is_whole();
  const bool b_whole = b == nullptr || b->is_whole();
  if (a == b || (a_whole && b_whole))
    return true;
  if (a_whole != b_whole)
    return false;
  return std::ranges::equal(a->dims(), b->dims(), [](const AccessDim &x, const AccessDim &y) {
    return x.constant == y.constant && x.size == y.size && (x.stride == y.stride || x.size == 1) &&
           std::ranges::equal(x.terms, y.terms);
  });
}

} // namespace nir
