#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ir/core/module.h"
#include "ir/diagnostics/diagnostic.h"
#include "ir/support/large_memory.h"
#include "ir/support/scratch_map.h"

namespace nir {

// Limits of the language (language reference, Structure).
constexpr unsigned max_loop_depth = 1000;
constexpr unsigned max_attribute_depth = 16;

// What of a statement a rule speaks of, so that a message can point at it.
struct StmtPart {
  enum Kind : std::uint8_t {
    Whole,
    Mnemonic,  // opcode, function or operator word
    Operand,   // index: which data operand
    Subscript, // index: operand, sub: dimension; the destination is operand num_operands()
    Result,    // the type behind `:`
    Dst,       // the access behind `->`
    Attribute, // index: AttrKey
  };
  Kind kind = Whole;
  unsigned index = 0;
  unsigned sub = 0;
};

// Where the parts of the statement that is being checked stand. This default knows only where the
// statement begins; the parser's knows more.
class StmtLocator {
public:
  virtual ~StmtLocator() = default;
  virtual SourceRange locate(const Stmt &stmt, StmtPart part) const;
};

// The rules of one statement that need nothing but itself (language reference, Instructions and
// Types): arity, operand kinds, shapes, dtypes, spaces, attributes, bounds, roles. Used by the
// parser as it reads and by verify. What a call shares with its callee is left to CallVerifier: the
// callee may not be complete yet. Returns whether all hold; reports each broken one at the part of
// the statement it speaks of.
bool verify_statement(const Instruction &inst, const StmtLocator &locator,
                      DiagnosticEngine &diagnostics);
// What is legal but surprises: a copy between integer dtypes that passes through fp32 and so loses
// low bits of magnitudes above 2^24 (numerics, Casts). For statements that verify_statement
// accepts.
void warn_about_statement(const Instruction &inst, const StmtLocator &locator,
                          DiagnosticEngine &diagnostics);
// Likewise for a declaration: psum dtypes, x4 and float4 storage, init.
bool verify_tensor(const Tensor &tensor, SourceRange range, DiagnosticEngine &diagnostics);

// Why a loop cannot have these bounds: a step below 1, no trip, more trips than 63 bits count.
// Empty where it can. To be asked before the loop is made.
std::string loop_bounds_error(std::int64_t lo, std::int64_t hi, std::int64_t step);

class StmtCheck;

// Likewise for the operands of calls that verify_statement accepts, against the callees'
// interfaces, which it looks up once each: for many calls.
class CallVerifier {
public:
  bool verify(const Instruction &call, const StmtLocator &locator, DiagnosticEngine &diagnostics);

private:
  struct Interface {
    std::size_t begin; // in parameters_
    std::size_t size;
  };
  std::span<const Tensor *const> interface_of(const Function &callee);
  bool check_outputs_alone(StmtCheck &check, const Function &callee);

  ScratchMap<const Function *, Interface> interfaces_;
  LargeVector<const Tensor *> parameters_;
  ScratchMap<const Tensor *, std::uint32_t> first_place_; // among the operands of the call at hand
};
// No function calls itself, directly or through others. `calls` are those of a module, function by
// function.
bool verify_no_recursion(std::span<const Instruction *const> calls, DiagnosticEngine &diagnostics);

enum class VerifyLevel : std::uint8_t { Off, Structure, Legal };

// Structure: the IR's own invariants (links, parents, use-lists recounted from scratch, types,
// visibility, names) and every statement's rules. Legal: also the legal form that legalize-dtype
// establishes (language reference, Legal form). Returns whether the module is well-formed. With
// several jobs functions are checked on as many threads; what is reported is the same.
bool verify(Module &module, VerifyLevel level, DiagnosticEngine &diagnostics, unsigned jobs = 1);

} // namespace nir
