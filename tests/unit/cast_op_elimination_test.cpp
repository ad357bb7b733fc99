#include <algorithm>
#include <ctime>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "passes/cast_op_optimizer.h"
#include "passes/pipeline.h"
#include "passes/tensor_order.h"
#include "tests/unit/run_pass.h"

namespace nir::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view pass = "cast-op-elimination";

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

constexpr std::string_view marked = "{autocast = \"auto-cast-fp32\"} ";

// What the one remark of the pass says, without the place.
std::string only_remark(const PassOutcome &outcome) {
  if (outcome.messages.size() != 1)
    return fmt::format("{} remarks", outcome.messages.size());
  const std::string &message = outcome.messages.front();
  const std::string prefix = "cast-op-elimination: ";
  return message.substr(message.find(prefix) + prefix.size());
}

// The class with which a text's one memcast is fused, or `declined`.
std::string class_of(const std::string &text) {
  const std::string remark = only_remark(run_pass(pass, text));
  return remark.substr(0, remark.find(':'));
}

void expect_declined(const std::string &text, std::string_view reason) {
  const PassOutcome outcome = run_pass(pass, text);
  EXPECT_FALSE(outcome.changed);
  EXPECT_THAT(only_remark(outcome), HasSubstr("declined: "));
  EXPECT_THAT(only_remark(outcome), HasSubstr(reason));
}

PassOutcome run_with_options(std::string_view pipeline_text, const std::string &text) {
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

// fuse_src.

TEST(CastOpEliminationSrc, WriterWritesY) {
  const PassOutcome outcome = run_pass(pass, Kernel{}.text());
  EXPECT_EQ(outcome.text, in_function(R"(  tensor $in : float32[8, 4] dram input
  tensor $out : bfloat16[8, 4] dram output
  tensor $y : bfloat16[8, 4] sbuf

  %a = load $in : float32[8, 4]
  tensor_copy %a -> $y
  store $y -> $out
)"));
  EXPECT_EQ(only_remark(outcome), "exact: fuse_src: what writes '$x' writes '$y'");
}

TEST(CastOpEliminationSrc, RemarkStandsAtTheMemcast) {
  const PassOutcome outcome = run_pass(pass, Kernel{}.text());
  ASSERT_EQ(outcome.messages.size(), 1u);
  EXPECT_EQ(outcome.messages.front().substr(0, 2), "9:");
}

TEST(CastOpEliminationSrc, SubscriptsAreKept) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $in : float32[2, 2] dram input
  tensor $x : float32[8, 4] dram
  tensor $y : float16[8, 4] dram output

  %a = load $in : float32[2, 2]
  for %i in 0..3 {
    store %a -> $x[%i * 2 + 1 : 2, 0 : 2 : 3]
  }
  offloaded_memcast $x -> $y
)"));
  EXPECT_THAT(outcome.text, HasSubstr("store %a -> $y[%i * 2 + 1 : 2, 0 : 2 : 3]\n"));
}

TEST(CastOpEliminationSrc, EveryWriterMustBeAble) {
  expect_declined(Kernel{.writer = "tensor_copy %a -> $x\n  memset 0.0 -> $x"}.text(),
                  "a memset writes it and cannot take the cast");
}

TEST(CastOpEliminationSrc, ExactClassIsOfTheWholeTriple) {
  EXPECT_EQ(class_of(Kernel{}.text()), "exact");
  EXPECT_EQ(class_of(Kernel{.in = "bfloat16"}.text()), "exact");
  EXPECT_EQ(class_of(Kernel{.in = "float8e4", .x = "bfloat16", .y = "float32"}.text()), "exact");
}

TEST(CastOpEliminationSrc, ComputedResultsAreWide) {
  // Whatever it reads, an activation rounds from fp32.
  const Kernel kernel{
      .in = "bfloat16", .x = "bfloat16", .y = "float32", .writer = "activation exp %a -> $x"};
  EXPECT_EQ(class_of(kernel.text()), "permitted");
  Kernel copy = kernel;
  copy.writer = "tensor_copy %a -> $x";
  EXPECT_EQ(class_of(copy.text()), "exact");
}

TEST(CastOpEliminationSrc, WidthIsNotWhatCounts) {
  // bfloat16 to float16 to bfloat16 loses range, float16 to bfloat16 to float16 loses bits.
  EXPECT_EQ(class_of(Kernel{.in = "bfloat16", .x = "float16", .y = "bfloat16"}.text()),
            "permitted");
  EXPECT_EQ(class_of(Kernel{.in = "float16", .x = "bfloat16", .y = "float16"}.text()), "permitted");
  EXPECT_EQ(class_of(Kernel{.in = "float16", .x = "float32", .y = "float16"}.text()), "exact");
}

TEST(CastOpEliminationSrc, ThreeTypeChainIsNotItsEnds) {
  // 100000.0 overflows float16 on the way to bfloat16.
  EXPECT_EQ(class_of(Kernel{.x = "float16", .strict = "strict "}.text()), "declined");
}

TEST(CastOpEliminationSrc, InsertedNeedsBothMarks) {
  Kernel kernel{.x = "bfloat16", .y = "float32", .strict = "strict "};
  EXPECT_EQ(class_of(kernel.text()), "declined");
  kernel.memcast_marks = marked;
  EXPECT_EQ(class_of(kernel.text()), "declined");
  kernel.writer = "tensor_copy %a {autocast = \"auto-cast-fp32\"} -> $x";
  EXPECT_EQ(class_of(kernel.text()), "inserted");
  kernel.memcast_marks = "";
  EXPECT_EQ(class_of(kernel.text()), "declined");
}

TEST(CastOpEliminationSrc, ExcessPrecisionOffKeepsAuthorsRoundings) {
  constexpr std::string_view off = "cast-op-elimination{excess-precision=off}";
  const PassOutcome kept = run_with_options(off, Kernel{.x = "bfloat16", .y = "float32"}.text());
  EXPECT_FALSE(kept.changed);
  EXPECT_THAT(kept.messages, ElementsAre(HasSubstr("declined: fuse_src: a rounding would go, and "
                                                   "excess precision is off")));
  EXPECT_TRUE(run_with_options(off, Kernel{}.text()).changed);
}

TEST(CastOpEliminationSrc, IntegersGoOnlyWhereExact) {
  EXPECT_EQ(class_of(Kernel{.in = "int32", .x = "int8", .y = "int32"}.text()), "declined");
  EXPECT_EQ(class_of(Kernel{.in = "int8", .x = "int32", .y = "int8"}.text()), "exact");
  EXPECT_EQ(class_of(Kernel{.in = "int8", .x = "int16", .y = "float32"}.text()), "exact");
  EXPECT_EQ(class_of(Kernel{.in = "int8", .x = "float32", .y = "int8"}.text()), "declined");
  EXPECT_EQ(class_of(Kernel{.in = "float32", .x = "float32", .y = "int8"}.text()), "exact");
}

TEST(CastOpEliminationSrc, MarksDoNotLetIntegersGo) {
  const Kernel kernel{.in = "int32",
                      .x = "int8",
                      .y = "int32",
                      .writer = "tensor_copy %a {autocast = \"p\"} -> $x",
                      .memcast_marks = std::string(marked)};
  EXPECT_EQ(class_of(kernel.text()), "declined");
}

TEST(CastOpEliminationSrc, IntegerResultsDoNotSkipFp32) {
  const auto sum = [](std::string x, std::string y) {
    return class_of(
        Kernel{.in = x, .x = x, .y = y, .writer = "tensor_tensor add %a, %a -> $x"}.text());
  };
  EXPECT_EQ(sum("int32", "int64"), "declined"); // 2^24 + 1 would survive
  EXPECT_EQ(sum("int64", "int32"), "declined");
  EXPECT_EQ(sum("int32", "int16"), "exact");
  EXPECT_EQ(sum("int16", "int64"), "exact");
  EXPECT_EQ(sum("int32", "float32"), "exact");
}

TEST(CastOpEliminationSrc, TransposedIntegersDoNotSkipFp32) {
  EXPECT_EQ(
      class_of(Kernel{
          .in = "int32", .x = "int32", .y = "int64", .writer = "transpose %a {perm = [0, 1]} -> $x"}
                   .text()),
      "declined");
}

TEST(CastOpEliminationSrc, ExactIntsDoesNotMerge) {
  expect_declined(
      Kernel{
          .in = "int32", .x = "int16", .y = "int8", .writer = "tensor_copy %a {exact_ints} -> $x"}
          .text(),
      "a tensor_copy writes it with exact_ints");
}

TEST(CastOpEliminationSrc, FixedIsNeitherRemovedNorRetyped) {
  expect_declined(Kernel{.memcast_marks = "{fixed} "}.text(), "is fixed");
  expect_declined(Kernel{.writer = "tensor_copy %a {fixed} -> $x"}.text(),
                  "a tensor_copy writes it and is fixed");
}

TEST(CastOpEliminationSrc, ScalesAreWrittenByCopiesOnly) {
  EXPECT_EQ(class_of(Kernel{.in = "uint8", .x = "uint8", .y = "float8_e8m0fnu"}.text()), "exact");
  expect_declined(Kernel{.in = "uint8",
                         .x = "uint8",
                         .y = "float8_e8m0fnu",
                         .writer = "tensor_scalar %a, max 3 -> $x"}
                      .text(),
                  "may not write float8_e8m0fnu");
}

TEST(CastOpEliminationSrc, ComparisonIsAConversionToIntegers) {
  expect_declined(
      Kernel{.x = "uint8", .y = "float32", .writer = "tensor_scalar %a, is_gt 0.0 -> $x"}.text(),
      "converting between integer and float");
}

// Marks.

TEST(CastOpEliminationMarks, PassNarrowingIsMarked) {
  const PassOutcome outcome = run_pass(
      pass,
      Kernel{.writer = "activation exp %a -> $x", .memcast_marks = std::string(marked)}.text());
  EXPECT_THAT(outcome.text, HasSubstr("activation exp %a {autocast = \"auto-cast-fp32\"} -> $y\n"));
}

TEST(CastOpEliminationMarks, AuthorsNarrowingIsNot) {
  const PassOutcome outcome = run_pass(pass, Kernel{.writer = "activation exp %a -> $x"}.text());
  EXPECT_THAT(outcome.text, HasSubstr("activation exp %a -> $y\n"));
}

TEST(CastOpEliminationMarks, UndoneNarrowingLosesItsMark) {
  const Kernel kernel{.x = "bfloat16",
                      .y = "float32",
                      .writer = "activation exp %a {autocast = \"auto-cast-fp32\"} -> $x",
                      .memcast_marks = std::string(marked)};
  EXPECT_THAT(run_pass(pass, kernel.text()).text, HasSubstr("activation exp %a -> $y\n"));
}

TEST(CastOpEliminationMarks, AuthorsRoundingUnderAPassesStaysUnmarked) {
  const Kernel kernel{.x = "bfloat16",
                      .y = "float8e4",
                      .writer = "activation exp %a -> $x",
                      .memcast_marks = std::string(marked)};
  EXPECT_THAT(run_pass(pass, kernel.text()).text, HasSubstr("activation exp %a -> $y\n"));
}

TEST(CastOpEliminationMarks, LoadTakesTheMemcastsMark) {
  const Reader reader{
      .x = "float32", .y = "bfloat16", .result = "bfloat16", .memcast_marks = std::string(marked)};
  EXPECT_THAT(run_pass(pass, reader.text()).text,
              HasSubstr("%e = load $x {autocast = \"auto-cast-fp32\"} : bfloat16[8, 4]\n"));
}

TEST(CastOpEliminationMarks, LoadThatWidensTakesNone) {
  const Reader reader{.memcast_marks = std::string(marked)};
  EXPECT_THAT(run_pass(pass, reader.text()).text, HasSubstr("%e = load $x : float32[8, 4]\n"));
}

TEST(CastOpEliminationMarks, AuthorsMemcastTakesTheLoadsMark) {
  const Reader reader{.x = "float32",
                      .y = "bfloat16",
                      .result = "float8e4",
                      .reader = "load $y {autocast = \"p\"}"};
  EXPECT_THAT(run_pass(pass, reader.text()).text, HasSubstr("%e = load $x : float8e4[8, 4]\n"));
}

// fuse_dst.

TEST(CastOpEliminationDst, ReaderReadsX) {
  const PassOutcome outcome = run_pass(pass, Reader{}.text());
  EXPECT_EQ(outcome.text, in_function(R"(  tensor $x : bfloat16[8, 4] dram input
  tensor $out : float32[8, 4] dram output

  %e = load $x : float32[8, 4]
  store %e -> $out
)"));
  EXPECT_EQ(only_remark(outcome), "exact: fuse_dst: what reads '$y' reads '$x'");
}

TEST(CastOpEliminationDst, LoadMaySkipARounding) {
  Reader reader{.x = "float32", .y = "bfloat16"};
  EXPECT_EQ(class_of(reader.text()), "permitted");
  reader.strict = "strict ";
  EXPECT_EQ(class_of(reader.text()), "declined");
  reader.memcast_marks = marked;
  reader.reader = "load $y {autocast = \"p\"}";
  EXPECT_EQ(class_of(reader.text()), "inserted");
}

TEST(CastOpEliminationDst, LoadOfIntegersOnlyWhereExact) {
  EXPECT_EQ(class_of(Reader{.x = "int8", .y = "float32", .result = "int16"}.text()), "exact");
  EXPECT_EQ(class_of(Reader{.x = "int32", .y = "bfloat16", .result = "float32"}.text()),
            "declined");
  EXPECT_EQ(class_of(Reader{.x = "float32", .y = "int8", .result = "float32"}.text()), "declined");
  EXPECT_EQ(class_of(Reader{.x = "float32", .y = "bfloat16", .result = "int8"}.text()), "declined");
}

TEST(CastOpEliminationDst, EngineMayNotSkipARounding) {
  expect_declined(
      Reader{.x = "float32", .y = "bfloat16", .space = "sbuf", .reader = "activation exp $y"}
          .text(),
      "'%e' (activation) would read what the memcast had not rounded yet");
}

TEST(CastOpEliminationDst, EngineReadsHeldValues) {
  for (const std::string_view reader :
       {"activation exp $y", "tensor_scalar $y, add 1.0", "tensor_copy $y",
        "tensor_tensor add $y, $y", "transpose $y {perm = [0, 1]}"})
    EXPECT_EQ(class_of(Reader{.space = "sbuf", .reader = std::string(reader)}.text()), "exact")
        << reader;
}

TEST(CastOpEliminationDst, EngineDoesNotReachDram) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $x : bfloat16[8, 4] dram input
  tensor $y : float32[8, 4] sbuf
  tensor $out : float32[8, 4] dram output

  offloaded_memcast $x -> $y
  %e = activation exp $y : float32[8, 4]
  store %e -> $out
)"));
  EXPECT_THAT(only_remark(outcome), HasSubstr("'$x' is in dram, which its readers do not reach"));
}

TEST(CastOpEliminationDst, InfinitiesOfEightBitsAreARounding) {
  // float8e4 to bfloat16 to float8e4 saturates infinities; a copy of float8e4 keeps them.
  Reader reader{.x = "float8e4",
                .y = "bfloat16",
                .result = "float8e4",
                .space = "sbuf",
                .reader = "tensor_copy $y"};
  EXPECT_EQ(class_of(reader.text()), "permitted");
  reader.strict = "strict ";
  EXPECT_EQ(class_of(reader.text()), "declined");
  reader.strict = "";
  reader.reader = "tensor_copy $y {fixed}";
  EXPECT_EQ(class_of(reader.text()), "declined");
  reader.reader = "activation identity $y";
  reader.strict = "strict ";
  EXPECT_EQ(class_of(reader.text()), "exact"); // it rounds, and saturates, itself
}

TEST(CastOpEliminationDst, NothingIsJustDeleted) {
  // Both tensors are seen outside: there is no neighbour.
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $x : bfloat16[8, 4] dram input
  tensor $y : float32[8, 4] dram output

  offloaded_memcast $x -> $y
)"));
  EXPECT_FALSE(outcome.changed);
  EXPECT_EQ(only_remark(outcome),
            "declined: fuse_src: '$x' is an input; fuse_dst: '$y' is an output");
}

std::string repeated_load(int trips) {
  return in_function(fmt::format(R"(  tensor $x : float32[8, 4] dram input
  tensor $out : bfloat16[8, 4] dram output
  tensor $y : bfloat16[8, 4] dram

  offloaded_memcast $x -> $y
  for %i in 0..{} {{
    %e = load $y : bfloat16[8, 4]
    store %e -> $out
  }}
)",
                                 trips));
}

TEST(CastOpEliminationDst, BytesDecide) {
  EXPECT_EQ(class_of(repeated_load(3)), "exact"); // 3 * 4 against 6 + 3 * 2
  EXPECT_EQ(class_of(repeated_load(4)), "declined");
}

TEST(CastOpEliminationDst, BytesSaturate) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $x : bfloat16[8, 4] dram input
  tensor $out : float32[8, 4] dram output
  tensor $y : float32[8, 4] dram

  for %i in 0..9223372036854775807 {
    offloaded_memcast $x -> $y
    %e = load $y : float32[8, 4]
    store %e -> $out
  }
)"));
  EXPECT_EQ(outcome.counts[1], 1u);
  EXPECT_EQ(outcome.counts[2], std::numeric_limits<std::uint64_t>::max());
}

TEST(CastOpEliminationDst, ReadersInInnerLoopsBoundTheWriters) {
  constexpr std::string_view text = R"(  tensor $in : bfloat16[8, 4] dram input
  tensor $x : bfloat16[8, 4] dram
  tensor $y : float32[8, 4] dram
  tensor $out : float32[8, 4] dram output

  offloaded_memcpy $in -> $x
  offloaded_memcast $x -> $y
  for %i in 0..2 {{
    %e = load $y : float32[8, 4]
    store %e -> $out
{}  }}
{})";
  constexpr std::string_view write = "offloaded_memcpy $in -> $x\n";
  expect_declined(in_function(fmt::format(fmt::runtime(text), "    " + std::string(write), "")),
                  "'$x' is written before the last reader is done");
  EXPECT_EQ(class_of(in_function(fmt::format(fmt::runtime(text), "", "  " + std::string(write)))),
            "exact");
}

// The whole pass.

TEST(CastOpElimination, FusesBothWaysOfAChainInOneRun) {
  std::string body = "  tensor $t0 : bfloat16[8, 4] dram input\n";
  for (int i = 1; i <= 10; ++i)
    body += fmt::format("  tensor $t{} : {}[8, 4] dram\n", i, i % 2 == 0 ? "bfloat16" : "float32");
  body += "  tensor $out : bfloat16[8, 4] dram output\n\n";
  for (int i = 1; i <= 10; ++i)
    body += fmt::format("  offloaded_memcast $t{} -> $t{}\n", i - 1, i);
  body += "  %e = load $t10 : bfloat16[8, 4]\n  store %e -> $out\n";
  const PassOutcome outcome = run_pass(pass, in_function(body));
  EXPECT_EQ(outcome.text, in_function(R"(  tensor $t0 : bfloat16[8, 4] dram input
  tensor $out : bfloat16[8, 4] dram output

  %e = load $t0 : bfloat16[8, 4]
  store %e -> $out
)"));
  EXPECT_EQ(outcome.counts[1], 10u);
  EXPECT_EQ(outcome.counts[3], 10u);
}

TEST(CastOpElimination, DeadReadersDoNotStandInTheWay) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $in : float32[8, 4] dram input
  tensor $x : float32[8, 4] dram
  tensor $dead : float32[8, 4] dram
  tensor $out : bfloat16[8, 4] dram output

  %a = load $in : float32[8, 4]
  store %a -> $x
  offloaded_memcast $x -> $out
  offloaded_memcpy $x -> $dead
)"));
  EXPECT_EQ(outcome.counts, (std::vector<std::uint64_t>{1, 0, 192, 2, 256}));
}

TEST(CastOpElimination, DropsDeadTensorsWithoutMemcasts) {
  const PassOutcome outcome = run_pass(pass, in_function("  tensor $dead : float32[8, 4] dram\n"));
  EXPECT_TRUE(outcome.changed);
  EXPECT_EQ(outcome.counts, (std::vector<std::uint64_t>{0, 0, 0, 1, 128}));
}

TEST(CastOpElimination, LeavesWhatIsNoMemcast) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $x : float32[8, 4] dram input
  tensor $y : float32[8, 4] dram output
  tensor $bits : uint32[8, 4] dram output

  %a = load $x : float32[8, 4]
  %b = tensor_copy %a : bfloat16[8, 4]
  %c = tensor_copy %b : float32[8, 4]
  store %c -> $y
  offloaded_bitcast $x -> $bits
)"));
  EXPECT_FALSE(outcome.changed);
  EXPECT_TRUE(outcome.messages.empty());
}

TEST(CastOpElimination, DeclinedRemarksStandInProgramOrder) {
  const PassOutcome outcome = run_pass(pass, in_function(R"(  tensor $x : float32[8, 4] dram input
  tensor $y : bfloat16[8, 4] dram output
  tensor $z : float16[8, 4] dram output
  tensor $t : float32[8, 4] dram
  tensor $u : float16[8, 4] dram output

  offloaded_memcast $x -> $y
  %a = load $x : float32[8, 4]
  store %a -> $t
  offloaded_memcast $t -> $u
  offloaded_memcast $x -> $z
)"));
  ASSERT_EQ(outcome.messages.size(), 3u);
  EXPECT_THAT(outcome.messages[0], HasSubstr("exact: fuse_src: what writes '$t' writes '$u'"));
  EXPECT_THAT(outcome.messages[1], HasSubstr("8: remark: cast-op-elimination: declined"));
  EXPECT_THAT(outcome.messages[2], HasSubstr("12: remark: cast-op-elimination: declined"));
}

TEST(CastOpElimination, FunctionsAreApart) {
  std::string second = Kernel{}.text();
  second.replace(second.find("@f"), 2, "@g");
  const PassOutcome outcome = run_pass(pass, Kernel{}.text() + "\n" + second);
  EXPECT_EQ(outcome.counts[0], 2u);
}

TEST(CastOpElimination, QuotesNames) {
  const PassOutcome outcome =
      run_pass(pass, in_function(R"(  tensor $"a b" : float32[8, 4] dram input
  tensor $y : bfloat16[8, 4] dram output

  offloaded_memcast $"a b" -> $y
)"));
  EXPECT_THAT(only_remark(outcome), HasSubstr("'$\"a b\"' is an input"));
}

// CastOpOptimizer by itself.

TEST(CastOpOptimizer, SaysWhyOrFusesAndCounts) {
  ParsedModule parsed{Kernel{}.text()};
  ASSERT_NE(parsed.module, nullptr);
  Function &function = *parsed.module->functions().front();
  Instruction *memcast = nullptr;
  for (Stmt &stmt : function.statements())
    if (auto *inst = dyn_cast<Instruction>(&stmt);
        inst != nullptr && inst->opcode() == Opcode::OffloadedMemcast)
      memcast = inst;
  ASSERT_NE(memcast, nullptr);

  const PassInfo &info = *find_pass(pass);
  PassCounters counters{.pass = &info, .values = std::vector<std::uint64_t>(5)};
  DiagnosticEngine diagnostics;
  PassContext context(info, diagnostics, counters, {}, 0);
  CastOpOptimizer optimizer(function, context, true);

  memcast->set_flag(inst_flag::Fixed, true);
  const auto declined = optimizer.fuse(*memcast);
  ASSERT_TRUE(declined.has_value());
  EXPECT_EQ(declined->src.about, memcast);
  EXPECT_THAT(to_string(*declined, function), HasSubstr("is fixed"));

  memcast->set_flag(inst_flag::Fixed, false);
  EXPECT_FALSE(optimizer.fuse(*memcast).has_value());
  EXPECT_EQ(optimizer.counts().src, 1u);
  EXPECT_EQ(optimizer.counts().bytes, 192u);
  const Tensor *x = function.first_tensor()->next()->next();
  EXPECT_TRUE(x->use_empty());
  EXPECT_TRUE(diagnostics.diagnostics().empty());
}

TEST(TensorOrder, FindsReadersAndWritersBetween) {
  ParsedModule parsed{in_function(R"(  tensor $x : float32[8, 4] dram
  tensor $y : float32[8, 4] dram output

  offloaded_memcpy $y -> $x
  for %i in 0..2 {
    offloaded_memcpy $x -> $y
  }
  opaque "o"($x)
)")};
  ASSERT_NE(parsed.module, nullptr);
  Function &function = *parsed.module->functions().front();
  TensorOrder order(function);
  const Tensor &x = *function.first_tensor();
  Stmt *first = function.body().first();
  Stmt *loop = first->next();
  Stmt *last = function.body().last();
  EXPECT_EQ(order.writer_between(x, first->order(), loop->order()), first);
  EXPECT_EQ(order.writer_between(x, loop->order(), last->order() - 1), nullptr);
  EXPECT_EQ(order.reader_between(x, 0, loop->order()), nullptr);
  EXPECT_EQ(order.reader_between(x, loop->order(), last->order()),
            cast<Loop>(loop)->body().first());
  // An opaque does both.
  EXPECT_EQ(order.writer_between(x, loop->order(), last->order()), last);
  EXPECT_EQ(order.reader_between(x, last->order(), last->order()), last);
}

// Cost. `shape` makes a function of size n; eight times the size may take eight times the time and
// some noise, far from the sixty-four of a quadratic pass.

double cpu_seconds_for(const std::string &text) {
  double best = 1e9;
  for (int run = 0; run < 3; ++run) {
    ParsedModule parsed{text};
    if (parsed.module == nullptr)
      return 0;
    const std::clock_t start = std::clock();
    run_once(pass, *parsed.module, parsed.file);
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

void expect_near_linear(std::string (*shape)(int)) {
  const double small = cpu_seconds_for(shape(1000));
  const double large = cpu_seconds_for(shape(8000));
  EXPECT_LT(large, 24 * small + 0.02);
}

// All memcasts read one tensor, which many instructions write, and all are declined.
std::string fan_that_stays(int n) {
  std::string tensors =
      "  tensor $in : float32[8, 4] dram input\n  tensor $x : float32[8, 4] dram\n";
  std::string body = "  %a = load $in : float32[8, 4]\n";
  for (int i = 0; i < n; ++i) {
    tensors += fmt::format("  tensor $y{} : bfloat16[8, 4] dram output\n", i);
    body += fmt::format("  store %a -> $x\n  offloaded_memcast $x -> $y{}\n", i);
  }
  return in_function(tensors + "\n" + body);
}

// Likewise, and all are fused into their readers.
std::string fan_that_goes(int n) {
  std::string tensors =
      "  tensor $in : bfloat16[8, 4] dram input\n  tensor $x : bfloat16[8, 4] dram\n"
      "  tensor $out : float32[8, 4] dram output\n";
  std::string body = "  offloaded_memcpy $in -> $x\n";
  for (int i = 0; i < n; ++i) {
    tensors += fmt::format("  tensor $y{} : float32[8, 4] dram\n", i);
    body += fmt::format("  offloaded_memcast $x -> $y{0}\n  %e{0} = load $y{0} : float32[8, 4]\n"
                        "  store %e{0} -> $out\n",
                        i);
  }
  for (int i = 0; i < n; ++i)
    body += "  offloaded_memcpy $in -> $x\n";
  return in_function(tensors + "\n" + body);
}

// All memcasts write one tensor.
std::string many_into_one(int n) {
  std::string tensors = "  tensor $y : bfloat16[8, 4] dram output\n";
  std::string body;
  for (int i = 0; i < n; ++i) {
    tensors += fmt::format("  tensor $x{} : float32[8, 4] dram input\n", i);
    body += fmt::format("  offloaded_memcast $x{} -> $y\n", i);
  }
  return in_function(tensors + "\n" + body);
}

std::string chain(int n) {
  std::string tensors = "  tensor $t0 : bfloat16[8, 4] dram input\n";
  std::string body;
  for (int i = 1; i <= n; ++i) {
    tensors +=
        fmt::format("  tensor $t{} : {}[8, 4] dram\n", i, i % 2 == 0 ? "bfloat16" : "float32");
    body += fmt::format("  offloaded_memcast $t{} -> $t{}\n", i - 1, i);
  }
  tensors += "  tensor $out : float32[8, 4] dram output\n";
  body += fmt::format("  %e = load $t{} : float32[8, 4]\n  store %e -> $out\n", n);
  return in_function(tensors + "\n" + body);
}

TEST(CastOpEliminationCost, FanThatStays) { expect_near_linear(fan_that_stays); }
TEST(CastOpEliminationCost, FanThatGoes) { expect_near_linear(fan_that_goes); }
TEST(CastOpEliminationCost, ManyIntoOne) { expect_near_linear(many_into_one); }
TEST(CastOpEliminationCost, Chain) { expect_near_linear(chain); }

} // namespace
} // namespace nir::test
