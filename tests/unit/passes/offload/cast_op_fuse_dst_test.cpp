#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/unit/support/cast_op_kernels.h"

namespace nir::test::cast_op {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

} // namespace
} // namespace nir::test::cast_op
