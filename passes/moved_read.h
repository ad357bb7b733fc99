#pragma once

#include <optional>

#include "passes/tensor_order.h"

namespace nir {

// Whether the users of a cast may read what it reads themselves, where that is a tensor: the read
// moves from the cast to each of its users, so nothing may write the tensor in between (passes,
// neuron-eliminate-casts). Numbers the function's statements when first asked; valid until a
// statement is inserted or an access is made a write.
class MovedRead {
public:
  explicit MovedRead(Function &function) : function_(function) {}

  // Why the read must stay where `cast` stands; nullptr where it may move. The text is a constant.
  // O(uses of the cast * log), and O(uses of the tensor) once.
  const char *why_read_stays(const Tensor &tensor, const Instruction &cast);

private:
  Function &function_;
  std::optional<TensorOrder> order_;
};

} // namespace nir
