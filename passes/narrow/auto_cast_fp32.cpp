// auto-cast-fp32: lets float32 values and internal tensors become narrower.
//
//   turn:  %x = load $x : float32[…]           into:  %x = load $x {autocast = …} : bfloat16[…]
//          %e = activation exp %x : float32           %e = activation exp %x {autocast = …} :
//          bfloat16 opaque "f"(%r)                             opaque "f"(%r) %s = tensor_tensor
//          add %e, %r : …          %c = tensor_copy %r {autocast = …} : bfloat16
//                                                     %s = tensor_tensor add %e, %c {…} : bfloat16
//
// What must have one dtype forms a class: a mover's operands and its result, the operands of
// tensor_tensor, the arms of select, a copy's two sides, a tensor and what loads or stores it where
// DMA cannot cast. A class is narrowed as a whole: engine results, tensors and numbers in place,
// what must stay float32 by one cast behind its definition, which all that take any dtype read. An
// access of a tensor that stays is cast right before its user.
//
// Float32 stay: inputs, outputs, consts, psum tensors, what call, opaque, memcast, bitcast or a
// reinterpreting access touches, matmul results, what is `fixed`; and every value that something
// reads as it is: a conversion to integers, a sum (through copies, transposes, movers and DMA), a
// copy or mover that stays itself. So no widening cast is ever made, and a later pass finds nothing
// to widen again.
//
// A load casts its result, a store its source. With `inline-cast=on` and a target with `dma_cast`
// the DMA does it; else both sides of a DMA have one dtype, and the cast is an instruction.
//
// Modes `matmult*` are the tensor-contract variant: the code of auto-cast-tc-inputs.
//
// Requires: a well-formed module; what is not in legal form is left alone. Preserves: legal form,
// the interface, every author's rounding. Termination and cost: see narrowing_plan.h; a second run
// finds every class narrow, declined, or wide with its cast.
//
// Numbers: each narrowed destination and each cast is a rounding that the pass adds, and says so.
// Folded casts are exact: a reader converts what it reads, as the cast did.

#include "passes/core/common_options.h"
#include "passes/narrow/cast_modes.h"
#include "passes/narrow/narrow_float32.h"
#include "passes/narrow/narrow_matmul_inputs.h"

namespace nir {
namespace {

constexpr PassOption options[] = {
    {"mode", PassOption::Choice, "all", cast_mode_names,
     "what float32 becomes: bfloat16, float16, float32r or float8e4; matmult: matmul operands "
     "only"},
    {"inline-cast", PassOption::Choice, "on", on_off,
     "off: a cast next to a load or store is an instruction of its own"},
    profit_option,
};

enum Statistic : unsigned {
  CastsInserted,
  BytesInserted,
  ValuesRetyped,
  TensorsRetyped,
  CastsFolded,
  TensorsShrunk,
  BytesSaved,
  CallInputs,
  CallOutputs,
};
constexpr PassStatistic statistics[] = {
    {"Number of casts inserted", "casts"},
    {"Number of bytes of casts inserted", "bytes"},
    {"Number of values retyped in place", "values"},
    {"Number of tensors retyped in place", "tensors"},
    {"Number of casts folded", "casts"},
    {"Number of tensors shrunk", "tensors"},
    {"Number of bytes saved by shrinking", "bytes"},
    {"Number of float32 tensors given to calls as inputs", "tensors"},
    {"Number of float32 tensors given to calls as outputs", "tensors"},
};

// The float32 tensors that cross the boundary of a call. The callee's interface is float32 and
// float32r has the same bytes, so they keep their dtype, and the casts stand around the call.
struct CallTensors {
  std::vector<const Tensor *> call_ins; // each once, in order of declaration
  std::vector<const Tensor *> call_outs;
};

CallTensors find_call_tensors(Function &function) {
  CallTensors found;
  for (Tensor *tensor = function.first_tensor(); tensor != nullptr; tensor = tensor->next()) {
    if (tensor->dtype() != DType::Float32)
      continue;
    bool in = false;
    bool out = false;
    for (const Use &use : tensor->uses())
      if (use.user()->opcode() == Opcode::Call)
        (writes(use) ? out : in) = true;
    if (in)
      found.call_ins.push_back(tensor);
    if (out)
      found.call_outs.push_back(tensor);
  }
  return found;
}

class AutoCastFp32 final : public FunctionPass {
public:
  explicit AutoCastFp32(const PassOptions &given)
      : mode_(cast_mode(given.get("mode"))), inline_cast_(given.flag("inline-cast")),
        profit_(given.flag("profit")) {}

  bool run(Function &function, PassContext &context) override {
    NarrowingCounts counts;
    const bool changed = narrow(function, context, counts);
    context.count(CastsInserted, counts.casts);
    context.count(BytesInserted, counts.cast_bytes);
    context.count(ValuesRetyped, counts.values);
    context.count(TensorsRetyped, counts.tensors);
    context.count(CastsFolded, counts.folded);
    context.count(TensorsShrunk, counts.shrunk);
    context.count(BytesSaved, counts.bytes_saved);
    return changed;
  }

private:
  bool narrow(Function &function, PassContext &context, NarrowingCounts &counts) const {
    if (mode_.matmul_mode != MatmulMode::None)
      return narrow_matmul_inputs(function, context, {mode_.matmul_mode, profit_, true}, counts);
    if (mode_.dtype == DType::Float32r) {
      const CallTensors crossing = find_call_tensors(function);
      context.count(CallInputs, crossing.call_ins.size());
      context.count(CallOutputs, crossing.call_outs.size());
    }
    const NarrowingOptions wanted{mode_.dtype, inline_cast_, false};
    return narrow_float32(function, context, wanted, profit_, counts);
  }

  CastMode mode_;
  bool inline_cast_;
  bool profit_;
};

} // namespace

namespace passes {

extern const PassInfo pass_auto_cast_fp32;
const PassInfo pass_auto_cast_fp32 = {
    .name = "auto-cast-fp32",
    .description = "narrows float32 values and internal tensors, with casts where float32 is fixed",
    .options = options,
    .statistics = statistics,
    .create = [](const PassOptions &given) -> std::unique_ptr<Pass> {
      return std::make_unique<AutoCastFp32>(given);
    },
};

} // namespace passes
} // namespace nir
