#include "passes/instrument/interface_snapshot.h"

#include <mutex>

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/support/parallel.h"

namespace nir {
namespace {

// The next tensor of the role, `tensor` itself included.
const Tensor *with_role(const Tensor *tensor, Role role) {
  while (tensor != nullptr && tensor->role() != role)
    tensor = tensor->next();
  return tensor;
}

std::string describe(Role role, Space space, const Type &type) {
  return fmt::format("{} {} {}", to_string(type), to_string(space), to_string(role));
}

} // namespace

InterfaceSnapshot::InterfaceSnapshot(const Module &module) {
  functions_.reserve(module.functions().size());
  for (std::size_t i = 0; i < module.functions().size(); ++i) {
    prefetch_functions(module.functions(), i);
    const Function *function = module.functions()[i];
    for (const Role role : {Role::Input, Role::Output})
      for (const Tensor *t = with_role(function->first_tensor(), role); t != nullptr;
           t = with_role(t->next(), role))
        tensors_.push_back({t->name(), t->type(), t->space(), role});
    functions_.push_back({function->name(), tensors_.size()});
  }
}

std::optional<std::string> InterfaceSnapshot::find_change(const Module &module,
                                                          unsigned jobs) const {
  std::mutex mutex; // of the first change, in order of functions
  std::optional<std::string> change;
  std::size_t change_begin = 0;
  parallel_for(nullptr, jobs, functions_.size(), [&](std::size_t begin, std::size_t end) {
    std::optional<std::string> found = find_change(module, begin, end);
    const std::lock_guard lock(mutex);
    if (!found || (change && change_begin < begin))
      return;
    change = std::move(found);
    change_begin = begin;
  });
  return change;
}

// Likewise in the functions from `begin` to `end`.
std::optional<std::string> InterfaceSnapshot::find_change(const Module &module, std::size_t begin,
                                                          std::size_t end) const {
  std::size_t first_tensor = begin == 0 ? 0 : functions_[begin - 1].end;
  for (std::size_t i = begin; i < end; ++i) {
    const FunctionEntry &then = functions_[i];
    prefetch_functions(module.functions(), i);
    if (i >= module.functions().size() || module.functions()[i]->name() != then.name)
      return fmt::format("function '{}' is gone", quoted_name(module.names(), '@', then.name));
    const std::span entries(tensors_.data() + first_tensor, then.end - first_tensor);
    if (auto change = find_change(*module.functions()[i], entries))
      return fmt::format("the interface of function '{}' changed: {}",
                         quoted_name(module.names(), '@', then.name), *change);
    first_tensor = then.end;
  }
  return std::nullopt;
}

std::optional<std::string> InterfaceSnapshot::find_change(const Function &function,
                                                          std::span<const Entry> entries) {
  const NameTable &names = function.module().names();
  for (const Role role : {Role::Input, Role::Output}) {
    const Tensor *now = with_role(function.first_tensor(), role);
    for (; !entries.empty() && entries.front().role == role; entries = entries.subspan(1)) {
      const Entry &then = entries.front();
      const auto tensor = [&] { return quoted_name(names, '$', then.name); };
      if (now == nullptr)
        return fmt::format("{} '{}' is gone", to_string(role), tensor());
      if (now->name() != then.name)
        return fmt::format("'{}' stands where {} '{}' was", quoted_name(names, '$', now->name()),
                           to_string(role), tensor());
      if (now->type() != then.type || now->space() != then.space)
        return fmt::format("'{}' was {} and is {}", tensor(),
                           describe(role, then.space, *then.type),
                           describe(role, now->space(), *now->type()));
      now = with_role(now->next(), role);
    }
    if (now != nullptr)
      return fmt::format("{} '{}' is new", to_string(role), quoted_name(names, '$', now->name()));
  }
  return std::nullopt;
}

} // namespace nir
