#include "tests/unit/support/run_pass.h"

#include <fmt/format.h>

namespace nir::test {
namespace {

constexpr std::string_view pass = "enforce-alu-dt-acc";

// run_pass runs it twice: what it leaves, declined or not, gives it nothing more to do.
TEST(EnforceAluDtAcc, LeavesNothingForASecondRun) {
  expect_becomes(pass, R"(  tensor $x : float32[4, 4] dram input
  tensor $y : float32[4, 1] dram output
  tensor $z : float32[4, 1] dram output
  tensor $t : bfloat16[4, 4] sbuf

  %x = load $x : float32[4, 4]
  %n = activation exp %x : bfloat16[4, 4]
  transpose %n {perm = [1, 0]} -> $t
  %s = tensor_reduce add $t {axes = [1]} : float32[4, 1]
  %c = tensor_copy %n {fixed} : bfloat16[4, 4]
  %r = tensor_reduce add %c {axes = [1]} : float32[4, 1]
  store %s -> $y
  store %r -> $z
)",
                 R"(  tensor $x : float32[4, 4] dram input
  tensor $y : float32[4, 1] dram output
  tensor $z : float32[4, 1] dram output
  tensor $t : float32[4, 4] sbuf

  %x = load $x : float32[4, 4]
  %n = activation exp %x : float32[4, 4]
  transpose %n {perm = [1, 0]} -> $t
  %s = tensor_reduce add $t {axes = [1]} : float32[4, 1]
  %c = tensor_copy %n {fixed} : bfloat16[4, 4]
  %r = tensor_reduce add %c {axes = [1]} : float32[4, 1]
  store %s -> $y
  store %r -> $z
)");
}

// A chain from which a sum branches off at every link is walked once: were it walked for each sum,
// this would take minutes.
TEST(EnforceAluDtAcc, WalksASharedChainOnce) {
  constexpr unsigned links = 20000;
  std::string body = R"(  tensor $x : float32[2, 2] dram input
  tensor $y : float32[2, 1] dram output

  %x = load $x : float32[2, 2]
  %c0 = activation exp %x : bfloat16[2, 2]
)";
  for (unsigned i = 1; i < links; ++i)
    body += fmt::format("  %c{0} = transpose %c{1} {{perm = [1, 0]}} : bfloat16[2, 2]\n"
                        "  %s{0} = tensor_reduce add %c{0} {{axes = [1]}} : float32[2, 1]\n"
                        "  store %s{0} -> $y\n",
                        i, i - 1);
  const PassOutcome outcome = run_pass(pass, in_function(body));
  EXPECT_EQ(outcome.text.find("bfloat16"), std::string::npos);
  EXPECT_EQ(outcome.counts[0], links - 1); // sums
  EXPECT_EQ(outcome.counts[1], 1u);        // producers
  EXPECT_EQ(outcome.counts[2], links - 1); // copies
}

} // namespace
} // namespace nir::test
