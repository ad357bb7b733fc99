#include "lang/text/call_checks.h"

#include <map>
#include <mutex>

#include <fmt/format.h>

#include "ir/name/name_text.h"

namespace nir::lang {

// The operands of one call that was read long ago.
class CallChecks::Locator final : public StmtLocator {
public:
  Locator(const Call &call, const LargeVector<SourceRange> &operands)
      : call_(call), operands_(operands) {}
  SourceRange locate(const Stmt &, StmtPart part) const override {
    if (part.kind == StmtPart::Operand && part.index < call_.num_operands)
      return operands_[call_.first_operand + part.index];
    return part.kind == StmtPart::Mnemonic ? call_.name : call_.whole;
  }

private:
  const Call &call_;
  const LargeVector<SourceRange> &operands_;
};

Function *FunctionNames::refer(Name name) {
  Shard &shard = shard_of(name);
  const std::lock_guard lock(shard.lock);
  return find_or_declare(shard, name);
}

Function *FunctionNames::define(Name name, SourceOffset at) {
  Shard &shard = shard_of(name);
  const std::lock_guard lock(shard.lock);
  Function *function = find_or_declare(shard, name);
  if (function->source() != no_source)
    return nullptr;
  function->set_source(at);
  return function;
}

SourceOffset FunctionNames::definition_of(Name name) {
  Shard &shard = shard_of(name);
  const std::lock_guard lock(shard.lock);
  return shard.functions.at(name.bits())->source();
}

Function *FunctionNames::find_or_declare(Shard &shard, Name name) {
  Function *&function = shard.functions[name.bits()];
  if (function == nullptr)
    function = module_.declare_function(name);
  return function;
}

Function *CallChecks::define(Name name, SourceOffset at) {
  Function *function = names_->define(name, at);
  if (function != nullptr)
    defined_.push_back(function);
  return function;
}

void CallChecks::append(CallChecks &&next) {
  defined_.insert(defined_.end(), next.defined_.begin(), next.defined_.end());
  for (Call &call : next.calls_) {
    call.first_operand += operands_.size();
    calls_.push_back(call);
  }
  operands_.insert(operands_.end(), next.operands_.begin(), next.operands_.end());
  broken_.merge(next.broken_);
  any_may_exist_ |= next.any_may_exist_;
}

void CallChecks::define_functions() {
  for (Function *function : defined_)
    module_->define(function);
}

void CallChecks::add(Function *callee, const Instruction *call, bool holds, SourceRange name,
                     const StatementParts &parts) {
  calls_.push_back(
      {callee, call, holds, name, parts.whole, operands_.size(), parts.num_operands()});
  for (std::size_t i = 0; i < parts.num_operands(); ++i)
    operands_.push_back(parts.operand(i));
}

void CallChecks::undefined(const Call &call, DiagnosticEngine &diagnostics) const {
  constexpr std::size_t max_candidates = 1000; // a suggestion is not worth more
  NameTable &names = module_->names();
  std::vector<std::string> known;
  for (const Function *function : module_->functions()) {
    if (known.size() == max_candidates)
      break;
    known.push_back(names.str(function->name()));
  }
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string_view nearest = nearest_word(names.str(call.callee->name()), views);
  const std::string hint =
      nearest.empty()
          ? std::string()
          : fmt::format(" (did you mean '{}'?)", quoted_name(names, '@', names.intern(nearest)));
  diagnostics.error(call.name, fmt::format("function {} is not defined{}",
                                           quoted_name(names, '@', call.callee->name()), hint));
}

void CallChecks::check_part(std::size_t begin, std::size_t end, bool rules,
                            DiagnosticEngine &diagnostics) const {
  CallVerifier verifier;
  for (std::size_t i = begin; i < end; ++i) {
    const Call &call = calls_[i];
    if (is_defined(call.callee)) {
      if (rules && call.holds && !broken_.contains(call.callee))
        verifier.verify(*call.call, Locator(call, operands_), diagnostics);
    } else if (!any_may_exist_) {
      // Past the limit only the number of errors counts.
      if (diagnostics.at_limit())
        diagnostics.error(call.name, {});
      else
        undefined(call, diagnostics);
    }
  }
}

void CallChecks::check(bool rules, unsigned jobs, DiagnosticEngine &diagnostics) {
  std::mutex mutex; // of what was found, by the first call of each part
  std::map<std::size_t, DiagnosticEngine> found;
  parallel_for(&module_->arena(), jobs, calls_.size(), [&](std::size_t begin, std::size_t end) {
    DiagnosticEngine part = diagnostics.empty_copy();
    check_part(begin, end, rules, part);
    const std::lock_guard lock(mutex);
    found.emplace(begin, std::move(part));
  });
  for (auto &[begin, part] : found)
    diagnostics.add(std::move(part));
  if (!rules)
    return;
  LargeVector<const Instruction *> made; // in functions of the module
  for (const Call &call : calls_)
    if (call.call != nullptr && !call.call->function()->name().empty())
      made.push_back(call.call);
  verify_no_recursion(made, diagnostics);
}

} // namespace nir::lang
