#pragma once

#include <string>

#include "ir/core/module.h"
#include "ir/print/printer.h"

namespace nir {

// The binary form of a module (docs/binary.md): all that its text says, and nothing else. Reading
// it gives the same module, and writing that gives the same bytes. The module must be well-formed
// as far as VerifyLevel::Structure asks what its statements refer to; std::logic_error is thrown
// for what refers to nothing. It is handed on in a few large pieces. Statements get their orders.
void write_binary(Module &module, const TextSink &sink);
std::string to_binary(Module &module);

} // namespace nir
