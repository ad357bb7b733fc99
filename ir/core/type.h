#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "ir/numeric/dtype.h"
#include "ir/support/arena.h"

namespace nir {

constexpr unsigned max_rank = 16; // language reference, Structure

// A dtype and a shape. Interned in the module: equal types are the same object. The first dimension
// is the partition dimension.
class Type {
public:
  DType dtype() const { return dtype_; }
  unsigned rank() const { return rank_; }
  std::span<const std::int64_t> shape() const { return {dims(), rank_}; }
  std::int64_t dim(unsigned i) const { return dims()[i]; }
  std::int64_t num_elements() const { return num_elements_; }
  std::int64_t size_in_bytes() const { return num_elements_ * sizeinbytes(dtype_); }
  // The extent of the partition dimension; 1 for rank 0 (passes, Vocabulary).
  std::int64_t npartitions() const { return rank_ == 0 ? 1 : dims()[0]; }

private:
  friend class TypeTable;
  Type(DType dtype, unsigned rank, std::int64_t num_elements)
      : num_elements_(num_elements), dtype_(dtype), rank_(static_cast<std::uint8_t>(rank)) {}
  const std::int64_t *dims() const { return reinterpret_cast<const std::int64_t *>(this + 1); }

  std::int64_t num_elements_;
  DType dtype_;
  std::uint8_t rank_;
  // The dimensions follow in memory.
};

// The types of one module. It may be asked from several threads that hold lanes of the arena: a
// type that is known is found without a lock.
class TypeTable {
public:
  explicit TypeTable(Arena &arena);

  // The type, or why there is none: a rank above max_rank, a dimension below 1, a byte size that
  // does not fit in 63 bits (language reference, Structure).
  tl::expected<const Type *, std::string> get(DType dtype, std::span<const std::int64_t> shape);

  // `type` with another dtype; nullptr where its byte size would no longer fit in 63 bits.
  const Type *with_dtype(const Type *type, DType dtype);

private:
  using Slots = std::vector<std::atomic<const Type *>>; // open addressing by dtype and shape
  using Shape = std::span<const std::int64_t>;
  const Type *find_or_add(DType dtype, Shape shape, std::int64_t num_elements);
  // The place of the type, or the free one where it would go.
  static std::size_t place_of(const Slots &slots, DType dtype, Shape shape);
  void grow();

  Arena &arena_;
  std::mutex mutex_; // of whoever adds a type
  // Each twice as large as the one before it. The last one is in use; readers may still be looking
  // at the others.
  std::vector<std::unique_ptr<Slots>> tables_;
  std::atomic<const Slots *> current_;
  std::size_t count_ = 0;
};

// `float32[128, 512]`.
std::string to_string(const Type &type);
void append_type(const Type &type, std::string &out);
// `[128, 512]`.
std::string shape_to_string(std::span<const std::int64_t> shape);

} // namespace nir
