#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/core/module.h"

namespace nir {

// A hash of everything that the module's text shows: equal modules have equal hashes, in every
// process. O(module), much faster than printing. Renumbers functions whose orders are stale.
std::uint64_t structural_hash(Module &module);

// Beside it, hashes of single pieces of a module, so that the
// place where two states of it begin to differ can be found without keeping either as text.
//
// The pieces are, in order of the text: the module's header, then for each function its own header,
// its tensors and its statements. Where two states have equal pieces up to some index, they print
// alike up to there. Renumbers functions whose orders are stale.
std::vector<std::uint64_t> piece_hashes(Module &module);

// What a piece is of: at most one of the two is set; neither for headers, and behind the end.
struct Piece {
  Tensor *tensor = nullptr;
  Stmt *stmt = nullptr;
};
Piece piece_at(Module &module, std::size_t index);

} // namespace nir
