#include "passes/narrow/narrowing_plan.h"

#include <algorithm>

#include "ir/support/saturating.h"
#include "passes/core/pass.h"
#include "passes/narrow/narrowing_edit.h"
#include "passes/rewrite/mutate.h"

namespace nir {
namespace {

bool is_comparison(AluOp op) {
  switch (op) {
  case AluOp::IsEqual:
  case AluOp::NotEqual:
  case AluOp::IsLt:
  case AluOp::IsLe:
  case AluOp::IsGt:
  case AluOp::IsGe:
  case AluOp::LogicalAnd:
  case AluOp::LogicalOr:
  case AluOp::LogicalXor:
    return true;
  default:
    return false;
  }
}

// Whether it makes integers of the floats that it reads: numbers, not answers of a comparison.
bool converts_to_integers(const Instruction &inst) {
  if (inst.is_bare() || !is_int_type(inst.dst_dtype()))
    return false;
  if (inst.opcode() == Opcode::TensorTensor)
    return !is_comparison(inst.op());
  return inst.opcode() != Opcode::TensorScalar || !is_comparison(inst.op(inst.num_operands() - 2));
}

// Maxima and minima are exact in any dtype.
bool accumulates_terms(const Instruction &inst) {
  return inst.opcode() == Opcode::TensorReduce &&
         (inst.op() == AluOp::Add || inst.op() == AluOp::Multiply);
}

// Whether its result has the elements of its operands, in float32 on both sides.
bool passes_elements(const Instruction &inst) {
  return inst.has_trait(op_trait::CopiesBits) && !inst.is_bare();
}

bool keeps_dtype(const Instruction &inst) { return inst.has_trait(op_trait::KeepsDType); }

bool stands_before(const Use *a, const Use *b) {
  return std::pair(a->user()->order(), a->index()) < std::pair(b->user()->order(), b->index());
}

// Whether the object is what a mover delivers and only casts read.
bool is_moved_to_casts(const Value &object) {
  const auto *mover = dyn_cast<Instruction>(&object);
  return mover != nullptr && mover->has_trait(op_trait::Mover) && !mover->use_empty() &&
         std::ranges::all_of(mover->uses(), [](const Use &use) { return is_cast(*use.user()); });
}

bool is_float32(const Use &use) {
  return use.value() != nullptr && !isa<Immediate>(use.value()) && use.dtype() == DType::Float32;
}

} // namespace

NarrowingPlan::NarrowingPlan(Function &function, const NarrowingOptions &options)
    : function_(function), options_(options),
      inline_(options.inline_cast && function.module().target().dma_cast) {
  function.renumber();
  collect_nodes();
  classes_ = DTypeClasses(nodes_.size());
  find_wide();
  find_authored();
  join_classes();
  find_redirected();
}

// --- nodes

void NarrowingPlan::collect_nodes() {
  for (Tensor *tensor = function_.first_tensor(); tensor != nullptr; tensor = tensor->next())
    add_node(*tensor);
  for (Stmt &stmt : function_.statements())
    if (auto *inst = dyn_cast<Instruction>(&stmt); inst != nullptr && inst->defines_value())
      add_node(*inst);
}

void NarrowingPlan::add_node(Value &object) {
  if (object.dtype() != DType::Float32)
    return;
  const bool excluded = options_.inputs_only && is_excluded(object);
  index_.try_emplace(&object, static_cast<std::uint32_t>(nodes_.size()));
  nodes_.push_back(
      {.object = &object, .excluded = excluded, .moved_to_casts = is_moved_to_casts(object)});
}

NarrowingPlan::Node *NarrowingPlan::node_of(const Value *object) {
  const std::uint32_t *index = index_.find(object);
  return index == nullptr ? nullptr : &nodes_[*index];
}

// What an instruction writes, if that is a node and written as what it is.
NarrowingPlan::Node *NarrowingPlan::result_node(const Instruction &inst) {
  if (inst.is_bare() || (inst.has_dst() && inst.dst()->reinterprets()))
    return nullptr;
  return node_of(&retyped_object(inst));
}

// With `inputs_only`: candidates are inputs, what is loaded from them, and what movers make of
// candidates.
bool NarrowingPlan::is_excluded(const Value &object) {
  if (const auto *tensor = dyn_cast<Tensor>(&object))
    return tensor->role() != Role::Input;
  const auto &inst = *cast<Instruction>(&object);
  if (inst.opcode() != Opcode::Load && !inst.has_trait(op_trait::Mover))
    return true;
  return !std::ranges::all_of(inst.operands(), [&](const Use &use) { return is_candidate(use); });
}

// Whether the operand is of a node that this pass may narrow or cast.
bool NarrowingPlan::is_candidate(const Use &use) {
  if (!is_float32(use) || use.reinterprets())
    return false;
  const Node *node = node_of(use.value());
  return node != nullptr && !node->excluded;
}

// --- what stays wide

void NarrowingPlan::find_wide() {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const auto *tensor = dyn_cast<Tensor>(nodes_[i].object);
    if (nodes_[i].excluded || (tensor != nullptr && tensor_stays(*tensor)))
      make_wide(nodes_[i], false);
  }
  for (Stmt &stmt : function_.statements())
    if (auto *inst = dyn_cast<Instruction>(&stmt)) {
      check_operands(*inst);
      check_result(*inst);
    }
  while (!pending_.empty()) {
    Node &node = nodes_[pending_.back()];
    pending_.pop_back();
    propagate(node);
  }
}

bool NarrowingPlan::tensor_stays(const Tensor &tensor) const {
  return tensor.role() != Role::Internal || tensor.space() == Space::Psum ||
         std::ranges::any_of(tensor.uses(), [](const Use &use) { return use.reinterprets(); });
}

// What the instruction makes of its operands, as far as is known.
void NarrowingPlan::check_operands(Instruction &inst) {
  for (Use &use : inst.uses_of_operands()) {
    if (&use == inst.dst())
      continue;
    Node *node = node_of(use.value());
    if (node != nullptr && reading_of(use) == Reading::Fixed)
      make_wide(*node, feeds_sum(use));
  }
}

void NarrowingPlan::check_result(const Instruction &inst) {
  if (Node *result = result_node(inst); result != nullptr && result_stays(inst))
    make_wide(*result, false);
}

void NarrowingPlan::make_wide(Node &node, bool summed) {
  if (node.wide && (node.summed || !summed))
    return;
  node.wide = true;
  node.summed |= summed;
  pending_.push_back(static_cast<std::uint32_t>(&node - nodes_.data()));
}

// What becomes of those that define the node, and of those that keep its dtype. Looks at the
// operands of an instruction only for its result, so that one with many operands is not looked at
// for each.
void NarrowingPlan::propagate(Node &node) {
  if (auto *inst = dyn_cast<Instruction>(node.object)) {
    keep_casts_behind(*inst);
    return check_operands(*inst);
  }
  for (const Use &use : node.object->uses()) {
    Instruction &user = *use.user();
    if (&use == user.dst())
      check_operands(user);
    else if (user.has_trait(op_trait::Dma))
      check_result(user);
    else if (Node *result = user.has_trait(op_trait::Offloaded) ? result_node(user) : nullptr)
      make_wide(*result, false);
  }
}

// A cast of the wide value in front of a mover gains nothing where only casts stand behind it:
// motion and the eliminating passes would take it there and away again.
void NarrowingPlan::keep_casts_behind(const Instruction &wide) {
  for (const Use &use : wide.uses())
    if (Node *moved = use.user()->has_trait(op_trait::Mover) ? result_node(*use.user()) : nullptr;
        moved != nullptr && moved->moved_to_casts)
      make_wide(*moved, false);
}

bool NarrowingPlan::result_is_wide(const Instruction &inst) {
  const Node *result = result_node(inst);
  return result == nullptr || result->wide;
}

bool NarrowingPlan::result_is_summed(const Instruction &inst) {
  const Node *result = result_node(inst);
  return result != nullptr && result->summed;
}

// Whether the format of what it writes is fixed.
bool NarrowingPlan::result_stays(const Instruction &inst) {
  if (inst.is_fixed() || rounds_narrow(inst))
    return true;
  if (inst.opcode() == Opcode::Load)
    return load_stays(inst);
  if (inst.opcode() == Opcode::Store)
    return stored_stays(inst);
  if (inst.has_trait(op_trait::MutableDst))
    return false;
  if (!keeps_dtype(inst))
    return true; // call, opaque, matmul, memcast, bitcast
  // A mover of what is wide can read its cast; between tensors there is no place for one.
  return std::ranges::any_of(inst.operands(), [&](const Use &use) {
    const Node *node = use.reinterprets() ? nullptr : node_of(use.value());
    return node == nullptr || node->excluded || (inst.has_trait(op_trait::Offloaded) && node->wide);
  });
}

// Whether it widens what is narrow already, to be rounded again by who copies it back: were it
// narrow on both sides, that rounding would be lost.
bool NarrowingPlan::rounds_narrow(const Instruction &inst) const {
  return !survives_float32(options_.narrow) && passes_elements(inst) &&
         std::ranges::any_of(inst.operands(),
                             [&](const Use &use) { return use.dtype() == options_.narrow; });
}

// A load casts its result; where it cannot, both sides have one dtype.
bool NarrowingPlan::load_stays(const Instruction &load) {
  const Use &src = load.operand(0);
  if (inline_ || src.dtype() == options_.narrow)
    return false;
  const Node *tensor = src.reinterprets() ? nullptr : node_of(src.value());
  return tensor == nullptr || tensor->wide;
}

// Whether the store cannot write the narrow dtype, for want of a DMA cast.
bool NarrowingPlan::stored_stays(const Instruction &store) {
  const Use &src = store.operand(0);
  if (inline_ || src.dtype() == options_.narrow)
    return false;
  const Node *node = src.reinterprets() ? nullptr : node_of(src.value());
  return node == nullptr || node->excluded || (src.is_access() && node->wide);
}

// How an operand that is no destination reads its node.
NarrowingPlan::Reading NarrowingPlan::reading_of(const Use &use) {
  const Instruction &user = *use.user();
  if (use.reinterprets() || user.has_trait(op_trait::NeverDead) || converts_to_integers(user))
    return Reading::Fixed;
  if (user.has_trait(op_trait::Mover))
    return result_is_wide(user) ? Reading::Fixed : Reading::Narrow;
  if (user.has_trait(op_trait::Offloaded))
    return !keeps_dtype(user) || result_is_wide(user) ? Reading::Fixed : Reading::Neutral;
  if (user.has_trait(op_trait::Dma))
    return dma_reading(use);
  if (user.opcode() == Opcode::TensorCopy)
    return copy_reading(user);
  if (user.opcode() == Opcode::Transpose)
    return result_is_summed(user) ? Reading::Fixed : Reading::Narrow;
  if (accumulates_terms(user))
    return Reading::Fixed;
  const std::span<const Use> pair = user.matched_operands();
  const bool agree = std::ranges::all_of(pair, [&](const Use &one) { return is_candidate(one); });
  return agree ? Reading::Narrow : Reading::Fixed;
}

NarrowingPlan::Reading NarrowingPlan::dma_reading(const Use &use) {
  const Instruction &user = *use.user();
  if (user.dst_dtype() != DType::Float32)
    return Reading::Neutral; // it casts already
  if (result_is_summed(user))
    return Reading::Fixed;
  if (user.opcode() == Opcode::Load)
    return result_is_wide(user) ? Reading::Fixed : Reading::Neutral;
  if (inline_)
    return Reading::Neutral;
  if (result_is_wide(user))
    return Reading::Fixed;
  return use.is_access() ? Reading::Neutral : Reading::Narrow;
}

// A copy that stays float32 reads float32: else it would be the widening cast of a narrow value.
// One that casts gains nothing from another cast before it, which a later pass would only remove.
NarrowingPlan::Reading NarrowingPlan::copy_reading(const Instruction &copy) {
  const DType dtype = copy.dst_dtype();
  const bool stays = dtype == DType::Float32 && result_is_wide(copy);
  return stays || dtype == DType::Float8E8m0fnu ? Reading::Fixed : Reading::Neutral;
}

// Whether a sum accumulates what the operand reads: through whatever only moves elements.
bool NarrowingPlan::feeds_sum(const Use &use) {
  const Instruction &user = *use.user();
  if (accumulates_terms(user))
    return true;
  return passes_elements(user) && user.opcode() != Opcode::Select && result_is_summed(user);
}

// --- what authors round

// A narrowing of the author's that finds its source narrow becomes a copy, which may go: from then
// on the rounding of the source is the author's as well.
void NarrowingPlan::find_authored() {
  const auto mark = [&](Node *node) {
    if (node == nullptr || node->wide || node->authored)
      return;
    node->authored = true;
    pending_.push_back(static_cast<std::uint32_t>(node - nodes_.data()));
  };
  for (Node &node : nodes_)
    for (const Use &use : node.object->uses()) {
      const Instruction &user = *use.user();
      if (passes_elements(user) && reads(use) && user.autocast().empty() &&
          user.dst_dtype() == options_.narrow)
        mark(&node);
    }
  const auto mark_sources = [&](const Instruction &inst) {
    if (passes_elements(inst))
      for (const Use &use : inst.operands())
        mark(node_of(use.value()));
  };
  while (!pending_.empty()) {
    const Value &object = *nodes_[pending_.back()].object;
    pending_.pop_back();
    if (const auto *inst = dyn_cast<Instruction>(&object))
      mark_sources(*inst);
    else
      for (const Use &use : object.uses())
        if (writes(use))
          mark_sources(*use.user());
  }
}

// --- classes

void NarrowingPlan::join_classes() {
  for (Stmt &stmt : function_.statements()) {
    const auto *inst = dyn_cast<Instruction>(&stmt);
    if (inst == nullptr)
      continue;
    const std::span<const Use> pair = inst->matched_operands();
    if (!pair.empty() && is_candidate(pair[0]) && is_candidate(pair[1]))
      classes_.join(*index_.find(pair[0].value()), *index_.find(pair[1].value()));
    join_result(*inst);
  }
}

// The result and the operands of what cannot cast, and of a copy, which would else become a cast.
void NarrowingPlan::join_result(const Instruction &inst) {
  const bool copies = inst.opcode() == Opcode::TensorCopy;
  const bool dma = !inline_ && inst.has_trait(op_trait::Dma);
  if ((!copies && !dma && !keeps_dtype(inst)) || result_is_wide(inst))
    return;
  const std::uint32_t result = *index_.find(&retyped_object(inst));
  for (const Use &use : inst.operands())
    if (Node *node = is_candidate(use) ? node_of(use.value()) : nullptr;
        node != nullptr && !(copies && node->wide))
      classes_.join(result, *index_.find(use.value()));
}

void NarrowingPlan::find_redirected() {
  for (Node &node : nodes_) {
    if (!node.wide || node.excluded)
      continue;
    node.first_redirected = static_cast<std::uint32_t>(redirected_.size());
    for (Use &use : node.object->uses())
      if (&use != use.user()->dst() && reading_of(use) == Reading::Narrow)
        redirected_.push_back(&use);
    // Use-lists have an order that no text shows.
    std::sort(redirected_.begin() + node.first_redirected, redirected_.end(), stands_before);
    node.num_redirected = static_cast<std::uint32_t>(redirected_.size()) - node.first_redirected;
  }
}

std::vector<NarrowingPlan::Class> NarrowingPlan::classes() {
  std::vector<Class> found;
  std::vector<std::uint32_t> class_at(nodes_.size(), ~0u); // by representative
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].is_active())
      continue;
    std::uint32_t &at = class_at[classes_.find(i)];
    if (at == ~0u) {
      at = static_cast<std::uint32_t>(found.size());
      found.emplace_back();
    }
    Class &one = found[at];
    one.nodes.push_back(&nodes_[i]);
    const BytesChange bytes = bytes_of(nodes_[i]);
    one.bytes.before = saturating_add(one.bytes.before, bytes.before);
    one.bytes.after = saturating_add(one.bytes.after, bytes.after);
  }
  return found;
}

// --- bytes

BytesChange NarrowingPlan::bytes_of(const Node &node) {
  if (node.wide)
    return bytes_of_redirected(node);
  BytesChange bytes{bytes_moved_through(*node.object, DType::Float32),
                    bytes_moved_through(*node.object, options_.narrow)};
  const auto *inst = dyn_cast<Instruction>(node.object);
  if (inst == nullptr)
    return bytes;
  if (narrow_source(*inst, options_.narrow) != nullptr) { // it will go
    bytes.before = saturating_add(bytes.before, bytes_moved(inst->operand(0), options_.narrow));
    bytes.after -= bytes_written(*inst, options_.narrow);
  } else if (is_float32_copy(*inst) && node_of(inst->operand(0).value())->wide) { // it will stay
    bytes.before -= bytes_written(*inst, DType::Float32);
    bytes.after = saturating_add(bytes.after, bytes_moved(inst->operand(0), DType::Float32));
  }
  return bytes;
}

BytesChange NarrowingPlan::bytes_of_redirected(const Node &node) const {
  BytesChange bytes;
  for (const Use *use : redirected(node)) {
    bytes.before = saturating_add(bytes.before, bytes_moved(*use, DType::Float32));
    bytes.after = saturating_add(bytes.after, bytes_moved(*use, options_.narrow));
    if (use->is_access()) { // a cast of its own, as often as the user runs
      bytes.after = saturating_add(bytes.after, bytes_moved(*use, DType::Float32));
      bytes.after = saturating_add(bytes.after, bytes_moved(*use, options_.narrow));
    }
  }
  const auto *def = dyn_cast<Instruction>(node.object);
  if (def == nullptr || narrow_source(*def, options_.narrow) != nullptr)
    return bytes;
  bytes.after = saturating_add(bytes.after, bytes_written(*def, DType::Float32));
  bytes.after = saturating_add(bytes.after, bytes_written(*def, options_.narrow));
  return bytes;
}

} // namespace nir
