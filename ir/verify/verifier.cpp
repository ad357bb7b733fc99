// The whole module: structure first, then the rules of its statements, then what concerns several
// functions. A function whose links or references are broken is asked nothing that counts on them.

#include "ir/verify/verifier.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "ir/support/parallel.h"
#include "ir/verify/statement_memo.h"
#include "ir/verify/verify_rules.h"
#include "ir/verify/verify_structure.h"

namespace nir {
namespace {

using FunctionSet = ScratchMap<const Function *, bool>;

// Neighbouring functions of a module whose functions are known to be distinct and its own.
class PartVerifier {
public:
  PartVerifier(Module &module, const FunctionSet &defined, VerifyLevel level, unsigned max_errors)
      : module_(module), defined_(defined), level_(level), diagnostics_(max_errors),
        structure_(module, diagnostics_) {}
  PartVerifier(const PartVerifier &) = delete; // its parts point at each other
  PartVerifier &operator=(const PartVerifier &) = delete;

  void run(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      verify_function(*module_.functions()[i]);
  }
  bool ok() const { return ok_; }
  const CallGraph &calls() const { return calls_; } // of the functions verified
  DiagnosticEngine &diagnostics() { return diagnostics_; }

private:
  void verify_function(Function &function) {
    if (!structure_.check_links(function)) {
      ok_ = false;
      return;
    }
    if (structure_.check_tensors(function))
      verify_tensors(function);
    else
      ok_ = false;
    bool references = true;
    for (const Stmt *stmt : Prefetched(structure_.statements())) {
      if (stmt == nullptr)
        continue;
      if (!structure_.check_statement(*stmt))
        references = false;
      else if (const Instruction *inst = dyn_cast<Instruction>(stmt))
        verify_instruction(*inst);
    }
    ok_ &= references && structure_.check_uses(function);
  }

  void verify_tensors(const Function &function) {
    for (const Tensor *tensor = function.first_tensor(); tensor != nullptr;
         tensor = tensor->next()) {
      const SourceRange range = SourceRange::at(tensor->source());
      ok_ &= verify_tensor(*tensor, range, diagnostics_);
      if (level_ == VerifyLevel::Legal)
        ok_ &= check_legal_tensor(*tensor, range, diagnostics_);
    }
  }

  void verify_instruction(const Instruction &inst) {
    const bool known = kinds_.knows(inst);
    if (!known && !verify_statement(inst, locator_, diagnostics_)) {
      ok_ = false;
      return;
    }
    if (inst.opcode() == Opcode::Call)
      verify_callee(inst);
    if (known)
      return;
    if (is_legal(inst))
      kinds_.remember();
    else
      ok_ = false;
  }

  // Whether the statement has the form that is asked for.
  bool is_legal(const Instruction &inst) {
    StmtCheck check(inst, locator_, diagnostics_);
    return level_ != VerifyLevel::Legal || check_legal_form(check);
  }

  void verify_callee(const Instruction &call) {
    const Function *callee = call.callee();
    if (defined_.find(callee) != nullptr) {
      calls_.add_call(call);
      ok_ &= call_verifier_.verify(call, locator_, diagnostics_);
      return;
    }
    ok_ = false;
    diagnostics_.error(SourceRange::at(call.source()),
                       fmt::format("call of unknown function {}", function_name(*callee)));
  }

  Module &module_;
  const FunctionSet &defined_;
  VerifyLevel level_;
  DiagnosticEngine diagnostics_;
  StructureCheck structure_;
  StmtLocator locator_;
  StatementKinds kinds_; // those that keep all rules
  CallVerifier call_verifier_;
  CallGraph calls_;
  bool ok_ = true;
};

// What was found in one of several parts.
struct PartResult {
  std::size_t begin;
  bool ok;
  CallGraph calls;
  DiagnosticEngine diagnostics;
};

bool verify_functions(Module &module, VerifyLevel level, DiagnosticEngine &diagnostics,
                      unsigned jobs) {
  FunctionSet defined;
  for (const Function *function : module.functions())
    defined.try_emplace(function, true);
  std::vector<PartResult> parts;
  std::mutex mutex; // of `parts`
  parallel_for(&module.arena(), jobs, module.functions().size(),
               [&](std::size_t begin, std::size_t end) {
                 PartVerifier part(module, defined, level, diagnostics.max_errors());
                 part.run(begin, end);
                 const std::lock_guard lock(mutex);
                 parts.push_back({begin, part.ok(), part.calls(), std::move(part.diagnostics())});
               });
  std::ranges::sort(parts, {}, &PartResult::begin);
  CallGraph calls;
  bool ok = true;
  for (PartResult &part : parts) {
    calls.append(part.calls);
    diagnostics.add(std::move(part.diagnostics));
    ok &= part.ok;
  }
  return check_no_recursion(calls, diagnostics) && ok;
}

} // namespace

bool verify(Module &module, VerifyLevel level, DiagnosticEngine &diagnostics, unsigned jobs) {
  if (level == VerifyLevel::Off)
    return true;
  return StructureCheck(module, diagnostics).check_functions() &&
         verify_functions(module, level, diagnostics, jobs);
}

} // namespace nir
