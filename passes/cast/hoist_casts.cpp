// hoist-casts: moves a cast towards its producer, past what only moves elements.
//
//   turn:  %r = reshape %x : float32[…]              into:  %c = tensor_copy %x : bfloat16[…]
//          %n = tensor_copy %r : bfloat16[…]                %r = reshape %c : bfloat16[…]
//
// Requires: verified IR. Preserves: legal form, interfaces. All is in passes/cast/cast_motion.h.
#include "passes/cast/cast_motion.h"
#include "passes/core/common_options.h"

namespace nir::passes {
namespace {

constexpr PassStatistic statistics[] = {
    {"Number of moves of casts past a mover", "moves"},
    {"Number of bytes moved saved", "bytes"},
};

class HoistCasts : public FunctionPass {
public:
  bool run(Function &function, PassContext &context) override {
    return CastMotion(function, context, CastDirection::Hoist).run();
  }
};

} // namespace

extern const PassInfo pass_hoist_casts{
    .name = "hoist-casts",
    .description = "moves a cast up past movers where that makes bytes moved fewer",
    .options = {&profit_option, 1}, // it never moves a cast otherwise
    .statistics = statistics,
    .create = [](const PassOptions &) -> std::unique_ptr<Pass> {
      return std::make_unique<HoistCasts>();
    }};

} // namespace nir::passes
