// Calls: arguments against the callee's interface, and no recursion.

#include <algorithm>
#include <vector>

#include "ir/support/scratch_map.h"
#include "ir/verify/verify_rules.h"

namespace nir {
namespace {

bool check_count(StmtCheck &check, const Function &callee) {
  const std::size_t expected = std::size_t{callee.num_inputs()} + callee.num_outputs();
  const std::size_t found = check.inst.num_operands();
  if (found == expected)
    return true;
  Diagnostic &error = check.report(
      {.kind = StmtPart::Whole},
      fmt::format("call of {} passes {} tensor{}, expected {}: {} input{} and {} output{}",
                  function_name(callee), found, found == 1 ? "" : "s", expected,
                  callee.num_inputs(), callee.num_inputs() == 1 ? "" : "s", callee.num_outputs(),
                  callee.num_outputs() == 1 ? "" : "s"));
  if (callee.source() != no_source)
    error.notes.push_back({SourceRange::at(callee.source()), "the function is defined here"});
  return false;
}

bool argument_fails(StmtCheck &check, const Use &use, const Tensor &parameter,
                    std::string message) {
  Diagnostic &error = check.report(part_of(check, use), std::move(message));
  if (parameter.source() != no_source)
    error.notes.push_back({SourceRange::at(parameter.source()), "it is declared here"});
  return false;
}

bool check_argument(StmtCheck &check, const Use &use, const Tensor &parameter) {
  const Tensor &tensor = *use.tensor();
  const auto described = [&] {
    return fmt::format("{} of {}", tensor_name(parameter), function_name(*parameter.function()));
  };
  const bool same_type =
      use.dtype() == parameter.dtype() && std::ranges::equal(use.shape(), parameter.shape());
  if (!same_type)
    return argument_fails(check, use, parameter,
                          fmt::format("{} is {}{}, but {} is {}", to_string(use),
                                      dtype2str(use.dtype()), shape_to_string(use.shape()),
                                      described(), to_string(*parameter.type())));
  if (tensor.space() != parameter.space())
    return argument_fails(check, use, parameter,
                          fmt::format("{} is in {}, but {} is in {}", to_string(use),
                                      to_string(tensor.space()), described(),
                                      to_string(parameter.space())));
  const bool never_written = tensor.role() == Role::Input || tensor.role() == Role::Const;
  if (parameter.role() == Role::Output && never_written)
    return argument_fails(check, use, parameter,
                          fmt::format("{} tensor {} is never written, but {} is an output",
                                      to_string(tensor.role()), tensor_name(tensor), described()));
  return true;
}

// A depth-first walk that keeps its path: a call back into the path is recursion.
class RecursionCheck {
public:
  RecursionCheck(const CallGraph &graph, DiagnosticEngine &diagnostics)
      : graph_(graph), diagnostics_(diagnostics), states_(graph.num_functions()) {
    for (std::size_t i = 0; i < states_.size(); ++i)
      index_.try_emplace(graph.function(i), i);
  }

  bool run() {
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (states_[i] == State::New)
        walk_from(i);
    return ok_;
  }

private:
  enum class State : std::uint8_t { New, OnPath, Done };
  struct Step {
    std::size_t function;
    std::span<const Instruction *const> calls; // that are left
  };

  void enter(std::size_t function) {
    states_[function] = State::OnPath;
    path_.push_back({function, graph_.calls_of(function)});
  }

  void walk_from(std::size_t root) {
    enter(root);
    while (!path_.empty()) {
      Step &step = path_.back();
      if (step.calls.empty()) {
        states_[step.function] = State::Done;
        path_.pop_back();
        continue;
      }
      const Instruction &call = *step.calls.front();
      step.calls = step.calls.subspan(1);
      const std::size_t *known = index_.find(call.callee());
      if (known == nullptr)
        continue;
      const std::size_t callee = *known;
      if (states_[callee] == State::New)
        enter(callee);
      else if (states_[callee] == State::OnPath)
        report(call, callee);
    }
  }

  void report(const Instruction &call, std::size_t callee) {
    constexpr std::size_t max_shown = 4; // of the functions between
    ok_ = false;
    std::string way;
    std::size_t shown = 0;
    for (auto step = path_.rbegin(); step->function != callee; ++step) {
      if (++shown > max_shown) {
        way = " -> ..." + way;
        break;
      }
      way = fmt::format(" -> {}{}", function_name(*graph_.function(step->function)), way);
    }
    const std::string name = function_name(*graph_.function(callee));
    diagnostics_.error(SourceRange::at(call.source()),
                       fmt::format("recursive call of {}: {}{} -> {}", name, name, way, name));
  }

  const CallGraph &graph_;
  DiagnosticEngine &diagnostics_;
  ScratchMap<const Function *, std::size_t> index_;
  std::vector<State> states_;
  std::vector<Step> path_;
  bool ok_ = true;
};

} // namespace

// The inputs, then the outputs of a function, each in order of declaration.
std::span<const Tensor *const> CallVerifier::interface_of(const Function &callee) {
  const auto [place, is_new] = interfaces_.try_emplace(&callee, {parameters_.size(), 0});
  if (is_new) {
    const std::vector<Tensor *> interface = callee.interface();
    parameters_.insert(parameters_.end(), interface.begin(), interface.end());
    place->size = interface.size();
  }
  return std::span<const Tensor *const>(parameters_).subspan(place->begin, place->size);
}

// A tensor in an output position stands nowhere else in the list.
bool CallVerifier::check_outputs_alone(StmtCheck &check, const Function &callee) {
  first_place_.clear();
  bool ok = true;
  for (const Use &use : check.inst.operands()) {
    const auto [place, is_new] = first_place_.try_emplace(use.tensor(), use.index());
    // Outputs stand last, so of two equal arguments the second one is an output if any is.
    if (!is_new && use.index() >= callee.num_inputs())
      ok = check.fail(part_of(check, use), "output argument {} also stands at place {} of the call",
                      tensor_name(*use.tensor()), *place + 1);
  }
  return ok;
}

bool CallVerifier::verify(const Instruction &call, const StmtLocator &locator,
                          DiagnosticEngine &diagnostics) {
  StmtCheck check(call, locator, diagnostics);
  const Function &callee = *call.callee();
  if (!check_count(check, callee))
    return false;
  const std::span<const Tensor *const> parameters = interface_of(callee);
  if (parameters.size() != call.num_operands())
    return false; // the callee counts them wrongly, which is reported there
  bool ok = true;
  for (unsigned i = 0; i < parameters.size(); ++i)
    ok &= check_argument(check, call.operand(i), *parameters[i]);
  return check_outputs_alone(check, callee) && ok;
}

bool check_no_recursion(const CallGraph &graph, DiagnosticEngine &diagnostics) {
  return RecursionCheck(graph, diagnostics).run();
}

bool verify_no_recursion(std::span<const Instruction *const> calls, DiagnosticEngine &diagnostics) {
  CallGraph graph;
  for (const Instruction *call : calls)
    graph.add_call(*call);
  return check_no_recursion(graph, diagnostics);
}

} // namespace nir
