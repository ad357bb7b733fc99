#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ir/core/module.h"

namespace nir {

// Where text goes, piece by piece, so that a large module is never held as one string.
using TextSink = std::function<void(std::string_view)>;

// The one canonical text (language reference, Printing): parsing it gives the same module, and
// printing that gives the same bytes.
void print(const Module &module, const TextSink &sink);
std::string to_string(const Module &module);
std::string to_string(const Function &function);

// One statement as the module's text has it, without line end; a loop's header only. Values without
// a name print as `%?`, since their number depends on the whole function.
std::string to_string(const Stmt &stmt);

// An operand as the text has it.
std::string to_string(const Use &use);

} // namespace nir
