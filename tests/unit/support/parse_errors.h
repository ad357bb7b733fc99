#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "lang/nir/parser/parser.h"

namespace nir::test {

// Everything that reading `text` reports, a line each: line:column-length: message. Notes are
// indented. A module where there is an error, or none without, is a failure of its own.
inline std::string errors_of(std::string text, unsigned max_errors = 20) {
  const SourceFile file("test.nir", std::move(text));
  DiagnosticEngine diagnostics(max_errors);
  const auto module = parse(file, diagnostics);
  std::string out;
  const auto add = [&](std::string_view indent, SourceRange range, std::string_view message) {
    const LineColumn place = file.locate(range.begin);
    out += fmt::format("{}{}:{}-{}: {}\n", indent, place.line, place.column,
                       range.end - range.begin, message);
  };
  for (const Diagnostic &diagnostic : diagnostics.diagnostics()) {
    if (diagnostic.severity != Severity::Error)
      continue;
    add("", diagnostic.range, diagnostic.message);
    for (const DiagnosticNote &note : diagnostic.notes)
      add("  ", note.range, note.message);
  }
  if ((module == nullptr) != diagnostics.has_errors())
    out += "module and errors disagree\n";
  return out;
}

// Likewise, for statements from line 6, column 3 on, in a function with a few tensors and a value.
inline std::string errors_in_function(std::string_view body) {
  return errors_of(fmt::format("func @f {{\n"
                               "  tensor $x : f32[4, 8] sbuf input\n"
                               "  tensor $y : f32[4, 8] sbuf output\n"
                               "  tensor $d : f32[4, 8] dram output\n"
                               "  %a = tensor_copy $x : f32[4, 8]\n"
                               "  {}\n}}\n",
                               body));
}

} // namespace nir::test
