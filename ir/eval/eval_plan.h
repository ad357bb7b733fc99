// What the evaluator works out about a function before it runs it: its statements as a list with
// jumps, where every value and tensor lives and in what form, when its memory is taken and given
// back, and how much that is at most.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "ir/eval/evaluator.h"

namespace nir::eval {

constexpr std::uint32_t no_slot = ~std::uint32_t{0};

struct Slot {
  const Value *value; // a tensor, or an instruction that defines a value
  DType held;
};

// A range of one of the plan's lists.
struct ListRange {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};

struct Step {
  enum class Kind : std::uint8_t { Run, EnterLoop, EndLoop };
  Kind kind = Kind::Run;
  bool omits_rounding = false;
  const Stmt *stmt = nullptr;  // the instruction or the loop
  std::uint32_t body = 0;      // of EndLoop: the first step of the body
  std::uint32_t first_use = 0; // in use_slots: one for each operand slot
  std::uint32_t result = no_slot;
  ListRange takes{}; // slots of tensors that come to life before the step
  ListRange gives{}; // slots that nothing needs after it; of EndLoop, after the last trip
};

struct FunctionPlan {
  const Function *function = nullptr;
  std::vector<Slot> slots; // tensors in order of declaration, then values
  std::vector<Step> steps;
  std::vector<std::uint32_t> use_slots; // no_slot for a number
  std::vector<std::uint32_t> takes;
  std::vector<std::uint32_t> gives;
  std::vector<std::uint32_t> interface; // slots of the inputs, then of the outputs
  std::uint64_t peak = 0;               // bytes at most, without the interface; saturating
};

// The plans of a function and of all that it calls.
class Plans {
public:
  const FunctionPlan &of(const Function &function) const { return *plans_.at(&function); }
  // Errors are those of `required_memory`.
  tl::expected<void, EvalError> build(const Function &root, const EvalOptions &options);

private:
  std::unordered_map<const Function *, std::unique_ptr<FunctionPlan>> plans_; // for look-up only
};

// The dtype in which a value or tensor that the function writes is held.
DType held_dtype(DType dtype, bool omits_rounding, bool reference);

} // namespace nir::eval
