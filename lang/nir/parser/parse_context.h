#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ir/verify/statement_memo.h"
#include "lang/nir/parser/attribute_reader.h"
#include "lang/nir/parser/init_reader.h"
#include "lang/nir/parser/literals.h"
#include "lang/nir/parser/parser.h"
#include "lang/nir/parser/subscripts.h"
#include "lang/nir/parser/token_stream.h"
#include "lang/text/call_checks.h"
#include "lang/text/scope.h"
#include "lang/text/statement_parts.h"

namespace nir::lang {

// What the grammar's actions do: it builds the module as the parser recognises it. Of the statement
// that is being read the parts are collected here until it is complete, then it is made, checked
// and forgotten. A statement in which something failed is not made.
class ParseContext {
public:
  // For reading `part` of the text, whose ends are those of the text or stand before the `func` of
  // a function.
  ParseContext(const SourceFile &file, SourceRange part, Module &module, FunctionNames &functions,
               DiagnosticEngine &diagnostics, const ParseOptions &options);

  TokenStream &tokens() { return tokens_; }
  AttributeReader &attributes() { return attributes_; }
  Subscripts &subscripts() { return subscripts_; }
  InitReader &init() { return init_; }
  CallChecks &calls() { return calls_; }

  void report_internal(const char *message);

  // Module and functions. `last` is the brace of the body.
  void module_header(const Token &name);
  void begin_function(const Token &name, const Token &last, bool strict);
  void begin_nameless_function(const Token &last);
  void end_block(); // of a function or a loop

  // Tensors.
  Token begin_tensor(const Token &keyword, const Token &name);
  void set_space(Space space) { space_ = space; }
  void set_role(Role role) { role_ = role; }
  void tensor_head(const Token &type);
  void finish_tensor(const Token &head, SourceOffset end);
  void abandon_tensor();
  void abandon_nameless_tensor();

  // Loops. Where the parser must give up they return false.
  bool begin_loop(const Token &keyword, const Token &name, const Token &lo, const Token &hi,
                  const Token *step, const Token &brace);
  bool begin_failed_loop(const Token &keyword, const Token *name, const Token &brace);

  // Bodies of statements.
  void plain_body(const Token &opcode);
  void activation_body(const Token &opcode, const Token &fn);
  void scalar_body(const Token &opcode, const Token &op0, const Token *op1);
  void alu_body(const Token &opcode, const Token &op);
  void number_body(const Token &opcode, const Token &number);
  void call_body(const Token &keyword, const Token &callee, const Token &close);
  void opaque_body(const Token &keyword, const Token &name, const Token &close);
  void unknown_opcode(const Token &word);

  // Operands.
  void value_operand(const Token &value);
  void access_operand(const Token &access);
  void scalar_number(const Token &number);
  Token access(const Token &tensor, const Token *view);
  Token subscripted_access(const Token &tensor, const Token &subscripts, const Token *view);
  void loop_term(const Token &variable, const Token *factor);

  // Attributes, types and numbers.
  void attribute(const Token &key, bool has_value);
  Token type(const Token &word, const Token &close);
  void add_int(const Token &integer);
  Token integer(const Token &number);
  static Token negated(const Token &minus, const Token &number);

  // Ends of statements.
  void finish_definition(const Token &result, const Token &type);
  void finish_write(const Token &access);
  void finish_bare();
  // After a syntax error: forget what was read of a statement; its value counts as defined.
  void abandon_statement() { end_statement(); }
  void abandon_definition(const Token &result);

private:
  enum class Section : std::uint8_t { Header, Functions };

  std::string shown(const Token &token) const { return literals_.shown(token.range()); }
  std::string with_sigil(const Token &name, char sigil) const;

  // Names: what is found under them; nullptr, and a message, where it is not what it should be.
  Instruction *find_value(const Token &value);
  Loop *find_loop(const Token &variable);
  Tensor *find_tensor(const Token &tensor);
  void unknown_value(const Token &value, const Scope::Value &found);
  bool is_new_value(const Token &name);
  void redefinition(const Token &name, SourceOffset first);
  bool is_behind_declaration(const Token &word) const;
  SourceRange definition_range(SourceOffset at);

  void target_attribute(const Token &key, bool has_value);
  void open_function(Function &function, const Token &last);
  bool is_nesting_legal(const Token &keyword);
  void open_loop(Loop &loop, const Token &brace);

  void begin_body(Opcode opcode, const Token &word, SourceOffset end);
  std::uint8_t operator_of(const Token &word);
  std::optional<DType> dtype_of(const Token &word);
  void number_operand(const Token &number, DType dtype);
  Instruction *make_statement(SourceOffset begin, SourceOffset end);
  Instruction *insert_statement(SourceOffset begin);
  void end_statement();

  TextWindow window_;
  Module &module_;
  const ParseOptions &options_;
  Lexer lexer_;
  Errors errors_;
  Literals literals_;
  AttributeReader attributes_;
  Subscripts subscripts_;
  InitReader init_;
  TokenStream tokens_;
  Scope scope_;
  CallChecks calls_;
  StatementMemo memo_;
  Section section_ = Section::Header;

  // Of the statement that is being read.
  InstructionDesc desc_;
  StatementParts parts_;
  std::vector<Operand> operands_;
  Operand access_;              // the last one that was read
  std::optional<Token> number_; // of memset, until its dtype is known
  Function *callee_ = nullptr;
  SourceRange callee_range_;
  SourceOffset end_ = 0;     // of what was read of its body
  std::vector<Token> shape_; // of a type
  std::size_t rank_ = 0;
  std::vector<std::int64_t> dims_;

  // Of the tensor that is being read.
  Token tensor_name_{};
  SourceOffset declaration_end_ = no_source; // of the last one, where a role may follow
  const Type *tensor_type_ = nullptr;
  Space space_ = Space::Dram;
  Role role_ = Role::Internal;
};

} // namespace nir::lang
