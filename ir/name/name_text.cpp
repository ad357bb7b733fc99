#include "ir/name/name_text.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "ir/support/utf8.h"

namespace nir {
namespace {

constexpr auto identifier_chars = [] {
  std::array<bool, 256> table{};
  for (unsigned c = 'a'; c <= 'z'; ++c)
    table[c] = table[c - 'a' + 'A'] = true;
  for (unsigned c = '0'; c <= '9'; ++c)
    table[c] = true;
  table['_'] = table['.'] = true;
  return table;
}();

constexpr std::string_view reserved_words[] = {
#define RESERVED(text, token) text,
#include "ir/name/reserved.def"
#undef RESERVED
};

void append_hex_escape(std::string &out, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<std::uint8_t>(c);
  out += "\\x";
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

void append_ascii(std::string &out, char c) {
  constexpr char del = 0x7f;
  switch (c) {
  case '"':
    out += "\\\"";
    return;
  case '\\':
    out += "\\\\";
    return;
  case '\n':
    out += "\\n";
    return;
  case '\t':
    out += "\\t";
    return;
  default:
    if (c < ' ' || c == del)
      append_hex_escape(out, c);
    else
      out += c;
  }
}

} // namespace

bool is_bare_identifier(std::string_view text) {
  if (text.empty() || text[0] == '.')
    return false;
  for (const char c : text)
    if (!identifier_chars[static_cast<std::uint8_t>(c)])
      return false;
  return true;
}

bool is_free_word(std::string_view text) {
  const bool word = is_bare_identifier(text) && (text[0] < '0' || text[0] > '9') &&
                    text.find('.') == std::string_view::npos;
  return word && std::ranges::find(reserved_words, text) == std::end(reserved_words);
}

void append_string_literal(std::string &out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = decode_utf8(text).length;
    if (length == 0)
      append_hex_escape(out, text[0]);
    else if (length == 1)
      append_ascii(out, text[0]);
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

std::string quoted_name(const NameTable &names, char sigil, Name name) {
  std::string out(1, sigil);
  if (name.empty())
    out += '?';
  else
    append_identifier(out, names, name);
  return out;
}

} // namespace nir
