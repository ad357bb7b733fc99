// Runs a function on concrete inputs (language reference, Instructions and Arithmetic).
//
// Every float step is computed in fp32, rounded to nearest even, never fused, and rounded once more
// when the instruction writes. The bits of a result depend on the function and its inputs only, not
// on the number of threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <tl/expected.hpp>

#include "ir/core/module.h"

namespace nir {

// The bytes of one tensor: elements in row-major order, each little-endian.
struct HostTensor {
  const Type *type = nullptr;
  std::vector<std::byte> bytes;
};

// What stands in for unknown code.
enum class OpaqueMode : std::uint8_t {
  Error,    // nothing: the function is refused
  Zero,     // zeros, in its result, its destination and every access that it may write
  Identity, // result and destination get the first operand of their shape (else zeros), as a copy
            // would; what else it may write stays as it is
  Hash,     // numbers that depend on its name and on all that it reads; written as by Zero
};

// Instructions whose destination rounding is left out. What such an instruction writes, a value or
// a tensor, is held in fp32 where its dtype is a float one, or in the dtype that `instead` names:
// the instruction rounds to that, and readers find codes of it. Other instructions that write such
// a tensor round as they say, and the rounded number is cast. What leaves the function has the
// dtype of its type all the same.
struct RoundingOverride {
  std::unordered_set<const Instruction *> instructions;
  std::unordered_map<const Instruction *, DType> instead; // float dtypes, of some of them
  // Of memsets, the numbers that they write instead: codes of their dtype in `instead`.
  std::unordered_map<const Instruction *, std::uint64_t> numbers;
};

struct EvalOptions {
  OpaqueMode opaque = OpaqueMode::Error;
  // No intermediate rounding: what has a float dtype is computed and held in float64, integers as
  // they are. Outputs of float dtypes come as float64.
  bool reference = false;
  // NaNs lose their payloads where they arise: in consts, and in whatever an instruction writes.
  // For comparisons of programs that may differ in payloads.
  bool canonical_nans = false;
  // Bytes. A function that may need more is refused before anything is computed.
  std::uint64_t memory_limit = std::uint64_t{4} << 30;
  unsigned threads = 1;
  const RoundingOverride *omitted = nullptr;
  // Set by somebody else to end the evaluation early, with an error.
  const std::atomic<bool> *stop = nullptr;
};

struct EvalError {
  SourceOffset source = no_source; // of the instruction at fault, where there is one
  std::string message;
};

// The outputs of `function`, in order of declaration, for `inputs`, likewise. The module must be
// well-formed (VerifyLevel::Structure). Errors: inputs that do not fit the interface, an opaque
// without a stand-in, a matmul of x4 containers, operands without a promotion path, too much
// memory, an interruption. All but the last are found before anything is computed.
tl::expected<std::vector<HostTensor>, EvalError> evaluate(const Function &function,
                                                          std::span<const HostTensor> inputs,
                                                          const EvalOptions &options = {});

// An upper bound of the bytes that `evaluate` needs, inputs and outputs included, saturating; the
// errors are those of `evaluate` that need no inputs, but for the limit.
tl::expected<std::uint64_t, EvalError> required_memory(const Function &function,
                                                       const EvalOptions &options = {});

// Why that many bytes are refused; empty where they are not.
std::string memory_refusal(const Function &function, std::uint64_t needed,
                           const EvalOptions &options);

} // namespace nir
