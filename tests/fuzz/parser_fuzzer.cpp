// Any bytes are refused with located errors, or are a well-formed module whose text says all of it.

#include "lang/nir/parser/parser.h"

#include "ir/print/printer.h"
#include "ir/verify/verifier.h"
#include "passes/instrument/structural_hash.h"
#include "passes/manager/pass_manager.h"
#include "tests/fuzz/fuzz_check.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace nir;
  using fuzz::require;
  const SourceFile file("fuzz.nir", fuzz::text_of(data, size));
  DiagnosticEngine diagnostics;
  const auto module = parse(file, diagnostics);
  if (module == nullptr) {
    fuzz::require_located_errors(diagnostics, file);
    return 0;
  }
  DiagnosticEngine broken;
  require(verify(*module, VerifyLevel::Structure, broken), "what is accepted is well-formed");

  const std::string text = to_string(*module);
  const SourceFile printed("printed.nir", text);
  DiagnosticEngine refused;
  const auto again = parse(printed, refused);
  require(again != nullptr, "what is printed is accepted");
  require(to_string(*again) == text, "there is one text of a module");
  require(structural_hash(*again) == structural_hash(*module), "the text says all of a module");
  return 0;
}
