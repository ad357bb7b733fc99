#pragma once

#include <string>

#include "driver/check/checked_evaluation.h"

namespace nir {

// For each output of each function, how far it is from the reference evaluation of the module as it
// was before the pipeline: the largest and the mean error in ulps of the output's dtype, over
// `count` inputs, before and after. A table with a row for each output; functions that cannot be
// evaluated, and outputs of containers, are left out.
std::string report_excess(const Module &before, const Module &after, unsigned count,
                          const CheckLimits &limits);

} // namespace nir
