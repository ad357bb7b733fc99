// drop-dead-tensors: removes tensors whose content can reach nobody, with everything that exists
// for them only, and loops whose body is empty.
//
// Requires: a well-formed module. Preserves: legal form, the interface.
//
// Liveness goes backwards from what is seen outside. Alive are
//   - input and output tensors, and every tensor and value that a call or opaque is given;
//   - calls, opaques, and every instruction that writes a live tensor;
//   - what a live instruction reads: its tensors, and the instructions that define its values.
// Every other internal or const tensor is dead. Tensors that only feed each other in a circle are
// never reached, and so they go.
//
// Of the instructions that are not alive, those go that
//   - read or write a dead tensor,
//   - use the value of one that goes,
//   - define a value whose users, at least one, all go.
// A value without any user that touches no dead tensor was dead before: it is dce's business.
// `fixed` keeps nothing alive: nobody sees that rounding.
//
// The search for what is alive ends with the last tensor that it could find, which most often is
// long before it has seen every statement.
//
// Termination and cost: a statement or tensor is marked alive once and then its operands or writers
// are looked at once; a statement is doomed once; erasing is one sweep in reverse program order.
// O(statements + operands), no recursion. What remains has no dead tensor, so a second run finds
// nothing.
//
// Numbers: nothing that remains computes anything else.

#include "passes/sweep/drop_dead_tensors.h"

#include <vector>

#include "ir/support/saturating.h"
#include "ir/support/scratch_map.h"
#include "passes/core/pass.h"
#include "passes/rewrite/mutate.h"
#include "passes/rewrite/reverse_sweep.h"

namespace nir {
namespace {

class TensorDropper {
public:
  TensorDropper(Function &function, PassContext *context)
      : function_(function), context_(context) {}

  DroppedTensors run() {
    const std::vector<Tensor *> candidates = non_interface_tensors();
    num_unproven_ = candidates.size();
    if (!candidates.empty())
      find_dead(candidates);
    if (!dead_.empty() || function_.num_empty_loops() != 0)
      sweep();
    for (Tensor *tensor : dead_)
      drop(*tensor);
    return dropped_;
  }

private:
  std::vector<Tensor *> non_interface_tensors() const {
    std::vector<Tensor *> tensors;
    for (Tensor *tensor = function_.first_tensor(); tensor != nullptr; tensor = tensor->next())
      if (!tensor->is_interface())
        tensors.push_back(tensor);
    return tensors;
  }

  void find_dead(const std::vector<Tensor *> &candidates) {
    start();
    while (!worklist_.empty() && num_unproven_ != 0) {
      Instruction *inst = take();
      for (const Use &use : inst->uses_of_operands())
        mark_operand(use);
    }
    if (num_unproven_ == 0) {
      state_.clear();
      return;
    }
    for (Tensor *tensor : candidates)
      if (live_tensors_.find(tensor) == nullptr)
        dead_.push_back(tensor);
    for (Tensor *tensor : dead_)
      for (Use &use : tensor->uses())
        doom(*use.user());
    while (!worklist_.empty()) {
      Instruction *inst = take();
      for (Use &use : inst->uses())
        doom(*use.user());
    }
  }

  Instruction *take() {
    if (worklist_.size() > prefetch_steps)
      prefetch_object(worklist_[worklist_.size() - 1 - prefetch_steps]);
    Instruction *inst = worklist_.back();
    worklist_.pop_back();
    return inst;
  }

  // Numbers the statements and marks the roots of liveness.
  void start() {
    function_.ensure_orders();
    state_.assign(std::size_t{function_.last_order()} + 1, State::Unknown);
    if (function_.may_have_trait(op_trait::NeverDead))
      for (Stmt &stmt : function_.statements())
        if (Instruction *inst = dyn_cast<Instruction>(&stmt);
            inst != nullptr && inst->has_trait(op_trait::NeverDead))
          mark(*inst);
    for (Tensor *tensor = function_.first_tensor(); tensor != nullptr; tensor = tensor->next())
      if (tensor->is_interface())
        mark(*tensor);
  }

  void mark(Instruction &inst) {
    State &state = state_[inst.order()];
    if (state == State::Alive)
      return;
    state = State::Alive;
    worklist_.push_back(&inst);
  }

  void mark(Tensor &tensor) {
    if (!live_tensors_.try_emplace(&tensor, true).second)
      return;
    if (!tensor.is_interface())
      --num_unproven_;
    if (num_unproven_ == 0)
      return; // nothing is left to find
    for (Use &use : tensor.uses())
      if (writes(use))
        mark(*use.user());
  }

  // A destination of a live instruction is alive, or the instruction would not be.
  void mark_operand(const Use &use) {
    if (Tensor *tensor = use.tensor())
      mark(*tensor);
    else if (Instruction *def = use.defining_instruction())
      mark(*def);
  }

  void doom(Instruction &inst) {
    State &state = state_[inst.order()];
    if (state == State::Doomed)
      return;
    assert(state == State::Unknown && "a live instruction reads nothing that is dead");
    state = State::Doomed;
    worklist_.push_back(&inst);
  }

  bool is_doomed(const Instruction &inst) const {
    return !state_.empty() && state_[inst.order()] == State::Doomed;
  }

  // Users go before definitions, so that a value is free when the sweep comes to it.
  void sweep() {
    dropped_.loops = sweep_backwards(function_, [this](Instruction &inst) {
      if (is_doomed(inst))
        erase(inst);
    });
  }

  void erase(Instruction &inst) {
    if (context_ != nullptr && context_->wants_applied() && casts(inst))
      context_->remark(RemarkClass::Exact, inst,
                       "removed " + describe(inst) + ", which only feeds dead tensors");
    for (Use &use : inst.operands()) {
      Instruction *def = use.defining_instruction();
      use.set(nullptr);
      if (def != nullptr && def->use_empty() && state_[def->order()] == State::Unknown)
        state_[def->order()] = State::Doomed;
    }
    inst.erase();
    ++dropped_.instructions;
  }

  static bool casts(const Instruction &inst) {
    return is_cast(inst) || inst.opcode() == Opcode::OffloadedMemcast;
  }

  void drop(Tensor &tensor) {
    ++dropped_.tensors;
    dropped_.bytes =
        saturating_add(dropped_.bytes, static_cast<std::uint64_t>(tensor.type()->size_in_bytes()));
    tensor.erase();
  }

  enum class State : std::uint8_t { Unknown, Alive, Doomed };

  Function &function_;
  PassContext *context_;
  std::vector<State> state_; // by Stmt::order; empty where no tensor is dead
  LargeVector<Instruction *> worklist_;
  std::size_t num_unproven_ = 0; // tensors outside the interface not known to be alive
  ScratchMap<const Tensor *, bool> live_tensors_;
  std::vector<Tensor *> dead_; // in order of declaration
  DroppedTensors dropped_;
};

enum Statistic : unsigned { TensorsDropped, BytesDropped, InstructionsRemoved, LoopsRemoved };
constexpr PassStatistic statistics[] = {
    {"Number of tensors dropped", "tensors"},
    {"Number of bytes of tensors dropped", "bytes"},
    {"Number of instructions removed", "instructions"},
    {"Number of loops removed", "loops"},
};

class DropDeadTensors final : public FunctionPass {
public:
  bool run(Function &function, PassContext &context) override {
    const DroppedTensors dropped = drop_dead_tensors(function, &context);
    context.count(TensorsDropped, dropped.tensors);
    context.count(BytesDropped, dropped.bytes);
    context.count(InstructionsRemoved, dropped.instructions);
    context.count(LoopsRemoved, dropped.loops);
    return dropped.any();
  }
};

} // namespace

DroppedTensors drop_dead_tensors(Function &function, PassContext *context) {
  return TensorDropper(function, context).run();
}

namespace passes {

extern const PassInfo pass_drop_dead_tensors;
const PassInfo pass_drop_dead_tensors = {
    .name = "drop-dead-tensors",
    .description =
        "Removes tensors that nothing alive reads, what only feeds them, and empty loops",
    .options = {},
    .statistics = statistics,
    .create = [](const PassOptions &) -> std::unique_ptr<Pass> {
      return std::make_unique<DropDeadTensors>();
    },
    .idempotent = true,
};

} // namespace passes
} // namespace nir
