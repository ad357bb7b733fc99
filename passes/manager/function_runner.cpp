#include "passes/manager/function_runner.h"

#include <algorithm>
#include <mutex>

#include "ir/support/parallel.h"

namespace nir {

// Neighbouring functions, and what became of them.
struct FunctionRunner::Part {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool changed = false;
  DiagnosticEngine diagnostics{};
  PassCounters counters{};
};

namespace {

std::size_t num_reports(const DiagnosticEngine &diagnostics) {
  return diagnostics.diagnostics().size() + diagnostics.num_errors();
}

} // namespace

bool FunctionRunner::run(FunctionPass &pass, std::optional<std::size_t> place,
                         PassContext &context) {
  clock_ += 2;
  changed_.resize(module_.functions().size());
  Times *settled = times_of(place);
  if (jobs_ > 1 && module_.functions().size() > 1 && !context.needs_order())
    return run_parallel(pass, settled, context);
  Part all{0, module_.functions().size()};
  run_part(pass, settled, all, context);
  return all.changed;
}

void FunctionRunner::forget() {
  changed_.clear();
  settled_.clear();
}

FunctionRunner::Times *FunctionRunner::times_of(std::optional<std::size_t> place) {
  if (!place)
    return nullptr;
  if (settled_.size() <= *place)
    settled_.resize(*place + 1);
  Times &times = settled_[*place];
  times.resize(module_.functions().size());
  return &times;
}

void FunctionRunner::run_part(FunctionPass &pass, Times *settled, Part &part,
                              PassContext &context) {
  std::vector<std::uint64_t> counted;
  // Those behind the part are another thread's.
  const auto functions = std::span<Function *const>(module_.functions()).first(part.end);
  for (std::size_t i = part.begin; i < part.end; ++i) {
    if (settled != nullptr && (*settled)[i] > changed_[i])
      continue;
    prefetch_bodies(functions, i);
    counted = context.counters().values;
    const std::size_t reports = num_reports(context.diagnostics());
    const bool changed = pass.run(*functions[i], context);
    part.changed |= changed;
    if (changed)
      changed_[i] = clock_;
    if (settled == nullptr || reports != num_reports(context.diagnostics()))
      continue;
    const bool is_idle = !changed && counted == context.counters().values;
    // Remarks and the like are asked of every run.
    const bool will_be_idle = context.pass().idempotent && !context.needs_order();
    if (is_idle || will_be_idle)
      (*settled)[i] = clock_ + 1;
  }
}

bool FunctionRunner::run_parallel(FunctionPass &pass, Times *settled, PassContext &context) {
  std::vector<Part> parts;
  std::mutex mutex; // of `parts`
  parallel_for(&module_.arena(), jobs_, module_.functions().size(),
               [&](std::size_t begin, std::size_t end) {
                 Part part{begin, end, false, context.diagnostics().empty_copy(),
                           context.counters().zeros()};
                 PassContext own = context.with(part.diagnostics, part.counters);
                 run_part(pass, settled, part, own);
                 const std::lock_guard lock(mutex);
                 parts.push_back(std::move(part));
               });
  std::ranges::sort(parts, {}, &Part::begin);
  bool changed = false;
  for (Part &part : parts) {
    changed |= part.changed;
    for (unsigned i = 0; i < part.counters.values.size(); ++i)
      context.count(i, part.counters.values[i]);
    context.diagnostics().add(std::move(part.diagnostics));
  }
  return changed;
}

} // namespace nir
