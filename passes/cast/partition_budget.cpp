#include "passes/cast/partition_budget.h"

#include "ir/support/saturating.h"
#include "passes/core/pass.h"
#include "passes/rewrite/mutate.h"

namespace nir {

std::int64_t PartitionBudget::growth(const Tensor &tensor, DType wanted) const {
  if (tensor.space() != Space::Sbuf)
    return 0;
  // A tensor's bytes fit in 63 bits, and so do its bytes a partition.
  const Target &target = function_.module().target();
  const std::uint64_t now = sbuf_bytes_per_partition(tensor, tensor.dtype(), target);
  const std::uint64_t then = sbuf_bytes_per_partition(tensor, wanted, target);
  return static_cast<std::int64_t>(then) - static_cast<std::int64_t>(now);
}

bool PartitionBudget::overflows(std::int64_t growth) {
  if (growth <= 0)
    return false;
  const auto limit =
      static_cast<std::uint64_t>(function_.module().target().sbuf_bytes_per_partition);
  return saturating_add(sum(), static_cast<std::uint64_t>(growth)) > limit;
}

void PartitionBudget::add(std::int64_t growth) {
  if (sum_)
    *sum_ += static_cast<std::uint64_t>(growth);
}

std::uint64_t PartitionBudget::sum() {
  if (!sum_)
    sum_ = sbuf_bytes_per_partition(function_);
  return *sum_;
}

} // namespace nir
