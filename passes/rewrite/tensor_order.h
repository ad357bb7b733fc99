#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/core/module.h"

namespace nir {

// Answers whether anything between two places of a function reads or writes a tensor. Statements
// inside loops stand where the text has them, so an interval of orders covers exactly the
// statements between its ends. Call and opaque count as what they may do with each tensor they are
// given.
//
// Built per tensor when first asked: O(uses log uses), then O(log uses) a question. A pass that
// redirects uses of a tensor must forget it; erasing instructions that do not use it is harmless.
class TensorOrder {
public:
  // Numbers the statements of the function. Valid until a statement is inserted.
  explicit TensorOrder(Function &function) { function.ensure_orders(); }

  // The first instruction that writes (reads) the tensor with an order in [from, to]; nullptr where
  // there is none.
  Instruction *writer_between(const Tensor &tensor, std::uint32_t from, std::uint32_t to);
  Instruction *reader_between(const Tensor &tensor, std::uint32_t from, std::uint32_t to);

  void forget(const Tensor &tensor) { accesses_.erase(&tensor); }

private:
  // With its order beside it, so that a search stays in the list.
  struct User {
    std::uint32_t order;
    Instruction *inst;
  };
  struct Accesses {
    std::vector<User> writers; // by order
    std::vector<User> readers;
  };
  static void sort(std::vector<User> &users);
  static Instruction *first_between(const std::vector<User> &users, std::uint32_t from,
                                    std::uint32_t to);
  const Accesses &accesses_of(const Tensor &tensor);
  std::unordered_map<const Tensor *, Accesses> accesses_; // never iterated
};

} // namespace nir
