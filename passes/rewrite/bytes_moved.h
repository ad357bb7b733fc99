#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "ir/core/module.h"

namespace nir {

// Bytes moved: those that an instruction reads and writes, times its dynamic instances. A number
// costs nothing; a destination that `accumulate` reads, and an access that an opaque may write,
// count twice. All sums saturate (passes, Profit).
std::uint64_t bytes_moved(const Instruction &inst);
std::uint64_t bytes_moved(const Function &function);
std::uint64_t bytes_moved(const Module &module);

// What one operand or destination contributes, if its elements were of `dtype`.
std::uint64_t bytes_moved(const Use &use, DType dtype);
// What the definition of a value, if it is one, and all uses of a value or tensor contribute, if
// the object were of `dtype`.
std::uint64_t bytes_moved_through(const Value &object, DType dtype);
// What a value's definition contributes, if it wrote `dtype`.
std::uint64_t bytes_written(const Instruction &inst, DType dtype);

// From how many uses on an answer about an object is worth to be remembered: below, to look at all
// of them again costs less.
inline constexpr unsigned min_remembered_uses = 9;

// bytes_moved_through with a memory, so that an object with many users is walked once and not once
// per question.
class BytesMovedThrough {
public:
  std::uint64_t operator()(const Value &object, DType dtype);
  // To be called when the object's uses have changed; its dtype does not matter.
  void forget(const Value &object) { per_byte_.erase(&object); }

private:
  std::unordered_map<const Value *, std::uint64_t> per_byte_; // for elements of one byte
};

// The bytes that a rewrite touches, before and after it. With `profit=on` a pass declines a rewrite
// that makes them grow.
struct BytesChange {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  bool grows() const { return after > before; }
};
// `bytes moved would grow from 128 to 192`, the reason of such a refusal.
std::string to_string(const BytesChange &change);

} // namespace nir
