#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ir/core/type.h"
#include "ir/numeric/dtype.h"
#include "ir/support/arena.h"

namespace nir {

class Loop;

struct AffineTerm {
  const Loop *loop;
  std::int64_t factor;
  friend bool operator==(const AffineTerm &, const AffineTerm &) = default;
};

// One dimension of an access: elements offset, offset + stride, …, `size` of them, where the offset
// is the sum of the terms and the constant.
struct AccessDim {
  std::span<const AffineTerm> terms{}; // from the outermost loop, each loop once, no zero factor
  std::int64_t constant = 0;
  std::int64_t size = 0;
  std::int64_t stride = 1;
};

// The smallest and largest value of an affine offset over all trips of its loops; nothing where it
// does not fit in 64 bits.
struct AffineRange {
  std::int64_t min;
  std::int64_t max;
};
std::optional<AffineRange> affine_range(std::span<const AffineTerm> terms, std::int64_t constant);

// An access pattern: which elements of a tensor an operand names, and as which dtype. Immutable and
// shared freely. The whole tensor without a view is no Access but a null pointer.
class Access {
public:
  // `box` is the interned type of the accessed elements; its dtype matters only where `view` is
  // given, which then reinterprets the tensor's bytes and is box's dtype.
  static const Access *create(Arena &arena, const Type *box, std::span<const AccessDim> dims,
                              bool whole, bool reinterprets);

  std::span<const AccessDim> dims() const { return {dims_, box_->rank()}; }
  std::span<const std::int64_t> shape() const { return box_->shape(); }
  const Type *box() const { return box_; }
  bool is_whole() const { return whole_; } // names every element in order: a view of all
  bool reinterprets() const { return reinterprets_; }
  DType view() const { return box_->dtype(); } // only where it reinterprets

private:
  friend class Arena;
  Access(const Type *box, const AccessDim *dims, bool whole, bool reinterprets)
      : box_(box), dims_(dims), whole_(whole), reinterprets_(reinterprets) {}

  const Type *box_;
  const AccessDim *dims_;
  bool whole_;
  bool reinterprets_;
};

// Whether two accesses name the same elements in the same order at every trip.
bool same_subscripts(const Access *a, const Access *b);

} // namespace nir
