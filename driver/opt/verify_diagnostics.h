#pragma once

#include <span>

#include "ir/diagnostics/diagnostic.h"

namespace nir {

// Compares what was diagnosed in `file` with what its comments expect (tools,
// --verify-diagnostics):
//
//   // expected-error {{text}}            on this line a message that contains the text
//   // expected-warning@+1 {{text}}       on the line below; also -remark, -note, and @-2
//   // expected-note@above 2 {{text}}     twice, on the line above; also @below
//   // expected-remark@unknown {{text}}   one without a position
//
// A comment may hold several. Each expectation that nothing met, each diagnostic or note that
// nobody expected, and each comment that cannot be read is an error in `errors`. Returns whether
// there was none.
bool verify_diagnostics(const SourceFile &file, std::span<const Diagnostic> diagnostics,
                        DiagnosticEngine &errors);

} // namespace nir
