#include "lang/text/scope.h"

namespace nir::lang {
namespace {

// The block in which a definition is visible.
const Block *home_of(const Stmt *stmt) {
  return isa<Loop>(stmt) ? &cast<Loop>(stmt)->body() : stmt->parent();
}

} // namespace

void Scope::begin_function(Function &function) {
  function_ = &function;
  blocks_.assign(1, &function.body());
}

bool Scope::is_open(const Block *block) const {
  const unsigned depth = block->loop() == nullptr ? 0 : block->loop()->depth();
  return depth < blocks_.size() && blocks_[depth] == block;
}

Scope::Value Scope::find_value(Name name) {
  const Entry entry = values_.slot(name);
  if (entry.empty())
    return {NameState::Unknown, nullptr};
  if (entry.is_poison()) {
    const Poison &poison = poisons_[entry.poison_index()];
    if (poison.function != function_)
      return {NameState::Unknown, nullptr};
    return {is_open(poison.block) ? NameState::Poisoned : NameState::Hidden, nullptr};
  }
  Stmt *stmt = static_cast<Stmt *>(entry.value());
  const Block *home = home_of(stmt);
  if (home == blocks_.back() || is_open(home))
    return {NameState::Visible, stmt};
  if (home->function() != function_)
    return {NameState::Unknown, nullptr};
  return {NameState::Hidden, stmt};
}

Scope::NamedTensor Scope::find_tensor(Name name) {
  const Entry entry = tensors_.slot(name);
  if (entry.empty())
    return {NameState::Unknown, nullptr};
  if (entry.is_poison()) {
    const bool here = poisons_[entry.poison_index()].function == function_;
    return {here ? NameState::Poisoned : NameState::Unknown, nullptr};
  }
  auto *tensor = static_cast<Tensor *>(entry.value());
  if (tensor->function() != function_)
    return {NameState::Unknown, nullptr};
  return {NameState::Visible, tensor};
}

Scope::Entry Scope::add_poison() {
  poisons_.push_back({function_, blocks_.back()});
  return Entry::poison(poisons_.size() - 1);
}

} // namespace nir::lang
