#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/print/printer.h"
#include "ir/support/large_memory.h"
#include "ir/verify/verifier.h"

namespace nir {

// One statement under check: every rule takes it, and reports through it.
class StmtCheck {
public:
  StmtCheck(const Instruction &statement, const StmtLocator &locator, DiagnosticEngine &diagnostics)
      : inst(statement), locator_(locator), diagnostics_(diagnostics) {}

  const Instruction &inst;

  // Reports a broken rule at a part of the statement. Returns false, for rules to return.
  template <class... Args>
  bool fail(StmtPart part, fmt::format_string<Args...> format, Args &&...args) {
    report(part, fmt::format(format, std::forward<Args>(args)...));
    return false;
  }
  Diagnostic &report(StmtPart part, std::string message) {
    ok_ = false;
    return diagnostics_.error(locator_.locate(inst, part), std::move(message));
  }
  bool ok() const { return ok_; }

  std::string_view mnemonic() const { return inst.opcode_info().mnemonic; }
  const Module &module() const { return inst.function()->module(); }
  const Target &target() const { return module().target(); }

private:
  const StmtLocator &locator_;
  DiagnosticEngine &diagnostics_;
  bool ok_ = true;
};

// The part that a use is: a data operand or the destination.
inline StmtPart part_of(const StmtCheck &check, const Use &use) {
  if (&use == check.inst.dst())
    return {.kind = StmtPart::Dst};
  return {.kind = StmtPart::Operand, .index = use.index()};
}
// What the instruction delivers.
inline StmtPart result_part(const StmtCheck &check) {
  return {.kind = check.inst.has_dst() ? StmtPart::Dst : StmtPart::Result};
}
inline StmtPart attribute_part(AttrKey key) {
  return {.kind = StmtPart::Attribute, .index = static_cast<unsigned>(key)};
}
inline std::string tensor_name(const Tensor &tensor) {
  return quoted_name(tensor.function()->module().names(), '$', tensor.name());
}
inline std::string function_name(const Function &function) {
  return quoted_name(function.module().names(), '@', function.name());
}

// The groups of rules, in the order in which verify_statement goes through them. Each returns
// whether its rules hold; the later ones count on check_form.

// The opcode's form: result, number and kinds of operands, operators. Nothing else can be asked of
// a statement that breaks these.
bool check_form(StmtCheck &check);
// Attributes: known to the opcode, of the right kind, each once, none missing.
bool check_attributes(StmtCheck &check);
// Access patterns: rank, view, bounds.
bool check_accesses(StmtCheck &check);
// Where operands may lie: spaces, whole tensors, tensors that are never written.
bool check_places(StmtCheck &check);
// DTypes of operands, numbers and the result.
bool check_dtypes(StmtCheck &check);
// Shapes of operands and the result, and the attributes that speak of dimensions.
bool check_shapes(StmtCheck &check);

// The legal form that legalize-dtype establishes.
bool check_legal_form(StmtCheck &check);
bool check_legal_tensor(const Tensor &tensor, SourceRange range, DiagnosticEngine &diagnostics);

// Functions that call others, in the order in which they were added.
class CallGraph {
public:
  // Calls of one function come one after the other.
  void add_call(const Instruction &call) {
    const Function *function = call.function();
    if (functions_.empty() || functions_.back() != function) {
      functions_.push_back(function);
      first_calls_.push_back(calls_.size());
    }
    calls_.push_back(&call);
  }
  // Adds the functions of `next` with their calls.
  void append(const CallGraph &next) {
    for (const std::size_t first : next.first_calls_)
      first_calls_.push_back(calls_.size() + first);
    functions_.insert(functions_.end(), next.functions_.begin(), next.functions_.end());
    calls_.insert(calls_.end(), next.calls_.begin(), next.calls_.end());
  }

  std::size_t num_functions() const { return functions_.size(); }
  const Function *function(std::size_t i) const { return functions_[i]; }
  std::span<const Instruction *const> calls_of(std::size_t i) const {
    const std::size_t first = first_calls_[i];
    const std::size_t end = i + 1 < first_calls_.size() ? first_calls_[i + 1] : calls_.size();
    return std::span(calls_).subspan(first, end - first);
  }

private:
  LargeVector<const Function *> functions_;
  LargeVector<std::size_t> first_calls_; // of each function, into calls_
  LargeVector<const Instruction *> calls_;
};

// No function of the graph calls itself, directly or through others.
bool check_no_recursion(const CallGraph &graph, DiagnosticEngine &diagnostics);

} // namespace nir
