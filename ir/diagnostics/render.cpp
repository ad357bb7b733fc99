// How diagnostics look: the message, the source line and a caret below it.

#include <algorithm>

#include <fmt/format.h>

#include "ir/diagnostics/diagnostic.h"
#include "ir/support/utf8.h"

namespace nir {
namespace {

constexpr std::size_t max_columns = 200; // of a longer line an excerpt is shown
constexpr std::size_t columns_before = 80;
constexpr std::string_view cut_mark = "...";
constexpr std::string_view replacement = "\xEF\xBF\xBD"; // U+FFFD

// Whether a terminal could take the character for a command: controls, and what turns the direction
// of the text around.
bool is_harmful(std::uint32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  const bool bidi =
      c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return control || bidi || c == 0x2028 || c == 0x2029;
}

// Calls `show` with each character of `text` as a terminal may safely see it, and with the number
// of bytes that it stands for.
template <class Show> void for_each_safe_char(std::string_view text, Show show) {
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    const std::size_t length = c.length == 0 ? 1 : c.length;
    const bool safe = c.length != 0 && (c.code_point == '\t' || !is_harmful(c.code_point));
    show(safe ? text.substr(0, length) : replacement, length);
    text.remove_prefix(length);
  }
}

void append_safe(std::string &out, std::string_view text) {
  for_each_safe_char(text, [&out](std::string_view shown, std::size_t) { out += shown; });
}

// The part of a line that is shown, and which bytes of that part are underlined.
struct Excerpt {
  std::string_view text;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool cut_before = false;
  bool cut_after = false;
};

bool continues_char(char byte) { return (static_cast<std::uint8_t>(byte) & 0xc0) == 0x80; }

// A place near `at` where no character is cut; text that is not UTF-8 is cut anywhere.
std::size_t char_boundary(std::string_view line, std::size_t at) {
  constexpr std::size_t longest_tail = 3;
  for (std::size_t back = 0; back <= longest_tail && back <= at; ++back)
    if (at - back == line.size() || !continues_char(line[at - back]))
      return at - back;
  return at;
}

Excerpt excerpt_of(std::string_view line, std::size_t begin, std::size_t end) {
  begin = std::min(begin, line.size());
  end = std::clamp(end, begin, line.size());
  if (line.size() <= max_columns)
    return {line, begin, end};
  std::size_t first = begin > columns_before ? begin - columns_before : 0;
  first = char_boundary(line, std::min(first, line.size() - max_columns));
  // Boundaries lie up to three bytes back, and `begin` itself may lie within what is no character.
  const std::size_t full = std::min(std::max(first + max_columns, begin + 1), line.size());
  const std::size_t last = std::max(char_boundary(line, full), begin);
  Excerpt excerpt{line.substr(first, last - first), begin - first, std::min(end, last) - first};
  excerpt.cut_before = first != 0;
  excerpt.cut_after = last != line.size();
  return excerpt;
}

// Tabs are copied, so that the caret stands right however wide a tab is.
void append_underline(std::string &out, const Excerpt &excerpt) {
  if (excerpt.cut_before)
    out.append(cut_mark.size(), ' ');
  for_each_safe_char(
      excerpt.text.substr(0, excerpt.begin),
      [&out](std::string_view shown, std::size_t) { out += shown == "\t" ? '\t' : ' '; });
  out += '^';
  bool first = true;
  for_each_safe_char(excerpt.text.substr(excerpt.begin, excerpt.end - excerpt.begin),
                     [&](std::string_view, std::size_t) {
                       if (!first)
                         out += '~';
                       first = false;
                     });
}

void append_source(std::string &out, const SourceFile &file, SourceRange range, LineColumn place) {
  const std::size_t begin = place.column - 1;
  const std::size_t length = range.end > range.begin ? range.end - range.begin : 1;
  const Excerpt excerpt = excerpt_of(file.line(place.line), begin, begin + length);
  if (excerpt.cut_before)
    out += cut_mark;
  append_safe(out, excerpt.text);
  if (excerpt.cut_after)
    out += cut_mark;
  out += '\n';
  append_underline(out, excerpt);
  out += '\n';
}

void render_one(std::string &out, const SourceFile &file, Severity severity, SourceRange range,
                std::string_view message) {
  append_safe(out, file.name());
  LineColumn place;
  if (range.valid()) {
    place = file.locate(range.begin);
    out += fmt::format(":{}:{}", place.line, place.column);
  }
  out += fmt::format(": {}: ", to_string(severity));
  append_safe(out, message);
  out += '\n';
  if (range.valid())
    append_source(out, file, range, place);
}

} // namespace

void render(const Diagnostic &diagnostic, const SourceFile &file, std::string &out) {
  render_one(out, file, diagnostic.severity, diagnostic.range, diagnostic.message);
  for (const DiagnosticNote &note : diagnostic.notes)
    render_one(out, file, Severity::Note, note.range, note.message);
}

} // namespace nir
