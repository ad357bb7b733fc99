// Runs one pass on a module's text, for the tests of passes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "ir/print/printer.h"
#include "ir/verify/verifier.h"
#include "lang/nir/parser/parser.h"
#include "passes/core/pass.h"
#include "passes/pipeline/registry.h"

namespace nir::test {

// A module that was read from text, which it refers to.
struct ParsedModule {
  explicit ParsedModule(std::string text) : file("test.nir", std::move(text)) {
    module = parse(file, diagnostics);
    for (const Diagnostic &diagnostic : diagnostics.diagnostics()) {
      if (diagnostic.severity != Severity::Error)
        continue; // warnings of copies that lose bits
      std::string message;
      render(diagnostic, file, message);
      ADD_FAILURE() << message;
    }
  }
  SourceFile file;
  DiagnosticEngine diagnostics;
  std::unique_ptr<Module> module;
};

struct PassOutcome {
  bool changed = false;
  std::string text;                  // of the module afterwards
  std::vector<std::string> messages; // `line: severity: message`, in order of arrival
  std::vector<std::uint64_t> counts; // in the order of the pass's table
};

inline PassOutcome run_once(std::string_view pass_name, Module &module, const SourceFile &file,
                            std::uint64_t shuffle_seed = 0) {
  const PassInfo *info = find_pass(pass_name);
  PassCounters counters{.pass = info, .values = {}};
  counters.values.resize(info->statistics.size());
  DiagnosticEngine diagnostics;
  PassContext context(*info, diagnostics, counters, {.applied = true, .missed = true},
                      shuffle_seed);
  PassOutcome outcome;
  outcome.changed = info->create(PassOptions(info->options))->run(module, context);
  outcome.text = to_string(module);
  for (const Diagnostic &diagnostic : diagnostics.diagnostics()) {
    const std::string line = diagnostic.range.valid()
                                 ? std::to_string(file.locate(diagnostic.range.begin).line)
                                 : std::string("?");
    outcome.messages.push_back(line + ": " + std::string(to_string(diagnostic.severity)) + ": " +
                               diagnostic.message);
  }
  outcome.counts = counters.values;
  return outcome;
}

// Runs the pass and checks what holds for every pass: it says the truth about having changed the
// module, leaves it well-formed, and finds nothing to do in its own output.
inline PassOutcome run_pass(std::string_view pass_name, ParsedModule &parsed) {
  if (parsed.module == nullptr)
    return {};
  const std::string before = to_string(*parsed.module);
  PassOutcome outcome = run_once(pass_name, *parsed.module, parsed.file);
  EXPECT_EQ(outcome.changed, outcome.text != before);
  DiagnosticEngine broken;
  EXPECT_TRUE(verify(*parsed.module, VerifyLevel::Structure, broken)) << outcome.text;
  const PassOutcome again = run_once(pass_name, *parsed.module, parsed.file);
  EXPECT_FALSE(again.changed);
  EXPECT_EQ(again.text, outcome.text);
  return outcome;
}

inline PassOutcome run_pass(std::string_view pass_name, std::string_view text) {
  ParsedModule parsed{std::string(text)};
  return run_pass(pass_name, parsed);
}

// `body` as the whole of one function, in canonical text.
inline std::string in_function(std::string_view body) {
  return "func @f {\n" + std::string(body) + "}\n";
}

// What becomes of a function with that body, and of one that is final already.
inline void expect_becomes(std::string_view pass_name, std::string_view body,
                           std::string_view expected) {
  const PassOutcome outcome = run_pass(pass_name, in_function(body));
  EXPECT_EQ(outcome.text, in_function(expected));
}
inline void expect_unchanged(std::string_view pass_name, std::string_view body) {
  const PassOutcome outcome = run_pass(pass_name, in_function(body));
  EXPECT_EQ(outcome.text, in_function(body));
  EXPECT_FALSE(outcome.changed);
}

} // namespace nir::test
