#pragma once

#include <memory>
#include <string>

#include "ir/core/module.h"
#include "ir/diagnostics/diagnostic.h"

namespace nir {

// A module with the text that it refers to.
struct ModuleCopy {
  std::unique_ptr<SourceFile> text;
  std::unique_ptr<Module> module;
};

// The module that printing gave the text of: statement for statement, name for name. The target is
// given, since the text does not say which of its features were switched. That the text cannot be
// read is an internal error and throws.
ModuleCopy copy_module(std::string text, const Target &target);

} // namespace nir
