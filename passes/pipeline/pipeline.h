#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "passes/core/pass.h"

namespace nir {

// A pipeline as text has it: passes with options, and fixpoints over lists of them.
//
//   legalize-dtype,fixpoint{max=16}(neuron-eliminate-casts{src-match=require,only-autocast},dce)
struct PipelineNode {
  const PassInfo *pass = nullptr; // nullptr: a fixpoint
  PassOptions options;            // of a pass
  // Of a fixpoint:
  std::uint64_t max_rounds = 0; // 0: none was given, which means default_max_rounds
  std::vector<PipelineNode> children;
};

struct Pipeline {
  static constexpr std::uint64_t default_max_rounds = 32;
  static constexpr unsigned max_nesting = 100;
  std::vector<PipelineNode> nodes;
};

// What is wrong with a pipeline text, and where in it: a byte range.
struct PipelineError {
  std::size_t begin = 0;
  std::size_t length = 1;
  std::string message;
};

// Syntax, pass names, option names and values are all checked here. parse(print(p)) is p.
tl::expected<Pipeline, PipelineError> parse_pipeline(std::string_view text);
std::string to_string(const Pipeline &pipeline);
std::string to_string(const PipelineNode &node); // one element of it
// The error with the text and a caret under it.
std::string render(const PipelineError &error, std::string_view text);

} // namespace nir
