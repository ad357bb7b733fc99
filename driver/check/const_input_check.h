#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "driver/check/checked_evaluation.h"

namespace nir {

struct ConstInputResult {
  std::uint64_t checked = 0; // inputs
  std::string failure;       // empty: every output stayed as it was
};

// Turns one input tensor after the other into a const of the same bytes, and compares what the
// functions compute with what they compute from the input: no bit may differ. Left out are
// functions that cannot be evaluated, and those that would take more than the limits for all inputs
// together; `skipped` is told the places of the latter, with the reason. The module is as before
// afterwards, but for consts that nothing uses.
ConstInputResult
check_const_inputs(Module &module, const CheckLimits &limits,
                   const std::function<void(std::size_t function, std::string_view why)> &skipped);

} // namespace nir
