#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>

#include "passes/offload/fusion.h"
#include "passes/rewrite/tensor_order.h"

namespace nir {

// What was fused so far. Bytes are those of DMA that are no longer moved: what the memcasts read
// and wrote, less what loads and stores move more in the dtype that they find now; they saturate.
struct FusionCounts {
  std::uint64_t src = 0;
  std::uint64_t dst = 0;
  std::uint64_t bytes = 0;
};

struct FusionSettings {
  bool excess_precision; // off: only what is exact or what passes inserted may go
  bool profit;           // on: what makes bytes moved grow stays
};

// Moves the conversion of `Y = offloaded_memcast(X)` into a neighbour: into the instructions that
// write X, which then write Y (fuse_src), or into those that read Y, which then read X (fuse_dst).
// The conditions are those of the contract (passes, cast-op-elimination), one function each in
// fuse_src.cpp and fuse_dst.cpp. Meant for all memcasts of one function, while nothing else changes
// it; what it learns about a tensor is kept, so that looking at all of them, in any order, costs
// O(uses log uses) altogether.
class CastOpOptimizer {
public:
  // Numbers the statements.
  CastOpOptimizer(Function &function, PassContext &context, FusionSettings settings)
      : context_(context), order_(function), settings_(settings) {}

  // Fuses the memcast in the direction that is exact, else into the writers of X, and erases it,
  // leaving an applied remark; X or Y then has no uses. Otherwise changes nothing and says why.
  std::optional<DeclinedFusion> fuse(Instruction &memcast);

  const FusionCounts &counts() const { return counts_; }

private:
  FusionVerdict judge_src(const FusionCandidate &candidate);
  FusionVerdict judge_dst(const FusionCandidate &candidate);
  FusionVerdict permit(const FusionCandidate &candidate, FusionVerdict verdict) const;
  FusionRefusal x_has_another_reader(const FusionCandidate &candidate);
  FusionRefusal y_has_another_writer(const FusionCandidate &candidate);
  FusionRefusal x_is_overwritten(const FusionCandidate &candidate);

  void fuse_src(const FusionCandidate &candidate);
  void fuse_dst(const FusionCandidate &candidate, bool exact);
  void count(const FusionCandidate &candidate, bool into_writers);

  PassContext &context_;
  TensorOrder order_; // only its writers are asked: fuse_dst adds readers to X without forgetting X
  std::unordered_set<const Tensor *> shared_; // tensors with more than one reader; asked only
  FusionCounts counts_;
  FusionSettings settings_;
};

} // namespace nir
