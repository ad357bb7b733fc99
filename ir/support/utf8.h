#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nir {

// The code point that a text begins with, and how many bytes it takes; no bytes where the text is
// empty or does not begin with well-formed UTF-8 (shortest form, no surrogates, at most U+10FFFF).
struct Utf8Char {
  std::uint32_t code_point = 0;
  std::size_t length = 0;
};

constexpr Utf8Char decode_utf8(std::string_view text) {
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000}; // by length
  if (text.empty())
    return {};
  const auto lead = static_cast<std::uint8_t>(text[0]);
  if (lead < 0x80)
    return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length)
    return {};
  std::uint32_t code_point = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if ((byte & 0xc0) != 0x80)
      return {};
    code_point = code_point << 6 | (byte & 0x3fu);
  }
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  if (code_point < smallest[length] || code_point > 0x10ffff || surrogate)
    return {};
  return {code_point, length};
}

} // namespace nir
