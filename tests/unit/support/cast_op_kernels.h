// What the tests of cast-op-elimination share: kernels with one memcast, and what the pass says of
// it.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "passes/pipeline/pipeline.h"
#include "tests/unit/support/run_pass.h"

namespace nir::test::cast_op {

inline constexpr std::string_view pass = "cast-op-elimination";

// A kernel that writes $x in `x` and casts it to $y in `y`, both in sbuf, where `writer` and
// `memcast_marks` are what a test is about.
struct Kernel {
  std::string in = "float32";
  std::string x = "float32";
  std::string y = "bfloat16";
  std::string writer = "tensor_copy %a -> $x";
  std::string memcast_marks = {};
  std::string strict = {};

  std::string text() const {
    return fmt::format(R"(func @f {5}{{
  tensor $in : {0}[8, 4] dram input
  tensor $out : {2}[8, 4] dram output
  tensor $x : {1}[8, 4] sbuf
  tensor $y : {2}[8, 4] sbuf

  %a = load $in : {0}[8, 4]
  {3}
  offloaded_memcast $x {4}-> $y
  store $y -> $out
}}
)",
                       in, x, y, writer, memcast_marks, strict);
  }
};

// A function that casts $x to $y and reads $y as `result`.
struct Reader {
  std::string x = "bfloat16";
  std::string y = "float32";
  std::string result = "float32";
  std::string space = "dram";
  std::string reader = "load $y";
  std::string memcast_marks = {};
  std::string strict = {};

  std::string text() const {
    return fmt::format(R"(func @f {6}{{
  tensor $x : {0}[8, 4] {3} input
  tensor $out : {2}[8, 4] dram output
  tensor $y : {1}[8, 4] {3}

  offloaded_memcast $x {5}-> $y
  %e = {4} : {2}[8, 4]
  store %e -> $out
}}
)",
                       x, y, result, space, reader, memcast_marks, strict);
  }
};

inline constexpr std::string_view marked = "{autocast = \"auto-cast-fp32\"} ";

// What the one remark of the pass says, without the place.
inline std::string only_remark(const PassOutcome &outcome) {
  if (outcome.messages.size() != 1)
    return fmt::format("{} remarks", outcome.messages.size());
  const std::string &message = outcome.messages.front();
  const std::string prefix = "cast-op-elimination: ";
  return message.substr(message.find(prefix) + prefix.size());
}

// The class with which a text's one memcast is fused, or `declined`.
inline std::string class_of(const std::string &text) {
  const std::string remark = only_remark(run_pass(pass, text));
  return remark.substr(0, remark.find(':'));
}

inline void expect_declined(const std::string &text, std::string_view reason) {
  const PassOutcome outcome = run_pass(pass, text);
  EXPECT_FALSE(outcome.changed);
  EXPECT_THAT(only_remark(outcome), testing::HasSubstr("declined: "));
  EXPECT_THAT(only_remark(outcome), testing::HasSubstr(reason));
}

inline PassOutcome run_with_options(std::string_view pipeline_text, const std::string &text) {
  ParsedModule parsed{text};
  const auto pipeline = parse_pipeline(pipeline_text);
  EXPECT_TRUE(pipeline.has_value());
  if (!pipeline || parsed.module == nullptr)
    return {};
  const PipelineNode &node = pipeline->nodes.front();
  PassCounters counters{.pass = node.pass, .values = {}};
  counters.values.resize(node.pass->statistics.size());
  DiagnosticEngine diagnostics;
  PassContext context(*node.pass, diagnostics, counters, {.applied = true, .missed = true}, 0);
  PassOutcome outcome;
  outcome.changed = node.pass->create(node.options)->run(*parsed.module, context);
  outcome.text = to_string(*parsed.module);
  for (const Diagnostic &diagnostic : diagnostics.diagnostics())
    outcome.messages.push_back(diagnostic.message);
  return outcome;
}

} // namespace nir::test::cast_op
