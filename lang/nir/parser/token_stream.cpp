#include "lang/nir/parser/token_stream.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/nir/lexer/token_kinds.h"

namespace nir::lang {

bool ExpectedSymbols::has(std::string_view name) const {
  return std::ranges::find(names_, name) != names_.end();
}

namespace {

bool is_opcode(std::string_view name) {
  return name == "an opcode" || name == "an arithmetic opcode" || name == "'activation'" ||
         name == "'tensor_scalar'" || name == "'memset'";
}

} // namespace

bool ExpectedSymbols::is_word() const {
  return std::ranges::all_of(
      names_, [](std::string_view name) { return name == "a word" || is_opcode(name); });
}

std::string ExpectedSymbols::text() const {
  if (has("'for'"))
    return "a statement or '}'";
  if (has("'call'"))
    return "an opcode";
  if (has("'true'"))
    return has("']'") ? "an attribute value or ']'" : "an attribute value";
  const bool numbers = has("a number");
  const auto is_implied = [&](std::string_view name) {
    if (is_opcode(name))
      return has("a word");
    if (name == "a word")
      return has("a type");
    if (name == "an integer" || name == "'inf'" || name == "'nan'")
      return numbers;
    return name == "'-'" && (numbers || has("an integer"));
  };
  std::vector<std::string_view> shown;
  std::ranges::remove_copy_if(names_, std::back_inserter(shown), is_implied);
  // Where no tensor may stand, a value is the variable of a loop.
  if (!has("a tensor"))
    std::ranges::replace(shown, "a value", "a loop variable");
  std::string text;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (i != 0)
      text += i + 1 == shown.size() ? " or " : ", ";
    text += shown[i];
  }
  return text;
}

void TokenStream::resync(SourceOffset offset) {
  resume_ = offset;
  state_ = State::Recovering;
}

void TokenStream::open_body(SourceRange brace) {
  in_header_ = false;
  braces_.push_back(brace);
}

void TokenStream::report_unexpected(bool at_end, const ExpectedSymbols &expected) {
  const SourceRange last = lexer_.last_token();
  resync(last.begin);
  if (reported_ == last.begin)
    return;
  const bool at_func = lexer_.text(last) == "func";
  if (expected.has("'for'") && (at_end || at_func))
    return missing_brace(last, at_end);
  reported_ = last.begin;
  const std::string wanted = expected.is_word() ? std::string(expected_word()) : expected.text();
  const bool cut_off = at_end || lexer_.is_first_on_line(last.begin);
  if (cut_off && !expected.starts_something()) {
    errors_.error(SourceRange::at(lexer_.previous_end()),
                  fmt::format("expected {}, found end of {}", wanted, at_end ? "file" : "line"));
    return;
  }
  errors_.error(last, fmt::format("expected {}, found {}", wanted,
                                  at_end ? "end of file" : shown_text(lexer_.text(last))));
}

// The kind of word that is expected behind the token before the last one.
std::string_view TokenStream::expected_word() const {
  if (attributes_.is_open())
    return "an attribute";
  const std::string_view before = lexer_.previous_word();
  if (before == "as")
    return "a dtype";
  return before == mnemonic(Opcode::Activation) ? "a function" : "an operator";
}

// A block is not closed where the file ends or another function begins.
void TokenStream::missing_brace(SourceRange found, bool at_end) {
  if (reported_ == found.begin)
    return;
  reported_ = found.begin;
  errors_.error(found, fmt::format("expected '}}', found {}", at_end ? "end of file" : "'func'"))
      .notes.push_back({braces_.back(), "to close the block that begins here"});
}

int TokenStream::next_after_error(Token &token) {
  static_assert(error_kind == TOK_NIR_YYerror);
  if (state_ == State::Recovering)
    return skip(token);
  // The blocks that were left open are closed by braces that are not there.
  if (!braces_.empty()) {
    token.set_range(lexer_.position(), lexer_.position());
    return '}';
  }
  state_ = State::Reading;
  return next(token);
}

int TokenStream::skip(Token &token) {
  lexer_.seek(resume_);
  lexer_.set_quiet(true);
  unsigned depth = attributes_.is_open() ? 1 : 0; // braces of attributes around the token
  int kind = lexer_.next(token);
  for (; kind != TOK_END; kind = lexer_.next(token)) {
    if (kind == '{' && in_header_)
      break;
    if (can_resume(kind, token, depth))
      break;
    if (kind == '{')
      ++depth;
    if (kind == '}' && depth > 0)
      --depth;
  }
  lexer_.set_quiet(false);
  state_ = State::Reading;
  if (kind == '{') {
    in_header_ = false;
    return TOK_RESYNC_BODY;
  }
  in_header_ = false;
  lexer_.seek(token.begin);
  if (kind == TOK_END || kind == TOK_FUNC) {
    if (!braces_.empty())
      missing_brace(token.range(), kind == TOK_END);
    state_ = State::Closing;
  }
  return TOK_RESYNC;
}

bool TokenStream::can_resume(int kind, const Token &token, unsigned depth) {
  const bool first = lexer_.is_first_on_line(token.begin);
  const bool in_function = !braces_.empty() || in_header_;
  switch (kind) {
  case TOK_FUNC:
    return first;
  case '}':
    return in_function && (first || depth == 0);
  case TOK_WORD:
    return in_function && first && depth == 0;
  case TOK_VALUE:
    return in_function && first && is_definition();
  case TOK_TENSOR:
  case TOK_FOR:
  case TOK_CALL:
  case TOK_OPAQUE:
  case TOK_OP_PLAIN:
  case TOK_OP_ACTIVATION:
  case TOK_OP_SCALAR:
  case TOK_OP_ALU:
  case TOK_OP_NUMBER:
    return in_function && first;
  default:
    return false;
  }
}

// Whether `=` follows the token that was just read.
bool TokenStream::is_definition() {
  const SourceOffset here = lexer_.position();
  Token ahead;
  const bool result = lexer_.next(ahead) == '=';
  lexer_.seek(here);
  return result;
}

} // namespace nir::lang
