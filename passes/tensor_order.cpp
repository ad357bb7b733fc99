#include "passes/tensor_order.h"

#include <algorithm>

namespace nir {
namespace {

Instruction *first_between(const std::vector<Instruction *> &users, std::uint32_t from,
                           std::uint32_t to) {
  const auto it = std::ranges::lower_bound(users, from, {}, &Instruction::order);
  return it != users.end() && (*it)->order() <= to ? *it : nullptr;
}

} // namespace

Instruction *TensorOrder::writer_between(const Tensor &tensor, std::uint32_t from,
                                         std::uint32_t to) {
  return first_between(accesses_of(tensor).writers, from, to);
}

Instruction *TensorOrder::reader_between(const Tensor &tensor, std::uint32_t from,
                                         std::uint32_t to) {
  return first_between(accesses_of(tensor).readers, from, to);
}

const TensorOrder::Accesses &TensorOrder::accesses_of(const Tensor &tensor) {
  const auto [it, is_new] = accesses_.try_emplace(&tensor);
  Accesses &accesses = it->second;
  if (!is_new)
    return accesses;
  for (const Use &use : tensor.uses()) {
    if (writes(use))
      accesses.writers.push_back(use.user());
    if (reads(use))
      accesses.readers.push_back(use.user());
  }
  std::ranges::sort(accesses.writers, {}, &Instruction::order);
  std::ranges::sort(accesses.readers, {}, &Instruction::order);
  return accesses;
}

} // namespace nir
