#pragma once

#include <cstdint>
#include <utility>

#include "ir/core/function.h"
#include "ir/support/large_memory.h"

namespace nir {

// A map from statements of one function to small values. It finds them by Stmt::order, and they lie
// in the order in which they came, so that a walk in program order goes through its memory in order
// too. Emptied in O(size). Needs current orders, and holds until a statement is inserted; what
// belongs to an erased statement just stays.
template <class T> class StmtMap {
public:
  explicit StmtMap(const Function &function) : places_(std::size_t{function.last_order()} + 1) {}

  void reserve(std::size_t size) { entries_.reserve(size); }
  void clear() {
    for (const Entry &entry : entries_)
      places_[entry.order] = 0;
    entries_.clear();
  }

  // nullptr where it is absent, or `stmt` is null.
  const T *find(const Stmt *stmt) const {
    const std::uint32_t place = stmt == nullptr ? 0 : places_[stmt->order()];
    return place == 0 ? nullptr : &entries_[place - 1].value;
  }
  T *find(const Stmt *stmt) { return const_cast<T *>(std::as_const(*this).find(stmt)); }

  // Whether it was absent, and has `value` now. What `find` gave does not outlive this.
  bool try_emplace(const Stmt &stmt, T value) {
    std::uint32_t &place = places_[stmt.order()];
    if (place != 0)
      return false;
    entries_.push_back({stmt.order(), std::move(value)});
    place = static_cast<std::uint32_t>(entries_.size());
    return true;
  }

private:
  struct Entry {
    std::uint32_t order;
    T value;
  };
  LargeVector<std::uint32_t> places_; // by order: 1 + the index of the entry, 0 for none
  LargeVector<Entry> entries_;
};

} // namespace nir
