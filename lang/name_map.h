#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/name.h"

namespace nir::lang {

// From names to `T`, where T{} means nothing. String names count up, so they index a vector; so do
// numeric names as long as they are dense relative to how much was read, which keeps memory in
// proportion to the file. Others are hashed.
template <class T> class NameMap {
public:
  // The slot of `name`. `bytes_read` is how far the reader is in its file.
  T &slot(Name name, std::size_t bytes_read) {
    if (!name.is_number())
      return string_slot(name.index());
    if (name.number() < numbers_.size())
      return numbers_[name.number()];
    return sparse_slot(name.number(), bytes_read);
  }

private:
  T &string_slot(std::uint32_t index) {
    if (index >= strings_.size())
      strings_.resize(std::max<std::size_t>(index + 1, strings_.size() * 2));
    return strings_[index];
  }

  T &sparse_slot(std::uint32_t number, std::size_t bytes_read) {
    const std::size_t limit = 1024 + bytes_read / 8;
    if (number >= limit)
      return hashed_[number];
    numbers_.resize(std::min(limit, std::max<std::size_t>(number + 1, numbers_.size() * 2)));
    move_hashed_to_dense();
    return numbers_[number];
  }

  // A number belongs to one place only.
  void move_hashed_to_dense() {
    for (auto it = hashed_.begin(); it != hashed_.end();) {
      if (it->first < numbers_.size()) {
        numbers_[it->first] = it->second;
        it = hashed_.erase(it);
      } else {
        ++it;
      }
    }
  }

  std::vector<T> strings_;
  std::vector<T> numbers_;
  std::unordered_map<std::uint32_t, T> hashed_;
};

} // namespace nir::lang
