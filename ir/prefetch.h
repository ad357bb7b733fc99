#pragma once

#include <cstdint>

namespace nir {

// A walk along links waits for memory at every object, since only an object knows where the next
// one is. Most were made in the order of the walk, so those some steps ahead are about as far apart
// as these two neighbours, and what lies there is asked for early. A wrong guess costs nothing.
//
// Always inlined: GCC 12 takes a function that only prefetches for one without effect and drops
// calls of it.
[[gnu::always_inline]] inline void prefetch_beyond(const void *from, const void *to) {
  constexpr std::intptr_t steps = 8;
  const auto here = reinterpret_cast<std::intptr_t>(to);
  const std::intptr_t step = here - reinterpret_cast<std::intptr_t>(from);
  __builtin_prefetch(reinterpret_cast<const void *>(here + steps * step));
}

} // namespace nir
