#pragma once

#include <cstdint>
#include <string>

namespace nir {

// The text of a small program that is full of casts: few dtypes, many of them met again, tensors
// that are stored and read piece by piece, in loops and out of them, memcasts between tensors, and
// most of it observed by outputs. What removes casts finds much to do in it. The same for the same
// seed everywhere.
std::string cast_program(std::uint64_t seed);

// The same with movers, transposes, selects and matmuls between the casts.
std::string mover_program(std::uint64_t seed);

} // namespace nir
