#pragma once

#include "passes/narrow/narrowing_edit.h"
#include "passes/narrow/narrowing_plan.h"

namespace nir {

// Narrows the float32 values and internal tensors of a function, class by class (narrowing_plan.h);
// with `profit`, only the classes for which no more bytes are moved afterwards. Shared by
// auto-cast-fp32 and auto-cast-inputs. Returns whether anything changed.
bool narrow_float32(Function &function, PassContext &context, const NarrowingOptions &options,
                    bool profit, NarrowingCounts &counts);

} // namespace nir
