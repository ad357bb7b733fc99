#include "passes/rewrite/tensor_order.h"

#include <algorithm>

namespace nir {

// Use-lists have the newest use first, so most are in the opposite order.
void TensorOrder::sort(std::vector<User> &users) {
  std::ranges::reverse(users);
  if (!std::ranges::is_sorted(users, {}, &User::order))
    std::ranges::sort(users, {}, &User::order);
}

Instruction *TensorOrder::first_between(const std::vector<User> &users, std::uint32_t from,
                                        std::uint32_t to) {
  const auto it = std::ranges::lower_bound(users, from, {}, &User::order);
  return it != users.end() && it->order <= to ? it->inst : nullptr;
}

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
    const User user{use.user()->order(), use.user()};
    if (writes(use))
      accesses.writers.push_back(user);
    if (reads(use))
      accesses.readers.push_back(user);
  }
  sort(accesses.writers);
  sort(accesses.readers);
  return accesses;
}

} // namespace nir
