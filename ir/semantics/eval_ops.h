// What each opcode does with its operands (language reference, Instructions).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ir/core/instruction.h"
#include "ir/isa/target.h"
#include "ir/semantics/eval_alu.h"
#include "ir/semantics/eval_view.h"

namespace nir::eval {

// Buffers of one thread.
struct Workspace {
  std::array<Scratch, 4> operands;
  Scratch result;
  alignas(64) std::array<std::byte, block_size * 8> lane;
  alignas(64) std::array<std::byte, block_size * 8> constant[2];
};

// Splits work among threads. What each element becomes does not depend on the split.
class Workers {
public:
  explicit Workers(unsigned threads);
  // Calls `work(first, last, workspace)` for ranges that make up 0..total. One `cost` is about a
  // nanosecond's work for an element; small work stays on this thread.
  void run(std::int64_t total, std::int64_t cost,
           const std::function<void(std::int64_t, std::int64_t, Workspace &)> &work);
  Workspace &workspace() { return *workspaces_[0]; }

private:
  std::vector<std::unique_ptr<Workspace>> workspaces_;
};

// One execution of an instruction.
struct Execution {
  const Instruction &inst;
  std::span<const View> operands;
  View dst;
  Rounding rounding;
  const Target &target;
  Workers &workers;

  DType carrier(Lane lane) const { return lane_dtype(lane); }
  Lane float_lane() const { return rounding.reference ? Lane::Double : Lane::Float; }
  // How an arithmetic result is written.
  CastRule exact() const { return rounding.reference ? CastRule::Reference : CastRule::ExactInts; }
};

// The dtype in which the operands of an instruction meet, and so the integer dtype in which it
// computes; see tensor_scalar for what its scalars are cast to.
DType meeting_dtype(const Instruction &inst);

// Elements of `view`, which are cast to `common` first where they have another dtype, in the lane.
Source lane_source(const Execution &run, const View &view, DType common, Lane lane);

// Moves all elements of `source`, codes of `from`, to `dst`.
void copy_elements(const Execution &run, const Source &source, DType from, const View &dst,
                   CastRule rule);

// The opcodes, in groups. An instruction whose destination overlaps an operand otherwise than
// element by element must be given another destination.
void run_arithmetic(const Execution &run); // activation, tensor_scalar, tensor_tensor
void run_select(const Execution &run);
void run_reduce(const Execution &run);
void run_matmul(const Execution &run);
void run_move(const Execution &run); // copies, movers, DMA, iota, memset

// Bytes that the execution takes beside its operands and its destination, saturating.
std::uint64_t matmul_scratch_bytes(const Instruction &inst, bool reference);

// Whether element i of the result depends on element i of each operand that has its shape, and on
// no other element of it: then overlap in place does no harm.
bool is_elementwise(Opcode opcode);

} // namespace nir::eval
