#pragma once

#include <optional>
#include <span>
#include <string>

#include "ir/core/module.h"
#include "ir/support/large_memory.h"

namespace nir {

// The interfaces of a module's functions as they once were. No pass may change them (language
// reference, "The interface"): names, order, dtypes, shapes, roles, and the spaces on which callers
// rely.
class InterfaceSnapshot {
public:
  explicit InterfaceSnapshot(const Module &module);

  // The first difference, as text that names the function and the tensor; nothing where every
  // function of then still has its interface. O(tensors), on up to `jobs` threads.
  std::optional<std::string> find_change(const Module &module, unsigned jobs = 1) const;

private:
  struct Entry {
    Name name;
    const Type *type; // interned
    Space space;
    Role role;
  };
  struct FunctionEntry {
    Name name;
    std::size_t end; // behind its tensors in tensors_
  };
  std::optional<std::string> find_change(const Module &module, std::size_t begin,
                                         std::size_t end) const;
  static std::optional<std::string> find_change(const Function &function,
                                                std::span<const Entry> entries);

  LargeVector<FunctionEntry> functions_;
  LargeVector<Entry> tensors_;
};

} // namespace nir
