#include "lang/parser.h"

#include <algorithm>

#include "lang/grammar.h"
#include "lang/parse_context.h"

namespace nir {
namespace {

// Adds what two parts of one reading found, by position, as one list. Each part has recorded as
// many errors as the list may show.
void merge(DiagnosticEngine &first, DiagnosticEngine &second, DiagnosticEngine &out) {
  std::vector<Diagnostic> all = first.diagnostics();
  all.insert(all.end(), second.diagnostics().begin(), second.diagnostics().end());
  std::ranges::stable_sort(all, {}, [](const Diagnostic &item) { return item.range.begin; });
  const auto is_error = [](const Diagnostic &item) { return item.severity == Severity::Error; };
  auto unrecorded = first.num_errors() + second.num_errors() -
                    static_cast<unsigned>(std::ranges::count_if(all, is_error));
  for (Diagnostic &item : all) {
    const bool hidden = is_error(item) && out.at_limit();
    Diagnostic &reported = out.report(item.severity, item.range, std::move(item.message));
    if (!hidden)
      reported.notes = std::move(item.notes);
  }
  for (; unrecorded > 0; --unrecorded)
    out.error({}, {});
}

} // namespace

std::unique_ptr<Module> parse(const SourceFile &file, DiagnosticEngine &diagnostics,
                              const ParseOptions &options) {
  auto module = std::make_unique<Module>();
  DiagnosticEngine found(diagnostics.max_errors());
  DiagnosticEngine found_at_end(diagnostics.max_errors());
  lang::ParseContext context(file, *module, found, options);
  const bool accepted = nir_yyparse(context) == 0;
  if (!accepted && !found.has_errors())
    context.report_internal("gave up");
  // Where the parser gave up, a callee may be defined in what it did not read.
  if (accepted)
    context.calls().check(options.verify, found_at_end);
  const bool failed = found.has_errors() || found_at_end.has_errors();
  merge(found, found_at_end, diagnostics);
  if (failed)
    return nullptr;
  return module;
}

} // namespace nir
