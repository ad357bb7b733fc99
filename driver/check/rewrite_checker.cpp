#include "driver/check/rewrite_checker.h"

#include <algorithm>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "driver/check/const_input_check.h"
#include "driver/check/excess_report.h"
#include "driver/cli/files.h"
#include "driver/cli/module_copy.h"
#include "ir/name/name_text.h"
#include "ir/print/printer.h"
#include "passes/instrument/structural_hash.h"

namespace nir {
namespace {

std::string name_of(const Function &function) {
  return quoted_name(function.module().names(), '@', function.name());
}

// Instructions in program order over all functions, as RewriteLog counts them.
std::vector<const Instruction *> instructions_of(const Module &module) {
  std::vector<const Instruction *> all;
  for (const Function *function : module.functions())
    for (const Stmt &stmt : function->statements())
      if (const auto *inst = dyn_cast<Instruction>(&stmt))
        all.push_back(inst);
  return all;
}

// Leaves out roundings, RemovedRounding or AddedRounding, of the module that they were counted in.
template <class Rounding>
RoundingOverride override_of(const Module &module, const std::vector<Rounding> &roundings) {
  RoundingOverride result;
  if (roundings.empty())
    return result;
  const std::vector<const Instruction *> all = instructions_of(module);
  for (const Rounding &rounding : roundings) {
    const Instruction *inst = all.at(rounding.instruction);
    result.instructions.insert(inst);
    if (is_float_type(rounding.instead))
      result.instead[inst] = rounding.instead;
    if constexpr (std::is_same_v<Rounding, AddedRounding>)
      if (rounding.number)
        result.numbers[inst] = *rounding.number;
  }
  return result;
}

// Which functions compute something else: those whose text differs, and all that call one.
std::vector<bool> with_callers(const Module &module, std::vector<bool> changed) {
  std::unordered_map<const Function *, std::size_t> index; // for look-up only
  for (const Function *function : module.functions())
    index.emplace(function, index.size());
  std::vector<std::vector<std::size_t>> callers(changed.size());
  for (const Function *function : module.functions())
    for (const Stmt &stmt : function->statements())
      if (const auto *inst = dyn_cast<Instruction>(&stmt); inst && inst->opcode() == Opcode::Call)
        callers[index.at(inst->callee())].push_back(index.at(function));
  std::vector<std::size_t> pending;
  for (std::size_t i = 0; i < changed.size(); ++i)
    if (changed[i])
      pending.push_back(i);
  while (!pending.empty()) {
    const std::size_t callee = pending.back();
    pending.pop_back();
    for (const std::size_t caller : callers[callee]) {
      if (changed[caller])
        continue;
      changed[caller] = true;
      pending.push_back(caller);
    }
  }
  return changed;
}

std::string claim_text(std::size_t removed, std::size_t added) {
  if (removed == 0 && added == 0)
    return "claims that no rounding is removed";
  const auto text = [](std::size_t count, std::string_view done) {
    return count == 0 ? std::string()
                      : fmt::format("{} rounding{} {}", count, count == 1 ? " is" : "s are", done);
  };
  return fmt::format("claims that {}{}{}", text(removed, "removed"),
                     removed != 0 && added != 0 ? ", " : "", text(added, "added"));
}

} // namespace

// A module at one moment: as text, which can be read back, and what its functions computed.
struct RewriteChecker::Snapshot {
  std::string text;
  std::vector<std::string> functions;        // the text of each
  std::vector<std::vector<Outputs>> outputs; // of each; empty where not yet known
  std::uint64_t hash = 0;
};

// What is known while the functions are compared after a pass.
struct RewriteChecker::Comparison {
  const PipelineNode &step;
  const Module &module;
  const RewriteLog &rewrites;
  Snapshot &now;
  ModuleCopy before{};
  RoundingOverride removed{}; // of `before`
  RoundingOverride added{};   // of `module`
};

RewriteChecker::RewriteChecker(CheckOptions options) : options_(std::move(options)) {}
RewriteChecker::~RewriteChecker() = default;

std::unique_ptr<RewriteChecker::Snapshot> RewriteChecker::take_snapshot(Module &module) const {
  auto snapshot = std::make_unique<Snapshot>();
  snapshot->text = to_string(module);
  for (const Function *function : module.functions())
    snapshot->functions.push_back(to_string(*function));
  snapshot->outputs.resize(module.functions().size());
  snapshot->hash = structural_hash(module);
  return snapshot;
}

void RewriteChecker::start(Module &module, DiagnosticEngine &diagnostics) {
  diagnostics_ = &diagnostics;
  warned_.clear();
  excess_report_.clear();
  last_ = take_snapshot(module);
  first_ = std::make_unique<Snapshot>(*last_);
}

void RewriteChecker::before_pass(const PipelineNode &, Module &) {}

std::string RewriteChecker::after_pass(const PipelineNode &step, Module &module, bool changed,
                                       const RewriteLog &rewrites) {
  if (!changed && structural_hash(module) == last_->hash)
    return {};
  auto now = take_snapshot(module);
  if (now->text == last_->text)
    return {};
  ++counts_.passes;
  std::string failure = compare(step, module, *now, rewrites);
  if (failure.empty())
    last_ = std::move(now);
  return failure;
}

std::string RewriteChecker::compare(const PipelineNode &step, Module &module, Snapshot &now,
                                    const RewriteLog &rewrites) {
  if (now.functions.size() != last_->functions.size())
    return "changes the number of functions";
  std::vector<bool> changed;
  for (std::size_t i = 0; i < now.functions.size(); ++i)
    changed.push_back(now.functions[i] != last_->functions[i]);
  changed = with_callers(module, std::move(changed));
  Comparison comparison{step, module, rewrites, now};
  comparison.added = override_of(module, rewrites.added());
  for (std::size_t i = 0; i < changed.size(); ++i) {
    if (!changed[i]) {
      now.outputs[i] = std::move(last_->outputs[i]);
      continue;
    }
    if (std::string failure = compare_function(comparison, i); !failure.empty())
      return failure;
  }
  return {};
}

std::string RewriteChecker::compare_function(Comparison &c, std::size_t index) {
  const Function &after = *c.module.functions()[index];
  if (c.before.module == nullptr) {
    c.before = copy_module(last_->text, c.module.target());
    c.removed = override_of(*c.before.module, c.rewrites.removed());
  }
  const Function &before = *c.before.module->functions()[index];
  if (!can_evaluate(before, after) || !can_evaluate(after, after)) {
    ++counts_.skipped;
    return {};
  }
  // What is not known yet, or not without the claimed roundings.
  const auto outputs = [&](const Function &function, const RoundingOverride &omitted) {
    EvalOptions options = check_options(options_.limits);
    options.omitted = &omitted;
    return evaluate_all(function, options_.inputs, options);
  };
  const auto results = outputs(after, c.added);
  if (!results)
    return fmt::format("'{}' cannot be evaluated after it: {}", name_of(after),
                       results.error().message);
  std::vector<Outputs> expected = std::move(last_->outputs[index]);
  if (expected.empty() || !c.removed.instructions.empty()) {
    auto evaluated = outputs(before, c.removed);
    if (!evaluated)
      return fmt::format("'{}' cannot be evaluated before it: {}", name_of(after),
                         evaluated.error().message);
    expected = std::move(*evaluated);
  }
  ++counts_.functions;
  for (unsigned i = 0; i < options_.inputs; ++i)
    if (const auto difference = first_difference(expected[i], (*results)[i]))
      return describe(c, after, i, expected[i], (*results)[i], *difference);
  if (c.added.instructions.empty())
    c.now.outputs[index] = *results;
  return {};
}

// `reported` is the function by the name and the place of which a refusal is reported.
bool RewriteChecker::can_evaluate(const Function &function, const Function &reported) {
  const auto why = why_not_evaluated(function, options_.limits, check_options(options_.limits));
  if (why)
    warn_once(fmt::format("'{}' is not checked: {}", name_of(reported), why->message),
              reported.source());
  return !why;
}

void RewriteChecker::warn_once(std::string text, SourceOffset source) {
  if (std::ranges::find(warned_, text) != warned_.end())
    return;
  diagnostics_->warning(SourceRange::at(source), text);
  warned_.push_back(std::move(text));
}

std::string RewriteChecker::describe(const Comparison &c, const Function &function, unsigned input,
                                     const Outputs &before, const Outputs &after,
                                     const Difference &difference) {
  const std::string message =
      fmt::format("{}, but on {} '{}' of '{}' is {} instead of {}",
                  claim_text(c.removed.instructions.size(), c.added.instructions.size()),
                  to_string(check_input(input)), name_element(function, difference),
                  name_of(function), value_text(after, difference), value_text(before, difference));
  return fmt::format("{}; {}", message, write_reproducer(c.step, message));
}

std::string RewriteChecker::write_reproducer(const PipelineNode &step,
                                             std::string_view message) const {
  const std::string pass = to_string(step);
  const std::string file = options_.reproducer.empty()
                               ? fmt::format("nir-check-{}.nir", step.pass->name)
                               : options_.reproducer;
  const std::string text =
      fmt::format("// pass '{}': {}\n// The module before the pass. To "
                  "reproduce:\n// {} --passes='{}' {}\n{}",
                  step.pass->name, message, options_.command, pass, file, last_->text);
  const auto written = write_file(file, text);
  return written ? fmt::format("the module before it is in '{}'", file) : written.error();
}

std::string RewriteChecker::finish(Module &module) {
  const ModuleCopy before = copy_module(first_->text, module.target());
  const ModuleCopy after = copy_module(last_->text, module.target());
  for (const auto &[copy, when] : {std::pair(&before, "before"), std::pair(&after, "after")}) {
    const ConstInputResult result = check_const_inputs(
        *copy->module, options_.limits, [&](std::size_t index, std::string_view why) {
          const Function &function = *module.functions()[index];
          warn_once(
              fmt::format("'{}' is not checked with const inputs: {}", name_of(function), why),
              function.source());
        });
    counts_.constants += result.checked;
    if (!result.failure.empty())
      return fmt::format("{} the pipeline {}", when, result.failure);
  }
  if (options_.excess)
    excess_report_ = report_excess(*before.module, *after.module, options_.inputs, options_.limits);
  return {};
}

} // namespace nir
