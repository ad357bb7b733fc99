#include "ir/verify/verify_structure.h"

#include <limits>
#include <unordered_set>

#include "ir/name/name_text.h"
#include "ir/verify/verify_rules.h"

namespace nir {
namespace {

bool is_written_out_whole(const Access &access, const Tensor &tensor) {
  if (access.dims().size() != tensor.type()->rank())
    return false;
  for (unsigned i = 0; i < access.dims().size(); ++i) {
    const AccessDim &dim = access.dims()[i];
    const bool all = dim.terms.empty() && dim.constant == 0 && dim.stride == 1 &&
                     dim.size == tensor.type()->dim(i);
    if (!all)
      return false;
  }
  return true;
}

} // namespace

std::string loop_bounds_error(std::int64_t lo, std::int64_t hi, std::int64_t step) {
  if (step < 1)
    return fmt::format("the step of a loop is at least 1, found {}", step);
  if (lo >= hi)
    return fmt::format("a loop has at least one trip, found {}..{}", lo, hi);
  const auto distance = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo);
  const std::uint64_t more_trips = (distance - 1) / static_cast<std::uint64_t>(step); // than one
  if (more_trips >= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return fmt::format("the trips of {}..{} do not fit in 63 bits", lo, hi);
  return {};
}

bool StructureCheck::error(SourceOffset place, std::string message) {
  diagnostics_.error(SourceRange::at(place), std::move(message));
  return false;
}

std::string StructureCheck::value_name(const Stmt &stmt) const {
  return quoted_name(module_.names(), '%', stmt.name());
}

bool StructureCheck::check_functions() {
  ScratchMap<std::uint32_t, const Function *> names;
  bool ok = true;
  for (const Function *function : module_.functions()) {
    if (&function->module() != &module_)
      ok = error(function->source(),
                 function_name(*function) + " belongs to another module than the one it is in");
    if (function->name().empty())
      ok = error(function->source(), "a function has no name");
    const auto [holder, is_new] = names.try_emplace(function->name().bits(), function);
    if (is_new)
      continue;
    Diagnostic &redefinition =
        diagnostics_.error(SourceRange::at(function->source()),
                           fmt::format("function {} is defined twice", function_name(*function)));
    redefinition.notes.push_back(
        {SourceRange::at((*holder)->source()), "the earlier definition is here"});
    ok = false;
  }
  return ok;
}

// Links. Each statement must point back to the one before it, so a walk along `next` cannot go
// round in a circle.

bool StructureCheck::check_place(const Stmt &stmt, const Stmt *previous, const Block &block) {
  if (stmt.parent() != &block)
    return error(stmt, "a statement does not point to the block that holds it");
  if (stmt.prev() != previous)
    return error(stmt, "a statement does not point back to the one before it");
  return true;
}

bool StructureCheck::check_body(const Loop &loop, const Block &around) {
  const unsigned depth = around.loop() == nullptr ? 1 : around.loop()->depth() + 1;
  if (loop.body().loop() != &loop || loop.body().function() != around.function())
    return error(loop, "the body of a loop does not point to the loop and its function");
  if (loop.depth() != depth)
    return error(
        loop, fmt::format("a loop says that its depth is {}, found depth {}", loop.depth(), depth));
  if (depth == max_loop_depth + 1)
    return error(loop, fmt::format("loops nest more than {} deep", max_loop_depth));
  return true;
}

// The orders that the IR has given are taken where they are right, and given anew where not.
bool StructureCheck::check_links(Function &function) {
  statements_.assign(std::size_t{function.last_order()} + 1, nullptr);
  latest_order_ = 0;
  rising_ = true;
  lists_hold_ = true;
  max_slots_ = 0;
  num_slots_ = 0;
  num_listed_ = 0;
  if (!check_tensor_links(function) || !check_statement_links(function))
    return false;
  if (!rising_)
    renumber(function);
  holders_.clear(statements_.size() / 2, module_.names().num_strings());
  return true;
}

bool StructureCheck::check_statement_links(Function &function) {
  Block *block = &function.body();
  if (block->function() != &function || block->loop() != nullptr)
    return error(function.source(), "the body of a function does not point to it");
  Stmt *previous = nullptr;
  Stmt *stmt = block->first();
  LookAhead ahead;
  while (true) {
    if (stmt == nullptr) {
      if (block->last() != previous)
        return error(function.source(), "a block does not point to its last statement");
      if (block->loop() == nullptr)
        return true;
      previous = block->loop();
      leave(*block->loop());
      stmt = previous->next();
      block = previous->parent();
      continue;
    }
    if (!check_place(*stmt, previous, *block))
      return false;
    place(*stmt);
    ahead.look_above(stmt);
    previous = stmt;
    Loop *loop = dyn_cast<Loop>(stmt);
    stmt = stmt->next();
    if (loop == nullptr) {
      max_slots_ += cast<Instruction>(previous)->uses_of_operands().size();
      continue;
    }
    if (!check_body(*loop, *block))
      return false;
    block = &loop->body();
    previous = nullptr;
    stmt = block->first();
  }
}

void StructureCheck::place(Stmt &stmt) {
  const std::uint32_t order = stmt.order();
  rising_ &= order > latest_order_ && order < statements_.size();
  latest_order_ = order;
  if (rising_)
    statements_[order] = &stmt;
}

void StructureCheck::leave(const Loop &loop) {
  rising_ &= loop.end_order() >= latest_order_;
  latest_order_ = loop.end_order();
}

void StructureCheck::renumber(Function &function) {
  function.renumber();
  statements_.assign(std::size_t{function.last_order()} + 1, nullptr);
  for (Stmt &stmt : function.statements())
    statements_[stmt.order()] = &stmt;
}

bool StructureCheck::check_tensor_links(const Function &function) {
  const Tensor *previous = nullptr;
  for (const Tensor *tensor = function.first_tensor(); tensor != nullptr; tensor = tensor->next()) {
    if (tensor->prev() != previous || tensor->function() != &function)
      return error(tensor->source(), "a tensor does not point to its function and neighbours");
    previous = tensor;
  }
  if (function.last_tensor() != previous)
    return error(function.source(), "a function does not point to its last tensor");
  return true;
}

bool StructureCheck::check_tensors(const Function &function) {
  tensor_names_.clear();
  std::uint32_t num_inputs = 0;
  std::uint32_t num_outputs = 0;
  bool ok = true;
  for (const Tensor *tensor = function.first_tensor(); tensor != nullptr; tensor = tensor->next()) {
    num_inputs += tensor->role() == Role::Input ? 1 : 0;
    num_outputs += tensor->role() == Role::Output ? 1 : 0;
    ok &= check_type(tensor->source(), tensor->type());
    if (tensor->name().empty())
      ok = error(tensor->source(), "a tensor has no name");
    const auto [holder, is_new] = tensor_names_.try_emplace(tensor->name().bits(), tensor);
    if (is_new)
      continue;
    Diagnostic &redefinition =
        diagnostics_.error(SourceRange::at(tensor->source()),
                           fmt::format("tensor {} is declared twice", tensor_name(*tensor)));
    redefinition.notes.push_back(
        {SourceRange::at((*holder)->source()), "the earlier declaration is here"});
    ok = false;
  }
  if (function.num_inputs() != num_inputs || function.num_outputs() != num_outputs)
    ok = error(function.source(), fmt::format("{} counts {} inputs and {} outputs, found {} and {}",
                                              function_name(function), function.num_inputs(),
                                              function.num_outputs(), num_inputs, num_outputs));
  return ok;
}

// Whether the statement is one of the function at hand. Orders of others are stale or foreign, and
// so lead to some other statement.
bool StructureCheck::is_member(const Stmt &stmt) const {
  const std::uint32_t order = stmt.order();
  return order < statements_.size() && statements_[order] == &stmt;
}

bool StructureCheck::check_type(SourceOffset place, const Type *type) {
  if (types_.find(type) != nullptr)
    return true;
  if (type == nullptr)
    return error(place, "what defines a value or a tensor has no type");
  const auto interned = module_.types().get(type->dtype(), type->shape());
  if (!interned)
    return error(place, interned.error());
  if (*interned != type)
    return error(place, fmt::format("type {} is not interned in the module", to_string(*type)));
  types_.try_emplace(type, true);
  return true;
}

bool StructureCheck::check_statement(const Stmt &stmt) {
  lists_hold_ = lists_hold_ && why_list_is_broken(stmt) == nullptr;
  if (const Loop *loop = dyn_cast<Loop>(&stmt))
    return check_name(stmt) & check_loop(*loop);
  const Instruction &inst = *cast<Instruction>(&stmt);
  bool ok = check_name(stmt);
  if (static_cast<unsigned>(inst.opcode()) >= num_opcodes)
    return error(stmt, fmt::format("unknown opcode number {}", static_cast<int>(inst.opcode())));
  if (inst.defines_value())
    ok &= check_type(stmt.source(), stmt.type());
  for (const Use &use : inst.uses_of_operands())
    ok &= check_operand(inst, use);
  return ok;
}

bool StructureCheck::check_loop(const Loop &loop) {
  const std::string bounds = loop_bounds_error(loop.lo(), loop.hi(), loop.step());
  if (!bounds.empty())
    return error(loop, bounds);
  if (!loop.use_empty())
    return error(loop, fmt::format("loop variable {} is used as an operand", value_name(loop)));
  const Loop *around = loop.parent_loop();
  std::uint64_t instances = 0;
  if (__builtin_mul_overflow(around == nullptr ? 1 : around->dynamic_instances(),
                             static_cast<std::uint64_t>(loop.trips()), &instances))
    instances = std::numeric_limits<std::uint64_t>::max();
  if (loop.dynamic_instances() == instances)
    return true;
  return error(loop, fmt::format("loop {} counts {} dynamic instances, expected {}",
                                 value_name(loop), loop.dynamic_instances(), instances));
}

// The loop variable is visible in the loop, a value from its definition to the end of its block.
bool StructureCheck::is_visible(const Stmt &def, const Stmt &user) const {
  if (const Loop *loop = dyn_cast<Loop>(&def))
    return loop->order() < user.order() && user.order() <= loop->end_order();
  return dominates(def, user);
}

// Only the latest holder of a name must be asked: where an earlier one is visible, the latest has
// been reported and is none.
bool StructureCheck::check_name(const Stmt &stmt) {
  if (stmt.name().empty())
    return true;
  if (stmt.type() == nullptr && !isa<Loop>(&stmt))
    return error(stmt, fmt::format("an instruction named {} defines no value", value_name(stmt)));
  std::uint32_t &holder = holders_[stmt.name()];
  if (holder == 0 || !is_visible(*statements_[holder], stmt)) {
    holder = stmt.order();
    return true;
  }
  Diagnostic &redefinition = diagnostics_.error(
      SourceRange::at(stmt.source()), fmt::format("{} is defined where an earlier {} is visible",
                                                  value_name(stmt), value_name(stmt)));
  redefinition.notes.push_back(
      {SourceRange::at(statements_[holder]->source()), "the earlier definition is here"});
  return false;
}

bool StructureCheck::check_operand(const Instruction &user, const Use &use) {
  const Value *value = use.value();
  if (value == nullptr)
    return true; // the statement's own rules report it
  switch (value->kind()) {
  case ValueKind::Instruction:
    return check_value(user, *cast<Instruction>(value));
  case ValueKind::Immediate:
    return check_number(user, *cast<Immediate>(value));
  case ValueKind::Loop:
    return true; // likewise
  case ValueKind::Tensor:
    break;
  }
  if (use.tensor()->function() != user.function())
    return error(user,
                 fmt::format("tensor {} belongs to another function", tensor_name(*use.tensor())));
  ++num_slots_;
  return use.access() == nullptr || check_access(user, use);
}

bool StructureCheck::check_value(const Instruction &user, const Instruction &def) {
  if (!is_member(def))
    return error(user, fmt::format("{} is not in the function that uses it", value_name(def)));
  ++num_slots_;
  if (dominates(def, user))
    return true;
  Diagnostic &invisible = diagnostics_.error(
      SourceRange::at(user.source()),
      fmt::format("{} is not visible here, expected a value defined earlier in this block or one "
                  "around it",
                  value_name(def)));
  invisible.notes.push_back({SourceRange::at(def.source()), "it is defined here"});
  return false;
}

bool StructureCheck::check_number(const Instruction &user, const Immediate &number) {
  if (numbers_.find(&number) != nullptr)
    return true;
  if (module_.immediate(number.dtype(), number.bits()) != &number)
    return error(user, "a number is not interned in the module");
  numbers_.try_emplace(&number, true);
  return true;
}

bool StructureCheck::check_access(const Instruction &user, const Use &use) {
  const Access &access = *use.access();
  const Tensor &tensor = *use.tensor();
  const auto broken = [&](std::string_view what) {
    return error(user, fmt::format("an access to {} {}", tensor_name(tensor), what));
  };
  if (!check_type(user.source(), access.box()))
    return false;
  if (access.is_whole() != is_written_out_whole(access, tensor))
    return broken("does not know whether it is whole");
  if (access.is_whole() && !access.reinterprets())
    return broken("of the whole tensor is kept as a pattern");
  if (access.reinterprets() && access.view() == tensor.dtype())
    return broken("views it as the dtype that it has");
  for (const AccessDim &dim : access.dims())
    if (!check_terms(user, dim))
      return false;
  return true;
}

bool StructureCheck::check_terms(const Instruction &user, const AccessDim &dim) {
  std::uint32_t outer_order = 0;
  for (const AffineTerm &term : dim.terms) {
    if (!is_member(*term.loop) || !is_visible(*term.loop, user))
      return error(user,
                   fmt::format("subscript names {}, which is the variable of no loop around it",
                               value_name(*term.loop)));
    if (term.factor == 0 || term.loop->order() <= outer_order)
      return error(user, fmt::format("the terms of a subscript with {} are not in canonical order",
                                     value_name(*term.loop)));
    outer_order = term.loop->order();
  }
  return true;
}

// Use-lists. Where each entry of each list is an operand slot of the function that refers to the
// list's value, and there are as many entries as slots, the lists hold every slot once.

bool StructureCheck::is_slot_of_function(const Use &use) const {
  const Instruction &user = *use.user();
  if (!is_member(user) || !isa<Instruction>(&user))
    return false;
  const auto slots = user.uses_of_operands();
  return use.index() < slots.size() && &slots[use.index()] == &use;
}

const char *StructureCheck::why_list_is_broken(const Value &value) {
  for (const Use &use : value.uses()) {
    if (use.value() != &value || !use.is_linked() || !is_slot_of_function(use))
      return "holds what does not use it";
    if (++num_listed_ > max_slots_)
      return "does not end";
  }
  return nullptr;
}

bool StructureCheck::check_use_list(const Value &value, SourceOffset place, char sigil) {
  const char *reason = why_list_is_broken(value);
  if (reason == nullptr)
    return true;
  return error(place, fmt::format("the use-list of {} {}",
                                  quoted_name(module_.names(), sigil, value.name()), reason));
}

// Those of statements were looked at on the way. Where all is well nothing is left to do; else they
// are looked at once more, in order, for the message.
bool StructureCheck::check_uses(const Function &function) {
  for (const Tensor *tensor = function.first_tensor(); tensor != nullptr; tensor = tensor->next())
    lists_hold_ = lists_hold_ && why_list_is_broken(*tensor) == nullptr;
  if (lists_hold_ && num_listed_ == num_slots_)
    return true;
  return check_use_lists(function) && (num_listed_ == num_slots_ || check_all_listed(function));
}

bool StructureCheck::check_use_lists(const Function &function) {
  max_slots_ = num_slots_;
  num_listed_ = 0;
  for (const Tensor *tensor = function.first_tensor(); tensor != nullptr; tensor = tensor->next())
    if (!check_use_list(*tensor, tensor->source(), '$'))
      return false;
  for (const Stmt *stmt : statements_)
    if (stmt != nullptr && !check_use_list(*stmt, stmt->source(), '%'))
      return false;
  return true;
}

// Finds the operands that their values do not know of.
bool StructureCheck::check_all_listed(const Function &function) {
  std::unordered_set<const Use *> listed;
  const auto collect = [&listed](const Value &value) {
    for (const Use &use : value.uses())
      listed.insert(&use);
  };
  for (const Tensor *tensor = function.first_tensor(); tensor != nullptr; tensor = tensor->next())
    collect(*tensor);
  for (const Stmt *stmt : statements_)
    if (stmt != nullptr)
      collect(*stmt);
  for (const Stmt *stmt : statements_) {
    if (stmt == nullptr)
      continue;
    const Instruction *inst = dyn_cast<Instruction>(stmt);
    if (inst == nullptr)
      continue;
    for (const Use &use : inst->uses_of_operands())
      if (use.value() != nullptr && !isa<Immediate>(use.value()) && !listed.contains(&use))
        return error(
            *stmt, fmt::format("the use-list of {} does not know of a use of it", to_string(use)));
  }
  return error(function.source(), "use-lists and operands differ in number");
}

} // namespace nir
