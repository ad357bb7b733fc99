#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ir/core/module.h"

namespace nir {

// The ways in which what has no name of its own is called: `%17`; `%a17`, as people do; and
// `%convert.57` or `%"jit(f)/dot.4"`, as XLA prints.
enum class Naming : std::uint8_t { Numbers, Short, Hlo };

// The words for them, in the order of Naming.
std::span<const std::string_view> naming_words();
std::optional<Naming> find_naming(std::string_view word);

enum class RenameScope : std::uint8_t {
  Numbered,  // values and loops, and tensors and functions that are called by a number
  Everything // also tensors and functions that have a name
};

// Names what the module defines afresh, in program order. Nobody may have looked for a function by
// its name yet. Numbers and `short` names count within a function, `hlo` names in the module.
void rename(Module &module, Naming naming, RenameScope scope);

} // namespace nir
