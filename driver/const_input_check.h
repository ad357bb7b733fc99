#pragma once

#include <cstdint>
#include <string>

#include "driver/checked_evaluation.h"

namespace nir {

struct ConstInputResult {
  std::uint64_t checked = 0; // inputs
  std::string failure;       // empty: every output stayed as it was
};

// Turns one input tensor after the other into a const of the same bytes, and compares what the
// functions compute with what they compute from the input: no bit may differ. Functions that cannot
// be evaluated are left out, and so is what would take more than the limits for all inputs of a
// function together. The module is as before afterwards, but for consts that nothing uses.
ConstInputResult check_const_inputs(Module &module, const CheckLimits &limits);

} // namespace nir
