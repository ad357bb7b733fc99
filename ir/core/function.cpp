#include "ir/core/function.h"

#include <algorithm>
#include <limits>

#include "ir/core/module.h"
#include "ir/support/saturating.h"

namespace nir {
namespace {

std::int64_t num_trips(std::int64_t lo, std::int64_t hi, std::int64_t step) {
  if (hi <= lo || step < 1)
    return 0;
  const auto distance = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo);
  const std::uint64_t trips = (distance - 1) / static_cast<std::uint64_t>(step) + 1;
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(trips < most ? trips : most);
}

} // namespace

std::string_view to_string(Space space) {
  switch (space) {
  case Space::Dram:
    return "dram";
  case Space::Sbuf:
    return "sbuf";
  case Space::Psum:
    return "psum";
  }
  return {};
}

std::string_view to_string(Role role) {
  switch (role) {
  case Role::Internal:
    return "";
  case Role::Input:
    return "input";
  case Role::Output:
    return "output";
  case Role::Const:
    return "const";
  }
  return {};
}

Instruction *Block::insert_instruction(const InstructionDesc &desc, Stmt *before) {
  Function &function = *function_;
  Instruction *inst = Instruction::create(function.module().arena(), desc);
  function.opcodes_ |= Function::opcode_bit(desc.opcode);
  link(inst, before);
  return inst;
}

Loop *Block::insert_loop(Name variable, std::int64_t lo, std::int64_t hi, std::int64_t step,
                         Stmt *before, SourceOffset source) {
  Loop *inner = function()->module().arena().create<Loop>(variable, lo, hi, step);
  inner->set_source(source);
  inner->body_.loop_ = inner;
  inner->body_.function_ = function_;
  if (loop_ != nullptr)
    inner->nest_in(*loop_);
  inner->instances_ =
      saturating_multiply(inner->instances_, static_cast<std::uint64_t>(inner->trips_));
  ++function_->num_empty_loops_;
  link(inner, before);
  return inner;
}

void Block::link(Stmt *stmt, Stmt *before) {
  Stmt *previous = before != nullptr ? before->prev_ : last_;
  if (loop_ != nullptr && first_ == nullptr)
    --function_->num_empty_loops_;
  stmt->parent_ = this;
  stmt->prev_ = previous;
  stmt->next_ = before;
  if (previous != nullptr) {
    previous->next_ = stmt;
  } else {
    first_ = stmt;
  }
  if (before != nullptr) {
    before->prev_ = stmt;
  } else {
    last_ = stmt;
  }
  // Behind everything else orders go on; elsewhere they are to be given anew.
  Function &function = *function_;
  function.ordered_ = function.ordered_ && before == nullptr && loop_ == nullptr;
  if (!function.ordered_)
    return;
  stmt->order_ = ++function.last_order_;
  if (Loop *inner = dyn_cast<Loop>(stmt))
    inner->end_order_ = stmt->order_;
}

void Block::unlink(Stmt *stmt) {
  Stmt *previous = stmt->prev_;
  Stmt *following = stmt->next_;
  if (previous != nullptr) {
    previous->next_ = following;
  } else {
    first_ = following;
  }
  if (following != nullptr) {
    following->prev_ = previous;
  } else {
    last_ = previous;
  }
  if (loop_ != nullptr && first_ == nullptr)
    ++function_->num_empty_loops_;
}

void Instruction::erase() {
  assert(use_empty());
  parent_->unlink(this);
  for (Use &use : uses_of_operands())
    use.set(nullptr);
  const std::size_t bytes = sizeof(Instruction) + num_uses_ * sizeof(Use);
  Arena &arena = function()->module().arena();
  arena.recycle(this, bytes);
}

Loop::Loop(Name variable, std::int64_t lo, std::int64_t hi, std::int64_t step)
    : Stmt(ValueKind::Loop, nullptr, variable), lo_(lo), hi_(hi), step_(step),
      trips_(num_trips(lo, hi, step)) {}

// Jumps double in length where two of equal length meet (skew-binary numbers).
void Loop::nest_in(Loop &outer) {
  depth_ = outer.depth_ + 1;
  instances_ = outer.instances_;
  Loop *jump = outer.jump_;
  const bool doubles = jump != nullptr && jump->jump_ != nullptr &&
                       outer.depth_ - jump->depth_ == jump->depth_ - jump->jump_->depth_;
  jump_ = doubles ? jump->jump_.get() : &outer;
}

void Loop::erase() {
  assert(body_.empty());
  // Its memory stays: shared accesses may still name it.
  --function()->num_empty_loops_;
  parent_->unlink(this);
}

Tensor::Tensor(Name name, const Type *type, Space space, Role role, SourceOffset source)
    : Value(ValueKind::Tensor, type, name), source_(source) {
  tag_[0] = static_cast<std::uint8_t>(space);
  tag_[1] = static_cast<std::uint8_t>(role);
}

void Tensor::erase() {
  assert(use_empty());
  Tensor *previous = prev_;
  Tensor *following = next_;
  if (previous != nullptr) {
    previous->next_ = following;
  } else {
    function_->first_tensor_ = following;
  }
  if (following != nullptr) {
    following->prev_ = previous;
  } else {
    function_->last_tensor_ = previous;
  }
  if (init_ != nullptr)
    init_->bytes = {};
}

Stmt *StmtRange::iterator::behind_block(Stmt *stmt, const Block *root) {
  while (stmt->next() == nullptr) {
    if (stmt->parent() == root)
      return nullptr;
    stmt = stmt->parent_loop();
  }
  return stmt->next();
}

Stmt *StmtRange::iterator::behind_head(Stmt *loop, const Block *root) {
  Block &body = cast<Loop>(loop)->body();
  return body.empty() ? successor(loop, root) : body.first();
}

Function::Function(Module &module, Name name, SourceOffset source)
    : module_(&module), name_(name), source_(source) {
  body_.function_ = this;
}

Tensor *Function::add_tensor(Name name, const Type *type, Space space, Role role, ConstData *init,
                             SourceOffset source) {
  Tensor *tensor = module_->arena().create<Tensor>(name, type, space, role, source);
  tensor->function_ = this;
  tensor->init_ = init;
  tensor->prev_ = last_tensor_;
  if (last_tensor_ != nullptr) {
    last_tensor_->next_ = tensor;
  } else {
    first_tensor_ = tensor;
  }
  last_tensor_ = tensor;
  if (role == Role::Input)
    ++num_inputs_;
  if (role == Role::Output)
    ++num_outputs_;
  return tensor;
}

std::vector<Tensor *> Function::interface() const {
  std::vector<Tensor *> tensors;
  tensors.reserve(num_inputs_ + num_outputs_);
  for (const Role role : {Role::Input, Role::Output})
    for (Tensor *tensor = first_tensor_; tensor != nullptr; tensor = tensor->next())
      if (tensor->role() == role)
        tensors.push_back(tensor);
  return tensors;
}

void Function::renumber() {
  std::uint32_t order = 0;
  Loop *open = nullptr; // the innermost loop whose body the walk is in
  for (Stmt &stmt : statements()) {
    for (Loop *parent = stmt.parent_loop(); open != parent; open = open->parent_loop())
      open->end_order_ = order;
    stmt.order_ = ++order;
    Loop *loop = dyn_cast<Loop>(&stmt);
    if (loop == nullptr)
      continue;
    loop->end_order_ = order;
    if (!loop->body().empty())
      open = loop;
  }
  for (; open != nullptr; open = open->parent_loop())
    open->end_order_ = order;
  last_order_ = order;
  ordered_ = true;
}

bool Function::may_have_trait(std::uint16_t trait) const {
  return std::ranges::any_of(
      all_opcodes(), [&](const OpcodeInfo &row) { return row.has(trait) && may_have(row.opcode); });
}

std::uint64_t num_dynamic_instances(const Stmt &stmt) {
  const Loop *loop = stmt.parent_loop();
  return loop == nullptr ? 1 : loop->dynamic_instances();
}

bool dominates(const Stmt &def, const Stmt &user) {
  if (def.order() >= user.order())
    return false;
  const Loop *scope = def.parent_loop();
  return scope == nullptr || user.order() <= scope->end_order();
}

Stmt *ancestor_in_block(Stmt *stmt, const Block *block) {
  if (stmt->parent() == block)
    return stmt;
  const unsigned depth = block->loop() == nullptr ? 1 : block->loop()->depth() + 1;
  Loop *loop = stmt->parent_loop();
  while (loop != nullptr && loop->depth() > depth) {
    const bool jumps = loop->jump_ != nullptr && loop->jump_->depth() >= depth;
    loop = jumps ? loop->jump_.get() : loop->parent_loop();
  }
  return loop != nullptr && loop->parent() == block ? loop : nullptr;
}

} // namespace nir
