#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/diagnostics/diagnostic.h"

namespace nir {
namespace {

std::string rendered(const SourceFile &file, SourceRange range, std::string message = "m") {
  std::string out;
  render({Severity::Error, range, std::move(message), {}}, file, out);
  return out;
}

TEST(Render, ShowsLineAndUnderline) {
  const SourceFile file("a.nir", "one\ntwo three\nfour\n");
  EXPECT_EQ(rendered(file, {8, 13}, "found three, expected two"),
            "a.nir:2:5: error: found three, expected two\n"
            "two three\n"
            "    ^~~~~\n");
}

TEST(Render, WithoutPosition) {
  const SourceFile file("a.nir", "one\n");
  EXPECT_EQ(rendered(file, {}), "a.nir: error: m\n");
}

TEST(Render, NotesFollow) {
  const SourceFile file("a.nir", "%x\n%x\n");
  std::string out;
  render({Severity::Warning, {3, 5}, "second", {{{0, 2}, "first"}, {{}, "nowhere"}}}, file, out);
  EXPECT_EQ(out, "a.nir:2:1: warning: second\n%x\n^~\n"
                 "a.nir:1:1: note: first\n%x\n^~\n"
                 "a.nir: note: nowhere\n");
}

TEST(Render, TabsKeepTheCaretInPlace) {
  const SourceFile file("a.nir", "\tab\tcd\n");
  EXPECT_EQ(rendered(file, {4, 6}), "a.nir:1:5: error: m\n\tab\tcd\n\t  \t^~\n");
}

TEST(Render, CarriageReturnIsNoPartOfTheLine) {
  const SourceFile file("a.nir", "one\r\ntwo\r\n");
  EXPECT_EQ(rendered(file, {5, 8}), "a.nir:2:1: error: m\ntwo\n^~~\n");
}

TEST(Render, EndOfFile) {
  const SourceFile file("a.nir", "one");
  EXPECT_EQ(rendered(file, {3, 3}), "a.nir:1:4: error: m\none\n   ^\n");
  const SourceFile ended("a.nir", "one\n");
  EXPECT_EQ(rendered(ended, {4, 5}), "a.nir:2:1: error: m\n\n^\n");
  const SourceFile empty("a.nir", "");
  EXPECT_EQ(rendered(empty, {0, 1}), "a.nir:1:1: error: m\n\n^\n");
}

TEST(Render, OffsetBehindTheTextIsItsEnd) {
  const SourceFile file("a.nir", "one");
  EXPECT_EQ(rendered(file, {1000, 1001}), "a.nir:1:4: error: m\none\n   ^\n");
}

TEST(Render, RangeOverSeveralLinesEndsWithTheFirst) {
  const SourceFile file("a.nir", "one\ntwo\n");
  EXPECT_EQ(rendered(file, {1, 6}), "a.nir:1:2: error: m\none\n ^~\n");
}

TEST(Render, ColumnsCountBytesAndTheCaretCharacters) {
  const SourceFile file("a.nir", "\xC3\xA4\xC3\xB6 x\n");
  EXPECT_EQ(rendered(file, {5, 6}), "a.nir:1:6: error: m\n\xC3\xA4\xC3\xB6 x\n   ^\n");
}

TEST(Render, NothingReachesTheTerminalUnchecked) {
  const std::string mark = "\xEF\xBF\xBD";
  const SourceFile file("a\x1b.nir", "a\x1b[31m\xff b\xC2\x9b\xE2\x80\xAE\n");
  EXPECT_EQ(rendered(file, {8, 9}, "bad \x1b"), "a" + mark + ".nir:1:9: error: bad " + mark +
                                                    "\na" + mark + "[31m" + mark + " b" + mark +
                                                    mark + "\n        ^\n");
}

TEST(Render, ExcerptOfALongLine) {
  std::string line(1000, 'a');
  line.replace(500, 3, "bcd");
  const SourceFile file("a.nir", "x\n" + line + "\n");
  EXPECT_EQ(rendered(file, {502, 505}), "a.nir:2:501: error: m\n..." + std::string(80, 'a') +
                                            "bcd" + std::string(117, 'a') + "...\n" +
                                            std::string(83, ' ') + "^~~\n");
}

TEST(Render, ExcerptAtBothEndsOfALongLine) {
  const std::string line(300, 'a');
  const SourceFile file("a.nir", line);
  EXPECT_EQ(rendered(file, {0, 1}), "a.nir:1:1: error: m\n" + std::string(200, 'a') + "...\n^\n");
  EXPECT_EQ(rendered(file, {299, 300}), "a.nir:1:300: error: m\n..." + std::string(200, 'a') +
                                            "\n" + std::string(202, ' ') + "^\n");
}

TEST(Render, ExcerptUnderlineStaysInside) {
  const std::string line(1000, 'a');
  const SourceFile file("a.nir", line);
  const std::string out = rendered(file, {0, 1000});
  EXPECT_EQ(out.substr(out.rfind('^')), "^" + std::string(199, '~') + "\n");
}

TEST(Render, LineOfTwoHundredColumnsIsWhole) {
  const std::string line(200, 'a');
  const SourceFile file("a.nir", line);
  EXPECT_EQ(rendered(file, {199, 200}),
            "a.nir:1:200: error: m\n" + line + "\n" + std::string(199, ' ') + "^\n");
}

TEST(Render, ExcerptCutsNoCharacter) {
  std::string line;
  for (int i = 0; i < 300; ++i)
    line += "\xE2\x82\xAC";
  const SourceFile file("a.nir", line);
  for (SourceOffset at = 0; at < line.size(); at += 3)
    EXPECT_EQ(rendered(file, {at, at + 3}).find("\xEF\xBF\xBD"), std::string::npos) << at;
}

TEST(Render, ExcerptHoldsEveryPlaceOfALineThatIsNotUtf8) {
  // Continuation bytes with nothing that they continue, wherever an excerpt may begin or end.
  for (const std::size_t length : {201, 202, 203, 204, 280, 283, 284, 405})
    for (std::size_t gap = 1; gap <= 5; ++gap) {
      std::string line(length, '\xbe');
      for (std::size_t i = 0; gap < 5 && i < length; i += gap)
        line[i] = gap % 2 == 0 ? 'x' : '\xe2';
      const SourceFile file("a.nir", line + "\n");
      for (SourceOffset begin = 0; begin <= length; ++begin)
        for (const SourceOffset size : {1, 2, 500})
          EXPECT_THAT(rendered(file, {begin, begin + size}), ::testing::HasSubstr("^"));
    }
}

TEST(SourceFile, LinesAndColumns) {
  const SourceFile file("a", "ab\n\ncd");
  const auto place = [&](SourceOffset offset) {
    const LineColumn at = file.locate(offset);
    return std::pair(at.line, at.column);
  };
  EXPECT_EQ(place(0), std::pair(1u, 1u));
  EXPECT_EQ(place(2), std::pair(1u, 3u));
  EXPECT_EQ(place(3), std::pair(2u, 1u));
  EXPECT_EQ(place(4), std::pair(3u, 1u));
  EXPECT_EQ(place(6), std::pair(3u, 3u));
  EXPECT_EQ(file.line(1), "ab");
  EXPECT_EQ(file.line(2), "");
  EXPECT_EQ(file.line(3), "cd");
  EXPECT_EQ(file.line(4), "");
}

TEST(DiagnosticEngine, CountsErrorsPastItsLimit) {
  DiagnosticEngine engine(2);
  for (SourceOffset i = 0; i < 5; ++i)
    engine.error(SourceRange::at(i), "e").notes.push_back({{}, "n"});
  engine.warning({}, "w");
  EXPECT_EQ(engine.num_errors(), 5u);
  EXPECT_EQ(engine.num_warnings(), 1u);
  EXPECT_TRUE(engine.at_limit());
  EXPECT_EQ(engine.diagnostics().size(), 3u);
  EXPECT_EQ(engine.diagnostics()[1].notes.size(), 1u);
  engine.clear();
  EXPECT_FALSE(engine.has_errors());
  EXPECT_TRUE(engine.diagnostics().empty());
}

TEST(DiagnosticEngine, WarningsAsErrors) {
  DiagnosticEngine engine;
  engine.warning({}, "w");
  EXPECT_FALSE(engine.has_errors());
  engine.set_warnings_are_errors(true);
  EXPECT_EQ(engine.warning({}, "w").severity, Severity::Error);
  EXPECT_EQ(engine.num_errors(), 1u);
}

TEST(DiagnosticEngine, SortsByPositionAndKeepsTheOrderOfEquals) {
  DiagnosticEngine engine;
  engine.error({}, "none");
  engine.error(SourceRange::at(7), "seven");
  engine.error(SourceRange::at(3), "three");
  engine.warning(SourceRange::at(7), "seven again");
  engine.sort_by_position();
  std::vector<std::string> order;
  for (const Diagnostic &diagnostic : engine.diagnostics())
    order.push_back(diagnostic.message);
  EXPECT_THAT(order, testing::ElementsAre("three", "seven", "seven again", "none"));
}

constexpr std::string_view words[] = {"exp", "erf", "tensor_copy", "tensor_scalar", "abs", "add"};

TEST(NearestWord, FindsMisspellings) {
  EXPECT_EQ(nearest_word("tensor_cpoy", words), "tensor_copy");
  EXPECT_EQ(nearest_word("tensorcopy", words), "tensor_copy");
  EXPECT_EQ(nearest_word("epx", words), "exp");
  EXPECT_EQ(nearest_word("ad", words), "add");
  EXPECT_EQ(did_you_mean("expp", words), " (did you mean 'exp'?)");
}

TEST(NearestWord, IsSilentWhereNothingIsNear) {
  EXPECT_EQ(nearest_word("matmul", words), "");
  EXPECT_EQ(nearest_word("", words), "");
  EXPECT_EQ(nearest_word("x", words), "");
  EXPECT_EQ(nearest_word(std::string(100000, 'e'), words), "");
  EXPECT_EQ(did_you_mean("matmul", words), "");
}

} // namespace
} // namespace nir
