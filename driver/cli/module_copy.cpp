#include "driver/cli/module_copy.h"

#include <stdexcept>

#include "lang/nir/parser/parser.h"

namespace nir {

ModuleCopy copy_module(std::string text, const Target &target) {
  ModuleCopy copy;
  copy.text = std::make_unique<SourceFile>("<copy>", std::move(text));
  DiagnosticEngine diagnostics;
  ParseOptions options;
  options.verify = false;
  options.target = &target;
  copy.module = parse(*copy.text, diagnostics, options);
  if (copy.module != nullptr)
    return copy;
  std::string rendered = "the printed module cannot be read back: ";
  for (const Diagnostic &diagnostic : diagnostics.diagnostics())
    render(diagnostic, *copy.text, rendered);
  throw std::runtime_error(rendered);
}

} // namespace nir
