// What nir-run prints.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/eval/evaluator.h"

namespace nir {

// XXH64 of the name, the type as text and the bytes: 16 hexadecimal digits.
std::string digest_text(std::string_view name, const HostTensor &tensor);

// `$y float32[2, 3]` and a line for each row of the last dimension, `[1, :] 1.0 2.0 3.0`. Numbers
// as the language prints them, the containers' as hexadecimal codes.
std::string values_text(std::string_view name, const HostTensor &tensor);

// One output of two modules on the same inputs.
struct ComparedOutput {
  std::string name;
  HostTensor a;
  HostTensor b;
  HostTensor reference; // of the first
};
// A table with a row for each.
std::string comparison_text(std::span<const ComparedOutput> outputs);

} // namespace nir
