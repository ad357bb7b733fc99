#include "passes/instrument/instrumentation.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/print/printer.h"
#include "passes/instrument/structural_hash.h"
#include "passes/instrument/unified_diff.h"

namespace nir {
namespace {

// Larger modules are not kept as text for the sake of a failure that may never come.
constexpr std::size_t max_kept_statements = 10'000;

bool is_small(const Module &module) {
  std::size_t count = 0;
  for (const Function *function : module.functions())
    for (const Stmt &stmt : function->statements())
      if (static_cast<void>(stmt), ++count > max_kept_statements)
        return false;
  return true;
}

bool names_pass(const std::vector<std::string> &names, const PassInfo &pass) {
  return std::ranges::find(names, pass.name) != names.end();
}

// ` in function '@f'` for a place in the source; nothing where there is no place.
std::string function_at(const Module &module, SourceRange range) {
  const Function *found = nullptr;
  for (const Function *function : module.functions())
    if (range.valid() && function->source() <= range.begin &&
        (found == nullptr || found->source() < function->source()))
      found = function;
  return found == nullptr
             ? std::string()
             : fmt::format(" in function '{}'", quoted_name(module.names(), '@', found->name()));
}

} // namespace

void Instrumentation::start(Module &module) {
  interfaces_.emplace(module);
  text_.reset();
  hash_.reset();
  keeps_text_ = prints_changes() || (logs() && options_.verify_each && is_small(module));
}

bool Instrumentation::may_run(const PassInfo &pass) {
  if (!options_.bisect_limit)
    return true;
  const bool runs = ++num_runs_ <= *options_.bisect_limit;
  if (logs())
    options_.log(
        fmt::format("BISECT: {}running pass ({}) {}\n", runs ? "" : "NOT ", num_runs_, pass.name));
  return runs;
}

void Instrumentation::before_pass(const PassInfo &pass, Module &module) {
  if (options_.print_before_all || names_pass(options_.print_before, pass))
    dump("before", pass, module);
  if (keeps_text_ && !text_)
    text_ = to_string(module);
  if (options_.check_changed)
    hash(module);
  else
    hash_.reset();
}

std::optional<PassFailure> Instrumentation::after_pass(const PassInfo &pass, Module &module,
                                                       bool says_changed, VerifyLevel level) {
  if (options_.print_after_all || names_pass(options_.print_after, pass))
    dump("after", pass, module);
  std::optional<PassFailure> failure = check_interfaces(module);
  if (!failure && options_.verify_each)
    failure = check_module(module, level);
  if (!failure && options_.check_changed)
    failure = check_claim(module, says_changed);
  if (failure)
    return failure;
  if (prints_changes())
    dump_change(pass, module);
  else
    text_.reset();
  return std::nullopt;
}

std::optional<PassFailure> Instrumentation::after_refusal(Module &module) {
  // With werror a warning counts as an error, and the pass may well have done its work.
  if (!options_.check_changed || options_.werror || !check_claim(module, false))
    return std::nullopt;
  return PassFailure{"reported errors and changed the module", {}, {}};
}

void Instrumentation::log_failure(const PassInfo &pass, const PassFailure &failure) {
  if (!logs() || !text_)
    return;
  options_.log(fmt::format("internal error: pass '{}': {}\n", pass.name, failure.message));
  options_.log(fmt::format("// *** IR before {} ***\n", pass.name));
  options_.log(*text_);
}

void Instrumentation::log_rounds(const PipelineNode &fixpoint, std::uint64_t rounds) {
  const bool dumps = options_.print_before_all || options_.print_after_all || prints_changes() ||
                     !options_.print_before.empty() || !options_.print_after.empty();
  if (logs() && (dumps || options_.time_passes))
    options_.log(fmt::format("// *** {}: {} round{} ***\n", to_string(fixpoint), rounds,
                             rounds == 1 ? "" : "s"));
}

std::uint64_t Instrumentation::hash(Module &module) {
  if (!hash_)
    hash_ = structural_hash(module);
  return *hash_;
}

void Instrumentation::dump(std::string_view when, const PassInfo &pass, const Module &module) {
  if (!logs())
    return;
  options_.log(fmt::format("// *** IR {} {} ***\n", when, pass.name));
  print(module, options_.log);
}

void Instrumentation::dump_change(const PassInfo &pass, const Module &module) {
  std::string after = to_string(module);
  if (after == *text_) {
    options_.log(fmt::format("// *** {}: no change ***\n", pass.name));
    return;
  }
  if (options_.print_changed == PrintChanged::Diff) {
    dump_diff(pass, after);
  } else {
    options_.log(fmt::format("// *** IR after {} ***\n", pass.name));
    options_.log(after);
  }
  text_ = std::move(after);
}

void Instrumentation::dump_diff(const PassInfo &pass, const std::string &after) {
  const auto diff = unified_diff(*text_, after, fmt::format("before {}", pass.name),
                                 fmt::format("after {}", pass.name));
  options_.log(diff
                   ? fmt::format("// *** IR after {} ***\n", pass.name)
                   : fmt::format("// *** IR after {}, in full: {} ***\n", pass.name, diff.error()));
  options_.log(diff ? *diff : after);
}

std::optional<PassFailure> Instrumentation::check_interfaces(const Module &module) const {
  if (auto change = interfaces_->find_change(module, options_.jobs))
    return PassFailure{std::move(*change), {}, {}};
  return std::nullopt;
}

std::optional<PassFailure> Instrumentation::check_module(Module &module, VerifyLevel level) const {
  DiagnosticEngine found;
  if (verify(module, level, found))
    return std::nullopt;
  PassFailure failure{"its result is not well-formed", {}, {}};
  bool first = true;
  for (const Diagnostic &diagnostic : found.diagnostics()) {
    if (diagnostic.severity != Severity::Error)
      continue;
    if (first) {
      failure.message += function_at(module, diagnostic.range) + ": " + diagnostic.message;
      failure.range = diagnostic.range;
    } else {
      failure.notes.push_back({diagnostic.range, diagnostic.message});
    }
    failure.notes.insert(failure.notes.end(), diagnostic.notes.begin(), diagnostic.notes.end());
    first = false;
  }
  return failure;
}

std::optional<PassFailure> Instrumentation::check_claim(Module &module, bool says_changed) {
  const std::uint64_t before = *hash_;
  hash_ = structural_hash(module);
  if (says_changed == (before != *hash_))
    return std::nullopt;
  return PassFailure{says_changed ? "says that it changed the module, but left it as it was"
                                  : "says that it changed nothing, but changed the module",
                     {},
                     {}};
}

} // namespace nir
