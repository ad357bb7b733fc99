// The whole module: structure first, then the rules of its statements, then what concerns several
// functions. A function whose links or references are broken is asked nothing that counts on them.

#include "ir/verifier.h"

#include "ir/verify_rules.h"
#include "ir/verify_structure.h"

namespace nir {
namespace {

class ModuleVerifier {
public:
  ModuleVerifier(Module &module, VerifyLevel level, DiagnosticEngine &diagnostics)
      : module_(module), level_(level), diagnostics_(diagnostics), structure_(module, diagnostics) {
  }

  bool run() {
    if (!structure_.check_functions())
      return false;
    for (const Function *function : module_.functions())
      defined_.try_emplace(function, true);
    for (Function *function : module_.functions())
      verify_function(*function);
    return check_no_recursion(calls_, diagnostics_) && ok_;
  }

private:
  void verify_function(Function &function) {
    calls_.add_function(function);
    if (!structure_.check_links(function)) {
      ok_ = false;
      return;
    }
    if (structure_.check_tensors(function))
      verify_tensors(function);
    else
      ok_ = false;
    bool references = true;
    for (const Stmt *stmt : structure_.statements()) {
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
    if (!verify_statement(inst, locator_, diagnostics_)) {
      ok_ = false;
      return;
    }
    if (inst.opcode() == Opcode::Call)
      verify_callee(inst);
    if (level_ != VerifyLevel::Legal)
      return;
    StmtCheck check(inst, locator_, diagnostics_);
    ok_ &= check_legal_form(check);
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
  VerifyLevel level_;
  DiagnosticEngine &diagnostics_;
  StructureCheck structure_;
  StmtLocator locator_;
  CallVerifier call_verifier_;
  CallGraph calls_; // of the functions met so far
  ScratchMap<const Function *, bool> defined_;
  bool ok_ = true;
};

} // namespace

bool verify(Module &module, VerifyLevel level, DiagnosticEngine &diagnostics) {
  if (level == VerifyLevel::Off)
    return true;
  return ModuleVerifier(module, level, diagnostics).run();
}

} // namespace nir
