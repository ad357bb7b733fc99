// What the tests of legalize-dtype share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "tests/unit/support/run_pass.h"

namespace nir::test {

// What the pass makes of a module, and that it is in legal form then.
inline PassOutcome legalize(std::string_view text) {
  ParsedModule parsed{std::string(text)};
  PassOutcome outcome = run_pass("legalize-dtype", parsed);
  DiagnosticEngine broken;
  EXPECT_TRUE(parsed.module != nullptr && verify(*parsed.module, VerifyLevel::Legal, broken))
      << outcome.text;
  return outcome;
}

inline void expect_legalized(std::string_view body, std::string_view expected) {
  EXPECT_EQ(legalize(in_function(body)).text, in_function(expected));
}

inline void expect_legal(std::string_view body) {
  const PassOutcome outcome = legalize(in_function(body));
  EXPECT_EQ(outcome.text, in_function(body));
  EXPECT_FALSE(outcome.changed);
  EXPECT_THAT(outcome.messages, testing::IsEmpty());
}

// The messages about a module that cannot be made legal, which stays as it is.
inline std::vector<std::string> refusals(std::string_view text) {
  ParsedModule parsed{std::string(text)};
  if (parsed.module == nullptr)
    return {};
  const std::string before = to_string(*parsed.module);
  const PassOutcome outcome = run_once("legalize-dtype", *parsed.module, parsed.file);
  EXPECT_FALSE(outcome.changed);
  EXPECT_EQ(outcome.text, before);
  EXPECT_THAT(outcome.counts, testing::ElementsAre(0, 0));
  return outcome.messages;
}

} // namespace nir::test
