#pragma once

#include <string_view>

#include "ir/core/module.h"
#include "ir/diagnostics/diagnostic.h"
#include "lang/nir/lexer/token.h"
#include "lang/nir/lexer/words.h"
#include "lang/text/text_cache.h"

namespace nir::lang {

// Cuts a source text into tokens (language reference, Words). Names are interned, words are looked
// up, and types on one line become one token; numbers and strings stay text until someone asks.
class Lexer {
public:
  Lexer(const SourceFile &file, Module &module, DiagnosticEngine &diagnostics)
      : text_(file.text()), keeps_text_(!file.source_text().is_file()), module_(module),
        diagnostics_(diagnostics), words_(WordTable::instance()), begin_(text_.data()),
        cursor_(begin_), start_(begin_), previous_end_(begin_) {}

  // Reads the next token into `token` and returns its kind, TOK_END at the end. What is no token
  // is reported, unless quiet, and returned as TOK_NIR_YYerror.
  int next(Token &token);

  // Continues at `offset`, which must be the beginning of a token.
  void seek(SourceOffset offset) { cursor_ = begin_ + offset; }
  // Reads only what stands between: the end is that of the text or where a `func` stands.
  void limit(SourceRange part) {
    seek(part.begin);
    end_ = part.end;
  }
  // Reads without reports, to look ahead or to skip.
  void set_quiet(bool quiet) { quiet_ = quiet; }
  // Behind the token that was read last.
  SourceOffset position() const { return offset_of(cursor_); }
  // The token that was read last, and where the one before it ended.
  SourceRange last_token() const { return {offset_of(start_), offset_of(cursor_)}; }
  SourceOffset previous_end() const { return offset_of(previous_end_); }
  // The word that the one before it is or ends with.
  std::string_view previous_word() const;

  std::string_view text(SourceRange range) const {
    return text_.substr(range.begin, range.end - range.begin);
  }
  // Whether only blanks stand between the beginning of the line and `offset`.
  bool is_first_on_line(SourceOffset offset) const;

private:
  SourceOffset offset_of(const char *at) const { return static_cast<SourceOffset>(at - begin_); }
  void set_range(Token &token, const char *start) {
    start_ = start;
    token.set_range(offset_of(start), offset_of(cursor_));
  }
  int name(Token &token, int kind, const char *start);
  Name intern(std::string_view id);
  int quoted_name(Token &token, int kind, const char *start);
  int numbered_name(Token &token, int kind, const char *start);
  int number(Token &token, int kind, NumberToken::Kind form, const char *start);
  int word(Token &token, const char *start);
  // A type, or only its first word where the text is not a type that needs no message.
  int type_or_word(Token &token, const char *start);
  const Type *read_type(std::string_view text);

  // What is no token.
  int error(Token &token, const char *start, const char *end, std::string message);
  int bad_name(Token &token, const char *start);
  int bad_number(Token &token, const char *start);
  int bad_byte(Token &token, const char *start);
  int bad_string(Token &token, const char *start);

  std::string_view text_;
  bool keeps_text_; // else names are copied: the memory of the text is given back
  Module &module_;
  DiagnosticEngine &diagnostics_;
  const WordTable &words_;
  const char *begin_;
  const char *cursor_;
  const char *start_;
  const char *previous_end_;
  SourceOffset end_ = no_source; // a `func` from here on is the end
  bool quiet_ = false;
  // So `float32[128, 512]` is one token and one comparison, and a name that was read before needs
  // no look at the module's table, which threads share.
  TextCache<const Type *> types_;
  TextCache<Name> names_;
};

// `text` as messages show it: in quotes, and cut where it is very long.
std::string shown_text(std::string_view text);

// The bytes that a string token stands for: `quoted` is its text with the quotes, already known to
// be well-formed. Appends them to `out`.
void unescape(std::string_view quoted, std::string &out);

} // namespace nir::lang
