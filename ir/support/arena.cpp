#include "ir/support/arena.h"

#include <algorithm>

#include <sys/mman.h>

#include "ir/support/large_memory.h"

namespace nir {

namespace {
constexpr std::size_t lane_size = std::size_t{1} << 18;
} // namespace

Arena::Arena() {
  // Where address space is limited (ulimit -v), a smaller reservation still serves most modules.
  constexpr std::size_t smallest = std::size_t{16} << 20;
  for (std::size_t size = reservation; size >= smallest; size /= 2) {
    begin_ = main_.next = map_huge_pages(size, true);
    if (begin_ == nullptr)
      continue;
    main_.end = begin_ + size;
    return;
  }
  throw std::bad_alloc();
}

Arena::~Arena() { ::munmap(begin_, static_cast<std::size_t>(main_.end - begin_)); }

void Arena::recycle(void *memory, std::size_t bytes) {
  Region &region = this_region();
  const std::size_t slot = bytes / 4;
  if (pauses_ != 0 || slot >= region.free_lists.size() || bytes < sizeof(void *))
    return;
  std::memcpy(memory, &region.free_lists[slot], sizeof(void *));
  region.free_lists[slot] = memory;
}

void *Arena::take_recycled(Region &region, std::size_t slot) {
  void *memory = region.free_lists[slot];
  std::memcpy(&region.free_lists[slot], memory, sizeof(void *));
  return memory;
}

char *Arena::refill(Region &region, std::size_t bytes, std::size_t alignment) {
  const std::lock_guard lock(mutex_);
  char *begin = aligned(main_.next, 16);
  const std::ptrdiff_t wanted = static_cast<std::ptrdiff_t>(std::max(bytes + alignment, lane_size));
  if (&region == &main_ || static_cast<std::ptrdiff_t>(bytes) < 0 || wanted > main_.end - begin)
    throw std::bad_alloc();
  region.next = begin;
  region.end = main_.next = begin + wanted;
  return aligned(region.next, alignment);
}

Arena::Lane::Lane(Arena &arena) : arena_(arena) {
  const std::lock_guard lock(arena.mutex_);
  if (arena.idle_.empty()) {
    region_ = std::make_unique<Region>();
  } else {
    region_ = std::move(arena.idle_.back());
    arena.idle_.pop_back();
  }
  binding_ = {&arena, region_.get()};
}

Arena::Lane::~Lane() {
  binding_ = {nullptr, nullptr};
  const std::lock_guard lock(arena_.mutex_);
  arena_.idle_.push_back(std::move(region_));
}

} // namespace nir
