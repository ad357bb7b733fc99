#include "ir/support/large_memory.h"

#include <cstdint>
#include <new>

#include <sys/mman.h>

namespace nir {

std::size_t whole_huge_pages(std::size_t bytes) {
  return (bytes + huge_page_size - 1) / huge_page_size * huge_page_size;
}

// A mapping begins at some small page: one that is larger holds what is wanted, and the rest of it
// goes back.
char *map_huge_pages(std::size_t bytes, bool reserve_only) {
  const std::size_t wanted = whole_huge_pages(bytes);
  const std::size_t mapped = wanted + huge_page_size;
  if (wanted < bytes || mapped < wanted)
    return nullptr;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (reserve_only ? MAP_NORESERVE : 0);
  void *memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  char *const begin = static_cast<char *>(memory);
  const std::size_t before = whole_huge_pages(reinterpret_cast<std::uintptr_t>(begin)) -
                             reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t behind = huge_page_size - before;
  if (before != 0)
    ::munmap(begin, before);
  if (behind != 0)
    ::munmap(begin + before + wanted, behind);
  ::madvise(begin + before, wanted, MADV_HUGEPAGE);
  return begin + before;
}

namespace detail {

void *allocate_large(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  void *memory = __builtin_mul_overflow(count, size, &bytes) ? nullptr : map_huge_pages(bytes);
  if (memory == nullptr)
    throw std::bad_alloc();
  return memory;
}

void free_large(void *memory, std::size_t bytes) { ::munmap(memory, whole_huge_pages(bytes)); }

} // namespace detail
} // namespace nir
