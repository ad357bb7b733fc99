#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/unit/support/cast_op_kernels.h"

namespace nir::test::cast_op {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

} // namespace
} // namespace nir::test::cast_op
