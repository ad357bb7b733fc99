#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>

namespace nir {

// A walk along links waits for memory at every object, since only an object knows where the next
// one is. Most objects were made in the order in which they are walked, or in the opposite one, so
// what comes soon lies above or below; it is asked for early. A wrong guess costs little.

// Looks ahead of one walk: asks for all that lies within reach in its direction, and for each line
// of the cache once. Objects may be of any size and have others between them. Most steps find that
// enough was asked for.
//
// Always inlined: GCC 12 takes a function that only prefetches for one without effect and drops
// calls of it.
class LookAhead {
public:
  [[gnu::always_inline]] void look_above(const void *object) {
    const auto here = reinterpret_cast<std::uintptr_t>(object);
    look(next_ - here, here, line);
  }
  [[gnu::always_inline]] void look_below(const void *object) {
    const auto here = reinterpret_cast<std::uintptr_t>(object);
    look(here - next_, here, -line);
  }

private:
  static constexpr std::uintptr_t line = 64;
  static constexpr std::uintptr_t lines = 8; // asked for at once
  static constexpr std::uintptr_t reach = 24 * line;

  // `distance` is that of next_ in the walk's direction, huge where the walk has passed it or
  // turned elsewhere.
  [[gnu::always_inline]] void look(std::uintptr_t distance, std::uintptr_t here,
                                   std::uintptr_t step) {
    if (distance - reach <= lines * line)
      return;
    if (distance > reach)
      next_ = here + step;
    for (std::uintptr_t i = 0; i < lines; ++i)
      __builtin_prefetch(reinterpret_cast<const void *>(next_ + i * step));
    next_ += lines * step;
  }

  std::uintptr_t next_ = 0; // what is to be asked for next
};

// How many steps ahead of a walk along a list of pointers objects are asked for.
inline constexpr std::size_t prefetch_steps = 8;

// An instruction's own part and its first operands, which lie in two lines of the cache. It may be
// null.
[[gnu::always_inline]] inline void prefetch_object(const void *object) {
  constexpr std::uintptr_t line = 64;
  __builtin_prefetch(object);
  __builtin_prefetch(
      reinterpret_cast<const void *>(reinterpret_cast<std::uintptr_t>(object) + line));
}

// The objects of a list of pointers, in its order, each asked for some steps before its turn: for
// walks over what was collected in program order, whose objects are far apart. The list may not
// change while one is walked.
template <class T> class Prefetched {
public:
  class iterator {
  public:
    using value_type = T *;
    using difference_type = std::ptrdiff_t;
    iterator(T *const *at, T *const *end) : at_(at), end_(end) {}
    T *operator*() const { return *at_; }
    [[gnu::always_inline]] iterator &operator++() {
      if (static_cast<std::size_t>(end_ - at_) > prefetch_steps)
        prefetch_object(at_[prefetch_steps]);
      ++at_;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return at_ == end_; }

  private:
    T *const *at_;
    T *const *end_;
  };
  explicit Prefetched(std::span<T *const> list) : list_(list) {}
  iterator begin() const { return {list_.data(), list_.data() + list_.size()}; }
  std::default_sentinel_t end() const { return {}; }

private:
  std::span<T *const> list_;
};
template <class List>
Prefetched(const List &) -> Prefetched<std::remove_pointer_t<typename List::value_type>>;

} // namespace nir
