#pragma once

#include <cstdint>

#include "ir/core/module.h"
#include "ir/diagnostics/diagnostic.h"

namespace nir {

// Divides the dimensions of a module that are larger than `max_extent`, so that whole graphs become
// small enough to be evaluated. One extent becomes the same smaller one wherever it stands, and
// what relates extents still relates them: element counts of reshapes, sums of concats, boxes of
// slices and accesses. Consts keep their elements with the smallest indices. What relations forbid
// stays as large as it was, and a remark says so. The module stays well-formed, the interface
// changes.
void shrink_dims(Module &module, std::int64_t max_extent, DiagnosticEngine &diagnostics);

} // namespace nir
