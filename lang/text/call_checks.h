#pragma once

#include <array>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/support/large_memory.h"
#include "ir/support/parallel.h"
#include "ir/verify/verifier.h"
#include "lang/text/statement_parts.h"

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
  // Where the function of that name, which is one, is defined.
  SourceOffset definition_of(Name name);

private:
  // Some of the functions: threads seldom meet at one lock.
  struct alignas(64) Shard {
    SpinLock lock;
    std::unordered_map<std::uint32_t, Function *> functions; // by Name::bits
  };
  static constexpr std::size_t num_shards = 64;

  Shard &shard_of(Name name) { return shards_[name.bits() % num_shards]; }
  Function *find_or_declare(Shard &shard, Name name);

  Module &module_;
  std::array<Shard, num_shards> shards_;
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
  // Where the function of that name, which is one, is defined.
  SourceOffset definition_of(Name name) { return names_->definition_of(name); }

  // A call of `callee`, named at `name`; `call` is nullptr where it could not be made, and `holds`
  // says whether the rules of a statement do.
  void add(Function *callee, const Instruction *call, bool holds, SourceRange name,
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
  // order of position, then functions that call themselves. On up to `jobs` threads.
  void check(bool rules, unsigned jobs, DiagnosticEngine &diagnostics);

private:
  struct Call {
    Function *callee;
    const Instruction *call;
    bool holds;
    SourceRange name;
    SourceRange whole;
    std::size_t first_operand; // in operands_
    std::size_t num_operands;
  };
  class Locator;

  static bool is_defined(const Function *function) { return function->source() != no_source; }
  void check_part(std::size_t begin, std::size_t end, bool rules,
                  DiagnosticEngine &diagnostics) const;
  void undefined(const Call &call, DiagnosticEngine &diagnostics) const;

  Module *module_;
  FunctionNames *names_;
  LargeVector<Function *> defined_;
  LargeVector<Call> calls_;
  LargeVector<SourceRange> operands_;
  std::unordered_set<const Function *> broken_;
  bool any_may_exist_ = false;
};

} // namespace nir::lang
