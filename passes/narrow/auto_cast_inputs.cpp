// auto-cast-inputs: narrows what is read from float32 inputs, and nothing else.
//
//   turn:  %x = load $x : float32[…]           into:  %x = load $x {autocast = …} : bfloat16[…]
//          %b = broadcast %x : float32[…]             %b = broadcast %x : bfloat16[…]
//          %r = activation exp $bias : …              %0 = tensor_copy $bias {autocast = …} :
//          bfloat16
//                                                     %r = activation exp %0 : …
//
// Candidates are the results of loads from float32 inputs, what movers make of them, and accesses
// of engines to inputs in sbuf. The rules are those of auto-cast-fp32, but everything else stays
// float32 and gets no cast: an operand that is paired with such a value (tensor_tensor, select,
// concat) must stay float32 too, and its other readers share a cast.
//
// Requires, preserves, termination, cost, numbers: as auto-cast-fp32.

#include "passes/core/common_options.h"
#include "passes/narrow/cast_modes.h"
#include "passes/narrow/narrow_float32.h"

namespace nir {
namespace {

constexpr PassOption options[] = {
    {"mode", PassOption::Choice, "all", all_mode_names,
     "what float32 becomes: bfloat16, float16, float32r or float8e4"},
    {"inline-cast", PassOption::Choice, "on", on_off,
     "off: a cast next to a load is an instruction of its own"},
    profit_option,
};

enum Statistic : unsigned { CastsInserted, BytesInserted, ValuesRetyped };
constexpr PassStatistic statistics[] = {
    {"Number of casts inserted", "casts"},
    {"Number of bytes of casts inserted", "bytes"},
    {"Number of values retyped in place", "values"},
};

class AutoCastInputs final : public FunctionPass {
public:
  explicit AutoCastInputs(const PassOptions &given)
      : options_{cast_mode(given.get("mode")).dtype, given.flag("inline-cast"), true},
        profit_(given.flag("profit")) {}

  bool run(Function &function, PassContext &context) override {
    NarrowingCounts counts;
    const bool changed = narrow_float32(function, context, options_, profit_, counts);
    context.count(CastsInserted, counts.casts);
    context.count(BytesInserted, counts.cast_bytes);
    context.count(ValuesRetyped, counts.values);
    return changed;
  }

private:
  NarrowingOptions options_;
  bool profit_;
};

} // namespace

namespace passes {

extern const PassInfo pass_auto_cast_inputs;
const PassInfo pass_auto_cast_inputs = {
    .name = "auto-cast-inputs",
    .description = "narrows what is read from float32 inputs",
    .options = options,
    .statistics = statistics,
    .create = [](const PassOptions &given) -> std::unique_ptr<Pass> {
      return std::make_unique<AutoCastInputs>(given);
    },
};

} // namespace passes
} // namespace nir
