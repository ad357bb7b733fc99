#include "ir/core/module.h"

namespace nir {

Module::Module() : names_(arena_), types_(arena_), target_(default_target()) {}
Module::~Module() = default;

Function *Module::find_function(Name name) const {
  for (; num_indexed_ < functions_.size(); ++num_indexed_)
    function_index_.emplace(functions_[num_indexed_]->name().bits(), functions_[num_indexed_]);
  const auto it = function_index_.find(name.bits());
  return it == function_index_.end() ? nullptr : it->second;
}

Function *Module::declare_function(Name name, SourceOffset source) {
  return arena_.create<Function>(*this, name, source);
}

Function *Module::add_function(Name name, SourceOffset source) {
  Function *function = declare_function(name, source);
  define(function);
  return function;
}

Immediate *Module::immediate(DType dtype, std::uint64_t bits) {
  const std::lock_guard lock(mutex_);
  Immediate *&slot = immediates_[static_cast<unsigned>(dtype)][bits];
  if (slot == nullptr)
    slot = arena_.create<Immediate>(types_.get(dtype, {}).value(), bits);
  return slot;
}

ConstData *Module::add_const_data(ConstData data) {
  const std::lock_guard lock(mutex_);
  return &const_data_.emplace_back(std::move(data));
}

} // namespace nir
