#include "passes/rewrite/moved_read.h"

namespace nir {
namespace {

bool is_elementwise(const Instruction &inst) {
  switch (inst.opcode()) {
  case Opcode::Activation:
  case Opcode::TensorScalar:
  case Opcode::TensorCopy:
  case Opcode::TensorTensor:
  case Opcode::Select:
    return true;
  default:
    return false;
  }
}

// Whether the last user writes the tensor otherwise than each element behind its own reading.
bool rereads_what_it_overwrites(const Instruction &last, const Tensor &tensor,
                                const Instruction &copy) {
  if (!last.has_dst() || last.dst()->value() != &tensor)
    return false;
  return !is_elementwise(last) || !same_subscripts(last.dst()->access(), copy.src()->access());
}

} // namespace

const char *MovedReads::why_read_stays(const Tensor &tensor, const Instruction &copy) {
  if (!order_)
    order_.emplace(function_);
  Instruction *last = nullptr;
  for (const Use &use : copy.uses()) {
    Instruction *user = use.user();
    if (user->has_trait(op_trait::NeverDead))
      return "a call or opaque was given its value";
    if (last == nullptr || user->order() > last->order())
      last = user;
  }
  if (last == nullptr || tensor.role() == Role::Const)
    return nullptr;
  const Stmt *scope = ancestor_in_block(last, copy.parent());
  const char *reason = "the tensor is written before the last use";
  if (scope != last) {
    const std::uint32_t end = cast<Loop>(scope)->end_order();
    return order_->writer_between(tensor, copy.order() + 1, end) != nullptr ? reason : nullptr;
  }
  if (order_->writer_between(tensor, copy.order() + 1, last->order() - 1) != nullptr)
    return reason;
  return rereads_what_it_overwrites(*last, tensor, copy) ? reason : nullptr;
}

} // namespace nir
