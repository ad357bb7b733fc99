#include "bench/generator/replicate.h"

#include <string>

#include <gtest/gtest.h>

#include "ir/print/printer.h"
#include "ir/verify/verifier.h"
#include "lang/nir/parser/parser.h"

namespace nir {
namespace {

constexpr std::string_view kernels = R"(func @scale {
  tensor $x : float32[4, 8] dram input
  tensor $w : float32[4, 8] dram const = splat(0.5)
  tensor $y : float32[4, 8] dram output

  for %i in 0..4 {
    %x = load $x[%i : 1, 0 : 8] : float32[1, 8]
    %w.1 = load $w[%i : 1, 0 : 8] : float32[1, 8]
    %p = tensor_tensor multiply %x, %w.1 : float32[1, 8]
    store %p -> $y[%i : 1, 0 : 8]
  }
}

func @twice strict {
  tensor $x : float32[4, 8] dram input
  tensor $y : float32[4, 8] dram output
  tensor $t : float32[4, 8] dram

  call @scale($x, $t)
  call @scale($t, $y)
}
)";

class ReplicateTest : public testing::Test {
protected:
  std::string replicated(std::string_view text, std::uint64_t size, ReplicateAs as) {
    SourceFile file("kernel", std::string(text));
    DiagnosticEngine diagnostics;
    const auto module = parse(file, diagnostics);
    EXPECT_NE(module, nullptr);
    replicate(*module, size, as);
    EXPECT_TRUE(verify(*module, VerifyLevel::Structure, diagnostics));
    std::string result = to_string(*module);
    const SourceFile again("copies", result);
    EXPECT_NE(parse(again, diagnostics), nullptr) << result;
    return result;
  }
};

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST_F(ReplicateTest, ASizeThatIsThereChangesNothing) {
  for (const ReplicateAs as : {ReplicateAs::Functions, ReplicateAs::Chain})
    EXPECT_EQ(replicated(kernels, 7, as), kernels);
}

TEST_F(ReplicateTest, CopiesFunctionsThatCallEachOther) {
  const std::string text = replicated(kernels, 15, ReplicateAs::Functions);
  EXPECT_EQ(count(text, "func @"), 6u);
  EXPECT_EQ(count(text, "strict"), 3u);
  EXPECT_EQ(count(text, "call @scale($x, $t)"), 1u);
  EXPECT_EQ(count(text, "call @scale..2($x..2, $t..2)"), 1u);
  // `%w.1` ends like a copy of `%w`, so copies have two dots.
  EXPECT_EQ(count(text, "%w.1..2 = load $w..2[%i..2 : 1, 0 : 8]"), 1u);
}

TEST_F(ReplicateTest, ChainsWhatNobodyCalls) {
  const std::string text = replicated(kernels, 9, ReplicateAs::Chain);
  EXPECT_EQ(count(text, "func @"), 2u);
  EXPECT_EQ(count(text, "for %i"), 1u);
  EXPECT_EQ(count(text, "call @scale($x, $t)\n  call @scale($t, $y)\n  call @scale($y, $t..1)\n"
                        "  call @scale($t..1, $y..1)\n"),
            1u);
}

TEST_F(ReplicateTest, ChainsOnlyWhatIsAlike) {
  const std::string text = replicated(R"(func @f {
  tensor $x : float32[4] dram input
  tensor $y : bfloat16[4] dram output

  %0 = load $x : float32[4]
  %1 = tensor_copy %0 : bfloat16[4]
  store %1 -> $y
}
)",
                                      5, ReplicateAs::Chain);
  EXPECT_EQ(count(text, "%0.1 = load $x.1 : float32[4]"), 1u);
  EXPECT_EQ(count(text, "store %1.1 -> $y.1"), 1u);
}

TEST_F(ReplicateTest, AModuleWithoutInstructionsStays) {
  EXPECT_EQ(replicated("func @f {\n}\n", 100, ReplicateAs::Functions), "func @f {\n}\n");
  EXPECT_EQ(replicated("", 100, ReplicateAs::Chain), "");
}

} // namespace
} // namespace nir
