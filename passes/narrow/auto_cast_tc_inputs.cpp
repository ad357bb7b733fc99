// auto-cast-tc-inputs: gives every matmul operand the dtype that the target multiplies in the mode.
//
//   turn:  %x = load $x : float32[…]              into:  %x = load $x : float32[…]
//          %m = matmul %x, %y : float32[…]               %0 = tensor_copy %x {autocast = …} :
//          bfloat16
//                                                        %m = matmul %0, %1 : float32[…]
//
// One cast of each value stands behind its definition and serves all matmuls; an access is cast
// right before its matmul. An operand that is the widening cast of what has the dtype already reads
// that instead. With `profit=on` a producer that may write the dtype itself and that only matmuls
// read is narrowed in place, which rounds the same; where that cannot be, a cast is made only where
// no more bytes are moved afterwards. Without it every operand gets its cast, as the mode says.
//
// With `shrink-tensor=on` a tensor whose one loader feeds only matmuls, or is the matmul, is stored
// in the dtype (shrink_tensor.h), and the loader needs no cast. Dead tensors are dropped after.
//
// Requires: a well-formed module. Preserves: legal form, the interface. A second run finds every
// operand in its dtype, or declined by the same bytes. Cost: O(instructions + uses).
//
// Numbers: casts and narrowed destinations are roundings that the pass adds, and says so. Folds are
// exact.

#include "passes/core/common_options.h"
#include "passes/narrow/cast_modes.h"
#include "passes/narrow/narrow_matmul_inputs.h"

namespace nir {
namespace {

constexpr PassOption options[] = {
    {"mode", PassOption::Choice, "matmult", matmult_mode_names,
     "what float32 operands become: bfloat16, float16 or float32r"},
    {"shrink-tensor", PassOption::Choice, "on", on_off,
     "off: tensors that only feed narrowed operands keep their dtype"},
    {"profit", PassOption::Choice, "off", on_off,
     "on: narrow producers in place, and decline casts that make bytes moved grow"},
};

enum Statistic : unsigned {
  CastsInserted,
  BytesInserted,
  ValuesRetyped,
  CastsFolded,
  TensorsShrunk,
  BytesSaved,
};
constexpr PassStatistic statistics[] = {
    {"Number of casts inserted", "casts"},
    {"Number of bytes of casts inserted", "bytes"},
    {"Number of values retyped in place", "values"},
    {"Number of casts folded", "casts"},
    {"Number of tensors shrunk", "tensors"},
    {"Number of bytes saved by shrinking", "bytes"},
};

class AutoCastTcInputs final : public FunctionPass {
public:
  explicit AutoCastTcInputs(const PassOptions &given)
      : options_{cast_mode(given.get("mode")).matmul_mode, given.flag("profit"),
                 given.flag("shrink-tensor")} {}

  bool run(Function &function, PassContext &context) override {
    NarrowingCounts counts;
    const bool changed = narrow_matmul_inputs(function, context, options_, counts);
    context.count(CastsInserted, counts.casts);
    context.count(BytesInserted, counts.cast_bytes);
    context.count(ValuesRetyped, counts.values);
    context.count(CastsFolded, counts.folded);
    context.count(TensorsShrunk, counts.shrunk);
    context.count(BytesSaved, counts.bytes_saved);
    return changed;
  }

private:
  MatmulInputOptions options_;
};

} // namespace

namespace passes {

extern const PassInfo pass_auto_cast_tc_inputs;
const PassInfo pass_auto_cast_tc_inputs = {
    .name = "auto-cast-tc-inputs",
    .description = "gives matmul operands the dtype that the target multiplies in a mode",
    .options = options,
    .statistics = statistics,
    .create = [](const PassOptions &given) -> std::unique_ptr<Pass> {
      return std::make_unique<AutoCastTcInputs>(given);
    },
};

} // namespace passes
} // namespace nir
