#include "passes/manager/pass_manager.h"

#include <algorithm>
#include <exception>
#include <unordered_map>

#include <fmt/format.h>

#include "passes/core/remark_memory.h"
#include "passes/instrument/cycle_probe.h"
#include "passes/instrument/instrumentation.h"
#include "passes/instrument/structural_hash.h"
#include "passes/instrument/timing.h"
#include "passes/manager/function_runner.h"
#include "passes/rewrite/rewrite_log.h"

namespace nir {
namespace {

// One element of the pipeline. They are kept in order of the text, so that a fixpoint is followed
// by what it holds.
struct Step {
  const PipelineNode *node;
  std::size_t end;            // behind it and all that it holds
  std::unique_ptr<Pass> pass; // nullptr: a fixpoint
  std::size_t counters = 0;   // of a pass: index into the manager's counters
  std::uint64_t rounds = 0;   // of a fixpoint: of its last run
  bool warned = false;        // of a fixpoint: that it met its maximum, in this run of the pipeline
};

struct Plan {
  Plan(Pipeline the_pipeline, PassManagerOptions the_options)
      : pipeline(std::move(the_pipeline)), options(std::move(the_options)),
        instrumentation(options), timing(options.time_passes, options.trace) {}
  // Its parts point at each other.
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;

  Pipeline pipeline;
  PassManagerOptions options;
  Instrumentation instrumentation;
  Timing timing;
  std::vector<Step> steps;
};

std::size_t counters_of(const PassInfo &pass, std::vector<PassCounters> &counters) {
  const auto it = std::ranges::find(counters, &pass, &PassCounters::pass);
  if (it == counters.end())
    counters.push_back({&pass, std::vector<std::uint64_t>(pass.statistics.size())});
  return static_cast<std::size_t>(std::ranges::find(counters, &pass, &PassCounters::pass) -
                                  counters.begin());
}

// Recurses no deeper than fixpoints nest.
void add_steps(const std::vector<PipelineNode> &nodes, unsigned depth, Plan &plan,
               std::vector<PassCounters> &counters) {
  for (const PipelineNode &node : nodes) {
    const bool is_fixpoint = node.pass == nullptr;
    const std::size_t index = plan.steps.size();
    plan.steps.push_back({&node, 0, is_fixpoint ? nullptr : node.pass->create(node.options)});
    plan.timing.add_element(is_fixpoint ? "fixpoint" : to_string(node), depth, is_fixpoint);
    if (is_fixpoint)
      add_steps(node.children, depth + 1, plan, counters);
    else
      plan.steps[index].counters = counters_of(*node.pass, counters);
    plan.steps[index].end = plan.steps.size();
  }
}

std::string describe_round(std::uint64_t round) {
  return round == 0 ? "at its start" : fmt::format("after round {}", round);
}

// What became of a part of the pipeline.
struct Outcome {
  PipelineStatus status = PipelineStatus::Success;
  bool changed = false;
};

// One run of the pipeline over one module.
class PipelineRun {
public:
  PipelineRun(Plan &plan, std::vector<PassCounters> &counters, Module &module,
              DiagnosticEngine &diagnostics)
      : plan_(plan), counters_(counters), module_(module), diagnostics_(diagnostics),
        functions_(module, plan.options.jobs) {}

  PipelineStatus run() {
    plan_.instrumentation.start(module_);
    for (Step &step : plan_.steps)
      step.warned = false;
    return run_steps(0, plan_.steps.size()).status;
  }

  const std::string &failure() const { return failure_; }
  bool has_legal_form() const { return legal_form_; }

private:
  // The elements from `begin` to `end`, each with what it holds.
  Outcome run_steps(std::size_t begin, std::size_t end) {
    Outcome all;
    for (std::size_t i = begin; i < end; i = plan_.steps[i].end) {
      const Outcome one = plan_.steps[i].pass == nullptr ? run_fixpoint(i) : run_pass(i);
      all.changed |= one.changed;
      if (one.status != PipelineStatus::Success)
        return {one.status, all.changed};
    }
    return all;
  }

  Outcome run_pass(std::size_t index) {
    Step &step = plan_.steps[index];
    if (probe_ != nullptr)
      return probe_pass(step);
    const PassInfo &info = *step.node->pass;
    Instrumentation &around = plan_.instrumentation;
    if (!around.may_run(info))
      return {};
    around.before_pass(info, module_);
    const unsigned errors_before = diagnostics_.num_errors();
    PassContext context(info, diagnostics_, counters_[step.counters], plan_.options.remarks,
                        plan_.options.shuffle_seed);
    context.set_remark_memory(&remark_memory_);
    context.set_decline_reasons(plan_.options.decline_reasons);
    PassObserver *observer = plan_.options.observer;
    std::optional<RewriteLog> rewrites;
    if (observer != nullptr) {
      observer->before_pass(*step.node, module_);
      context.set_rewrites(&rewrites.emplace(module_));
    }
    const auto begin = plan_.timing.now();
    bool changed = false;
    try {
      changed = run_on_module(*step.pass, index, context);
    } catch (const std::exception &error) {
      return fail(info, {fmt::format("threw '{}'", error.what()), {}, {}});
    }
    plan_.timing.record(index, begin, changed, round_);
    remark_memory_.end_run();
    const bool refused = diagnostics_.num_errors() != errors_before;
    legal_form_ |= info.establishes_legal_form && !refused;
    const VerifyLevel level = legal_form_ ? VerifyLevel::Legal : VerifyLevel::Structure;
    if (const auto failure = refused ? around.after_refusal(module_)
                                     : around.after_pass(info, module_, changed, level))
      return fail(info, *failure);
    if (observer != nullptr && !refused)
      if (std::string failure = observer->after_pass(*step.node, module_, changed, *rewrites);
          !failure.empty())
        return fail(info, {std::move(failure), {}, {}});
    return {refused ? PipelineStatus::InputError : PipelineStatus::Success, changed};
  }

  bool run_on_module(Pass &pass, std::size_t index, PassContext &context) {
    if (auto *function_pass = dynamic_cast<FunctionPass *>(&pass))
      return functions_.run(*function_pass, round_ == 0 ? std::nullopt : std::optional(index),
                            context);
    const bool changed = pass.run(module_, context);
    if (changed)
      functions_.forget();
    return changed;
  }

  // Runs the list until a round changes nothing. States are remembered by their hashes, so that a
  // list that goes in circles is found as soon as it closes the first.
  Outcome run_fixpoint(std::size_t index) {
    Step &step = plan_.steps[index];
    const std::uint64_t outer_round = round_;
    const auto begin = plan_.timing.now();
    const Outcome outcome = run_rounds(index);
    if (probe_ == nullptr) {
      plan_.timing.record(index, begin, outcome.changed, step.rounds);
      plan_.instrumentation.log_rounds(*step.node, step.rounds);
    }
    round_ = outer_round;
    return outcome;
  }

  Outcome run_rounds(std::size_t index) {
    Step &step = plan_.steps[index];
    const std::uint64_t max_rounds =
        step.node->max_rounds == 0 ? Pipeline::default_max_rounds : step.node->max_rounds;
    // Hashing costs as much as a pass or two, and most lists end in their second round. A circle is
    // closed again and again, so its states may as well be remembered from then on, unless the
    // maximum would come between.
    const std::uint64_t first_hashed = step.node->max_rounds == 0 ? 2 : 0;
    std::unordered_map<std::uint64_t, std::uint64_t> round_of_state; // asked only, never walked
    if (first_hashed == 0)
      round_of_state.emplace(state(), 0);
    Outcome all;
    for (round_ = 1; round_ <= max_rounds; ++round_) {
      step.rounds = round_;
      const Outcome one = run_steps(index + 1, step.end);
      all.changed |= one.changed;
      all.status = one.status;
      if (one.status != PipelineStatus::Success || !one.changed)
        return all;
      if (round_ < first_hashed)
        continue;
      const auto [seen, is_new] = round_of_state.emplace(state(), round_);
      if (!is_new)
        return {report_cycle(index, seen->second, round_), true};
    }
    all.status = report_maximum(step, max_rounds);
    return all;
  }

  // The instrumentation's knowledge of the hash does not hold while a cycle is run again.
  std::uint64_t state() {
    return probe_ == nullptr ? plan_.instrumentation.hash(module_) : structural_hash(module_);
  }

  PipelineStatus report_maximum(Step &step, std::uint64_t max_rounds) {
    if (probe_ != nullptr || step.warned)
      return PipelineStatus::Success;
    step.warned = true;
    const unsigned errors_before = diagnostics_.num_errors();
    const Severity severity = plan_.options.werror ? Severity::Error : Severity::Warning;
    diagnostics_.report(severity, {},
                        fmt::format("{} still changes the module after {} round{}",
                                    to_string(*step.node), max_rounds, max_rounds == 1 ? "" : "s"));
    return diagnostics_.num_errors() != errors_before ? PipelineStatus::InputError
                                                      : PipelineStatus::Success;
  }

  // The state after round `last` is that after round `first` again.
  PipelineStatus report_cycle(std::size_t index, std::uint64_t first, std::uint64_t last) {
    const Step &step = plan_.steps[index];
    if (probe_ != nullptr)
      return PipelineStatus::InternalError;
    CycleProbe probe(module_);
    probe_ = &probe;
    for (std::uint64_t round = first; round < last; ++round)
      run_steps(index + 1, step.end);
    probe_ = nullptr;
    const std::string where =
        fmt::format("{} does not end, the module {} is as it was {}", to_string(*step.node),
                    describe_round(last), describe_round(first));
    return report_failure(probe.explain(where, module_));
  }

  // A pass of a cycle that is run once more: nobody but the probe shall notice.
  Outcome probe_pass(Step &step) {
    const PassInfo &info = *step.node->pass;
    DiagnosticEngine diagnostics;
    PassCounters counters{&info, std::vector<std::uint64_t>(info.statistics.size())};
    PassContext context(info, diagnostics, counters, {}, plan_.options.shuffle_seed);
    const bool changed = step.pass->run(module_, context);
    probe_->after_pass(info, changed, module_);
    return {PipelineStatus::Success, changed};
  }

  Outcome fail(const PassInfo &pass, const PassFailure &failure) {
    plan_.instrumentation.log_failure(pass, failure);
    PassFailure named = failure;
    named.message = fmt::format("pass '{}': {}", pass.name, failure.message);
    return {report_failure(std::move(named)), true};
  }

  PipelineStatus report_failure(PassFailure failure) {
    failure_ = failure.message;
    diagnostics_.error(failure.range, "internal error: " + failure.message).notes =
        std::move(failure.notes);
    return PipelineStatus::InternalError;
  }

  Plan &plan_;
  std::vector<PassCounters> &counters_;
  Module &module_;
  DiagnosticEngine &diagnostics_;
  FunctionRunner functions_;
  RemarkMemory remark_memory_;
  CycleProbe *probe_ = nullptr; // set while a cycle is run once more to explain it
  std::uint64_t round_ = 0;     // of the innermost fixpoint that is running
  std::string failure_;
  bool legal_form_ = false;
};

} // namespace

struct PassManager::Impl {
  Plan plan;
};

PassManager::PassManager(Pipeline pipeline, PassManagerOptions options)
    : impl_(new Impl{Plan(std::move(pipeline), std::move(options))}) {
  add_steps(impl_->plan.pipeline.nodes, 0, impl_->plan, counters_);
}

PassManager::~PassManager() = default;

PipelineStatus PassManager::run(Module &module, DiagnosticEngine &diagnostics) {
  PipelineRun run(impl_->plan, counters_, module, diagnostics);
  const PipelineStatus status = run.run();
  failed_pass_ = run.failure();
  legal_form_ = run.has_legal_form();
  return status;
}

std::string PassManager::timing_report() const { return impl_->plan.timing.report(); }

std::string PassManager::chrome_trace() const { return impl_->plan.timing.chrome_trace(); }

std::vector<std::uint64_t> PassManager::fixpoint_rounds() const {
  std::vector<std::uint64_t> rounds;
  for (const Step &step : impl_->plan.steps)
    if (step.pass == nullptr)
      rounds.push_back(step.rounds);
  return rounds;
}

} // namespace nir
