#include "ir/eval/eval_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/numeric/promotion.h"
#include "ir/print/printer.h"
#include "ir/semantics/eval_ops.h"
#include "ir/support/saturating.h"

namespace nir::eval {
namespace {

// Why the instruction cannot be evaluated; empty where it can.
std::string refusal(const Instruction &inst, const EvalOptions &options) {
  switch (inst.opcode()) {
  case Opcode::Opaque:
    if (options.opaque == OpaqueMode::Error)
      return fmt::format("opaque \"{}\" cannot be evaluated: nothing stands in for it",
                         inst.opaque_name());
    return {};
  case Opcode::TensorTensor:
  case Opcode::Select: {
    const unsigned first = inst.opcode() == Opcode::Select ? 1 : 0;
    const DType a = inst.operand(first).dtype();
    const DType b = inst.operand(first + 1).dtype();
    if (a == DType::Float8E8m0fnu && b == a)
      return no_promotion_path(a, b);
    const auto common = promote_type(a, b);
    return common ? std::string() : common.error();
  }
  case Opcode::Matmul:
    for (const Use &use : inst.operands()) {
      if (is_x4_dtype(use.dtype()))
        return fmt::format("matmul of {} is not evaluated in this version", dtype2str(use.dtype()));
      if (!inst.function()->module().target().matmul_operand_dtype(use.dtype()))
        return fmt::format("matmul cannot multiply {}", dtype2str(use.dtype()));
    }
    return {};
  default:
    return {};
  }
}

std::uint64_t bytes_of(const Value &value, DType held) {
  std::uint64_t bytes = 0;
  const auto count = static_cast<std::uint64_t>(value.type()->num_elements());
  return __builtin_mul_overflow(count, std::uint64_t{sizeinbytes(held)}, &bytes) ? ~std::uint64_t{0}
                                                                                 : bytes;
}

std::uint64_t elements_of(std::span<const std::int64_t> shape) {
  std::uint64_t count = 1;
  for (const std::int64_t dim : shape)
    count *= static_cast<std::uint64_t>(dim); // an access's shape is a type's
  return count;
}

class PlanBuilder {
public:
  PlanBuilder(const Function &function, const EvalOptions &options, const Plans &callees)
      : options_(options), callees_(callees) {
    plan_->function = &function;
  }

  tl::expected<std::unique_ptr<FunctionPlan>, EvalError> build() {
    add_tensors();
    for (const Stmt *stmt = plan_->function->body().first(); stmt != nullptr; stmt = next(stmt))
      if (auto added = add_statement(*stmt); !added)
        return tl::unexpected(added.error());
    add_lifetimes();
    plan_->peak = peak();
    return std::move(plan_);
  }

private:
  std::uint32_t num_steps() const { return static_cast<std::uint32_t>(plan_->steps.size()); }

  std::uint32_t add_slot(const Value &value, DType held) {
    const auto slot = static_cast<std::uint32_t>(plan_->slots.size());
    plan_->slots.push_back({&value, held});
    slot_of_.emplace(&value, slot);
    first_step_.push_back(no_slot);
    last_stmt_.push_back(nullptr);
    return slot;
  }

  void add_tensors() {
    const Function &function = *plan_->function;
    for (const Tensor *tensor = function.first_tensor(); tensor != nullptr;
         tensor = tensor->next()) {
      const bool written = tensor->role() == Role::Internal || tensor->role() == Role::Output;
      const DType held =
          written ? held_dtype(tensor->dtype(), false, options_.reference) : tensor->dtype();
      add_slot(*tensor, held);
    }
    for (const Tensor *tensor : function.interface())
      plan_->interface.push_back(slot_of_.at(tensor));
  }

  // Program order; the ends of loops become steps on the way.
  const Stmt *next(const Stmt *stmt) {
    if (const auto *loop = dyn_cast<Loop>(stmt))
      if (!loop->body().empty())
        return loop->body().first();
    while (stmt != nullptr && stmt->next() == nullptr) {
      stmt = stmt->parent_loop();
      if (stmt != nullptr)
        end_loop(*stmt);
    }
    return stmt == nullptr ? nullptr : stmt->next();
  }

  void end_loop(const Stmt &loop) {
    end_step_.emplace(&loop, num_steps());
    plan_->steps.push_back(
        {.kind = Step::Kind::EndLoop, .stmt = &loop, .body = body_of_.at(&loop)});
  }

  tl::expected<void, EvalError> add_statement(const Stmt &stmt) {
    if (const auto *loop = dyn_cast<Loop>(&stmt)) {
      if (loop->body().empty()) // nothing happens in it
        return {};
      begin_step_.emplace(loop, num_steps());
      plan_->steps.push_back({.kind = Step::Kind::EnterLoop, .stmt = loop});
      body_of_.emplace(loop, num_steps());
      return {};
    }
    const auto &inst = *cast<Instruction>(&stmt);
    if (std::string message = refusal(inst, options_); !message.empty())
      return tl::unexpected(EvalError{inst.source(), std::move(message)});
    add_instruction(inst);
    return {};
  }

  void add_instruction(const Instruction &inst) {
    const bool omits =
        options_.omitted != nullptr && options_.omitted->instructions.contains(&inst);
    Step step{.omits_rounding = omits,
              .stmt = &inst,
              .first_use = static_cast<std::uint32_t>(plan_->use_slots.size())};
    begin_step_.emplace(&inst, num_steps());
    end_step_.emplace(&inst, num_steps());
    for (const Use &use : inst.uses_of_operands())
      plan_->use_slots.push_back(add_use(inst, use));
    if (inst.defines_value()) {
      step.result = add_slot(inst, held_dtype_of(inst.dtype(), inst, omits));
      last_stmt_[step.result] = &inst;
    }
    if (omits && inst.has_dst() && !inst.dst()->reinterprets())
      hold_tensor(inst);
    if (inst.opcode() == Opcode::Call)
      share_outputs(inst, step);
    plan_->steps.push_back(step);
  }

  void hold_tensor(const Instruction &writer) {
    Slot &tensor = plan_->slots[plan_->use_slots.back()];
    tensor.held = held_dtype_of(tensor.value->dtype(), writer, true);
  }

  DType held_dtype_of(DType dtype, const Instruction &inst, bool omits) const {
    if (omits && !options_.reference)
      if (const auto found = options_.omitted->instead.find(&inst);
          found != options_.omitted->instead.end())
        return found->second;
    return held_dtype(dtype, omits, options_.reference);
  }

  // A tensor that a callee holds otherwise is held so by its caller as well: they share the memory.
  void share_outputs(const Instruction &call, const Step &step) {
    const FunctionPlan &callee = callees_.of(*call.callee());
    for (const Use &use : call.operands()) {
      const Slot &slot = callee.slots[callee.interface[use.index()]];
      const bool output = use.index() >= callee.function->num_inputs();
      if (output && slot.held != slot.value->dtype() && !use.reinterprets())
        plan_->slots[plan_->use_slots[step.first_use + use.index()]].held = slot.held;
    }
  }

  std::uint32_t add_use(const Instruction &inst, const Use &use) {
    if (isa<Immediate>(use.value()))
      return no_slot;
    const std::uint32_t slot = slot_of_.at(use.value());
    const auto *def = dyn_cast<Instruction>(use.value());
    const Block &scope = def != nullptr ? *def->parent() : plan_->function->body();
    // Until the statement of its own block that holds the last user has ended.
    last_stmt_[slot] = ancestor_in_block(const_cast<Instruction *>(&inst), &scope);
    if (first_step_[slot] == no_slot)
      first_step_[slot] = begin_step_.at(last_stmt_[slot]);
    return slot;
  }

  // Whether the function's own run takes memory for the slot.
  bool takes_memory(std::uint32_t slot) const {
    const auto *tensor = dyn_cast<Tensor>(plan_->slots[slot].value);
    return tensor == nullptr || !tensor->is_interface();
  }

  struct Event {
    std::uint32_t step;
    std::uint32_t slot;
  };

  void add_lifetimes() {
    std::vector<Event> takes;
    std::vector<Event> gives;
    for (std::uint32_t slot = 0; slot < plan_->slots.size(); ++slot) {
      if (!takes_memory(slot) || last_stmt_[slot] == nullptr)
        continue;
      if (isa<Tensor>(plan_->slots[slot].value))
        takes.push_back({first_step_[slot], slot});
      gives.push_back({end_step_.at(last_stmt_[slot]), slot});
    }
    add_events(std::move(takes), &Step::takes, plan_->takes);
    add_events(std::move(gives), &Step::gives, plan_->gives);
  }

  void add_events(std::vector<Event> events, ListRange Step::*range,
                  std::vector<std::uint32_t> &list) {
    std::ranges::stable_sort(events, {}, &Event::step);
    for (const Event &event : events) {
      ListRange &of_step = plan_->steps[event.step].*range;
      if (of_step.size++ == 0)
        of_step.begin = static_cast<std::uint32_t>(list.size());
      list.push_back(event.slot);
    }
  }

  std::uint64_t slot_bytes(std::uint32_t slot) const {
    const Value &value = *plan_->slots[slot].value;
    const auto *tensor = dyn_cast<Tensor>(&value);
    if (tensor != nullptr && tensor->role() == Role::Const)
      return 0; // it is read where the module keeps it
    return bytes_of(value, plan_->slots[slot].held);
  }

  // While a step runs: its scratch and, of a call, all that the callee takes.
  std::uint64_t step_bytes(const Step &step) const {
    if (step.kind != Step::Kind::Run)
      return 0;
    const auto &inst = *cast<Instruction>(step.stmt);
    std::uint64_t bytes = 0;
    if (inst.opcode() == Opcode::Matmul)
      bytes = matmul_scratch_bytes(inst, options_.reference);
    if (inst.opcode() == Opcode::Call)
      bytes = callees_.of(*inst.callee()).peak;
    for (const Use &use : inst.uses_of_operands())
      if (needs_copy(inst, use))
        bytes = saturating_add(bytes, 8 * elements_of(use.shape()));
    return bytes;
  }

  // Overestimates: a destination that may overlap an operand, what a call sees reinterpreted, the
  // bytes of a bitcast.
  static bool needs_copy(const Instruction &inst, const Use &use) {
    if (inst.opcode() == Opcode::Call)
      return use.reinterprets();
    if (inst.opcode() == Opcode::OffloadedBitcast && &use != inst.dst())
      return true;
    return &use == inst.dst() && std::ranges::any_of(inst.operands(), [&](const Use &operand) {
      return operand.value() == use.value();
    });
  }

  std::uint64_t peak() const {
    std::uint64_t live = 0;
    std::uint64_t highest = 0;
    for (const Step &step : plan_->steps) {
      for (std::uint32_t i = 0; i < step.takes.size; ++i)
        live = saturating_add(live, slot_bytes(plan_->takes[step.takes.begin + i]));
      if (step.result != no_slot)
        live = saturating_add(live, slot_bytes(step.result));
      highest = std::max(highest, saturating_add(live, step_bytes(step)));
      if (live == ~std::uint64_t{0})
        return live;
      for (std::uint32_t i = 0; i < step.gives.size; ++i)
        live -= slot_bytes(plan_->gives[step.gives.begin + i]);
    }
    return highest;
  }

  const EvalOptions &options_;
  const Plans &callees_;
  std::unique_ptr<FunctionPlan> plan_ = std::make_unique<FunctionPlan>();
  std::vector<std::uint32_t> first_step_; // of each slot: where it is first used
  std::vector<const Stmt *> last_stmt_;   // of each slot: the last statement that needs it
  // For look-up only.
  std::unordered_map<const Value *, std::uint32_t> slot_of_;
  std::unordered_map<const Stmt *, std::uint32_t> begin_step_;
  std::unordered_map<const Stmt *, std::uint32_t> end_step_;
  std::unordered_map<const Stmt *, std::uint32_t> body_of_;
};

// The functions that a function calls, each as often as it does.
std::vector<const Function *> callees_of(const Function &function) {
  std::vector<const Function *> callees;
  for (const Stmt &stmt : function.statements())
    if (const auto *inst = dyn_cast<Instruction>(&stmt); inst && inst->opcode() == Opcode::Call)
      callees.push_back(inst->callee());
  return callees;
}

} // namespace

DType held_dtype(DType dtype, bool omits_rounding, bool reference) {
  if (!is_float_type(dtype) || dtype == DType::Float64)
    return dtype;
  if (reference)
    return DType::Float64;
  return omits_rounding ? DType::Float32 : dtype;
}

tl::expected<void, EvalError> Plans::build(const Function &root, const EvalOptions &options) {
  struct Visit {
    const Function *function;
    std::vector<const Function *> callees;
    std::size_t done = 0;
  };
  std::vector<Visit> path;
  path.push_back({&root, callees_of(root)});
  while (!path.empty()) {
    Visit &visit = path.back();
    if (visit.done < visit.callees.size()) {
      const Function *callee = visit.callees[visit.done++];
      if (!plans_.contains(callee))
        path.push_back({callee, callees_of(*callee)});
      continue;
    }
    auto plan = PlanBuilder(*visit.function, options, *this).build();
    if (!plan)
      return tl::unexpected(plan.error());
    plans_.emplace(visit.function, std::move(*plan));
    path.pop_back();
  }
  return {};
}

} // namespace nir::eval
