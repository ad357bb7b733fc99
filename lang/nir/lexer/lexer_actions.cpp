// What the scanner does with the tokens that it found, and with what is no token.

#include <algorithm>
#include <cctype>
#include <cstring>

#include <fmt/format.h>

#include "ir/support/utf8.h"
#include "lang/nir/lexer/lexer.h"
#include "lang/nir/lexer/token_kinds.h"

namespace nir::lang {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
  if (is_digit(c))
    return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

} // namespace

bool Lexer::is_first_on_line(SourceOffset offset) const {
  while (offset > 0 && is_blank(begin_[offset - 1]))
    --offset;
  return offset == 0 || begin_[offset - 1] == '\n';
}

std::string_view Lexer::previous_word() const {
  const char *first = previous_end_;
  while (first != begin_ &&
         (std::isalnum(static_cast<unsigned char>(first[-1])) || first[-1] == '_'))
    --first;
  return {first, static_cast<std::size_t>(previous_end_ - first)};
}

int Lexer::name(Token &token, int kind, const char *start) {
  set_range(token, start);
  const std::string_view id(start + 1, static_cast<std::size_t>(cursor_ - start - 1));
  token.set_name(intern(id));
  return kind;
}

Name Lexer::intern(std::string_view id) {
  Name &name = names_.place(id);
  if (name.empty())
    name = keeps_text_ ? module_.names().intern_stable(id) : module_.names().intern(id);
  return name;
}

int Lexer::numbered_name(Token &token, int kind, const char *start) {
  set_range(token, start);
  std::uint32_t number = 0;
  for (const char *at = start + 1; at != cursor_; ++at)
    number = number * 10 + static_cast<std::uint32_t>(*at - '0');
  token.set_name(Name::number(number));
  return kind;
}

int Lexer::quoted_name(Token &token, int kind, const char *start) {
  const std::string_view quoted(start + 1, static_cast<std::size_t>(cursor_ - start - 1));
  if (quoted.size() == 2)
    return error(token, start, cursor_, "a name must not be empty");
  set_range(token, start);
  if (quoted.find('\\') == std::string_view::npos) {
    token.set_name(intern(quoted.substr(1, quoted.size() - 2)));
    return kind;
  }
  std::string id;
  unescape(quoted, id);
  token.set_name(module_.names().intern(id));
  return kind;
}

int Lexer::number(Token &token, int kind, NumberToken::Kind form, const char *start) {
  set_range(token, start);
  token.set_number({token.begin, form, false});
  return kind;
}

int Lexer::word(Token &token, const char *start) {
  set_range(token, start);
  token.word = words_.find({start, static_cast<std::size_t>(cursor_ - start)});
  if (token.word == nullptr)
    return TOK_WORD;
  const int kind = token.word->token;
  if (kind == TOK_FUNC && token.begin >= end_) {
    cursor_ = start;
    set_range(token, start);
    return TOK_END;
  }
  // The two words that are numbers.
  if (kind == TOK_INF)
    token.set_number({token.begin, NumberToken::Kind::Inf, false});
  if (kind == TOK_NAN)
    token.set_number({token.begin, NumberToken::Kind::Nan, false});
  return kind;
}

int Lexer::type_or_word(Token &token, const char *start) {
  const std::string_view text(start, static_cast<std::size_t>(cursor_ - start));
  const Type *&type = types_.place(text);
  if (type == nullptr)
    type = read_type(text);
  if (type == nullptr) {
    cursor_ = std::find_if(start, cursor_, [](char c) { return is_blank(c) || c == '['; });
    return word(token, start);
  }
  set_range(token, start);
  token.type = type;
  return TOK_TYPE;
}

// The text has the form of a type in decimal; nullptr where it is not one after all.
const Type *Lexer::read_type(std::string_view text) {
  const std::size_t bracket = text.find('[');
  std::size_t word_size = bracket;
  while (is_blank(text[word_size - 1]))
    --word_size;
  const WordInfo *word = words_.find(text.substr(0, word_size));
  if (word == nullptr || !word->dtype)
    return nullptr;
  std::array<std::int64_t, max_rank> shape{};
  std::size_t rank = 0;
  for (std::size_t i = bracket + 1; i < text.size();) {
    if (!is_digit(text[i])) {
      ++i;
      continue;
    }
    if (rank == max_rank)
      return nullptr;
    std::int64_t dim = 0;
    for (; is_digit(text[i]); ++i)
      if (__builtin_mul_overflow(dim, 10, &dim) || __builtin_add_overflow(dim, text[i] - '0', &dim))
        return nullptr;
    shape[rank++] = dim;
  }
  const auto type = module_.types().get(*word->dtype, std::span(shape.data(), rank));
  return type ? *type : nullptr;
}

int Lexer::error(Token &token, const char *start, const char *end, std::string message) {
  cursor_ = end;
  set_range(token, start);
  if (!quiet_)
    diagnostics_.error(token.range(), std::move(message));
  return TOK_NIR_YYerror;
}

int Lexer::bad_name(Token &token, const char *start) {
  return error(token, start, cursor_, fmt::format("expected a name directly behind '{}'", *start));
}

int Lexer::bad_number(Token &token, const char *start) {
  const std::string_view found(start, static_cast<std::size_t>(cursor_ - start));
  return error(token, start, cursor_, fmt::format("malformed number {}", shown_text(found)));
}

int Lexer::bad_byte(Token &token, const char *start) {
  const auto byte = static_cast<unsigned char>(*start);
  if (byte == 0)
    return error(token, start, start + 1, "NUL byte in the text");
  if (byte >= 0x80) {
    const std::string_view rest = text_.substr(offset_of(start));
    const std::size_t length = decode_utf8(rest).length;
    if (length == 0)
      return error(token, start, start + 1, fmt::format("byte 0x{:02x} is not valid UTF-8", byte));
    return error(token, start, start + length,
                 fmt::format("unexpected character '{}'", rest.substr(0, length)));
  }
  if (byte < 0x20 || byte == 0x7f)
    return error(token, start, start + 1, fmt::format("unexpected control byte 0x{:02x}", byte));
  return error(token, start, start + 1, fmt::format("unexpected character '{}'", *start));
}

// A string that the scanner did not accept: it does not end, or an escape in it is none.
int Lexer::bad_string(Token &token, const char *start) {
  const char *const end = begin_ + text_.size();
  const char *at = start + (*start == '"' ? 1 : 2);
  const char *bad_escape = nullptr;
  for (; at != end && *at != '"' && *at != '\n' && *at != 0; ++at) {
    if (*at != '\\')
      continue;
    const char next = at[1];
    const bool is_hex = next == 'x' && hex_digit(at[2]) >= 0 && hex_digit(at[3]) >= 0;
    const bool known = next == '"' || next == '\\' || next == 'n' || next == 't' || is_hex;
    if (!known && bad_escape == nullptr)
      bad_escape = at;
    if (next == '"' || next == '\\')
      ++at;
  }
  if (at != end && *at == 0)
    return error(token, at, at + 1, "NUL byte in the text");
  if (at == end || *at == '\n')
    return error(token, start, at, "string is not terminated on its line");
  const bool cut_hex = bad_escape[1] == 'x';
  const int result = error(token, bad_escape, bad_escape + 2,
                           cut_hex ? "expected two hexadecimal digits behind '\\x'"
                                   : fmt::format("unknown escape '{}'; there are \\\", \\\\, \\n, "
                                                 "\\t and \\xHH",
                                                 std::string_view(bad_escape, 2)));
  cursor_ = at + 1;
  return result;
}

std::string shown_text(std::string_view text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest)
    return fmt::format("'{}'", text);
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return fmt::format("'{}...'", text.substr(0, end));
}

void unescape(std::string_view quoted, std::string &out) {
  const std::string_view body = quoted.substr(1, quoted.size() - 2);
  out.reserve(out.size() + body.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      out += body[i];
      continue;
    }
    const char escape = body[++i];
    if (escape == 'x') {
      out += static_cast<char>(hex_digit(body[i + 1]) * 16 + hex_digit(body[i + 2]));
      i += 2;
    } else {
      out += escape == 'n' ? '\n' : escape == 't' ? '\t' : escape;
    }
  }
}

} // namespace nir::lang
