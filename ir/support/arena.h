#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace nir {

// A pointer to an object of the same arena, kept as a signed distance in units of four bytes from
// its own address, so that it takes four bytes instead of eight and still needs no base. It reaches
// 8 GiB either way, which is what an arena reserves. It must live inside the arena (never on the
// stack), and so it is neither copied nor moved as an object: assignment stores the pointee.
template <class T> class RelPtr {
public:
  RelPtr() = default;
  RelPtr(const RelPtr &) = delete;
  RelPtr &operator=(const RelPtr &other) { return *this = other.get(); }
  RelPtr &operator=(T *pointer) {
    distance_ = pointer == nullptr ? 0 : distance_to(pointer);
    return *this;
  }

  T *get() const {
    if (distance_ == 0)
      return nullptr;
    const auto self = reinterpret_cast<std::intptr_t>(this);
    return reinterpret_cast<T *>(self + static_cast<std::intptr_t>(distance_) * 4);
  }
  operator T *() const { return get(); }
  T *operator->() const { return get(); }

private:
  std::int32_t distance_to(const T *pointer) const {
    const auto bytes =
        reinterpret_cast<std::intptr_t>(pointer) - reinterpret_cast<std::intptr_t>(this);
    return static_cast<std::int32_t>(bytes / 4);
  }

  std::int32_t distance_ = 0; // 0 is null: nothing points at its own slot
};

// The memory of a module: one reservation of address space that is filled from the front and given
// back as a whole. Nothing in it is destroyed one by one, so only trivially destructible objects
// live here. Memory of recycled objects is handed out again to requests of the same size.
//
// It belongs to one thread at a time, unless each thread holds a Lane.
class Arena {
  // Memory that one thread at a time hands out, and what was given back to it.
  struct Region {
    char *next = nullptr;
    char *end = nullptr;
    std::array<void *, 128> free_lists{}; // by size in units of four bytes
  };

public:
  // While it lives, the thread that made it takes memory from a part of the arena that is its own.
  // Nobody may use the arena without a lane meanwhile.
  class Lane {
  public:
    explicit Lane(Arena &arena);
    ~Lane();
    Lane(const Lane &) = delete;
    Lane &operator=(const Lane &) = delete;

  private:
    Arena &arena_;
    std::unique_ptr<Region> region_;
  };

  // The reach of a RelPtr, and so the limit of a module's size. Pages are committed on first use.
  static constexpr std::size_t reservation = std::size_t{8} << 30;

  Arena();
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  // Uninitialised memory, aligned to `alignment` (4, 8 or 16). Throws std::bad_alloc at the limit.
  void *allocate(std::size_t bytes, std::size_t alignment = 8) {
    Region &region = this_region();
    const std::size_t slot = bytes / 4;
    if (slot < region.free_lists.size() && region.free_lists[slot] != nullptr && alignment <= 4)
      return take_recycled(region, slot);
    char *result = aligned(region.next, alignment);
    if (static_cast<std::ptrdiff_t>(bytes) > region.end - result)
      result = refill(region, bytes, alignment);
    region.next = result + bytes;
    return result;
  }

  // Gives back memory that was allocated with this size, for the next request of that size and
  // alignment 4. Larger objects than the free lists know are left until the arena goes.
  void recycle(void *memory, std::size_t bytes);

  template <class T, class... Args> T *create(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }

  // A copy of `items` that lives as long as the arena.
  template <class T> std::span<const T> copy(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (items.empty())
      return {};
    T *memory = static_cast<T *>(allocate(items.size_bytes(), alignof(T) < 8 ? 4 : 8));
    std::memcpy(static_cast<void *>(memory), items.data(), items.size_bytes());
    return {memory, items.size()};
  }
  std::string_view copy(std::string_view text) {
    const auto bytes = copy(std::span<const char>(text.data(), text.size()));
    return {bytes.data(), bytes.size()};
  }

  std::size_t bytes_used() const { return static_cast<std::size_t>(main_.next - begin_); }

private:
  friend class RecyclingPause;
  // The lane that the running thread holds.
  struct Binding {
    const Arena *arena;
    Region *region;
  };

  Region &this_region() { return binding_.arena == this ? *binding_.region : main_; }
  static char *aligned(char *at, std::size_t alignment) {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    return reinterpret_cast<char *>((address + alignment - 1) & ~(alignment - 1));
  }
  static void *take_recycled(Region &region, std::size_t slot);
  // Memory for a lane whose region is used up, taken from the main one. Throws std::bad_alloc.
  char *refill(Region &region, std::size_t bytes, std::size_t alignment);

  inline static constinit thread_local Binding binding_{nullptr, nullptr};

  unsigned pauses_ = 0;
  char *begin_ = nullptr;
  Region main_;                               // from which lanes are filled
  std::mutex mutex_;                          // of main_, while there are lanes, and of idle_
  std::vector<std::unique_ptr<Region>> idle_; // regions of lanes that are gone
};

// While there is one, nothing that is given back to the arena is handed out again: an object that
// goes is never taken for a new one at its address.
class RecyclingPause {
public:
  explicit RecyclingPause(Arena &arena) : arena_(arena) { ++arena_.pauses_; }
  ~RecyclingPause() { --arena_.pauses_; }
  RecyclingPause(const RecyclingPause &) = delete;
  RecyclingPause &operator=(const RecyclingPause &) = delete;

private:
  Arena &arena_;
};

} // namespace nir
