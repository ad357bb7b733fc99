#pragma once

#include <string_view>
#include <vector>

#include "ir/diagnostics/diagnostic.h"

namespace nir {

// The line between the pieces of an input with --split-input-file, and of its output.
constexpr std::string_view split_marker = "// -----";

// One piece of a text and where in the text it begins.
struct InputPiece {
  std::string_view text;
  SourceOffset offset = 0;
};

// The pieces of `text` between the lines that hold nothing but the marker; blanks may follow it.
std::vector<InputPiece> split_input(std::string_view text);

// The diagnostic of a piece as one of the whole text.
Diagnostic shifted(Diagnostic diagnostic, SourceOffset offset);

} // namespace nir
