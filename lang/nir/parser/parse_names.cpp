// What names stand for, and what is said where they do not stand for what they should.

#include <fmt/format.h>

#include "lang/nir/lexer/token_kinds.h"
#include "lang/nir/parser/parse_context.h"

namespace nir::lang {

// The text of a name with another sigil.
std::string ParseContext::with_sigil(const Token &name, char sigil) const {
  std::string text(literals_.text(name.range()));
  text[0] = sigil;
  return shown_text(text);
}

// The range of the name that is defined at `at`: of a loop that is the word behind `for`.
SourceRange ParseContext::definition_range(SourceOffset at) {
  const SourceOffset here = lexer_.position();
  lexer_.seek(at);
  lexer_.set_quiet(true);
  Token token;
  if (lexer_.next(token) == TOK_FOR)
    lexer_.next(token);
  lexer_.set_quiet(false);
  lexer_.seek(here);
  return token.range();
}

void ParseContext::redefinition(const Token &name, SourceOffset first) {
  errors_.error(name.range(), fmt::format("{} is defined already", shown(name)))
      .notes.push_back({definition_range(first), "first defined here"});
}

// Whether `name` may be defined here; reports where not, unless the earlier definition failed.
bool ParseContext::is_new_value(const Token &name) {
  const Scope::Value earlier = scope_.find_value(name.name());
  if (earlier.state == NameState::Visible)
    redefinition(name, earlier.stmt->source());
  return earlier.state == NameState::Unknown || earlier.state == NameState::Hidden;
}

// A name that no visible value has.
void ParseContext::unknown_value(const Token &value, const Scope::Value &found) {
  if (found.state == NameState::Poisoned || (found.state == NameState::Hidden && !found.stmt))
    return errors_.fail();
  if (found.state == NameState::Hidden) {
    errors_.error(value.range(), fmt::format("{} is not visible here", shown(value)))
        .notes.push_back(
            {definition_range(found.stmt->source()), "it is defined in a loop that has ended"});
    return;
  }
  const NameState tensor = scope_.find_tensor(value.name()).state;
  const std::string hint = tensor == NameState::Unknown
                               ? std::string()
                               : fmt::format("; the tensor is {}", with_sigil(value, '$'));
  errors_.error(value.range(), fmt::format("{} is not defined{}", shown(value), hint));
}

Instruction *ParseContext::find_value(const Token &value) {
  const Scope::Value found = scope_.find_value(value.name());
  if (found.state != NameState::Visible) {
    unknown_value(value, found);
    return nullptr;
  }
  if (auto *inst = dyn_cast<Instruction>(found.stmt))
    return inst;
  errors_
      .error(value.range(),
             fmt::format("{} is a loop variable, which only subscripts name", shown(value)))
      .notes.push_back({definition_range(found.stmt->source()), "defined here"});
  return nullptr;
}

Loop *ParseContext::find_loop(const Token &variable) {
  const Scope::Value found = scope_.find_value(variable.name());
  if (found.state != NameState::Visible) {
    unknown_value(variable, found);
    return nullptr;
  }
  if (auto *loop = dyn_cast<Loop>(found.stmt))
    return loop;
  errors_
      .error(variable.range(), fmt::format("{} is a value, expected a loop variable or an "
                                           "integer",
                                           shown(variable)))
      .notes.push_back({definition_range(found.stmt->source()), "defined here"});
  return nullptr;
}

Tensor *ParseContext::find_tensor(const Token &tensor) {
  const Scope::NamedTensor found = scope_.find_tensor(tensor.name());
  if (found.state == NameState::Visible)
    return found.tensor;
  if (found.state == NameState::Poisoned) {
    errors_.fail();
    return nullptr;
  }
  const NameState value = scope_.find_value(tensor.name()).state;
  const bool is_value = value == NameState::Visible || value == NameState::Poisoned;
  const std::string hint =
      is_value ? fmt::format("; the value is {}", with_sigil(tensor, '%')) : std::string();
  errors_.error(tensor.range(), fmt::format("{} is not declared{}", shown(tensor), hint));
  return nullptr;
}

} // namespace nir::lang
