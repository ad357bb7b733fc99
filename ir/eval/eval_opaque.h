// Stand-ins for unknown code (OpaqueMode).
#pragma once

#include <vector>

#include "ir/eval/evaluator.h"
#include "ir/semantics/eval_ops.h"

namespace nir::eval {

// Runs the stand-in of an opaque. `run.operands` has the data operands; `run.dst` is the result or
// destination where there is one.
void run_opaque(const Execution &run, OpaqueMode mode);

} // namespace nir::eval
