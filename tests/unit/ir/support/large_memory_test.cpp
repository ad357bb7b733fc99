#include "ir/support/large_memory.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace nir {
namespace {

TEST(LargeMemory, IsZeroedAndAligned) {
  for (const std::size_t size : {std::size_t{1}, huge_page_size, huge_page_size + 1}) {
    char *memory = map_huge_pages(size);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % huge_page_size, 0u);
    const std::size_t whole = whole_huge_pages(size);
    EXPECT_TRUE(std::all_of(memory, memory + whole, [](char c) { return c == 0; }));
    ::munmap(memory, whole);
  }
}

TEST(LargeMemory, IsRoundedUpToHugePages) {
  EXPECT_EQ(whole_huge_pages(0), 0u);
  EXPECT_EQ(whole_huge_pages(1), huge_page_size);
  EXPECT_EQ(whole_huge_pages(huge_page_size), huge_page_size);
  EXPECT_EQ(whole_huge_pages(huge_page_size + 1), 2 * huge_page_size);
}

TEST(LargeMemory, WhatNoAddressSpaceHoldsIsRefused) {
  EXPECT_EQ(map_huge_pages(std::numeric_limits<std::size_t>::max()), nullptr);
  EXPECT_EQ(map_huge_pages(std::size_t{1} << 60), nullptr);
  LargeAllocator<std::uint64_t> allocator;
  EXPECT_THROW(static_cast<void>(allocator.allocate(std::numeric_limits<std::size_t>::max() / 4)),
               std::bad_alloc);
}

// Small blocks are of the heap and large ones are not: the items move from one to the other.
TEST(LargeMemory, AVectorKeepsWhatItHoldsAsItGrows) {
  LargeVector<std::uint32_t> items;
  const std::uint32_t count = 4 * min_large_size / sizeof(std::uint32_t);
  for (std::uint32_t i = 0; i < count; ++i)
    items.push_back(i);
  for (std::uint32_t i = 0; i < count; ++i)
    ASSERT_EQ(items[i], i);
  items.resize(2 * count);
  EXPECT_EQ(items.back(), 0u);
  LargeVector<std::uint32_t> other{7};
  swap(items, other);
  EXPECT_EQ(items.front(), 7u);
  EXPECT_EQ(other[count - 1], count - 1);
}

} // namespace
} // namespace nir
