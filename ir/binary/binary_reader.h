#pragma once

#include <memory>
#include <string_view>

#include "ir/core/module.h"
#include "ir/diagnostics/diagnostic.h"

namespace nir {

struct BinaryReadOptions {
  // Whether the rules of every statement, declaration and call are checked as well, as the parser
  // does (verifier.h). Without it only what damage can break is an error: nothing that a text could
  // not say is ever read.
  bool verify = true;
  // The machine that the module is for, whatever its header says; nullptr leaves it to the header.
  const Target *target = nullptr;
};

// Whether these are the first bytes of a module in binary form, which no text begins with.
bool is_binary_module(std::string_view bytes);

// Reads the binary form of a module (docs/binary.md). Returns nullptr where anything is wrong. What
// is damaged is one error, which names the byte where it shows; of broken rules all are reported,
// each with a note that shows the statement. No error has a position in a text. Memory is in
// proportion to the bytes, whatever they are. Names and strings of the module refer to `bytes`,
// which must outlive it.
std::unique_ptr<Module> read_binary(std::string_view bytes, DiagnosticEngine &diagnostics,
                                    const BinaryReadOptions &options = {});

} // namespace nir
