#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace nir {

// Memory for what grows with a module. The first touch of a page costs microseconds, which for a
// large table of 4 KiB pages is more than filling it: so it is asked for in huge pages, of which
// one takes as long as one small page. Where the system has none, small ones take their place.

inline constexpr std::size_t huge_page_size = std::size_t{2} << 20;
inline constexpr std::size_t min_large_size = huge_page_size / 4;

// `bytes` rounded up to whole huge pages.
std::size_t whole_huge_pages(std::size_t bytes);

// Zeroed memory of whole huge pages that begins at a multiple of their size and is committed as it
// is touched; nullptr where there is no such address space. With `reserve_only`, also where the
// system would not promise so much memory.
char *map_huge_pages(std::size_t bytes, bool reserve_only = false);

namespace detail {
void *allocate_large(std::size_t count, std::size_t size);
void free_large(void *memory, std::size_t bytes);
} // namespace detail

// Large blocks from map_huge_pages, small ones from the heap.
template <class T> class LargeAllocator {
public:
  using value_type = T;

  LargeAllocator() = default;
  template <class U> LargeAllocator(const LargeAllocator<U> &) {}

  // Throws std::bad_alloc.
  T *allocate(std::size_t count) {
    if (count > min_large_size / sizeof(T))
      return static_cast<T *>(detail::allocate_large(count, sizeof(T)));
    return std::allocator<T>().allocate(count);
  }
  void deallocate(T *memory, std::size_t count) {
    if (count > min_large_size / sizeof(T))
      detail::free_large(memory, count * sizeof(T));
    else
      std::allocator<T>().deallocate(memory, count);
  }

  friend bool operator==(LargeAllocator, LargeAllocator) { return true; }
};

// A vector whose size goes with that of a module.
template <class T> using LargeVector = std::vector<T, LargeAllocator<T>>;

} // namespace nir
