#include "driver/check/const_input_check.h"

#include <cstring>

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/support/saturating.h"
#include "passes/core/pass.h"

namespace nir {
namespace {

constexpr unsigned num_inputs = 2; // random ones, and edge cases

ConstData const_data(const HostTensor &tensor) {
  ConstData data;
  data.form = InitForm::Hex;
  data.bytes.resize(tensor.bytes.size());
  std::memcpy(data.bytes.data(), tensor.bytes.data(), tensor.bytes.size());
  return data;
}

void redirect(Tensor &from, Tensor &to) {
  std::vector<Use *> uses;
  for (Use &use : from.uses())
    uses.push_back(&use);
  for (Use *use : uses)
    use->set(&to, use->access());
}

// Elements that are computed for all inputs of the function together.
std::uint64_t whole_work(const Function &function) {
  const std::uint64_t work = saturating_multiply(evaluation_work(function), num_inputs);
  return saturating_multiply(work, function.num_inputs());
}

std::string difference_text(const Function &function, const Tensor &input, CheckInput with,
                            const Outputs &expected, const Outputs &outputs,
                            const Difference &difference) {
  const NameTable &names = function.module().names();
  return fmt::format("'{}' of '{}' is {} where input '{}' is a const, and {} where it is an input, "
                     "on {}",
                     name_element(function, difference), quoted_name(names, '@', function.name()),
                     value_text(outputs, difference), quoted_name(names, '$', input.name()),
                     value_text(expected, difference), to_string(with));
}

ConstInputResult check_function(Function &function, CheckInput with, const EvalOptions &options) {
  ConstInputResult result;
  Module &module = function.module();
  const std::vector<HostTensor> inputs = make_inputs(function, with);
  const auto expected = evaluate(function, inputs, options);
  const std::vector<Tensor *> interface = function.interface();
  for (std::size_t i = 0; i < inputs.size() && expected; ++i) {
    Tensor &input = *interface[i];
    Tensor &constant = *function.add_tensor(Name(), input.type(), input.space(), Role::Const,
                                            module.add_const_data(const_data(inputs[i])));
    redirect(input, constant);
    const auto outputs = evaluate(function, inputs, options);
    redirect(constant, input);
    constant.erase();
    ++result.checked;
    if (!outputs)
      result.failure = outputs.error().message;
    else if (const auto difference = first_difference(*expected, *outputs))
      result.failure = difference_text(function, input, with, *expected, *outputs, *difference);
    if (!result.failure.empty())
      break;
  }
  return result;
}

} // namespace

ConstInputResult
check_const_inputs(Module &module, const CheckLimits &limits,
                   const std::function<void(std::size_t function, std::string_view why)> &skipped) {
  ConstInputResult all;
  const EvalOptions options = check_options(limits);
  for (std::size_t index = 0; index < module.functions().size(); ++index) {
    Function *function = module.functions()[index];
    if (why_not_evaluated(*function, limits, options))
      continue;
    if (const std::uint64_t work = whole_work(*function); work > limits.work) {
      skipped(index, fmt::format("it computes about {} elements for its {} inputs, the limit is {}",
                                 work, function->num_inputs(), limits.work));
      continue;
    }
    for (unsigned i = 0; i < num_inputs; ++i) {
      ConstInputResult one = check_function(*function, check_input(i), options);
      all.checked += one.checked;
      all.failure = std::move(one.failure);
      if (!all.failure.empty())
        return all;
    }
  }
  return all;
}

} // namespace nir
