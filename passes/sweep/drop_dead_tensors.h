#pragma once

#include <cstdint>

#include "ir/core/function.h"

namespace nir {

class PassContext;

// What drop_dead_tensors removed.
struct DroppedTensors {
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0; // of these tensors; saturates
  std::uint64_t instructions = 0;
  std::uint64_t loops = 0;

  bool any() const { return tensors != 0 || instructions != 0 || loops != 0; }
};

// Removes every internal or const tensor that nothing alive reads, all instructions that touch one,
// and what only feeds these; then loops whose body is empty (passes, drop-dead-tensors). The rules
// and the cost are in drop_dead_tensors.cpp. Leaves orders valid. With a context, removed casts
// leave remarks there; nothing is counted.
DroppedTensors drop_dead_tensors(Function &function, PassContext *context = nullptr);

} // namespace nir
