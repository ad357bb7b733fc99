#include "passes/explanation.h"

#include <algorithm>

#include <fmt/format.h>

#include "passes/bytes_moved.h"
#include "passes/mutate.h"

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

} // namespace

void Explanation::start(const Module &module) {
  module_ = &module;
  reasons_.clear();
}

void Explanation::declined(const PassInfo &pass, const Stmt &cast, std::string reason) {
  std::vector<Reason> &reasons = reasons_[&cast];
  const auto known = std::ranges::find(reasons, &pass, &Reason::pass);
  if (known == reasons.end())
    reasons.push_back({&pass, std::move(reason)});
  else
    known->text = std::move(reason);
}

void Explanation::report(DiagnosticEngine &diagnostics) const {
  std::uint64_t casts = 0;
  std::uint64_t bytes = 0;
  for (const Function *function : module_->functions())
    for (const Stmt &stmt : function->statements()) {
      const auto *inst = dyn_cast<Instruction>(&stmt);
      if (inst == nullptr || !is_any_cast(*inst))
        continue;
      report(*inst, diagnostics);
      ++casts;
      bytes = saturating_add(bytes, result_bytes(*inst));
    }
  diagnostics.remark({}, fmt::format("{} cast{} left, {} bytes; {} bytes moved in all", casts,
                                     casts == 1 ? "" : "s", bytes, bytes_moved(*module_)));
}

void Explanation::report(const Instruction &cast, DiagnosticEngine &diagnostics) const {
  Diagnostic &remark = diagnostics.remark(SourceRange::at(cast.source()), describe_cast(cast));
  const auto known = reasons_.find(&cast);
  if (known == reasons_.end()) {
    remark.notes.push_back({{}, "no pass looked at it"});
    return;
  }
  for (const Reason &reason : known->second)
    remark.notes.push_back({{}, fmt::format("{}: {}", reason.pass->name, reason.text)});
}

} // namespace nir
