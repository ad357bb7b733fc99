#include "ir/arena.h"

#include <sys/mman.h>

namespace nir {

namespace {
constexpr std::size_t small_module = std::size_t{4} << 20;
}

Arena::Arena() {
  // Where address space is limited (ulimit -v), a smaller reservation still serves most modules.
  constexpr std::size_t smallest = std::size_t{16} << 20;
  for (std::size_t size = reservation; size >= smallest; size /= 2) {
    void *memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      continue;
    begin_ = next_ = static_cast<char *>(memory);
    end_ = begin_ + size;
    // Huge pages save a large module most of its page faults; a small one never comes so far.
    ::madvise(begin_ + small_module, size - small_module, MADV_HUGEPAGE);
    return;
  }
  throw std::bad_alloc();
}

Arena::~Arena() { ::munmap(begin_, static_cast<std::size_t>(end_ - begin_)); }

void Arena::recycle(void *memory, std::size_t bytes) {
  const std::size_t slot = bytes / 4;
  if (pauses_ != 0 || slot >= free_lists_.size() || bytes < sizeof(void *))
    return;
  std::memcpy(memory, &free_lists_[slot], sizeof(void *));
  free_lists_[slot] = memory;
}

void *Arena::take_recycled(std::size_t slot) {
  void *memory = free_lists_[slot];
  std::memcpy(&free_lists_[slot], memory, sizeof(void *));
  return memory;
}

} // namespace nir
