#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>

#include "ir/support/arena.h"

namespace nir {

// Calls `body(begin, end)` for ranges that together are [0, count), each index once, on up to
// `jobs` threads, the caller's among them. Each thread allocates from its own part of the arena, so
// bodies may add to a module as long as no two of them touch the same function; without an arena
// they may only look. The order in which
// ranges are done is open. What a body throws is thrown again when all are done: of several the
// one of the first range.
void parallel_for(Arena *arena, unsigned jobs, std::size_t count,
                  const std::function<void(std::size_t begin, std::size_t end)> &body);

// A lock for a few hundred instructions that threads ask for very often: to sleep takes longer than
// what they wait for.
class SpinLock {
public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire))
      wait();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

private:
  // Until it looks free. Whoever holds it may not be running.
  void wait() const {
    constexpr unsigned max_looks = 1000;
    for (unsigned looks = 0; held_.load(std::memory_order_relaxed);)
      if (++looks % max_looks == 0)
        std::this_thread::yield();
  }

  std::atomic<bool> held_ = false;
};

} // namespace nir
