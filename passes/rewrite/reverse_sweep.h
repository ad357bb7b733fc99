#pragma once

#include "ir/core/function.h"

namespace nir {

namespace detail {

// The last statement of `block`, in the innermost of the loops that end there; nullptr where it is
// empty.
inline Stmt *innermost_last(Block &block) {
  Stmt *last = block.last();
  for (Loop *loop = dyn_cast<Loop>(last); loop != nullptr && !loop->body().empty();
       loop = dyn_cast<Loop>(last))
    last = loop->body().last();
  return last;
}

inline Stmt *previous_in_sweep(Stmt &stmt) {
  Stmt *previous = stmt.prev();
  if (previous == nullptr)
    return stmt.parent_loop();
  Loop *loop = dyn_cast<Loop>(previous);
  return loop != nullptr && !loop->body().empty() ? innermost_last(loop->body()) : previous;
}

} // namespace detail

// Visits every instruction of the function in reverse program order and erases loops that are, or
// have become, empty. `visit(Instruction &)` may erase the instruction that it is given, and no
// other. Users of a value come before its definition, and a loop comes after its body, so one sweep
// sees everything that its own erasures set free. No recursion, O(statements). Returns the number
// of loops erased.
template <class Visit> std::uint64_t sweep_backwards(Function &function, Visit visit) {
  std::uint64_t loops = 0;
  LookAhead ahead;
  for (Stmt *stmt = detail::innermost_last(function.body()); stmt != nullptr;) {
    ahead.look_below(stmt);
    Stmt *previous = detail::previous_in_sweep(*stmt);
    if (Instruction *inst = dyn_cast<Instruction>(stmt)) {
      visit(*inst);
    } else if (Loop *loop = cast<Loop>(stmt); loop->body().empty()) {
      loop->erase();
      ++loops;
    }
    stmt = previous;
  }
  return loops;
}

} // namespace nir
