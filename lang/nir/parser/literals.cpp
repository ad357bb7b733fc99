#include "lang/nir/parser/literals.h"

#include <fmt/format.h>

namespace nir::lang {
namespace {

std::uint64_t digit_value(char c) {
  return static_cast<std::uint64_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

// The number that `text` spells; nothing where it does not fit in 64 bits.
std::optional<std::uint64_t> magnitude(std::string_view text, bool hexadecimal) {
  const std::uint64_t base = hexadecimal ? 16 : 10;
  std::uint64_t value = 0;
  for (const char c : text.substr(hexadecimal ? 2 : 0))
    if (__builtin_mul_overflow(value, base, &value) ||
        __builtin_add_overflow(value, digit_value(c), &value))
      return std::nullopt;
  return value;
}

} // namespace

NumberToken Literals::number_of(const Token &token) const {
  const NumberText number = token.number();
  return {number.negative, number.kind, lexer_.text({number.begin, token.end})};
}

std::optional<std::int64_t> Literals::integer(const Token &number) {
  const NumberToken spelled = number_of(number);
  const auto value = magnitude(spelled.text, spelled.kind == NumberToken::Kind::HexInteger);
  constexpr std::uint64_t most = std::uint64_t{1} << 63; // of a negative number
  if (value && *value < most + (spelled.negative ? 1 : 0))
    return static_cast<std::int64_t>(spelled.negative ? 0 - *value : *value);
  errors_.error(number.range(),
                fmt::format("integer {} does not fit in 64 bits", shown(number.range())));
  return std::nullopt;
}

std::optional<std::uint64_t> Literals::code(const Token &number, DType dtype) {
  if (is_x4_dtype(dtype)) {
    errors_.error(number.range(), fmt::format("found a number for {}, which has none: its elements "
                                              "are written as hex",
                                              dtype2str(dtype)));
    return std::nullopt;
  }
  auto code = literal_to_code(number_of(number), dtype);
  if (code)
    return *code;
  errors_.error(number.range(), std::move(code.error()));
  return std::nullopt;
}

Immediate *Literals::immediate(const Token &number, DType dtype) {
  Immediate *&known = immediates_.place(text(number.range()));
  if (known == nullptr || known->dtype() != dtype) {
    const auto found = code(number, dtype);
    known = found ? module_.immediate(dtype, *found) : nullptr;
  }
  return known;
}

std::string_view Literals::string(const Token &token) {
  const std::string_view quoted = lexer_.text(token.range());
  if (quoted.find('\\') == std::string_view::npos)
    return quoted.substr(1, quoted.size() - 2);
  std::string text;
  unescape(quoted, text);
  return module_.arena().copy(std::string_view(text));
}

std::string Literals::shown(SourceRange range) const { return shown_text(lexer_.text(range)); }

} // namespace nir::lang
