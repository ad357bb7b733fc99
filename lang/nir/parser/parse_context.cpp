#include "lang/nir/parser/parse_context.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nir::lang {

ParseContext::ParseContext(const SourceFile &file, SourceRange part, Module &module,
                           FunctionNames &functions, DiagnosticEngine &diagnostics,
                           const ParseOptions &options)
    : window_(file.source_text(), part.begin, part.end), module_(module), options_(options),
      lexer_(file, module, diagnostics), errors_(diagnostics), literals_(lexer_, module, errors_),
      attributes_(literals_, module, errors_), subscripts_(module, errors_),
      init_(literals_, errors_), tokens_(lexer_, errors_, attributes_),
      scope_(std::min<std::size_t>(part.end, file.text().size()) - part.begin),
      calls_(module, functions) {
  lexer_.limit(part);
}

void ParseContext::report_internal(const char *message) {
  errors_.error(SourceRange::at(lexer_.position()), fmt::format("parser: {}", message));
}

// --- Module and functions ---

void ParseContext::module_header(const Token &name) {
  module_.set_header(name.name());
  section_ = Section::Functions;
  end_statement();
}

void ParseContext::target_attribute(const Token &key, bool has_value) {
  if (literals_.text(key.range()) != "target") {
    if (has_value)
      attributes_.drop_value();
    errors_.error(key.range(),
                  fmt::format("module has no attribute {}, it takes target", shown(key)));
    return;
  }
  if (module_.prints_target()) {
    if (has_value)
      attributes_.drop_value();
    errors_.error(key.range(), "attribute 'target' is given twice");
    return;
  }
  if (!has_value) {
    errors_.error(key.range(), "attribute 'target' is a string, found no value");
    return;
  }
  const auto value = attributes_.take_string(key);
  if (!value)
    return;
  module_.set_prints_target(true);
  if (const Target *target = find_target(value->text)) {
    if (options_.target == nullptr)
      module_.set_target(*target);
    return;
  }
  const std::span<const std::string_view> names = target_names();
  errors_.error(value->range,
                fmt::format("unknown target {}{}, expected {}", shown_text(value->text),
                            did_you_mean(value->text, names), fmt::join(names, ", ")));
}

void ParseContext::begin_function(const Token &name, const Token &last, bool strict) {
  Function *function = calls_.define(name.name(), name.begin);
  if (function == nullptr) {
    redefinition(name, calls_.definition_of(name.name()));
    function = calls_.scratch(name.begin);
  }
  function->set_strict(strict);
  open_function(*function, last);
}

void ParseContext::begin_nameless_function(const Token &last) {
  calls_.nameless_function();
  open_function(*calls_.scratch(last.begin), last);
}

void ParseContext::open_function(Function &function, const Token &last) {
  section_ = Section::Functions;
  end_statement();
  scope_.begin_function(function);
  tokens_.open_body(last.range());
}

void ParseContext::end_block() {
  scope_.leave();
  tokens_.close_body();
}

// --- Loops ---

bool ParseContext::begin_loop(const Token &keyword, const Token &name, const Token &lo,
                              const Token &hi, const Token *step, const Token &brace) {
  if (!is_nesting_legal(keyword))
    return false;
  const std::int64_t step_value = step != nullptr ? step->integer : 1;
  bool legal = !errors_.failed(); // else a bound is no number
  if (legal) {
    std::string error = loop_bounds_error(lo.integer, hi.integer, step_value);
    const SourceOffset end = step != nullptr ? step->end : hi.end;
    if (!error.empty())
      errors_.error({lo.begin, end}, std::move(error));
    legal = !errors_.failed();
  }
  const bool is_new = is_new_value(name);
  const Name variable = is_new ? name.name() : Name();
  Block &block = scope_.block();
  Loop *loop = legal ? block.insert_loop(variable, lo.integer, hi.integer, step_value, nullptr,
                                         keyword.begin)
                     : block.insert_loop(variable, 0, 1, 1, nullptr, keyword.begin);
  open_loop(*loop, brace);
  if (is_new && legal)
    scope_.define_value(variable, loop);
  if (is_new && !legal)
    scope_.poison_value(variable);
  return true;
}

// Its header could not be read: the body is, for what can be said about it.
bool ParseContext::begin_failed_loop(const Token &keyword, const Token *name, const Token &brace) {
  if (!is_nesting_legal(keyword))
    return false;
  const bool is_new = name != nullptr && is_new_value(*name);
  Loop *loop = scope_.block().insert_loop(Name(), 0, 1, 1, nullptr, keyword.begin);
  open_loop(*loop, brace);
  if (is_new)
    scope_.poison_value(name->name());
  return true;
}

bool ParseContext::is_nesting_legal(const Token &keyword) {
  if (scope_.num_open_blocks() <= max_loop_depth)
    return true;
  errors_.error(keyword.range(), fmt::format("loops nest deeper than {}", max_loop_depth));
  return false;
}

void ParseContext::open_loop(Loop &loop, const Token &brace) {
  end_statement();
  scope_.enter(loop.body());
  tokens_.open_body(brace.range());
}

// --- Tensors ---

Token ParseContext::begin_tensor(const Token &keyword, const Token &name) {
  Token result = name;
  result.begin = keyword.begin;
  tensor_name_ = name;
  if (scope_.num_open_blocks() > 1)
    errors_.error(keyword.range(), "tensor is declared in a loop, expected in the function's body");
  return result;
}

void ParseContext::tensor_head(const Token &type) {
  tensor_type_ = type.type;
  init_.begin(type.type);
}

void ParseContext::finish_tensor(const Token &head, SourceOffset end) {
  const bool may_have_role = role_ == Role::Internal && !init_.present();
  declaration_end_ = may_have_role ? end : no_source;
  const Name name = tensor_name_.name();
  const Scope::NamedTensor earlier = scope_.find_tensor(name);
  const bool is_new = earlier.state == NameState::Unknown;
  Tensor *tensor = nullptr;
  if (!errors_.failed()) {
    ConstData *data = init_.present() ? module_.add_const_data(init_.take()) : nullptr;
    tensor = scope_.function().add_tensor(is_new ? name : Name(), tensor_type_, space_, role_, data,
                                          tensor_name_.begin);
    if (options_.verify && !verify_tensor(*tensor, {head.begin, end}, errors_.diagnostics()))
      errors_.fail();
  }
  if (earlier.state == NameState::Visible)
    redefinition(tensor_name_, earlier.tensor->source());
  if (is_new && !errors_.failed())
    scope_.define_tensor(name, tensor);
  if (is_new && errors_.failed())
    scope_.poison_tensor(name);
  if (errors_.failed())
    calls_.interface_failed(&scope_.function());
  end_statement();
}

void ParseContext::abandon_tensor() {
  const Name name = tensor_name_.name();
  if (scope_.find_tensor(name).state == NameState::Unknown)
    scope_.poison_tensor(name);
  abandon_nameless_tensor();
}

void ParseContext::abandon_nameless_tensor() {
  calls_.interface_failed(&scope_.function());
  end_statement();
}

} // namespace nir::lang
