#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "ir/name.h"

namespace nir::lang {

// From names to `T`, where all bits zero mean nothing. String names count up, so they index a
// vector; so do numeric names that are small for a file of that size, in memory that is in use only
// as far as it has been touched and in all is no more than the file. Others are hashed.
template <class T> class NameMap {
public:
  explicit NameMap(std::size_t file_size)
      : num_numbers_(min_numbers + file_size / sizeof(T)),
        numbers_(static_cast<T *>(std::calloc(num_numbers_, sizeof(T)))) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    if (numbers_ == nullptr)
      throw std::bad_alloc();
  }

  T &slot(Name name) {
    if (!name.is_number())
      return string_slot(name.index());
    return name.number() < num_numbers_ ? numbers_.get()[name.number()] : hashed_[name.number()];
  }

private:
  static constexpr std::size_t min_numbers = 1024;
  struct Free {
    void operator()(T *memory) const { std::free(memory); }
  };

  T &string_slot(std::uint32_t index) {
    if (index >= strings_.size())
      strings_.resize(std::max<std::size_t>(index + 1, strings_.size() * 2));
    return strings_[index];
  }

  std::vector<T> strings_;
  std::size_t num_numbers_;
  std::unique_ptr<T, Free> numbers_;
  std::unordered_map<std::uint32_t, T> hashed_;
};

} // namespace nir::lang
