#include "driver/reduce/shrink_dims.h"

#include <gmock/gmock.h>

#include "bench/generator/generator.h"
#include "driver/check/checked_evaluation.h"
#include "tests/unit/support/module_text.h"

namespace nir::test {
namespace {

struct Shrunk {
  Shrunk(std::string text, std::int64_t max_extent) : source(std::move(text)) {
    EXPECT_TRUE(source.module) << source.messages();
    shrink_dims(*source.module, max_extent, remarks);
    printed = expect_round_trip(*source.module, "shrunk");
  }
  TextModule source;
  DiagnosticEngine remarks;
  std::string printed;
};

std::string shrunk(std::string body, std::int64_t max_extent) {
  return Shrunk("func @f {\n" + body + "}\n", max_extent).printed;
}

TEST(ShrinkDims, KeepsWhatIsSmall) {
  const std::string body = "  tensor $x : float32[16, 8] dram input\n\n"
                           "  %x = load $x : float32[16, 8]\n";
  EXPECT_EQ(shrunk(body, 16), "func @f {\n" + body + "}\n");
}

TEST(ShrinkDims, ElementCountsOfReshapes) {
  EXPECT_EQ(shrunk("  %a = memset 0.0 : float32[4, 512, 768]\n"
                   "  %b = reshape %a : float32[2048, 768]\n"
                   "  %c = reshape %b : float32[4, 512, 12, 64]\n",
                   16),
            "func @f {\n"
            "  %a = memset 0.0 : float32[4, 16, 192]\n"
            "  %b = reshape %a : float32[64, 192]\n"
            "  %c = reshape %b : float32[4, 16, 12, 16]\n"
            "}\n");
}

TEST(ShrinkDims, SlicesAndConcatsInProportion) {
  EXPECT_EQ(shrunk("  %a = memset 0.0 : float32[8, 2304]\n"
                   "  %b = slice %a {start = [0, 768], size = [8, 768]} : float32[8, 768]\n"
                   "  %c = concat %b, %b {dim = 1} : float32[8, 1536]\n",
                   48),
            "func @f {\n"
            "  %a = memset 0.0 : float32[8, 144]\n"
            "  %b = slice %a {start = [0, 48], size = [8, 48]} : float32[8, 48]\n"
            "  %c = concat %b, %b {dim = 1} : float32[8, 96]\n"
            "}\n");
}

TEST(ShrinkDims, BoxesInLoopsTileAsBefore) {
  EXPECT_EQ(shrunk("  tensor $x : float32[1024, 512] dram input\n"
                   "  for %i in 0..8 {\n"
                   "    %x = load $x[%i * 128 : 128, 0 : 512] : float32[128, 512]\n"
                   "  }\n",
                   32),
            "func @f {\n"
            "  tensor $x : float32[256, 32] dram input\n"
            "\n"
            "  for %i in 0..8 {\n"
            "    %x = load $x[%i * 32 : 32, 0 : 32] : float32[32, 32]\n"
            "  }\n"
            "}\n");
}

// A row of a large table: the table shrinks, the row stays within.
TEST(ShrinkDims, SingleElementsFitAnywhere) {
  EXPECT_EQ(shrunk("  tensor $x : float32[50257, 8] dram input\n\n"
                   "  %x = load $x[50000 : 1, 0 : 8] : float32[1, 8]\n",
                   16),
            "func @f {\n"
            "  tensor $x : float32[16, 8] dram input\n\n"
            "  %x = load $x[15 : 1, 0 : 8] : float32[1, 8]\n"
            "}\n");
}

TEST(ShrinkDims, ConstsKeepTheirCorner) {
  EXPECT_EQ(shrunk("  tensor $k : int32[2, 4] dram const = dense(0, 1, 2, 3, 10, 11, 12, 13)\n"
                   "  tensor $s : int32[4] dram const = splat(7)\n",
                   2),
            "func @f {\n"
            "  tensor $k : int32[2, 2] dram const = dense(0, 1, 10, 11)\n"
            "  tensor $s : int32[2] dram const = splat(7)\n"
            "}\n");
}

TEST(ShrinkDims, SaysWhatStaysLarge) {
  const Shrunk result("func @f {\n"
                      "  %a = memset 0.0 : float32[1, 512]\n"
                      "  %b = memset 0.0 : float32[1, 1]\n"
                      "  %c = concat %a, %b {dim = 1} : float32[1, 513]\n"
                      "}\n",
                      16);
  ASSERT_EQ(result.remarks.diagnostics().size(), 2u);
  EXPECT_EQ(result.remarks.diagnostics()[0].message,
            "shrink-dims: dimensions of 512 stay and not 16: this concat relates them to others");
}

TEST(ShrinkDims, GeneratedModulesStayWellFormed) {
  for (const ShapeInfo &shape : all_shapes())
    for (std::uint64_t seed = 0; seed < 40; ++seed)
      for (const std::int64_t max_extent : {1, 3, 16}) {
        const auto module = generate({shape.name, 60, seed, default_target()});
        DiagnosticEngine remarks;
        shrink_dims(*module, max_extent, remarks);
        expect_round_trip(*module, shape.name);
      }
}

TEST(ShrinkDims, CorpusBecomesSmall) {
  const auto paths = module_files(NIR_CORPUS_DIR);
  if (paths.empty())
    GTEST_SKIP() << "there is no corpus: set NIR_CORPUS_DIR to a folder of .nir files";
  std::size_t small = 0;
  for (const auto &path : paths) {
    const Shrunk result(read_text(path), 16);
    const CheckLimits limits;
    for (const Function *function : result.source.module->functions())
      if (!why_not_evaluated(*function, limits, check_options(limits))) {
        ++small;
        break;
      }
  }
  EXPECT_GE(2 * small, paths.size());
}

} // namespace
} // namespace nir::test
