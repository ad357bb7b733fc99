#include "driver/cli/split_input.h"

#include <algorithm>

namespace nir {
namespace {

bool is_marker(std::string_view line) {
  if (!line.starts_with(split_marker))
    return false;
  return line.find_first_not_of(" \t\r", split_marker.size()) == std::string_view::npos;
}

SourceRange shifted(SourceRange range, SourceOffset offset) {
  return range.valid() ? SourceRange{range.begin + offset, range.end + offset} : range;
}

} // namespace

std::vector<InputPiece> split_input(std::string_view text) {
  std::vector<InputPiece> pieces;
  std::size_t begin = 0;
  const auto end_piece = [&](std::size_t end) {
    pieces.push_back({text.substr(begin, end - begin), static_cast<SourceOffset>(begin)});
  };
  for (std::size_t line = 0; line < text.size();) {
    const std::size_t end = std::min(text.find('\n', line), text.size());
    const std::size_t next = std::min(end + 1, text.size());
    if (is_marker(text.substr(line, end - line))) {
      end_piece(line);
      begin = next;
    }
    line = next;
  }
  end_piece(text.size());
  return pieces;
}

Diagnostic shifted(Diagnostic diagnostic, SourceOffset offset) {
  diagnostic.range = shifted(diagnostic.range, offset);
  for (DiagnosticNote &note : diagnostic.notes)
    note.range = shifted(note.range, offset);
  return diagnostic;
}

} // namespace nir
