#include "passes/cast/cast_motion.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/core/builder.h"
#include "ir/support/saturating.h"
#include "passes/rewrite/mutate.h"

namespace nir {
namespace {

// Casts that are stacked on each other cross a mover one by one; more than these wait for the next
// run, so that one run is linear.
constexpr unsigned max_crossings = 8;

bool is_mover(const Instruction &inst) {
  return inst.has_trait(op_trait::Mover) || inst.opcode() == Opcode::Transpose ||
         inst.opcode() == Opcode::Select;
}

bool is_movable_cast(const Instruction *inst) {
  return inst != nullptr && inst->defines_value() && is_cast(*inst);
}

// The operands whose elements the mover moves: all but a select's predicate.
std::span<const Use> moved_operands(const Instruction &mover) {
  return mover.opcode() == Opcode::Select ? mover.matched_operands() : mover.operands();
}
std::span<Use> moved_operands(Instruction &mover) {
  return mover.opcode() == Opcode::Select ? mover.matched_operands() : mover.operands();
}

bool is_moved(const Use &operand) {
  return operand.user()->opcode() != Opcode::Select || operand.index() != 0;
}

// Why the mover may not move elements of `dtype` instead.
const char *why_mover_stays(const Instruction &mover, DType dtype) {
  if (mover.is_fixed())
    return "the mover is fixed";
  if (!mover.defines_value())
    return "the mover writes a tensor";
  if (mover.has_trait(op_trait::Mover))
    return nullptr;
  if (!mover.autocast().empty())
    return "the mover carries an autocast mark";
  for (const Use &operand : moved_operands(mover))
    if (operand.dtype() != mover.dtype())
      return "the mover changes the dtype";
  if (dtype == DType::Float8E8m0fnu)
    return "a scale is neither transposed nor selected";
  return nullptr;
}

// Whether the cast goes when the mover no longer moves it.
bool is_read_only_by(const Instruction &mover, const Instruction &cast) {
  return std::ranges::all_of(cast.uses(),
                             [&](const Use &use) { return use.user() == &mover && is_moved(use); });
}

// Bytes that the mover would move with elements of `dtype`.
std::uint64_t bytes_with(const Instruction &mover, DType dtype) {
  std::uint64_t sum = bytes_written(mover, dtype);
  for (const Use &use : mover.operands())
    sum = saturating_add(sum, bytes_moved(use, is_moved(use) ? dtype : use.dtype()));
  return sum;
}

// Bytes of a cast of what the mover defines, at its place.
std::uint64_t bytes_of_cast_behind(const Instruction &mover, DType from, DType to) {
  return saturating_add(bytes_written(mover, from), bytes_written(mover, to));
}

// The casts whose results the mover moves, each once, in the order of the operands.
std::vector<Instruction *> casts_moved_by(const Instruction &mover) {
  std::vector<Instruction *> casts;
  std::unordered_set<const Instruction *> known; // never iterated
  for (const Use &use : moved_operands(mover))
    if (Instruction *cast = use.defining_instruction(); known.insert(cast).second)
      casts.push_back(cast);
  return casts;
}

// Of casts that merge, the one whose position the merged cast takes: the first in the source.
const Instruction &first_in_source(std::span<Instruction *const> casts) {
  return **std::ranges::min_element(casts, {}, &Instruction::source);
}

// The mark of a cast that takes the place of several: a pass's only where all are a pass's.
Name merged_mark(std::span<Instruction *const> casts) {
  for (const Instruction *cast : casts)
    if (cast->autocast().empty())
      return {};
  return first_in_source(casts).autocast();
}

// `src` must live as long as the description.
InstructionDesc describe_cast(const Instruction &model, const Operand &src, const Type *type,
                              Name autocast) {
  InstructionDesc desc;
  desc.opcode = Opcode::TensorCopy;
  desc.operands = {&src, 1};
  desc.type = type;
  desc.flags = model.exact_ints() ? inst_flag::ExactInts : std::uint16_t{0};
  desc.autocast = autocast;
  desc.attrs = model.attrs();
  desc.source = model.source();
  return desc;
}

} // namespace

CastMotion::CastMotion(Function &function, PassContext &context, CastDirection direction)
    : function_(function), context_(context), direction_(direction) {}

bool CastMotion::run() {
  std::vector<Instruction *> movers;
  for (Stmt &stmt : function_.statements())
    if (Instruction *inst = dyn_cast<Instruction>(&stmt); inst != nullptr && is_mover(*inst))
      movers.push_back(inst);
  // So that a cast that has crossed one mover meets the next one later in the sweep.
  if (direction_ == CastDirection::Hoist)
    std::ranges::reverse(movers);
  bool changed = false;
  for (Instruction *mover : movers)
    while (cross(*mover))
      changed = true;
  if (context_.wants_missed())
    explain_what_stays();
  return changed;
}

bool CastMotion::may_cross(const Instruction &mover) const {
  const auto found = crossings_.find(&mover);
  return found == crossings_.end() || found->second < max_crossings;
}

bool CastMotion::cross(Instruction &mover) {
  if (!may_cross(mover))
    return false;
  if (direction_ == CastDirection::Hoist) {
    const Plan plan = plan_hoist(mover);
    if (plan.pays())
      hoist(mover, plan);
    return plan.pays();
  }
  const Plan plan = plan_sink(mover);
  if (plan.obstacle != nullptr)
    return false;
  Instruction &cast = *moved_operands(mover).front().defining_instruction();
  if (plan.pays()) {
    report(casts_moved_by(mover), describe(mover), plan.bytes);
    sink(mover);
    return true;
  }
  return moved_operands(mover).size() == 1 && !no_group_.contains(&cast) && sink_all(cast);
}

bool CastMotion::sink_all(Instruction &cast) {
  const Plan all = plan_sink_all(cast);
  if (!all.pays()) {
    no_group_.insert(&cast);
    return false;
  }
  std::vector<Instruction *> readers;
  for (const Use &use : cast.uses())
    readers.push_back(use.user());
  report({&cast}, fmt::format("each of its {} readers", readers.size()), all.bytes);
  for (Instruction *reader : readers)
    sink(*reader);
  return true;
}

// All readers must be casts to one dtype, of which one is made for each operand.
CastMotion::Plan CastMotion::plan_hoist(const Instruction &mover) const {
  const Instruction *first = nullptr;
  Plan plan;
  for (const Use &use : mover.uses()) {
    const Instruction &cast = *use.user();
    if (!is_movable_cast(&cast))
      return {"the mover has other readers", {}};
    if (cast.is_fixed())
      return {"the cast is fixed", {}};
    first = first == nullptr ? &cast : first;
    if (cast.dtype() != first->dtype() || cast.exact_ints() != first->exact_ints())
      return {"the mover is cast to different dtypes", {}};
    plan.bytes.before = saturating_add(plan.bytes.before, bytes_moved(cast));
  }
  if (first == nullptr)
    return {"nothing reads the mover", {}};
  const DType to = first->dtype();
  plan.obstacle = why_mover_stays(mover, to);
  if (plan.obstacle != nullptr)
    return plan;
  plan.bytes.before = saturating_add(plan.bytes.before, bytes_moved(mover));
  plan.bytes.after = bytes_with(mover, to);
  std::unordered_set<const Value *> cast_values;
  for (const Use &use : moved_operands(mover))
    if (use.is_access() || cast_values.insert(use.value()).second)
      for (const DType dtype : {use.dtype(), to})
        plan.bytes.after = saturating_add(plan.bytes.after, bytes_moved(use, dtype));
  return plan;
}

void CastMotion::hoist(Instruction &mover, const Plan &plan) {
  count_crossing(mover);
  std::vector<Instruction *> casts;
  for (const Use &use : mover.uses())
    casts.push_back(use.user());
  const Instruction &model = first_in_source(casts);
  report(casts, describe(mover), plan.bytes);
  const DType to = model.dtype();
  const Name mark = merged_mark(casts);
  Builder builder(function_);
  std::unordered_map<const Value *, Instruction *> cast_of; // never iterated
  for (Use &use : moved_operands(mover)) {
    Instruction *&known = cast_of[use.value()];
    const Operand src{use.value(), use.access()};
    if (known == nullptr || use.is_access())
      known = mover.parent()->insert_instruction(
          describe_cast(model, src, builder.type(to, use.shape()), mark), &mover);
    use.set(known);
  }
  mover.set_result_type(function_.module().types().with_dtype(mover.type(), to));
  for (Instruction *cast : casts) {
    cast->replace_all_uses_with(&mover);
    cast->erase();
  }
}

// All that the mover moves must be casts from one dtype; those that others read stay for these.
CastMotion::Plan CastMotion::plan_sink(const Instruction &mover) const {
  Plan plan;
  const Instruction *first = nullptr;
  for (const Use &use : moved_operands(mover)) {
    const Instruction *cast = use.defining_instruction();
    if (!is_movable_cast(cast))
      return {"the mover moves something else too", {}};
    if (cast->is_fixed())
      return {"the cast is fixed", {}};
    if (cast->src()->is_access())
      return {"the cast reads a tensor", {}};
    first = first == nullptr ? cast : first;
    if (cast->src()->dtype() != first->src()->dtype() || cast->exact_ints() != first->exact_ints())
      return {"the mover moves casts from different dtypes", {}};
  }
  const DType from = first->src()->dtype();
  plan.obstacle = why_mover_stays(mover, from);
  if (plan.obstacle != nullptr)
    return plan;
  plan.bytes.before = bytes_moved(mover);
  plan.bytes.after =
      saturating_add(bytes_with(mover, from), bytes_of_cast_behind(mover, from, mover.dtype()));
  for (const Instruction *cast : casts_moved_by(mover))
    if (is_read_only_by(mover, *cast))
      plan.bytes.before = saturating_add(plan.bytes.before, bytes_moved(*cast));
  return plan;
}

// One cast past all its readers at once, after which it is gone.
CastMotion::Plan CastMotion::plan_sink_all(const Instruction &cast) const {
  Plan plan;
  plan.bytes.before = bytes_moved(cast);
  const DType from = cast.src()->dtype();
  for (const Use &use : cast.uses()) {
    const Instruction &mover = *use.user();
    if (!is_mover(mover) || moved_operands(mover).size() != 1)
      return {"the cast has other readers", {}};
    plan.obstacle = may_cross(mover) ? why_mover_stays(mover, from) : "the mover was crossed often";
    if (plan.obstacle != nullptr)
      return plan;
    plan.bytes.before = saturating_add(plan.bytes.before, bytes_moved(mover));
    plan.bytes.after = saturating_add(plan.bytes.after, bytes_with(mover, from));
    plan.bytes.after =
        saturating_add(plan.bytes.after, bytes_of_cast_behind(mover, from, mover.dtype()));
  }
  return plan;
}

void CastMotion::sink(Instruction &mover) {
  count_crossing(mover);
  const std::vector<Instruction *> casts = casts_moved_by(mover);
  for (Use &use : moved_operands(mover))
    use.set(use.defining_instruction()->src()->value());
  const Instruction &model = first_in_source(casts);
  std::vector<Use *> readers;
  for (Use &use : mover.uses())
    readers.push_back(&use);

  // What the mover defined is now what the cast behind it defines, so that takes the name.
  const Operand src{&mover, nullptr};
  InstructionDesc desc = describe_cast(model, src, mover.type(), merged_mark(casts));
  desc.name = mover.name();
  mover.set_name({});
  mover.set_result_type(function_.module().types().with_dtype(mover.type(), model.src()->dtype()));
  Instruction *moved = mover.parent()->insert_instruction(desc, mover.next());
  for (Use *use : readers)
    use->set(moved);
  for (Instruction *cast : casts)
    if (cast->use_empty()) {
      no_group_.erase(cast); // its memory may become another's
      cast->erase();
    }
}

void CastMotion::count_crossing(const Instruction &mover) {
  ++crossings_[&mover];
  context_.count(CastsMoved);
}

void CastMotion::report(const std::vector<Instruction *> &casts, const std::string &past,
                        const BytesChange &bytes) {
  context_.count(BytesMovedSaved, bytes.before - bytes.after);
  if (!context_.wants_applied())
    return;
  const std::string_view where = direction_ == CastDirection::Hoist ? "before" : "behind";
  for (const Instruction *cast : casts)
    context_.remark(RemarkClass::Exact, *cast,
                    fmt::format("{} -> {}: moved {} {}, bytes moved go from {} to {}",
                                dtype2str(cast->src()->dtype()), dtype2str(cast->dtype()), where,
                                past, bytes.before, bytes.after));
}

// Every cast that still stands next to a mover, with the first reason.
void CastMotion::explain_what_stays() {
  function_.renumber();
  for (const Stmt &stmt : function_.statements()) {
    const auto *cast = dyn_cast<Instruction>(&stmt);
    if (!is_movable_cast(cast))
      continue;
    if (const Instruction *mover = mover_next_to(*cast))
      context_.remark(RemarkClass::Declined, *cast,
                      fmt::format("{} -> {}: {} ({})", dtype2str(cast->src()->dtype()),
                                  dtype2str(cast->dtype()), explain(*cast, *mover),
                                  describe(*mover)));
  }
}

// What it would cross: the mover that it reads, or the first mover that reads it.
const Instruction *CastMotion::mover_next_to(const Instruction &cast) const {
  if (direction_ == CastDirection::Hoist) {
    const Instruction *producer = cast.src()->defining_instruction();
    return producer != nullptr && is_mover(*producer) ? producer : nullptr;
  }
  const Instruction *first = nullptr;
  for (const Use &use : cast.uses()) {
    const Instruction *reader = use.user();
    if (is_mover(*reader) && is_moved(use) &&
        (first == nullptr || reader->order() < first->order()))
      first = reader;
  }
  return first;
}

std::string CastMotion::explain(const Instruction &cast, const Instruction &mover) {
  const auto [it, is_new] = plans_.try_emplace(&mover);
  Plan &plan = it->second;
  if (is_new)
    plan = direction_ == CastDirection::Hoist ? plan_hoist(mover) : plan_sink(mover);
  Plan all = plan;
  if (direction_ == CastDirection::Sink && plan.obstacle == nullptr && !cast.has_one_use() &&
      moved_operands(mover).size() == 1)
    all = plan_sink_all(cast);
  const Plan &best = all.obstacle == nullptr ? all : plan;
  if (best.obstacle != nullptr)
    return best.obstacle;
  if (best.pays())
    return "the mover was crossed as often as in one run it may be";
  return fmt::format("bytes moved would not shrink, from {} to {}", best.bytes.before,
                     best.bytes.after);
}

} // namespace nir
