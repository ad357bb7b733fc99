#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>

namespace nir {

// How many objects ahead of a walk memory is asked for.
inline constexpr std::ptrdiff_t prefetch_steps = 8;

// A walk along links waits for memory at every object, since only an object knows where the next
// one is. Most were made in the order of the walk, so those some steps ahead are about as far apart
// as these two neighbours, and what lies there is asked for early. A wrong guess costs nothing.
//
// Always inlined: GCC 12 takes a function that only prefetches for one without effect and drops
// calls of it.
[[gnu::always_inline]] inline void prefetch_beyond(const void *from, const void *to) {
  const auto here = reinterpret_cast<std::intptr_t>(to);
  const std::intptr_t step = here - reinterpret_cast<std::intptr_t>(from);
  __builtin_prefetch(reinterpret_cast<const void *>(here + prefetch_steps * step));
}

// For walks that mostly go down in memory, by steps of any size: asks for all that lies below, a
// few lines a step, and for each line once.
class LookAhead {
public:
  [[gnu::always_inline]] void look_below(const void *object) {
    constexpr std::uintptr_t line = 64;
    constexpr std::uintptr_t reach = 32 * line;
    constexpr int max_lines = 6; // a step
    const auto here = reinterpret_cast<std::uintptr_t>(object);
    if (next_ > here || next_ < here - 2 * reach)
      next_ = here - line;
    for (int lines = 0; lines < max_lines && next_ > here - reach; ++lines, next_ -= line)
      __builtin_prefetch(reinterpret_cast<const void *>(next_));
  }

private:
  std::uintptr_t next_ = 0; // the line to be asked for next
};

// An instruction's own part and its first operands, which lie in two lines of the cache.
[[gnu::always_inline]] inline void prefetch_object(const void *object) {
  constexpr std::ptrdiff_t line = 64;
  __builtin_prefetch(object);
  __builtin_prefetch(static_cast<const char *>(object) + line);
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
      if (end_ - at_ > prefetch_steps)
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
