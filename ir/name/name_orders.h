#pragma once

#include <cstdint>

#include "ir/name/name.h"
#include "ir/support/large_memory.h"
#include "ir/support/scratch_map.h"

namespace nir {

// Which statement of a function, by its order, holds a name: emptied in O(1) for each function.
// Names are dense numbers mostly met in rising order, so arrays serve better than hashing.
class NameOrders {
public:
  // For a function of so many statements, in a module with so many string names.
  void clear(std::size_t num_statements, std::size_t num_strings) {
    ++epoch_;
    far_.clear();
    dense_limit_ = num_statements * 2 + 64;
    if (strings_.size() < num_strings)
      strings_.resize(num_strings);
    if (numbers_.size() < dense_limit_)
      numbers_.resize(dense_limit_);
  }

  // The order that is kept for the name; 0 at first.
  std::uint32_t &operator[](Name name) {
    if (name.is_number() && name.number() >= dense_limit_)
      return *far_.try_emplace(name.number(), 0).first;
    Slot &slot = name.is_number() ? numbers_[name.number()] : strings_[name.index()];
    if (slot.epoch != epoch_)
      slot = {0, epoch_};
    return slot.order;
  }

private:
  struct Slot {
    std::uint32_t order = 0;
    std::uint32_t epoch = 0; // whose content it is
  };
  LargeVector<Slot> strings_;
  LargeVector<Slot> numbers_;                    // those below dense_limit_
  ScratchMap<std::uint32_t, std::uint32_t> far_; // the other numbers
  std::size_t dense_limit_ = 0;
  std::uint32_t epoch_ = 0;
};

} // namespace nir
