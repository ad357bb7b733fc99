#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "driver/reduce/reduce_edit.h"

namespace nir {

// The edits of one sort. Every one of them takes something away that no other stage gives back, so
// that reducing ends.
struct ReduceStage {
  std::string_view name; // a plural, for progress
  // The edits that would change something, in program order.
  std::vector<Edit> (*list)(const Module &module);
};

// From what takes most away to what only makes the rest plainer.
std::span<const ReduceStage> reduce_stages();

} // namespace nir
