#include "passes/manager/explanation.h"

#include <fmt/format.h>

#include "ir/support/saturating.h"
#include "passes/core/pass.h"
#include "passes/rewrite/bytes_moved.h"
#include "passes/rewrite/mutate.h"

namespace nir {
namespace {

bool is_any_cast(const Instruction &inst) {
  return inst.opcode() == Opcode::OffloadedMemcast || is_cast(inst);
}

std::uint64_t result_bytes(const Instruction &cast) {
  return bytes_written(cast, cast.dst_dtype());
}

std::string describe_cast(const Instruction &cast) {
  const NameTable &names = cast.function()->module().names();
  std::string text =
      fmt::format("cast left: {} {} -> {}, {} bytes", mnemonic(cast.opcode()),
                  dtype2str(cast.src()->dtype()), dtype2str(cast.dst_dtype()), result_bytes(cast));
  if (!cast.autocast().empty())
    text += fmt::format(", inserted by {}", names.str(cast.autocast()));
  return text;
}

void explain(const Instruction &cast, std::span<const DeclineReasons::Reason> reasons,
             DiagnosticEngine &diagnostics) {
  Diagnostic &remark = diagnostics.remark(SourceRange::at(cast.source()), describe_cast(cast));
  if (reasons.empty())
    remark.notes.push_back({{}, "no pass looked at it"});
  for (const DeclineReasons::Reason &reason : reasons)
    remark.notes.push_back({{}, fmt::format("{}: {}", reason.pass->name, reason.text)});
}

} // namespace

void explain_casts(const Module &module, const DeclineReasons &reasons,
                   DiagnosticEngine &diagnostics) {
  std::uint64_t casts = 0;
  std::uint64_t bytes = 0;
  for (const Function *function : module.functions())
    for (const Stmt &stmt : function->statements()) {
      const auto *inst = dyn_cast<Instruction>(&stmt);
      if (inst == nullptr || !is_any_cast(*inst))
        continue;
      explain(*inst, reasons.of(*inst), diagnostics);
      ++casts;
      bytes = saturating_add(bytes, result_bytes(*inst));
    }
  diagnostics.remark({}, fmt::format("{} cast{} left, {} bytes; {} bytes moved in all", casts,
                                     casts == 1 ? "" : "s", bytes, bytes_moved(module)));
}

} // namespace nir
