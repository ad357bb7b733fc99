#include "driver/check/excess_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "driver/cli/markdown_table.h"
#include "ir/eval/ulp_error.h"
#include "ir/name/name_text.h"

namespace nir {
namespace {

// Random inputs only: infinities and NaNs have no error that one could compare.
CheckInput excess_input(unsigned number) { return {number, InputKind::Random}; }

struct Errors {
  UlpError before;
  UlpError after;
};

void add(UlpError &sum, const UlpError &one, unsigned count) {
  sum.max = std::max(sum.max, one.max);
  sum.mean += one.mean / count;
}

// Of each output; empty where the functions cannot be evaluated.
std::vector<Errors> errors_of(const Function &before, const Function &after, unsigned count,
                              const CheckLimits &limits) {
  const EvalOptions options = check_options(limits);
  EvalOptions reference_options = options;
  reference_options.reference = true;
  if (why_not_evaluated(before, limits, reference_options) ||
      why_not_evaluated(after, limits, options))
    return {};
  std::vector<Errors> errors(before.num_outputs());
  for (unsigned i = 0; i < count; ++i) {
    const std::vector<HostTensor> inputs = make_inputs(before, excess_input(i));
    const auto reference = evaluate(before, inputs, reference_options);
    const auto old_outputs = evaluate(before, inputs, options);
    const auto new_outputs = evaluate(after, make_inputs(after, excess_input(i)), options);
    if (!reference || !old_outputs || !new_outputs)
      return {};
    for (std::size_t k = 0; k < errors.size(); ++k) {
      if (is_x4_dtype((*old_outputs)[k].type->dtype()))
        continue;
      add(errors[k].before, ulp_error((*old_outputs)[k], (*reference)[k]), count);
      add(errors[k].after, ulp_error((*new_outputs)[k], (*reference)[k]), count);
    }
  }
  return errors;
}

std::string number(double value) { return fmt::format("{:.4g}", value); }

void add_rows(MarkdownTable &table, const Function &function, const std::vector<Errors> &errors) {
  const NameTable &names = function.module().names();
  const std::vector<Tensor *> interface = function.interface();
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const Tensor &output = *interface[function.num_inputs() + i];
    if (is_x4_dtype(output.dtype()))
      continue;
    table.add({quoted_name(names, '@', function.name()), quoted_name(names, '$', output.name()),
               to_string(*output.type()), number(errors[i].before.max), number(errors[i].after.max),
               number(errors[i].before.mean), number(errors[i].after.mean)});
  }
}

} // namespace

std::string report_excess(const Module &before, const Module &after, unsigned count,
                          const CheckLimits &limits) {
  MarkdownTable table(
      {"function", "output", "type", "max ulp before", "after", "mean ulp before", "after"});
  for (std::size_t i = 0; i < before.functions().size(); ++i) {
    const Function &old_function = *before.functions()[i];
    add_rows(table, old_function, errors_of(old_function, *after.functions()[i], count, limits));
  }
  return table.text();
}

} // namespace nir
