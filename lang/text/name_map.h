#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <unordered_map>

#include "ir/name/name.h"
#include "ir/support/large_memory.h"

namespace nir::lang {

// From names to `T`, which value-initialised means nothing. String names count up, so they index a
// vector; so do numeric names that are small for a text of that size, in a vector that grows as
// they do and at most to about the size of the text. Others are hashed.
template <class T> class NameMap {
public:
  explicit NameMap(std::size_t text_size) : dense_limit_(min_numbers + text_size / sizeof(T)) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  }

  T &slot(Name name) {
    if (!name.is_number())
      return slot_of(strings_, name.index(), name_limit);
    return name.number() < dense_limit_ ? slot_of(numbers_, name.number(), dense_limit_)
                                        : hashed_[name.number()];
  }

private:
  static constexpr std::size_t min_numbers = 1024;
  static constexpr std::size_t name_limit = std::size_t{1} << 32;

  // `index` is below `limit`.
  static T &slot_of(LargeVector<T> &slots, std::size_t index, std::size_t limit) {
    if (index >= slots.size())
      slots.resize(std::min(std::max(index + 1, slots.size() * 2), limit));
    return slots[index];
  }

  LargeVector<T> strings_;
  LargeVector<T> numbers_; // those below dense_limit_
  std::unordered_map<std::uint32_t, T> hashed_;
  std::size_t dense_limit_;
};

} // namespace nir::lang
