#pragma once

#include "passes/narrow/narrowing_edit.h"

namespace nir {

struct MatmulInputOptions {
  MatmulMode mode;
  bool profit;
  bool shrink; // tensors that only feed narrowed operands
};

// Gives every matmul operand the dtype that the target wants in this mode
// (Target::matmul_operand_dtype). Shared by auto-cast-tc-inputs and the matmult modes of
// auto-cast-fp32; auto_cast_tc_inputs.cpp says what it does. Returns whether anything changed.
bool narrow_matmul_inputs(Function &function, PassContext &context,
                          const MatmulInputOptions &options, NarrowingCounts &counts);

} // namespace nir
