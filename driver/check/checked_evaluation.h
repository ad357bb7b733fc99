// What the checks of nir-opt have in common: functions evaluated on the same inputs, and outputs
// compared bit for bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "ir/eval/eval_inputs.h"
#include "ir/eval/evaluator.h"

namespace nir {

// How much the checks may take for one evaluation; more is refused.
struct CheckLimits {
  std::uint64_t memory = std::uint64_t{1} << 30; // bytes
  std::uint64_t work = std::uint64_t{4} << 30;   // elements computed, products of a matmul
};

// Input number i of a check: random and edge-case inputs in turn, seeded by the number.
struct CheckInput {
  std::uint64_t seed = 0;
  InputKind kind = InputKind::Random;
};
CheckInput check_input(unsigned number);
std::string to_string(CheckInput input); // `edge-case inputs of seed 1`

// A tensor for each input of the function, in order of declaration.
std::vector<HostTensor> make_inputs(const Function &function, CheckInput input);

using Outputs = std::vector<HostTensor>; // in order of declaration

// Opaques give numbers that depend on all that they read, and NaNs are canonical: no rewrite
// promises anything about payloads.
EvalOptions check_options(const CheckLimits &limits);

// About how many elements the function computes, callees included; saturating.
std::uint64_t evaluation_work(const Function &function);

// Why the function is not evaluated; nothing where it can be.
std::optional<EvalError> why_not_evaluated(const Function &function, const CheckLimits &limits,
                                           const EvalOptions &options);

// The outputs for each of the inputs 0, …, count - 1.
tl::expected<std::vector<Outputs>, EvalError> evaluate_all(const Function &function, unsigned count,
                                                           const EvalOptions &options);

// The first element, in order of the outputs, in which two results differ: in any bit, but two
// NaNs of one sign are the same.
struct Difference {
  std::size_t output = 0;
  std::size_t element = 0;
};
std::optional<Difference> first_difference(const Outputs &before, const Outputs &after);

// `$y[3, 4]`, the element of an output of the function.
std::string name_element(const Function &function, const Difference &difference);
// `1.5 (0x3fc0)`, the value there.
std::string value_text(const Outputs &outputs, const Difference &difference);

} // namespace nir
