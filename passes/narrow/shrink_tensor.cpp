#include "passes/narrow/shrink_tensor.h"

#include "ir/support/saturating.h"

namespace nir {
namespace {

const char *why_use_forbids(const Use &use, const Instruction &loader) {
  const Instruction &user = *use.user();
  if (use.reinterprets())
    return "an access reinterprets the tensor";
  if (user.has_trait(op_trait::NeverDead))
    return "a call or opaque is given the tensor";
  if (reads(use))
    return &user == &loader ? nullptr : "the tensor has another loader";
  return may_write_narrow(user) ? nullptr : "what writes the tensor cannot write another dtype";
}

} // namespace

const char *why_not_shrunk(const Tensor &tensor, const Instruction &loader, DType narrow) {
  if (tensor.role() != Role::Internal)
    return "the tensor is an input, output or const";
  if (tensor.dtype() == narrow)
    return "the tensor is narrow already";
  if (tensor.dtype() != DType::Float32)
    return "the tensor is not float32";
  if (tensor.space() == Space::Psum)
    return "the tensor is in psum";
  for (const Use &use : tensor.uses())
    if (const char *reason = why_use_forbids(use, loader))
      return reason;
  return nullptr;
}

void shrink_tensor(Tensor &tensor, DType narrow, NarrowingEdit &edit, NarrowingCounts &counts) {
  const std::int64_t before = tensor.type()->size_in_bytes();
  edit.retype(tensor, narrow, false);
  const std::int64_t saved = before - tensor.type()->size_in_bytes();
  counts.bytes_saved = saturating_add(counts.bytes_saved, static_cast<std::uint64_t>(saved));
  ++counts.shrunk;
}

} // namespace nir
