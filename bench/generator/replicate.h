#pragma once

#include <cstdint>

#include "ir/core/module.h"

namespace nir {

enum class ReplicateAs : std::uint8_t {
  Functions, // every copy is functions of its own
  Chain // a function that nobody calls holds the copies of its body one behind the other; where
        // one of its inputs is like an output of the copy before, it reads that
};

// Copies what the module does until it has `size` instructions, loops counted, or a little more.
// What a copy defines is called as in the original with a number behind it, which no other name
// has. Nobody may have looked for a function by its name yet. Time and memory are linear in the
// size.
void replicate(Module &module, std::uint64_t size, ReplicateAs as);

} // namespace nir
