#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/numeric/literal.h"
#include "lang/nir/lexer/lexer.h"
#include "lang/nir/lexer/token.h"
#include "lang/text/errors.h"

namespace nir::lang {

// Makes values of the tokens that stay text until they are needed. What cannot be made is reported
// at the token.
class Literals {
public:
  Literals(const Lexer &lexer, Module &module, Errors &errors)
      : lexer_(lexer), module_(module), errors_(errors) {}

  // The value of an integer token, with its sign.
  std::optional<std::int64_t> integer(const Token &number);
  // The code of a number in `dtype` (language reference, "A number written for…").
  std::optional<std::uint64_t> code(const Token &number, DType dtype);
  // It as an operand; nullptr where it has no code.
  Immediate *immediate(const Token &number, DType dtype);
  // What a string token stands for; lives as long as the module.
  std::string_view string(const Token &token);

  // The text of a token as messages show it: quoted, and cut where it is very long.
  std::string shown(SourceRange range) const;
  std::string_view text(SourceRange range) const { return lexer_.text(range); }

private:
  NumberToken number_of(const Token &token) const;

  const Lexer &lexer_;
  Module &module_;
  Errors &errors_;
  TextCache<Immediate *> immediates_; // by the text of the number, for the dtype that each has
};

} // namespace nir::lang
