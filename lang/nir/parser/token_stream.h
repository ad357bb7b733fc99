#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/nir/lexer/lexer.h"
#include "lang/nir/parser/attribute_reader.h"
#include "lang/text/errors.h"

namespace nir::lang {

// What the grammar would have taken, put into words.
class ExpectedSymbols {
public:
  void add(std::string_view name) { names_.push_back(name); }
  bool has(std::string_view name) const;
  // Whether a statement may begin here, or a function: then what was found is not behind the end of
  // something that was cut off.
  bool starts_something() const { return has("'for'") || has("'func'"); }
  // Whether it is a word and nothing else, which says little.
  bool is_word() const;
  std::string text() const;

private:
  std::vector<std::string_view> names_;
};

// The tokens as the parser takes them: those of the lexer, and what recovery puts between them.
// After an error the next token is RESYNC, then the tokens go on at the next place where a
// statement, a function or the end of a block can be (language reference, Errors).
class TokenStream {
public:
  TokenStream(Lexer &lexer, Errors &errors, const AttributeReader &attributes)
      : lexer_(lexer), errors_(errors), attributes_(attributes) {}

  int next(Token &token) {
    if (state_ != State::Reading)
      return next_after_error(token);
    const int kind = lexer_.next(token);
    if (kind == error_kind)
      resync(token.begin);
    return kind;
  }

  // Reports that the last token does not fit, and starts recovery.
  void report_unexpected(bool at_end, const ExpectedSymbols &expected);
  // Starts recovery at a token that begins at `offset` or later.
  void resync(SourceOffset offset);

  // The header of a function or a loop has begun: `{` opens its body, also for recovery.
  void expect_body() { in_header_ = true; }
  void open_body(SourceRange brace);
  void close_body() { braces_.pop_back(); }

private:
  enum class State : std::uint8_t { Reading, Recovering, Closing };
  static constexpr int error_kind = 256; // the lexer's TOK_NIR_YYerror

  int next_after_error(Token &token);
  int skip(Token &token);
  bool can_resume(int kind, const Token &token, unsigned depth);
  bool is_definition();
  std::string_view expected_word() const;
  void missing_brace(SourceRange found, bool at_end);

  Lexer &lexer_;
  Errors &errors_;
  const AttributeReader &attributes_;
  State state_ = State::Reading;
  bool in_header_ = false;
  SourceOffset resume_ = 0;
  SourceOffset reported_ = no_source; // where the last message about an unexpected token points
  std::vector<SourceRange> braces_;   // of the blocks that are open
};

} // namespace nir::lang
