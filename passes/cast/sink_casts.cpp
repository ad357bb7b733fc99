// sink-casts: moves a cast towards its readers, past what only moves elements.
//
//   turn:  %w = tensor_copy %n : float32[…]          into:  %r = reshape %n : bfloat16[…]
//          %r = reshape %w : float32[…]                     %w = tensor_copy %r : float32[…]
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

class SinkCasts : public FunctionPass {
public:
  bool run(Function &function, PassContext &context) override {
    return CastMotion(function, context, CastDirection::Sink).run();
  }
};

} // namespace

extern const PassInfo pass_sink_casts{
    .name = "sink-casts",
    .description = "moves a cast down past movers where that makes bytes moved fewer",
    .options = {&profit_option, 1}, // it never moves a cast otherwise
    .statistics = statistics,
    .create = [](const PassOptions &) -> std::unique_ptr<Pass> {
      return std::make_unique<SinkCasts>();
    }};

} // namespace nir::passes
