// The scanner. Everything that is not a matter of recognising a token is in lexer_actions.cpp.

#include "lang/nir/lexer/lexer.h"

#include "lang/nir/lexer/token_kinds.h"

namespace nir::lang {

int Lexer::next(Token &token) {
  const auto *cursor = reinterpret_cast<const unsigned char *>(cursor_);
  const unsigned char *marker = nullptr;
  const char *start = nullptr;
  previous_end_ = cursor_;

  // Every rule leaves the cursor behind its token and names what it found.
#define NIR_ACCEPT(kind)                                                                           \
  do {                                                                                             \
    cursor_ = reinterpret_cast<const char *>(cursor);                                                                            \
    set_range(token, start);                                                                       \
    return kind;                                                                                   \
  } while (false)
#define NIR_CALL(function, ...)                                                                    \
  do {                                                                                             \
    cursor_ = reinterpret_cast<const char *>(cursor);                                                                            \
    return function(token, __VA_ARGS__);                                                           \
  } while (false)

next_token:
  start = reinterpret_cast<const char *>(cursor);
  /*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = cursor;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;
    re2c:flags:bit-vectors = 1;

    blank = [ \t\r];
    space = [ \t\r\n];
    digit = [0-9];
    hex = [0-9a-fA-F];
    id = [A-Za-z0-9_][A-Za-z0-9_.]*;
    letter = [A-Za-z_];
    string = ["] ([^"\\\n\x00] | [\\] ["\\nt] | [\\] "x" hex hex)* ["];
    exponent = [eE] [+-]? digit+;
    comma = blank* "," blank*;

    space+                    { goto next_token; }
    "//" [^\n\x00]*           { goto next_token; }

    "%" [1-9] digit{0,8}      { NIR_CALL(numbered_name, TOK_VALUE, start); }
    "%" id                    { NIR_CALL(name, TOK_VALUE, start); }
    "$" id                    { NIR_CALL(name, TOK_TENSOR_NAME, start); }
    "@" id                    { NIR_CALL(name, TOK_SYMBOL, start); }
    "%" string                { NIR_CALL(quoted_name, TOK_VALUE, start); }
    "$" string                { NIR_CALL(quoted_name, TOK_TENSOR_NAME, start); }
    "@" string                { NIR_CALL(quoted_name, TOK_SYMBOL, start); }
    [%$@]                     { NIR_CALL(bad_name, start); }

    "="                       { NIR_ACCEPT('='); }
    ":"                       { NIR_ACCEPT(':'); }
    ","                       { NIR_ACCEPT(','); }
    "["                       { NIR_ACCEPT('['); }
    "]"                       { NIR_ACCEPT(']'); }
    "{"                       { NIR_ACCEPT('{'); }
    "}"                       { NIR_ACCEPT('}'); }
    "("                       { NIR_ACCEPT('('); }
    ")"                       { NIR_ACCEPT(')'); }
    "*"                       { NIR_ACCEPT('*'); }
    "+"                       { NIR_ACCEPT('+'); }
    "-"                       { NIR_ACCEPT('-'); }
    "->"                      { NIR_ACCEPT(TOK_ARROW); }
    ".."                      { NIR_ACCEPT(TOK_DOTDOT); }

    letter [A-Za-z0-9_]*      { NIR_CALL(word, start); }
    letter [A-Za-z0-9_]* blank* "[" blank* (digit+ (comma digit+)* blank*)? "]"
                              { NIR_CALL(type_or_word, start); }
    "nan(0x" hex+ ")"         { NIR_CALL(number, TOK_FLOAT, NumberToken::Kind::NanPayload, start); }

    digit+                    { NIR_CALL(number, TOK_INT, NumberToken::Kind::Integer, start); }
    digit+ / ".."             { NIR_CALL(number, TOK_INT, NumberToken::Kind::Integer, start); }
    "0x" hex+                 { NIR_CALL(number, TOK_INT, NumberToken::Kind::HexInteger, start); }
    (digit+ "." digit* | "." digit+) exponent? | digit+ exponent
                              { NIR_CALL(number, TOK_FLOAT, NumberToken::Kind::Decimal, start); }
    "0x" (hex+ "."? hex* | "." hex+) "p" [+-]? digit+
                              { NIR_CALL(number, TOK_FLOAT, NumberToken::Kind::HexFloat, start); }
    digit [A-Za-z0-9_]*       { NIR_CALL(bad_number, start); }

    string                    { NIR_ACCEPT(TOK_STRING); }
    [%$@]? ["]                { NIR_CALL(bad_string, start); }

    "\x00"                    {
      if (start == begin_ + text_.size()) {
        cursor_ = start;
        set_range(token, start);
        return TOK_END;
      }
      NIR_CALL(bad_byte, start);
    }
    *                         { NIR_CALL(bad_byte, start); }
  */
#undef NIR_ACCEPT
#undef NIR_CALL
}

} // namespace nir::lang
