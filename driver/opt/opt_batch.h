#pragma once

#include "driver/opt/opt_options.h"

namespace nir {

// Works on all inputs, `jobs` at a time, each on its own. Messages come in the order of the inputs,
// then the statistics of all together. Returns the worst status.
int run_opt_batch(const OptOptions &options);

} // namespace nir
