#pragma once

#include <cstdint>
#include <string>

namespace nir {

// The text of a small program of mostly float32 values of one shape, in legal form: movers, pairs,
// sums, matmuls and psum, tensors in all spaces, inputs in sbuf, loops, a call and opaques, marks,
// now and then another dtype; nearly everything is observed by outputs. What narrows float32 finds
// much to do in it. DMA casts only where the target can. The same for the same seed everywhere.
std::string float_program(std::uint64_t seed, bool dma_cast);

} // namespace nir
