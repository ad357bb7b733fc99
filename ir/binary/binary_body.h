#pragma once

#include <array>
#include <vector>

#include "ir/binary/binary_tables.h"
#include "ir/name/scoped_names.h"
#include "ir/support/large_memory.h"
#include "ir/verify/statement_memo.h"

namespace nir::binary {

// Reads the bodies of functions, one after the other, and keeps its memory between them. What
// stands in an operand, a subscript or a name is in scope by the way it is numbered: what a loop
// defined has no number behind it.
class BodyReader {
public:
  // With `verify` the rules of statements and declarations are checked, but those that concern
  // other functions (see `calls`).
  BodyReader(ByteReader &in, Module &module, Tables &tables, DiagnosticEngine &diagnostics,
             bool verify);

  ~BodyReader();

  // Whether there was neither damage, which `in` has, nor a broken rule.
  bool read(Function &function);
  // The calls of all functions so far, in order.
  const std::vector<const Instruction *> &calls() const { return calls_; }

private:
  struct Form;
  struct Scope {
    std::size_t num_values;
    std::size_t num_accesses;
  };

  static std::vector<Form> make_forms();
  void read_tensors();
  void read_tensor();
  ConstData *read_init(DType dtype, unsigned form, const char *place);
  void read_statements();
  bool read_loop(std::uint32_t head);
  bool end_block();
  bool read_instruction(std::uint32_t head);
  bool read_parts(std::uint32_t head, const char *at);
  bool read_operands(std::size_t count);
  bool read_access(const Tensor &tensor, Operand &operand);
  const Access *define_access();
  bool read_dim(AccessDim &dim, std::vector<AffineTerm> &terms);
  bool check_access(const Tensor &tensor, const Access &access, const char *place);
  bool has_form() const;
  bool fail_form(const char *place);
  void push_value(const Instruction *inst);
  Instruction *value_at(std::size_t index) const;
  bool declare(ScopedNames &names, Name name, char sigil, const char *place);

  ByteReader &in_;
  Module &module_;
  Tables &tables_;
  DiagnosticEngine &diagnostics_;
  const bool verify_;
  bool ok_ = true;
  StatementMemo memo_;
  std::vector<const Instruction *> calls_;

  // Of the function at hand.
  Function *function_ = nullptr;
  Block *block_ = nullptr;
  std::vector<Tensor *> tensors_;
  ScopedNames tensor_names_;
  ScopedNames value_names_;
  const std::vector<Form> forms_; // by opcode
  // In scope, as distances from the function in words: half of a pointer's memory.
  LargeVector<std::uint32_t> values_;
  std::vector<const Access *> accesses_; // likewise in scope
  std::vector<const Loop *> loops_;      // that are open
  std::vector<Scope> scopes_;            // around them

  // Of the statement at hand.
  InstructionDesc desc_;
  std::uint32_t keys_ = 0;        // of its attributes
  std::uint32_t numbers_ = 0;     // a bit for each operand that is a number
  std::vector<Operand> operands_; // the first ones
  std::vector<AccessDim> dims_;
  std::array<std::vector<AffineTerm>, max_rank> terms_;
};

} // namespace nir::binary
