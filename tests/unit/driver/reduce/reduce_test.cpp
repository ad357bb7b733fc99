#include "driver/reduce/reduce.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "bench/generator/generator.h"
#include "driver/reduce/reduce_command.h"
#include "ir/print/printer.h"
#include "tests/unit/support/module_text.h"

namespace nir::test {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

std::string reduced(std::string text, const ReduceTest &test, std::uint64_t max_tests = 100'000) {
  TextModule input(std::move(text));
  EXPECT_TRUE(input.module) << input.messages();
  const ReduceResult result = reduce(std::move(input.module), test, {.max_tests = max_tests});
  return result.module != nullptr ? to_string(*result.module) : "";
}

// What is left of the text where only its parts count.
std::string reduced_to(std::string text, std::initializer_list<std::string_view> parts) {
  return reduced(std::move(text), [parts](std::string_view candidate) {
    return std::ranges::all_of(parts, [&](std::string_view part) { return has(candidate, part); });
  });
}

TEST(Reduce, NothingIsLeftWhereEverythingWillDo) {
  EXPECT_EQ(reduced_to("func @f { %a = memset 1.0 : float32[4] }", {}), "");
}

TEST(Reduce, RefusesAnInputThatFailsTheTest) {
  TextModule input("func @f {}");
  const ReduceResult result =
      reduce(std::move(input.module), [](std::string_view) { return false; });
  EXPECT_EQ(result.module, nullptr);
  EXPECT_EQ(result.tests, 1u);
}

TEST(Reduce, DropsFunctionsAndTheirCalls) {
  EXPECT_EQ(reduced_to("func @f { tensor $x : float32[2] dram input }\n"
                       "func @g { tensor $y : float32[2] dram call @f($y) call @h() }\n"
                       "func @h {}\n",
                       {"@g"}),
            "func @g {\n}\n");
}

TEST(Reduce, DropsParametersOfCalls) {
  EXPECT_EQ(reduced_to("func @f { tensor $x : float32[2] dram input\n"
                       "          tensor $y : float32[2] dram output }\n"
                       "func @g { tensor $y : float32[2] dram tensor $z : float32[2] dram\n"
                       "          call @f($y, $z) }\n",
                       {"call"}),
            "func @f {\n}\n\nfunc @g {\n  call @f()\n}\n");
}

TEST(Reduce, ReplacesUsesOfWhatItDrops) {
  EXPECT_EQ(reduced_to("func @f {\n"
                       "  tensor $x : float32[8] dram input\n"
                       "  tensor $y : bfloat16[8] dram output\n"
                       "  %a = load $x : float32[8]\n"
                       "  %b = activation exp %a : float32[8]\n"
                       "  %c = tensor_copy %b : bfloat16[8]\n"
                       "  %d = tensor_copy %c : float32[8]\n"
                       "  %e = tensor_copy %d : bfloat16[8]\n"
                       "  store %e -> $y\n"
                       "}\n",
                       {"store"}),
            "func @f {\n"
            "  tensor $y : bfloat16[1] dram\n"
            "\n"
            "  %0 = memset 0.0 : bfloat16[1]\n"
            "  store %0 -> $y\n"
            "}\n");
}

TEST(Reduce, UnwrapsLoopsAndShrinksTrips) {
  constexpr std::string_view text = "func @f {\n"
                                    "  tensor $x : float32[64] sbuf\n"
                                    "  for %i in 2..10 step 2 {\n"
                                    "    for %j in 0..4 {\n"
                                    "      memset 1.0 -> $x[%i * 4 + %j : 4]\n"
                                    "    }\n"
                                    "  }\n"
                                    "}\n";
  EXPECT_EQ(reduced_to(std::string(text), {"memset"}), "func @f {\n"
                                                       "  tensor $x : float32[1] sbuf\n"
                                                       "\n"
                                                       "  memset 1.0 -> $x\n"
                                                       "}\n");
  EXPECT_EQ(reduced_to(std::string(text), {"memset", "for %j"}), "func @f {\n"
                                                                 "  tensor $x : float32[1] sbuf\n"
                                                                 "\n"
                                                                 "  for %j in 0..1 {\n"
                                                                 "    memset 1.0 -> $x\n"
                                                                 "  }\n"
                                                                 "}\n");
}

TEST(Reduce, KeepsSubscriptsOfUnwrappedLoops) {
  EXPECT_TRUE(has(reduced("func @f {\n"
                          "  tensor $x : float32[64] sbuf\n"
                          "  for %i in 2..10 step 2 { memset 1.0 -> $x[%i * 4 + 1 : 4] }\n"
                          "}\n",
                          [](std::string_view text) {
                            return has(text, "-> $x[9 : 4]") || has(text, "-> $x[%i");
                          }),
                  "$x[9 : 4]"));
}

TEST(Reduce, ForwardsOperandsToTheFirstValue) {
  EXPECT_EQ(reduced_to("func @f {\n"
                       "  tensor $k : float32[2, 1] sbuf const = dense(1.0, 2.0)\n"
                       "  %a = memset 1.0 : float32[2, 1]\n"
                       "  %b = memset 2.0 : float32[2, 1]\n"
                       "  %c = tensor_scalar %b, add $k, multiply %b {reverse0, reverse1, fixed} : "
                       "float32[2, 1]\n"
                       "  opaque \"g\"(%b, %c) {k = 1}\n"
                       "}\n",
                       {"tensor_scalar"}),
            "func @f {\n"
            "  %b = memset 2.0 : float32[1, 1]\n"
            "  %c = tensor_scalar %b, add %b : float32[1, 1]\n"
            "}\n");
}

TEST(Reduce, DropsMarksAttributesAndHeader) {
  EXPECT_EQ(
      reduced_to("module @m {target = \"trn2\"}\n"
                 "func @f strict {\n"
                 "  %a = memset 1.0 {loc = \"a.py:1\"} : float32[4]\n"
                 "  %b = activation exp %a {scale = 2.0, fixed, autocast = \"p\"} : bfloat16[4]\n"
                 "}\n",
                 {"exp"}),
      "func @f {\n"
      "  %a = memset 1.0 : float32[1]\n"
      "  %b = activation exp %a : bfloat16[1]\n"
      "}\n");
}

TEST(Reduce, KeepsTheTargetWhereItIsNotTheDefault) {
  EXPECT_TRUE(has(reduced_to("module @m {target = \"trn1\"} func @f {}", {"func"}), "trn1"));
}

TEST(Reduce, ShrinksShapesTogether) {
  EXPECT_EQ(reduced_to("func @f {\n"
                       "  tensor $x : bfloat16[256, 512] dram input\n"
                       "  tensor $p : float32[512, 512] psum\n"
                       "  for %i in 0..2 {\n"
                       "    %a = load $x[%i * 128 : 128, 0 : 512] : bfloat16[128, 512]\n"
                       "    matmul %a, %a {accumulate} -> $p\n"
                       "  }\n"
                       "}\n",
                       {"load $x[%i", "matmul", "accumulate"}),
            "func @f {\n"
            "  tensor $x : bfloat16[1, 1] dram\n"
            "  tensor $p : float32[1, 1] psum\n"
            "\n"
            "  for %i in 0..1 {\n"
            "    %a = load $x[%i : 1, 0 : 1] : bfloat16[1, 1]\n"
            "    matmul %a, %a {accumulate} -> $p\n"
            "  }\n"
            "}\n");
}

TEST(Reduce, StopsWhereTestsRunOut) {
  std::uint64_t calls = 0;
  const auto module = generate({.shape = "random", .size = 200, .seed = 1});
  TextModule input(to_string(*module));
  const ReduceResult result = reduce(std::move(input.module),
                                     [&calls](std::string_view text) {
                                       ++calls;
                                       return has(text, "tensor_copy");
                                     },
                                     {.max_tests = 7});
  EXPECT_EQ(calls, 7u);
  EXPECT_EQ(result.tests, 7u);
  EXPECT_TRUE(has(to_string(*result.module), "tensor_copy"));
}

// Whatever is asked for: all that is tried is accepted by the parser as it stands, what is left has
// what was asked for, it cannot be reduced further, and another run gives the same.
class ReduceRandom : public testing::TestWithParam<std::string_view> {};

TEST_P(ReduceRandom, TriesOnlyWellFormedModules) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const std::string text = to_string(*generate({.shape = "random", .size = 150, .seed = seed}));
    if (!has(text, GetParam()))
      continue;
    const ReduceTest test = [](std::string_view candidate) {
      const TextModule again{std::string(candidate)};
      EXPECT_TRUE(again.module) << candidate << again.messages();
      EXPECT_TRUE(again.module == nullptr || to_string(*again.module) == candidate) << candidate;
      return has(candidate, GetParam());
    };
    const std::string first = reduced(text, test);
    EXPECT_TRUE(has(first, GetParam()));
    EXPECT_LE(count(first, "\n"), 14u) << first;
    EXPECT_EQ(reduced(text, test), first);
    EXPECT_EQ(reduced(first, test), first);
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, ReduceRandom,
                         testing::Values("for %", "matmul", "call @", "offloaded_memcast",
                                         "tensor_scalar", "select", " as ", "const = ", "opaque",
                                         "x4", "concat", "store %", "accumulate"),
                         [](const auto &part) { return "part" + std::to_string(part.index); });

TEST(ReduceCommand, PutsThePathIntoTheCommand) {
  EXPECT_EQ(command_for("grep -q x", "/tmp/a.nir"), "grep -q x /tmp/a.nir");
  EXPECT_EQ(command_for("{} && test {}", "/tmp/a.nir"), "/tmp/a.nir && test /tmp/a.nir");
  EXPECT_EQ(command_for("run", "/tmp/a b.nir"), "run '/tmp/a b.nir'");
}

TEST(ReduceCommand, AcceptsWhatTheCommandAccepts) {
  auto command = ReduceCommand::create("grep -q needle");
  ASSERT_TRUE(command);
  EXPECT_TRUE(command->accepts("hay needle hay"));
  EXPECT_FALSE(command->accepts("hay"));
}

} // namespace
} // namespace nir::test
