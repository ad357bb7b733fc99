#include "tests/unit/support/run_pass.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "ir/core/builder.h"
#include "passes/cast/weight_caster.h"

namespace nir::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr std::string_view pass = "dtype-mutator";

// run_pass runs it twice: what it leaves gives it nothing more to do.
TEST(DTypeMutator, LeavesNothingForASecondRun) {
  expect_becomes(pass, R"(  tensor $x : float32[4, 8] dram input
  tensor $w : float32[4, 8] dram const = splat(0.1)
  tensor $v : float32[2] dram const = dense(1.0, 2.0)
  tensor $t : float32[4, 8] sbuf
  tensor $y : bfloat16[4, 8] dram output
  tensor $z : bfloat16[2] dram output

  %x = load $x : float32[4, 8]
  activation exp %x -> $t
  %t = tensor_copy $t : bfloat16[4, 8]
  %w = load $w : float32[4, 8]
  %w16 = tensor_copy %w : bfloat16[4, 8]
  %a = tensor_tensor add %t, %w16 : bfloat16[4, 8]
  %v = load $v : float32[2]
  %v16 = tensor_copy %v : bfloat16[2]
  store %a -> $y
  store %v16 -> $z
)",
                 R"(  tensor $x : float32[4, 8] dram input
  tensor $w : bfloat16[4, 8] dram const = splat(0.1)
  tensor $t : bfloat16[4, 8] sbuf
  tensor $y : bfloat16[4, 8] dram output
  tensor $z : bfloat16[2] dram output
  tensor $v.bfloat16 : bfloat16[2] dram const = dense(1.0, 2.0)

  %x = load $x : float32[4, 8]
  activation exp %x -> $t
  %w = load $w : bfloat16[4, 8]
  %a = tensor_tensor add $t, %w : bfloat16[4, 8]
  %v = load $v.bfloat16 : bfloat16[2]
  store %a -> $y
  store %v -> $z
)");
}

// A cast back to the dtype of the weight, of what another cast has narrowed: both go into consts,
// and the splat ends as it began, rounded.
TEST(DTypeMutator, SplatThatIsCastThereAndBack) {
  expect_becomes(pass, R"(  tensor $w : float32[4] dram const = splat(0.1)
  tensor $y : float32[4] dram output

  %w = load $w : float32[4]
  %n = tensor_copy %w : bfloat16[4]
  %b = tensor_copy %n : float32[4]
  store %b -> $y
)",
                 R"(  tensor $w : float32[4] dram const = splat(0.100097656)
  tensor $y : float32[4] dram output

  %w = load $w : float32[4]
  store %w -> $y
)");
}

// A splat that went to one dtype, from where it went to two: the one between is nobody's, and none
// of them can take the splat's place.
TEST(DTypeMutator, SplatWhoseCastIsCastTwice) {
  const PassOutcome outcome =
      run_pass(pass, in_function(R"(  tensor $w : float32[4] dram const = splat(0.1)
  tensor $y : float8e4[4] dram output
  tensor $z : float16[4] dram output

  %a = load $w : float32[4]
  %a16 = tensor_copy %a : bfloat16[4]
  %b = load $w : float32[4]
  %b16 = tensor_copy %b : bfloat16[4]
  %a8 = tensor_copy %a16 : float8e4[4]
  %bf16 = tensor_copy %b16 : float16[4]
  store %a8 -> $y
  store %bf16 -> $z
)"));
  EXPECT_EQ(outcome.text, in_function(R"(  tensor $y : float8e4[4] dram output
  tensor $z : float16[4] dram output
  tensor $w.bfloat16.float8e4 : float8e4[4] dram const = splat(0.1)
  tensor $w.bfloat16.float16 : float16[4] dram const = splat(0.1001)

  %a = load $w.bfloat16.float8e4 : float8e4[4]
  %b = load $w.bfloat16.float16 : float16[4]
  store %a -> $y
  store %b -> $z
)"));
}

// Data of any length is cast as one array, and each dtype once however many loads there are.
TEST(DTypeMutator, CastsAWeightOnce) {
  constexpr unsigned num_loads = 1000;
  std::string body = R"(  tensor $w : float32[1000] dram const = dense()";
  for (unsigned i = 0; i < num_loads; ++i)
    body += fmt::format("{}{}.0", i == 0 ? "" : ", ", i % 200);
  body += ")\n  tensor $y : bfloat16[1] dram output\n\n";
  for (unsigned i = 0; i < num_loads; ++i)
    body += fmt::format("  %a{0} = load $w[{0} : 1] : float32[1]\n"
                        "  %b{0} = tensor_copy %a{0} : bfloat16[1]\n  store %b{0} -> $y\n",
                        i);
  const PassOutcome outcome = run_pass(pass, in_function(body));
  constexpr std::size_t bytes_cast = 2;
  EXPECT_EQ(outcome.counts[bytes_cast], 2 * num_loads);
  EXPECT_THAT(outcome.text, HasSubstr("tensor $w.bfloat16 : bfloat16[1000] dram const"));
  EXPECT_EQ(outcome.text.find("tensor_copy"), std::string::npos);
}

// A producer with more users than are looked at each time: what was remembered of it is forgotten
// once it is retyped.
TEST(DTypeMutator, DeclinesEachOfManyUsers) {
  std::string body =
      "  tensor $x : float32[4] dram input\n  tensor $y : bfloat16[4] dram output\n\n"
      "  %x = load $x : float32[4]\n  %m = activation exp %x : float32[4]\n";
  constexpr unsigned num_casts = 20;
  for (unsigned i = 0; i < num_casts; ++i)
    body += fmt::format("  %a{0} = tensor_copy %m : bfloat16[4]\n  store %a{0} -> $y\n", i);
  const PassOutcome outcome = run_pass(pass, in_function(body));
  EXPECT_FALSE(outcome.changed);
  EXPECT_EQ(outcome.messages.size(), num_casts);
  EXPECT_THAT(outcome.messages, Contains(HasSubstr("mutate-multi-users is off")));
}

TEST(WeightCaster, KeepsAConstThatIsStillRead) {
  ParsedModule parsed(in_function(R"(  tensor $w : float32[2] sbuf const = hex("0000803f00000040")
  tensor $y : float32[2] sbuf output

  tensor_copy $w -> $y
)"));
  Function &function = *parsed.module->functions().front();
  PartitionBudget budget(function);
  WeightCaster weights(function, budget);
  Tensor &weight = *function.first_tensor();
  ASSERT_EQ(weights.why_stays(weight, DType::Bfloat16, false, false), nullptr);
  Tensor &first = weights.cast(weight, DType::Bfloat16, false);
  EXPECT_EQ(&weights.cast(weight, DType::Bfloat16, false), &first);
  EXPECT_EQ(&weights.cast(weight, DType::Bfloat16, true), &first); // floats know no exact_ints
  EXPECT_EQ(first.init()->bytes, (std::vector<std::uint8_t>{0x80, 0x3f, 0x00, 0x40}));
  EXPECT_EQ(weights.bytes_cast(), 4u);
  weights.finish();
  EXPECT_EQ(function.first_tensor(), &weight);
  EXPECT_EQ(function.last_tensor(), &first);
}

TEST(WeightCaster, RefusesWhatCannotBeCast) {
  ParsedModule parsed(in_function(R"(  tensor $w : float32[2] dram const = splat(1.0)
  tensor $p : float32[2] psum const = splat(1.0)
  tensor $q : float8_e4m3fn_x4[1] dram const = hex("00000000")
)"));
  Function &function = *parsed.module->functions().front();
  PartitionBudget budget(function);
  WeightCaster weights(function, budget);
  const Tensor &w = *function.first_tensor();
  const Tensor &p = *w.next();
  const Tensor &q = *p.next();
  EXPECT_STREQ(weights.why_stays(w, DType::Float64, false, true),
               "packed x4 and host-only dtypes are never cast");
  EXPECT_STREQ(weights.why_stays(q, DType::Float32, false, true),
               "packed x4 and host-only dtypes are never cast");
  EXPECT_STREQ(weights.why_stays(p, DType::Bfloat16, false, true), "the tensor is in psum");
}

} // namespace
} // namespace nir::test
