#pragma once

#include <cstdint>
#include <optional>

#include "ir/core/module.h"

namespace nir {

// The budget of a partition: the bytes that the function's sbuf tensors take of it, without reuse
// and without values (passes, neuron-eliminate-casts). Summed up when first asked, then kept by
// what its user says has changed.
class PartitionBudget {
public:
  static constexpr const char *overflow = "the function's sbuf tensors would overflow a partition";

  explicit PartitionBudget(const Function &function) : function_(function) {}

  // What the tensor would take more if it were of `wanted`; negative where it would take less, 0
  // where it does not lie in sbuf.
  std::int64_t growth(const Tensor &tensor, DType wanted) const;
  // Whether that many bytes more would pass the target's number; never where they are none.
  bool overflows(std::int64_t growth);
  bool overflows(const Tensor &tensor, DType wanted) { return overflows(growth(tensor, wanted)); }
  // The sbuf tensors take that much more, or less, from now on.
  void add(std::int64_t growth);

private:
  std::uint64_t sum();
  const Function &function_;
  std::optional<std::uint64_t> sum_;
};

} // namespace nir
