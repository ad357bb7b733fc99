#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/name/name.h"
#include "ir/support/large_memory.h"
#include "ir/support/scratch_map.h"

namespace nir {

// The names that are visible while the blocks of a function open and close. Starting another
// function costs nothing; leaving a block, as much as it declared.
class ScopedNames {
public:
  // Numbers below `dense_limit` are looked up in an array that grows as far as they do, others by
  // hashing.
  ScopedNames(std::size_t num_strings, std::size_t dense_limit)
      : strings_(num_strings), dense_limit_(dense_limit) {}

  // For a function that declares about so many names.
  void start(std::size_t num_names) {
    ++epoch_;
    blocks_.clear();
    inner_.clear();
    numbers_.reserve(std::min(num_names, dense_limit_));
  }

  // Makes the name visible; false where it is already.
  bool declare(Name name) {
    std::uint32_t &epoch = epoch_of(name);
    if (epoch == epoch_)
      return false;
    epoch = epoch_;
    if (!blocks_.empty())
      inner_.push_back(name);
    return true;
  }
  void enter_block() { blocks_.push_back(inner_.size()); }
  void leave_block() {
    for (std::size_t i = blocks_.back(); i < inner_.size(); ++i)
      epoch_of(inner_[i]) = 0;
    inner_.resize(blocks_.back());
    blocks_.pop_back();
  }

private:
  std::uint32_t &epoch_of(Name name) {
    if (!name.is_number())
      return strings_[name.index()];
    const std::size_t number = name.number();
    if (number < numbers_.size())
      return numbers_[number];
    if (number >= dense_limit_)
      return *far_.try_emplace(name.number(), 0).first;
    constexpr std::size_t chunk = 1024;
    numbers_.resize(std::min(number + chunk, dense_limit_));
    return numbers_[number];
  }

  // The function in which a name was last seen, 0 where it is not visible any more.
  LargeVector<std::uint32_t> strings_;
  LargeVector<std::uint32_t> numbers_;
  ScratchMap<std::uint32_t, std::uint32_t> far_;
  std::size_t dense_limit_;
  std::uint32_t epoch_ = 0;
  std::vector<Name> inner_;         // declared in blocks within the function's
  std::vector<std::size_t> blocks_; // where those of each begin
};

} // namespace nir
