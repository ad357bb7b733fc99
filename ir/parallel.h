#pragma once

#include <cstddef>
#include <functional>

#include "ir/arena.h"

namespace nir {

// Calls `body(begin, end)` for ranges that together are [0, count), each index once, on up to
// `jobs` threads, the caller's among them. Each thread allocates from its own part of the arena, so
// bodies may add to a module as long as no two of them touch the same function; without an arena
// they may only look. The order in which
// ranges are done is open. What a body throws is thrown again when all are done: of several the
// one of the first range.
void parallel_for(Arena *arena, unsigned jobs, std::size_t count,
                  const std::function<void(std::size_t begin, std::size_t end)> &body);

} // namespace nir
