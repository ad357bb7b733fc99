#pragma once

#include "ir/core/module.h"
#include "ir/diagnostics/diagnostic.h"
#include "passes/core/decline_reasons.h"

namespace nir {

// Why casts are left at the end of a pipeline (tools, --explain): of every cast left, in order of
// the program, a remark with its dtypes and the bytes of its results, and a note for each pass that
// declined, in order of their first words; at the end a remark with the sums, and the bytes moved
// by the whole module. Casts are tensor_copy between dtypes and offloaded_memcast.
void explain_casts(const Module &module, const DeclineReasons &reasons,
                   DiagnosticEngine &diagnostics);

} // namespace nir
