#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/verifier.h"
#include "lang/statement_parts.h"

namespace nir::lang {

// Functions by name, and the calls, which wait for the end of the module: a callee may be defined
// later, and its interface is complete only when it ends.
class CallChecks {
public:
  explicit CallChecks(Module &module) : module_(module) {}

  // The function of that name for a call; it may be defined later.
  Function *refer(Name name);
  // The function of that name, which is being defined, or nullptr where it is defined already.
  Function *define(Name name, SourceOffset at);
  // A function that is no part of the module, for a body that has no place in it.
  Function *scratch(SourceOffset at) { return module_.declare_function(Name(), at); }

  // A call of `callee`, named at `name`; `call` is nullptr where its statement failed.
  void add(Function *callee, const Instruction *call, SourceRange name,
           const StatementParts &parts);
  // A declaration in the function failed: nothing is known about its interface.
  void interface_failed(const Function *function) { broken_.insert(function); }
  // A function whose name could not be read: any callee may be that one.
  void nameless_function() { any_may_exist_ = true; }

  // Reports undefined callees and, where `rules` is set, calls that do not fit their callee, in
  // order of position, then functions that call themselves.
  void check(bool rules, DiagnosticEngine &diagnostics);

private:
  struct Call {
    Function *callee;
    const Instruction *call;
    SourceRange name;
    SourceRange whole;
    std::size_t first_operand; // in operands_
    std::size_t num_operands;
  };
  class Locator;

  static bool is_defined(const Function *function) { return function->source() != no_source; }
  void undefined(const Call &call, DiagnosticEngine &diagnostics) const;

  Module &module_;
  std::vector<Call> calls_;
  std::vector<SourceRange> operands_;
  std::unordered_set<const Function *> broken_;
  bool any_may_exist_ = false;
};

} // namespace nir::lang
