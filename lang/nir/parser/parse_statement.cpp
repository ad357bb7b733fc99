// Statements: their bodies and operands as they are read, and what is made of them at their end.

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/nir/parser/parse_context.h"

namespace nir::lang {
namespace {

DType seen_dtype(const Operand &operand) {
  const bool is_view = operand.access != nullptr && operand.access->reinterprets();
  return is_view ? operand.access->view() : operand.value->dtype();
}

unsigned seen_rank(const Operand &operand) {
  const Type &type = operand.access != nullptr ? *operand.access->box() : *operand.value->type();
  return type.rank();
}

} // namespace

// --- Bodies ---

// The end of a body lies behind its last operand, or where `end` says.
void ParseContext::begin_body(Opcode opcode, const Token &word, SourceOffset end) {
  desc_.opcode = opcode;
  parts_.mnemonic = word.range();
  end_ = std::max(end_, end);
}

void ParseContext::plain_body(const Token &opcode) {
  begin_body(*opcode.word->opcode, opcode, opcode.end);
}

void ParseContext::activation_body(const Token &opcode, const Token &fn) {
  begin_body(Opcode::Activation, opcode, fn.end);
  if (fn.word != nullptr && fn.word->fn) {
    desc_.fn = static_cast<std::uint8_t>(*fn.word->fn);
    return;
  }
  errors_.error(fn.range(),
                fmt::format("unknown function {}{}", shown(fn),
                            did_you_mean(literals_.text(fn.range()), all_activation_fns())));
}

std::uint8_t ParseContext::operator_of(const Token &word) {
  if (word.word != nullptr && word.word->op)
    return static_cast<std::uint8_t>(*word.word->op);
  errors_.error(word.range(),
                fmt::format("unknown operator {}{}", shown(word),
                            did_you_mean(literals_.text(word.range()), all_alu_ops())));
  return 0;
}

void ParseContext::scalar_body(const Token &opcode, const Token &op0, const Token *op1) {
  begin_body(Opcode::TensorScalar, opcode, opcode.end);
  desc_.op0 = operator_of(op0);
  if (op1 != nullptr)
    desc_.op1 = operator_of(*op1);
}

void ParseContext::alu_body(const Token &opcode, const Token &op) {
  begin_body(*opcode.word->opcode, opcode, op.end);
  desc_.op0 = operator_of(op);
}

void ParseContext::number_body(const Token &opcode, const Token &number) {
  begin_body(*opcode.word->opcode, opcode, number.end);
  number_ = number;
}

void ParseContext::call_body(const Token &keyword, const Token &callee, const Token &close) {
  begin_body(Opcode::Call, keyword, close.end);
  callee_ = calls_.refer(callee.name());
  callee_range_ = callee.range();
  attributes_.add_identity(AttrKey::Callee, AttrValue::of_function(callee_));
}

void ParseContext::opaque_body(const Token &keyword, const Token &name, const Token &close) {
  begin_body(Opcode::Opaque, keyword, close.end);
  attributes_.add_identity(AttrKey::OpaqueName, AttrValue::of_string(literals_.string(name)));
}

// Behind a declaration, on its line, a word that is no role starts a statement.
bool ParseContext::is_behind_declaration(const Token &word) const {
  if (declaration_end_ > word.begin)
    return false;
  const std::string_view between = literals_.text({declaration_end_, word.begin});
  return between.find_first_not_of(" \t") == std::string_view::npos;
}

void ParseContext::unknown_opcode(const Token &word) {
  if (is_behind_declaration(word)) {
    const std::string_view roles[] = {to_string(Role::Input), to_string(Role::Output),
                                      to_string(Role::Const)};
    errors_.error(word.range(), fmt::format("unknown role {}{}, expected {}", shown(word),
                                            did_you_mean(literals_.text(word.range()), roles),
                                            fmt::join(roles, ", ")));
    return;
  }
  errors_.error(word.range(),
                fmt::format("unknown opcode {}{}", shown(word),
                            did_you_mean(literals_.text(word.range()), opcode_words())));
}

// --- Operands ---

void ParseContext::value_operand(const Token &value) {
  operands_.push_back({find_value(value), nullptr});
  parts_.add_operand(value.range());
  end_ = value.end;
}

void ParseContext::access_operand(const Token &access) {
  operands_.push_back(access_);
  parts_.add_operand(access.range(), subscripts_.ranges());
  subscripts_.clear();
  end_ = access.end;
}

// The number of a tensor_scalar: an fp32 scalar where src is a float, else of src's dtype.
void ParseContext::scalar_number(const Token &number) {
  const Operand &src = operands_.front();
  if (src.value == nullptr) {
    operands_.push_back({}); // src failed, and with it the statement
  } else {
    const DType seen = seen_dtype(src);
    number_operand(number, is_int_type(seen) ? seen : DType::Float32);
  }
  parts_.add_operand(number.range());
  end_ = number.end;
}

void ParseContext::number_operand(const Token &number, DType dtype) {
  operands_.push_back({literals_.immediate(number, dtype), nullptr});
}

std::optional<DType> ParseContext::dtype_of(const Token &word) {
  if (word.word != nullptr && word.word->dtype)
    return word.word->dtype;
  errors_.error(word.range(),
                fmt::format("unknown dtype {}{}", shown(word),
                            did_you_mean(literals_.text(word.range()), dtype_words())));
  return std::nullopt;
}

Token ParseContext::access(const Token &tensor, const Token *view) {
  Token result = tensor;
  if (view != nullptr)
    result.end = view->end;
  Tensor *found = find_tensor(tensor);
  const auto dtype = view != nullptr ? dtype_of(*view) : std::nullopt;
  access_ = {found, nullptr};
  if (dtype && found != nullptr)
    access_.access = subscripts_.whole(*found, *dtype, result.range());
  return result;
}

Token ParseContext::subscripted_access(const Token &tensor, const Token &subscripts,
                                       const Token *view) {
  Token result = tensor;
  result.end = view != nullptr ? view->end : subscripts.end;
  Tensor *found = find_tensor(tensor);
  const auto dtype = view != nullptr ? dtype_of(*view) : std::nullopt;
  access_ = {found, nullptr};
  if (!errors_.failed())
    access_.access = subscripts_.access(*found, dtype.value_or(found->dtype()), result.range());
  return result;
}

void ParseContext::loop_term(const Token &variable, const Token *factor) {
  Loop *loop = find_loop(variable);
  if (loop == nullptr)
    return subscripts_.no_term();
  subscripts_.loop_term(loop, factor != nullptr ? factor->integer : 1, variable.range());
}

// --- Attributes, types and numbers ---

void ParseContext::attribute(const Token &key, bool has_value) {
  if (section_ == Section::Header)
    return target_attribute(key, has_value);
  attributes_.add(key, desc_.opcode, has_value);
}

// Of more dimensions than a type can have only the number matters.
void ParseContext::add_int(const Token &integer) {
  ++rank_;
  if (shape_.size() < max_rank)
    shape_.push_back(integer);
}

Token ParseContext::type(const Token &word, const Token &close) {
  Token result = word;
  result.end = close.end;
  result.type = nullptr;
  dims_.clear();
  for (const Token &dim : shape_) {
    dims_.push_back(dim.integer);
    if (dim.integer < 1)
      errors_.error(dim.range(), fmt::format("dimension is {}, expected at least 1", dim.integer));
  }
  shape_.clear();
  const std::size_t rank = std::exchange(rank_, 0);
  if (rank > max_rank)
    errors_.error(result.range(), fmt::format("rank {} is above the limit of {}", rank, max_rank));
  const auto dtype = dtype_of(word);
  if (errors_.failed())
    return result;
  auto type = module_.types().get(*dtype, dims_);
  if (type) {
    result.type = *type;
  } else {
    errors_.error(result.range(), std::move(type.error()));
  }
  return result;
}

Token ParseContext::integer(const Token &number) {
  Token result = number;
  result.integer = literals_.integer(number).value_or(1); // harmless: it failed
  return result;
}

Token ParseContext::negated(const Token &minus, const Token &number) {
  Token result = number;
  result.begin = minus.begin;
  NumberText text = number.number();
  text.negative = true;
  result.set_number(text);
  return result;
}

// --- Ends of statements ---

// Makes the statement that was read, and checks it. nullptr where anything is wrong.
Instruction *ParseContext::make_statement(SourceOffset begin, SourceOffset end) {
  parts_.whole = {begin, end};
  Instruction *inst = errors_.failed() ? nullptr : insert_statement(begin);
  const bool holds =
      inst != nullptr && (!options_.verify || memo_.check(*inst, parts_, errors_.diagnostics()));
  if (callee_ != nullptr)
    calls_.add(callee_, inst, holds, callee_range_, parts_);
  return holds ? inst : nullptr;
}

Instruction *ParseContext::insert_statement(SourceOffset begin) {
  if (number_) {
    number_operand(*number_, desc_.type != nullptr ? desc_.type->dtype() : seen_dtype(desc_.dst));
    parts_.add_operand(number_->range());
    if (errors_.failed())
      return nullptr;
  }
  if (desc_.dst.value != nullptr)
    parts_.add_operand(parts_.dst, subscripts_.ranges());
  desc_.operands = operands_;
  desc_.source = begin;
  attributes_.finish(desc_, operands_.empty() ? 0 : seen_rank(operands_.front()), parts_);
  return scope_.block().insert_instruction(desc_);
}

void ParseContext::finish_definition(const Token &result, const Token &type) {
  const Name name = result.name();
  const Scope::Value earlier = scope_.find_value(name);
  const bool is_new = earlier.state == NameState::Unknown || earlier.state == NameState::Hidden;
  desc_.name = is_new ? name : Name();
  desc_.type = type.type;
  parts_.result = type.range();
  Instruction *inst = make_statement(result.begin, type.end);
  if (earlier.state == NameState::Visible)
    redefinition(result, earlier.stmt->source());
  if (is_new && inst != nullptr)
    scope_.define_value(name, inst);
  if (is_new && inst == nullptr)
    scope_.poison_value(name);
  end_statement();
}

void ParseContext::finish_write(const Token &access) {
  desc_.dst = access_;
  parts_.dst = access.range();
  make_statement(parts_.mnemonic.begin, access.end);
  end_statement();
}

void ParseContext::finish_bare() {
  make_statement(parts_.mnemonic.begin, std::max(end_, attributes_.end()));
  end_statement();
}

void ParseContext::abandon_definition(const Token &result) {
  const Scope::Value earlier = scope_.find_value(result.name());
  if (earlier.state == NameState::Unknown || earlier.state == NameState::Hidden)
    scope_.poison_value(result.name());
  end_statement();
}

void ParseContext::end_statement() {
  desc_ = {};
  operands_.clear();
  parts_.clear();
  subscripts_.clear();
  attributes_.clear();
  number_.reset();
  callee_ = nullptr;
  shape_.clear();
  rank_ = 0;
  end_ = 0;
  errors_.begin_statement();
  window_.advance(lexer_.position()); // what was read is looked at again only for messages
}

} // namespace nir::lang
