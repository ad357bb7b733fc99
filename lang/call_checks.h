#pragma once

#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/verifier.h"
#include "lang/statement_parts.h"

namespace nir::lang {

// Functions by name, while parts of the module are read: one for all parts, from any thread.
class FunctionNames {
public:
  explicit FunctionNames(Module &module) : module_(module) {}

  // The function of that name for a call; it may be defined later.
  Function *refer(Name name);
  // The function of that name, which is being defined, or nullptr where it is defined already. It
  // becomes part of the module when all have been read.
  Function *define(Name name, SourceOffset at);

private:
  Function *find_or_declare(Name name);
  Module &module_;
  std::mutex mutex_;
};

// The functions of a part of the module, and the calls, which wait for the end of the module: a
// callee may be defined later, and its interface is complete only when it ends.
class CallChecks {
public:
  CallChecks(Module &module, FunctionNames &names) : module_(&module), names_(&names) {}

  Function *refer(Name name) { return names_->refer(name); }
  Function *define(Name name, SourceOffset at);
  // A function that is no part of the module, for a body that has no place in it.
  Function *scratch(SourceOffset at) { return module_->declare_function(Name(), at); }

  // A call of `callee`, named at `name`; `call` is nullptr where its statement failed.
  void add(Function *callee, const Instruction *call, SourceRange name,
           const StatementParts &parts);
  // A declaration in the function failed: nothing is known about its interface.
  void interface_failed(const Function *function) { broken_.insert(function); }
  // A function whose name could not be read: any callee may be that one.
  void nameless_function() { any_may_exist_ = true; }

  // Adds what was read behind this part.
  void append(CallChecks &&next);
  // When all has been read: makes the functions part of the module, in order.
  void define_functions();

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

  Module *module_;
  FunctionNames *names_;
  std::vector<Function *> defined_;
  std::vector<Call> calls_;
  std::vector<SourceRange> operands_;
  std::unordered_set<const Function *> broken_;
  bool any_may_exist_ = false;
};

} // namespace nir::lang
