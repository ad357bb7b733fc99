#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/verify/verifier.h"
#include "passes/instrument/interface_snapshot.h"
#include "passes/instrument/pass_manager_options.h"

namespace nir {

// What a pass did wrong: an internal error, not the input's fault.
struct PassFailure {
  std::string message;
  SourceRange range;
  std::vector<DiagnosticNote> notes;
};

// Everything that is done before and after each run of a pass: dumps, bisecting, and the checks
// that hold passes to their promises. One object serves one pass manager; start() begins a module.
class Instrumentation {
public:
  explicit Instrumentation(const PassManagerOptions &options) : options_(options) {}

  void start(Module &module);

  // Counts a run of the pass. False where the bisect limit skips it.
  bool may_run(const PassInfo &pass);

  void before_pass(const PassInfo &pass, Module &module);
  // Dumps, then checks in this order: interfaces, the verifier at `level`, the pass's claim.
  std::optional<PassFailure> after_pass(const PassInfo &pass, Module &module, bool says_changed,
                                        VerifyLevel level);
  // After a pass that refused its input: the module must be as it was.
  std::optional<PassFailure> after_refusal(Module &module);

  // On a failure: the message and the module as it was, if that was kept (the message follows once
  // more as a diagnostic).
  void log_failure(const PassInfo &pass, const PassFailure &failure);

  // How many rounds a fixpoint took, for whoever reads dumps or times.
  void log_rounds(const PipelineNode &fixpoint, std::uint64_t rounds);

  // The module's structural hash; known already where a check took it.
  std::uint64_t hash(Module &module);

private:
  bool logs() const { return static_cast<bool>(options_.log); }
  bool prints_changes() const { return logs() && options_.print_changed != PrintChanged::Off; }
  void dump(std::string_view when, const PassInfo &pass, const Module &module);
  void dump_change(const PassInfo &pass, const Module &module);
  void dump_diff(const PassInfo &pass, const std::string &after);
  std::optional<PassFailure> check_interfaces(const Module &module) const;
  std::optional<PassFailure> check_module(Module &module, VerifyLevel level) const;
  std::optional<PassFailure> check_claim(Module &module, bool says_changed);

  const PassManagerOptions &options_;
  std::optional<InterfaceSnapshot> interfaces_;
  std::uint64_t num_runs_ = 0; // all modules together
  bool keeps_text_ = false;
  std::optional<std::string> text_;   // before the running pass, where it is kept
  std::optional<std::uint64_t> hash_; // of the module as it is, where it is known
};

} // namespace nir
