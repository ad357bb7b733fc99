#pragma once

#include "ir/core/module.h"
#include "ir/print/printer.h"

namespace nir {

// A module as a Graphviz graph: a cluster for each function and each loop, a box for each tensor,
// an ellipse for each instruction, and on each edge the dtype that is read or written.
void write_dot(const Module &module, const TextSink &sink);

} // namespace nir
