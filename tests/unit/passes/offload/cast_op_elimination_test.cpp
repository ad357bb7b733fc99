#include <fmt/format.h>
#include <gmock/gmock.h>

#include "passes/offload/cast_op_optimizer.h"
#include "passes/pipeline/registry.h"
#include "passes/rewrite/tensor_order.h"
#include "tests/unit/support/cast_op_kernels.h"

namespace nir::test::cast_op {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
  EXPECT_EQ(outcome.counts, (std::vector<std::uint64_t>{1, 0, 256, 2, 256}));
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
  CastOpOptimizer optimizer(function, context, {.excess_precision = true, .profit = false});

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

std::size_t memcasts_left(std::string (*shape)(int), int size) {
  const std::string text = run_pass(pass, shape(size)).text;
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find("offloaded_memcast", at)) != std::string::npos; ++at)
    ++count;
  return count;
}

TEST(CastOpElimination, LargeFunctions) {
  constexpr int size = 20'000;
  EXPECT_EQ(memcasts_left(fan_that_stays, size), size);
  EXPECT_EQ(memcasts_left(fan_that_goes, size), 0u);
  EXPECT_EQ(memcasts_left(many_into_one, size), size);
  EXPECT_EQ(memcasts_left(chain, size), 0u);
}

} // namespace
} // namespace nir::test::cast_op
