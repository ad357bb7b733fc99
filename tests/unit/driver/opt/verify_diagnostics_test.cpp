#include "driver/opt/verify_diagnostics.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/cli/split_input.h"

namespace nir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Line and severity of what was diagnosed, to be compared with what `text` expects.
struct Found {
  std::uint32_t line; // 0: no position
  Severity severity;
  std::string message;
};

// The errors of the comparison, as `line: message`.
std::vector<std::string> check(const std::string &text, const std::vector<Found> &found) {
  const SourceFile file("test", text);
  std::vector<Diagnostic> diagnostics;
  for (const Found &item : found) {
    std::size_t offset = 0;
    for (std::uint32_t line = 1; line < item.line; ++line)
      offset = text.find('\n', offset) + 1;
    const SourceRange range =
        item.line == 0 ? SourceRange{} : SourceRange::at(static_cast<SourceOffset>(offset));
    diagnostics.push_back({item.severity, range, item.message, {}});
  }
  DiagnosticEngine errors;
  const bool ok = verify_diagnostics(file, diagnostics, errors);
  EXPECT_EQ(ok, errors.diagnostics().empty());
  std::vector<std::string> texts;
  for (const Diagnostic &error : errors.diagnostics()) {
    const std::uint32_t line = error.range.valid() ? file.locate(error.range.begin).line : 0;
    texts.push_back(std::to_string(line) + ": " + error.message);
  }
  return texts;
}

TEST(VerifyDiagnostics, NothingExpectedAndNothingFound) {
  EXPECT_THAT(check("x\n", {}), IsEmpty());
}

TEST(VerifyDiagnostics, MatchesAPartOfTheMessage) {
  EXPECT_THAT(check("x // expected-error {{b c}}\n", {{1, Severity::Error, "a b c d"}}), IsEmpty());
}

TEST(VerifyDiagnostics, EverySeverity) {
  EXPECT_THAT(check("// expected-error {{e}} expected-warning {{w}} expected-remark {{r}} "
                    "expected-note {{n}}",
                    {{1, Severity::Error, "e"},
                     {1, Severity::Warning, "w"},
                     {1, Severity::Remark, "r"},
                     {1, Severity::Note, "n"}}),
              IsEmpty());
}

TEST(VerifyDiagnostics, SeverityCounts) {
  EXPECT_THAT(check("// expected-error {{e}}", {{1, Severity::Warning, "e"}}),
              ElementsAre("1: unexpected warning: e", "1: expected error 'e' was not produced"));
}

TEST(VerifyDiagnostics, OtherLines) {
  EXPECT_THAT(check("\n// expected-error@-1 {{a}}\n// expected-error@+2 {{b}}\n"
                    "// expected-error@above {{c}} expected-error@below {{d}}\n\n",
                    {{1, Severity::Error, "a"},
                     {5, Severity::Error, "b"},
                     {3, Severity::Error, "c"},
                     {5, Severity::Error, "d"}}),
              IsEmpty());
}

TEST(VerifyDiagnostics, LinesThatDoNotExist) {
  EXPECT_THAT(check("// expected-error@-1 {{a}}\n// expected-error@+7 {{a}}", {}),
              ElementsAre("1: the file has no line 0", "2: the file has no line 9"));
}

TEST(VerifyDiagnostics, Counts) {
  const std::string text = "// expected-error 2 {{a}}";
  EXPECT_THAT(check(text, {{1, Severity::Error, "a"}, {1, Severity::Error, "a"}}), IsEmpty());
  EXPECT_THAT(check(text, {{1, Severity::Error, "a"}}),
              ElementsAre("1: expected error 'a' was not produced"));
}

TEST(VerifyDiagnostics, EachExpectationIsMetOnce) {
  EXPECT_THAT(
      check("// expected-error {{a}}", {{1, Severity::Error, "a"}, {1, Severity::Error, "a"}}),
      ElementsAre("1: unexpected error: a"));
}

TEST(VerifyDiagnostics, TheLongerTextIsMetFirst) {
  EXPECT_THAT(check("// expected-error {{a}} expected-error {{ab}}",
                    {{1, Severity::Error, "ab"}, {1, Severity::Error, "a"}}),
              IsEmpty());
}

TEST(VerifyDiagnostics, WithoutAPosition) {
  EXPECT_THAT(check("// expected-warning@unknown {{a}}", {{0, Severity::Warning, "a"}}), IsEmpty());
  EXPECT_THAT(check("", {{0, Severity::Warning, "a"}}), ElementsAre("0: unexpected warning: a"));
}

TEST(VerifyDiagnostics, OnlyInComments) {
  EXPECT_THAT(check("\"// expected-error {{a}}\" expected-error {{a}}\n", {}), IsEmpty());
  EXPECT_THAT(check("\"\\\"\" // expected-error {{a}}\n", {{1, Severity::Error, "a"}}), IsEmpty());
}

TEST(VerifyDiagnostics, WhatCannotBeRead) {
  EXPECT_THAT(check("// expected-error a", {}),
              ElementsAre("1: expected '{{' and the text of the message"));
  EXPECT_THAT(check("// expected-error {{a}", {}),
              ElementsAre("1: expected '}}' behind the text of the message"));
  EXPECT_THAT(
      check("// expected-eror {{a}}", {}),
      ElementsAre("1: unknown expectation 'expected-eror' (did you mean 'expected-error'?)"));
  EXPECT_THAT(check("// expected-error@x {{a}}", {}),
              ElementsAre("1: expected '+N', '-N', 'above', 'below' or 'unknown' behind '@'"));
  EXPECT_THAT(check("// the expected-value of it", {}), IsEmpty());
}

TEST(VerifyDiagnostics, Notes) {
  const SourceFile file("test", "a // expected-error {{e}}\nb // expected-note {{n}}\n");
  Diagnostic diagnostic{Severity::Error, SourceRange::at(0), "e", {{SourceRange::at(26), "n"}}};
  DiagnosticEngine errors;
  EXPECT_TRUE(verify_diagnostics(file, {&diagnostic, 1}, errors));
}

std::vector<std::string> texts(std::string_view text) {
  std::vector<std::string> pieces;
  for (const InputPiece &piece : split_input(text)) {
    EXPECT_EQ(text.substr(piece.offset, piece.text.size()), piece.text);
    pieces.emplace_back(piece.text);
  }
  return pieces;
}

TEST(SplitInput, AtMarkersOnly) {
  EXPECT_THAT(texts(""), ElementsAre(""));
  EXPECT_THAT(texts("a\nb"), ElementsAre("a\nb"));
  EXPECT_THAT(texts("a\n// -----\nb\n"), ElementsAre("a\n", "b\n"));
  EXPECT_THAT(texts("a\n// ----- \t\r\nb"), ElementsAre("a\n", "b"));
  EXPECT_THAT(texts("// -----\n// -----"), ElementsAre("", "", ""));
  EXPECT_THAT(texts("a // -----\n// ------\n // -----\n"),
              ElementsAre("a // -----\n// ------\n // -----\n"));
}

TEST(SplitInput, ShiftsDiagnostics) {
  const Diagnostic diagnostic{
      Severity::Error, SourceRange::at(3, 2), "e", {{SourceRange::at(1), "n"}, {{}, "m"}}};
  const Diagnostic moved = shifted(diagnostic, 10);
  EXPECT_EQ(moved.range.begin, 13u);
  EXPECT_EQ(moved.range.end, 15u);
  EXPECT_EQ(moved.notes[0].range.begin, 11u);
  EXPECT_FALSE(moved.notes[1].range.valid());
}

} // namespace
} // namespace nir
