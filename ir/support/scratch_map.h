#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ir/support/large_memory.h"

namespace nir {

// A hash map from pointers or integers to small values that is emptied in O(1) and keeps its
// memory, so that it can be used afresh for each of a million functions. It is for look-up only and
// has no order to iterate in.
template <class Key, class T> class ScratchMap {
public:
  void clear() {
    count_ = 0;
    if (++epoch_ == 0) {
      slots_.clear();
      epoch_ = 1;
    }
  }

  // nullptr where the key is absent.
  const T *find(Key key) const {
    if (slots_.empty())
      return nullptr;
    const Slot &slot = slots_[place_of(key)];
    return slot.epoch == epoch_ ? &slot.value : nullptr;
  }
  T *find(Key key) { return const_cast<T *>(std::as_const(*this).find(key)); }

  // The value of the key, which is `value` where it was absent, and whether it was.
  std::pair<T *, bool> try_emplace(Key key, T value) {
    if ((count_ + 1) * 4 > slots_.size() * 3)
      grow();
    Slot &slot = slots_[place_of(key)];
    if (slot.epoch == epoch_)
      return {&slot.value, false};
    slot = {key, value, epoch_};
    ++count_;
    return {&slot.value, true};
  }

private:
  struct Slot {
    Key key{};
    T value{};
    std::uint32_t epoch = 0; // whose content it is; an older one's slot is free
  };

  // Integers are scattered. Pointers stay in the order of their addresses, which in an arena is
  // that in which the objects were made and are mostly walked.
  static std::uint64_t hash(Key key) {
    if constexpr (std::is_pointer_v<Key>)
      return reinterpret_cast<std::uintptr_t>(key) >> 4;
    else
      return static_cast<std::uint64_t>(key) * 0x9E37'79B9'7F4A'7C15u >> 32;
  }

  // The slot that holds the key, or the free one where it would go.
  std::size_t place_of(Key key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = hash(key) & mask;
    while (slots_[place].epoch == epoch_ && slots_[place].key != key)
      place = (place + 1) & mask;
    return place;
  }

  void grow() {
    LargeVector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot &slot : old)
      if (slot.epoch == epoch_)
        slots_[place_of(slot.key)] = slot;
  }

  LargeVector<Slot> slots_; // open addressing; the size is a power of two
  std::size_t count_ = 0;
  std::uint32_t epoch_ = 1;
};

} // namespace nir
