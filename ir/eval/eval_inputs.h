// Inputs for the evaluator, made up: the same on every machine for the same dtype, name and seed.
#pragma once

#include <string_view>

#include "ir/eval/evaluator.h"

namespace nir {

enum class InputKind : std::uint8_t {
  // Numbers as they come in practice: floats mostly of a magnitude between 1/16 and 4, of both
  // signs; integers between -100 and 100, or 0 and 200, many of them small.
  Random,
  // Half of them, here and there, from `edge_codes`, the others random.
  Edges,
};

// The codes of `dtype` at which casts and arithmetic turn: zeros, ones, subnormals, infinities and
// NaNs of both signs, the largest finite numbers of every float format, halfway points between its
// numbers, and the extremes of every integer dtype, as far as `dtype` has them; each once, in a
// fixed order. Not for x4 containers.
std::vector<std::uint64_t> edge_codes(DType dtype);

// Elements of a stream that `seed` names: element i has the same code however many are asked for.
class InputStream {
public:
  InputStream(DType dtype, std::uint64_t seed, InputKind kind);
  void fill(std::uint64_t first, std::size_t count, std::byte *out) const;

private:
  std::uint64_t bits_of(std::uint64_t index) const;
  void fill_elements(std::uint64_t first, std::size_t count, std::byte *out) const;

  DType dtype_;
  DType element_; // of a container; else the dtype itself
  std::uint64_t seed_;
  std::vector<std::uint64_t> edges_; // of the element; empty where all is random
};

// A tensor of the type; `name` makes tensors of one seed differ.
HostTensor make_input(const Type *type, std::string_view name, std::uint64_t seed, InputKind kind);

} // namespace nir
