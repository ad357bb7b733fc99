// cast-op-elimination: removes offloaded (DMA) memory casts. Of numeric casts it knows nothing:
// they are the business of neuron-eliminate-casts.
//
//   turn:  store %n -> $x[…]               into:  store %n -> $y[…]      (fuse_src)
//          offloaded_memcast $x -> $y
//   turn:  offloaded_memcast $x -> $y      into:  %v = load $x : …       (fuse_dst)
//          %v = load $y : …
//
// Requires: a well-formed module; before legal form it declines where that matters. Preserves:
// legal form, order, interfaces. A memcast is real work, so it is never just deleted: its
// conversion moves into a neighbour, or the tensor that it writes is dead and goes with it.
//
// Tensors that are dead go first, so that their readers and writers do not stand in the way; then
// the memcasts are tried in program order, which follows chains of fuse_src, and what stayed in
// reverse order, which follows chains of fuse_dst, and so on until a sweep fuses nothing; then the
// tensors go that were fused away. So a second run finds nothing.
//
// Termination and cost: a sweep follows only one that fused something, and a fusion removes a
// memcast. A sweep is O(uses log uses), whatever it declines.
//
// Numbers: see cast_op_optimizer.cpp. Strict functions and excess-precision=off lose no rounding
// that an author wrote.
#include <algorithm>
#include <vector>

#include "passes/core/common_options.h"
#include "passes/core/pass.h"
#include "passes/offload/cast_op_optimizer.h"
#include "passes/sweep/drop_dead_tensors.h"

namespace nir::passes {
namespace {

enum Statistic : unsigned { FusedSrc, FusedDst, BytesSaved, TensorsDropped, BytesDropped };
constexpr PassStatistic statistics[] = {
    {"Number of memcasts fused (src)", "memcasts"},
    {"Number of memcasts fused (dst)", "memcasts"},
    {"Number of bytes of DMA traffic saved", "bytes"},
    {"Number of tensors dropped", "tensors"},
    {"Number of bytes of tensors dropped", "bytes"},
};

constexpr PassOption options[] = {
    {"excess-precision", PassOption::Choice, "on", on_off,
     "off: fuse only what is exact or what passes inserted"},
    profit_option,
};

// A memcast that stays so far, and why.
struct Candidate {
  Instruction *memcast;
  DeclinedFusion declined;
};

std::vector<Candidate> memcasts_of(Function &function) {
  std::vector<Candidate> memcasts;
  if (!function.may_have(Opcode::OffloadedMemcast))
    return memcasts;
  for (Stmt &stmt : function.statements())
    if (Instruction *inst = dyn_cast<Instruction>(&stmt);
        inst != nullptr && inst->opcode() == Opcode::OffloadedMemcast)
      memcasts.push_back({inst, {}});
  return memcasts;
}

// Leaves those that stay. Returns whether any was fused.
bool sweep(CastOpOptimizer &optimizer, std::vector<Candidate> &memcasts) {
  const std::size_t fused = std::erase_if(memcasts, [&](Candidate &candidate) {
    const auto declined = optimizer.fuse(*candidate.memcast);
    if (declined)
      candidate.declined = *declined;
    return !declined;
  });
  return fused != 0;
}

void report(const std::vector<Candidate> &declined, Function &function, PassContext &context) {
  if (!context.wants_missed())
    return;
  for (const Candidate &candidate : declined)
    context.remark(RemarkClass::Declined, *candidate.memcast,
                   to_string(candidate.declined, function));
}

class CastOpElimination final : public FunctionPass {
public:
  explicit CastOpElimination(const PassOptions &given)
      : settings_{given.flag("excess-precision"), given.flag("profit")} {}

  bool run(Function &function, PassContext &context) override {
    const bool had_dead = drop_dead(function, context);
    std::vector<Candidate> memcasts = memcasts_of(function);
    if (memcasts.empty())
      return had_dead;

    CastOpOptimizer optimizer(function, context, settings_);
    bool forward = true;
    bool any_fused = false;
    while (sweep(optimizer, memcasts)) {
      any_fused = true;
      std::ranges::reverse(memcasts);
      forward = !forward;
    }
    if (!forward)
      std::ranges::reverse(memcasts);
    report(memcasts, function, context);
    context.count(FusedSrc, optimizer.counts().src);
    context.count(FusedDst, optimizer.counts().dst);
    context.count(BytesSaved, optimizer.counts().bytes);
    if (any_fused)
      drop_dead(function, context);
    return had_dead || any_fused;
  }

private:
  static bool drop_dead(Function &function, PassContext &context) {
    const DroppedTensors dropped = drop_dead_tensors(function, &context);
    context.count(TensorsDropped, dropped.tensors);
    context.count(BytesDropped, dropped.bytes);
    return dropped.any();
  }

  FusionSettings settings_;
};

} // namespace

extern const PassInfo pass_cast_op_elimination;
const PassInfo pass_cast_op_elimination = {
    .name = "cast-op-elimination",
    .description =
        "moves the conversion of an offloaded memcast into its producers or its consumers",
    .options = options,
    .statistics = statistics,
    .create = [](const PassOptions &given) -> std::unique_ptr<Pass> {
      return std::make_unique<CastOpElimination>(given);
    },
    .idempotent = true,
};

} // namespace nir::passes
