#pragma once

#include "passes/narrow/narrowing_edit.h"

namespace nir {

// shrink_tensor (passes, auto-cast-tc-inputs): a float32 tensor whose only loader is about to read
// `narrow` is stored in that dtype, so that the rounding moves from the one loader to what writes
// the tensor. Accesses of the language are affine, so nothing has to be asked about that.

// Why not; nullptr where it can be done: the tensor is internal, float32 and not in psum, no call
// or opaque is given it, no access reinterprets it, `loader` is the only instruction that reads it,
// and all that write it may write `narrow`.
const char *why_not_shrunk(const Tensor &tensor, const Instruction &loader, DType narrow);

// Does it, and counts it. What `loader` writes is the caller's to retype.
void shrink_tensor(Tensor &tensor, DType narrow, NarrowingEdit &edit, NarrowingCounts &counts);

} // namespace nir
