#pragma once

#include <optional>

#include "passes/rewrite/tensor_order.h"

namespace nir {

// Answers whether the users of a copy may read its source themselves. Where that is an access, the
// read moves from the copy to its users: nothing may write the tensor in between, and nobody may be
// a call or opaque, which was handed a value and not a tensor (passes, neuron-eliminate-casts).
//
// Numbers the statements when first asked; valid until a statement is inserted. Only writers of
// tensors are remembered, so redirecting reads does no harm.
class MovedReads {
public:
  explicit MovedReads(Function &function) : function_(function) {}

  // `copy` reads an access of `tensor`. The first obstacle, a constant text; nullptr where there is
  // none. O(users of the copy).
  const char *why_read_stays(const Tensor &tensor, const Instruction &copy);

private:
  Function &function_;
  std::optional<TensorOrder> order_;
};

} // namespace nir
