// What several threads make is what one makes, byte for byte.

#include <atomic>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/generator/generator.h"
#include "ir/print/printer.h"
#include "ir/support/parallel.h"
#include "ir/verify/verifier.h"
#include "lang/nir/parser/parser.h"
#include "passes/manager/pass_manager.h"
#include "passes/pipeline/opt_levels.h"

namespace nir {
namespace {

constexpr unsigned jobs = 4;

std::string generated(std::string_view shape, std::uint64_t size) {
  return to_string(*generate({.shape = shape, .size = size}));
}

std::string messages_of(const DiagnosticEngine &diagnostics, const SourceFile &file) {
  std::string text;
  for (const Diagnostic &diagnostic : diagnostics.diagnostics())
    render(diagnostic, file, text);
  return text + std::to_string(diagnostics.num_errors());
}

// Everything that one run of a pipeline shows.
struct Shown {
  std::string text;
  std::string messages;
  std::string statistics;
  bool operator==(const Shown &) const = default;
};

Shown run(const SourceFile &file, unsigned threads, RemarkFilter remarks = {}) {
  DiagnosticEngine diagnostics;
  const auto module = parse(file, diagnostics, {.jobs = threads});
  if (module == nullptr)
    return {{}, messages_of(diagnostics, file), {}};
  PassManagerOptions options;
  options.jobs = threads;
  options.remarks = remarks;
  PassManager manager(parse_pipeline(opt_level_pipeline(1)).value(), options);
  EXPECT_EQ(manager.run(*module, diagnostics), PipelineStatus::Success);
  EXPECT_TRUE(verify(*module, VerifyLevel::Legal, diagnostics, threads));
  std::string text;
  print(*module, [&text](std::string_view piece) { text += piece; });
  return {std::move(text), messages_of(diagnostics, file), manager.statistics_text()};
}

// Large enough to be cut into parts.
class SeveralThreads : public testing::TestWithParam<std::string_view> {};

TEST_P(SeveralThreads, ShowWhatOneShows) {
  const SourceFile file("test.nir", generated(GetParam(), 10'000));
  const Shown one = run(file, 1);
  ASSERT_GT(one.text.size(), 100'000u);
  EXPECT_TRUE(run(file, jobs) == one);
}

TEST_P(SeveralThreads, RemarkWhatOneRemarks) {
  const SourceFile file("test.nir", generated(GetParam(), 5'000));
  const RemarkFilter all{.applied = true, .missed = true};
  EXPECT_TRUE(run(file, jobs, all) == run(file, 1, all));
}

INSTANTIATE_TEST_SUITE_P(Shapes, SeveralThreads,
                         testing::Values("mlp", "functions", "random", "attention"));

TEST(SeveralThreadsReading, ReportTheSameErrors) {
  std::string text = generated("functions", 10'000);
  for (const std::string_view wrong : {"= tensor_copy %", "= load $", "call @"}) {
    std::string broken = text;
    for (std::size_t at = text.size() / 2; (at = broken.find(wrong, at)) != std::string::npos;
         at += text.size() / 10)
      broken.insert(at + wrong.size(), "missing");
    const SourceFile file("test.nir", broken);
    const Shown one = run(file, 1);
    EXPECT_TRUE(one.text.empty() || wrong == "call @") << wrong;
    EXPECT_TRUE(run(file, jobs) == one) << wrong;
  }
}

// The second definition is in another part than the first one.
TEST(SeveralThreadsReading, ReportAFunctionThatIsDefinedTwice) {
  const std::string text = generated("functions", 10'000);
  const SourceFile file("test.nir", text + text.substr(text.find("\nfunc ")));
  const Shown one = run(file, 1);
  EXPECT_THAT(one.messages, testing::HasSubstr("is defined already"));
  EXPECT_EQ(run(file, jobs).messages, one.messages);
}

// `func` at the beginning of a line within a function is no place to cut.
TEST(SeveralThreadsReading, ReadWordsThatLookLikeFunctions) {
  const std::string text = generated("functions", 10'000);
  std::string odd = text;
  const std::size_t at = odd.find("\n}", odd.size() / 2);
  odd.insert(at, "\nfunc func");
  const SourceFile file("test.nir", odd);
  EXPECT_TRUE(run(file, jobs) == run(file, 1));
}

TEST(ParallelFor, VisitsEachIndexOnce) {
  std::vector<std::atomic<int>> visits(1000);
  parallel_for(nullptr, jobs, visits.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      ++visits[i];
  });
  for (const auto &count : visits)
    EXPECT_EQ(count, 1);
}

TEST(ParallelFor, ThrowsTheFirstOfWhatItsBodiesThrow) {
  const auto run_all = [] {
    parallel_for(nullptr, jobs, 100, [](std::size_t begin, std::size_t) {
      throw std::runtime_error(std::to_string(begin));
    });
  };
  EXPECT_THAT(run_all, testing::ThrowsMessage<std::runtime_error>("0"));
}

TEST(ArenaLanes, HandOutMemoryOfTheirOwn) {
  Arena arena;
  std::vector<std::uint32_t *> cells(100'000);
  parallel_for(&arena, jobs, cells.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      cells[i] = arena.create<std::uint32_t>(static_cast<std::uint32_t>(i));
  });
  for (std::size_t i = 0; i < cells.size(); ++i)
    ASSERT_EQ(*cells[i], i);
}

} // namespace
} // namespace nir
