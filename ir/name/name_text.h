#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "ir/name/name.h"

namespace nir {

// Whether the language reads `text` as an identifier without quotes (language reference, Words).
bool is_bare_identifier(std::string_view text);

// Whether the language reads `text` as a word that is not reserved: what may name an opaque's own
// attribute or be its value.
bool is_free_word(std::string_view text);

// `text` as a string literal: quotes around it, escapes inside (language reference, Printing).
void append_string_literal(std::string &out, std::string_view text);

// A name without its sigil, quoted where it must be.
template <class Out> void append_identifier(Out &out, const NameTable &names, Name name) {
  if (name.is_number()) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, name.number()).ptr;
    out.append(std::string_view(digits, static_cast<std::size_t>(end - digits)));
    return;
  }
  const std::string_view text = names.view(name);
  if (is_bare_identifier(text)) {
    out.append(text);
    return;
  }
  std::string quoted;
  append_string_literal(quoted, text);
  out.append(quoted);
}

// `%name`, `$name`, `@name`, quoted where the language needs it.
std::string quoted_name(const NameTable &names, char sigil, Name name);

} // namespace nir
