// Reading and writing the elements of values and tensors in blocks, in whatever form they are held.
//
// An element has a dtype, by which the language knows it, and a held dtype, in which its buffer
// stores it. They differ where a rounding is left out (RoundingOverride: mostly float32) and in the
// reference evaluation (float64).
#pragma once

#include <array>
#include <memory>

#include "ir/semantics/eval_box.h"
#include "ir/semantics/eval_cast.h"

namespace nir::eval {

// Elements that are converted at a time: few enough to stay in the nearest cache.
constexpr std::int64_t block_size = 2048;

// The elements that an operand or a destination names.
struct View {
  std::byte *data = nullptr;
  DType tensor_dtype{}; // of the value or tensor
  DType held{};         // of its buffer
  DType dtype{};        // as the instruction sees it: another one under a reinterpreting access
  Box box;

  // The dtype of the codes that reading gives before any cast, see Source.
  DType read_dtype() const { return dtype == tensor_dtype ? held : dtype; }
};

// Room for a block of the widest elements, twice: casts go to and fro between the two.
struct Scratch {
  alignas(64) std::array<std::byte, block_size * 8> a;
  alignas(64) std::array<std::byte, block_size * 8> b;
};

// Casts, one after the other. Each step is from the dtype that the codes have then; that this need
// not be what the step before made of them is how bytes are reinterpreted.
class CastChain {
public:
  // Nothing where the dtypes are equal.
  void add(DType from, DType to, CastRule rule);
  bool empty() const { return count_ == 0; }
  // The result is in `scratch`, or is `codes` where there is no step. `codes` may be scratch.a.
  const std::byte *run(const std::byte *codes, std::size_t count, Scratch &scratch) const;
  // The result is in `out`, which nothing else overlaps.
  void run_into(const std::byte *codes, std::size_t count, Scratch &scratch, std::byte *out) const;

private:
  struct Step {
    DType from;
    DType to;
    CastRule rule;
  };
  const std::byte *run_steps(unsigned steps, const std::byte *codes, std::size_t count,
                             Scratch &scratch) const;
  std::array<Step, 4> steps_{};
  unsigned count_ = 0;
};

// The elements of a view in row-major order, cast.
class Source {
public:
  Source() = default;
  // Codes of view.read_dtype().
  explicit Source(const View &view);
  Source &then(DType from, DType to, CastRule rule) {
    chain_.add(from, to, rule);
    return *this;
  }
  // Elements start, …, start + count - 1, at most block_size of them; valid until the next read
  // with the same scratch or a write to the buffer.
  const std::byte *read(std::int64_t start, std::int64_t count, Scratch &scratch) const;

private:
  const std::byte *data_ = nullptr;
  unsigned item_ = 0;
  bool contiguous_ = false;
  Box box_;
  CastChain chain_;
};

// How an instruction rounds what it writes.
struct Rounding {
  bool omitted = false;   // the destination's rounding is left out
  bool reference = false; // every rounding is
};

// The elements of a destination.
class Sink {
public:
  // For codes of `from`.
  Sink(const View &view, DType from, CastRule rule, Rounding rounding);
  // Where elements from `start` on can be written in place, as they are; nullptr where they cannot.
  std::byte *in_place(std::int64_t start) const;
  void write(std::int64_t start, std::int64_t count, const std::byte *codes,
             Scratch &scratch) const;

private:
  std::byte *data_;
  unsigned item_;
  bool contiguous_;
  Box box_;
  CastChain chain_;
};

} // namespace nir::eval
