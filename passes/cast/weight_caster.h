#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/cast/partition_budget.h"

namespace nir {

// Casts const tensors at compile time, each once per dtype (passes, dtype-mutator): the cast is a
// new const tensor `$w.bfloat16`, which later readers share.
//
// The caller moves readers over; `finish` then drops the consts that nobody reads any more. A splat
// all of whose readers have moved to one dtype is retyped instead and keeps its name.
class WeightCaster {
public:
  WeightCaster(Function &function, PartitionBudget &budget)
      : function_(function), budget_(budget) {}

  // Why the const cannot be cast to `dtype`, a constant text; nullptr where it can. `moves_last`:
  // the reader about to move is the last, so the const itself goes.
  const char *why_stays(const Tensor &weight, DType dtype, bool exact_ints, bool moves_last);

  // The const that holds the content of `weight`, cast as a tensor_copy with these attributes
  // casts. `why_stays` must have agreed.
  Tensor &cast(Tensor &weight, DType dtype, bool exact_ints);

  // To be called once, after the last reader has moved.
  void finish();

  // Of all consts that were made.
  std::uint64_t bytes_cast() const { return bytes_cast_; }

private:
  struct Cast {
    DType dtype;
    bool exact_ints;
    Tensor *result;
  };
  Tensor *find(const Tensor &weight, DType dtype, bool exact_ints) const;
  Name fresh_name(const Tensor &weight, DType dtype);
  bool takes_over(const Tensor &weight) const;

  Function &function_;
  PartitionBudget &budget_;
  std::unordered_map<const Tensor *, std::vector<Cast>> casts_; // asked only, never walked
  std::vector<Tensor *> cast_;                // the keys of casts_, in order of their first cast
  std::unordered_set<const Tensor *> erased_; // by finish; asked only
  std::unordered_set<std::string> names_;     // of the function's tensors; empty until needed
  std::uint64_t bytes_cast_ = 0;
};

} // namespace nir
