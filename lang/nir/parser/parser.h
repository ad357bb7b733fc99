#pragma once

#include <memory>

#include "ir/core/module.h"
#include "ir/diagnostics/diagnostic.h"

namespace nir {

struct ParseOptions {
  // Whether the rules of every statement, declaration and call are checked as well (verifier.h).
  // Without it only what the text itself can break is an error: syntax, names, numbers, types.
  bool verify = true;
  // The machine that the module is for, whatever its header says; nullptr leaves it to the header.
  const Target *target = nullptr;
  // Threads. With several, functions are read at the same time; the module and what is reported
  // are the same.
  unsigned jobs = 1;
};

// Reads one module (language reference). Returns nullptr when there was any error; what was wrong
// is added to `diagnostics` in order of position. Names and strings of the module refer to the text
// of `file`, which must outlive it.
std::unique_ptr<Module> parse(const SourceFile &file, DiagnosticEngine &diagnostics,
                              const ParseOptions &options = {});

} // namespace nir
