#include "driver/check/rewrite_checker.h"

#include <cstdlib>
#include <functional>

#include <gmock/gmock.h>

#include "passes/pipeline/registry.h"
#include "tests/unit/support/module_text.h"

namespace nir::test {
namespace {

const PassInfo &pass_info() { return *find_pass("fold-noop-casts"); }

// A module, and a checker that watches what a test does to it.
class Checked {
public:
  explicit Checked(std::string text, CheckOptions options = defaults())
      : source(std::move(text)), checker(options) {
    EXPECT_TRUE(source.module) << source.messages();
    checker.start(*source.module, diagnostics);
  }

  static CheckOptions defaults() {
    CheckOptions options;
    options.inputs = 4;
    options.reproducer = testing::TempDir() + "left.nir";
    options.command = "nir-opt --check=4";
    return options;
  }

  // What the checker says after a pass that does `edit`.
  std::string after(const std::function<void(Module &, RewriteLog &)> &edit) {
    Module &module = *source.module;
    PipelineNode step;
    step.pass = &pass_info();
    checker.before_pass(step, module);
    RewriteLog log(module);
    edit(module, log);
    return checker.after_pass(step, module, true, log);
  }

  // What a pipeline ends with.
  std::string run(std::string_view pipeline) {
    PassManagerOptions options;
    options.observer = &checker;
    PassManager manager(parse_pipeline(pipeline).value(), options);
    if (manager.run(*source.module, diagnostics) != PipelineStatus::Success)
      return manager.failed_pass();
    return checker.finish(*source.module);
  }

  Instruction &find(std::string_view name) {
    for (Function *function : source.module->functions())
      for (Stmt &stmt : function->statements())
        if (!stmt.name().empty() && source.module->names().str(stmt.name()) == name)
          return *cast<Instruction>(&stmt);
    ADD_FAILURE() << "no " << name;
    std::abort();
  }

  TextModule source;
  DiagnosticEngine diagnostics;
  RewriteChecker checker;
};

std::string function(std::string_view body, std::string_view tensors = "") {
  return "func @f {\n  tensor $x : float32[4, 8] dram input\n"
         "  tensor $y : float32[4, 8] dram output\n" +
         std::string(tensors) + "  %x = load $x : float32[4, 8]\n" + std::string(body) + "}\n";
}

constexpr std::string_view pair = "  %a = activation square %x : float32[4, 8]\n"
                                  "  %n = tensor_copy %a : bfloat16[4, 8]\n"
                                  "  %w = tensor_copy %n : float32[4, 8]\n"
                                  "  store %w -> $y\n";

TEST(RewriteChecker, SaysNothingWhereNothingChanged) {
  Checked checked(function(pair));
  EXPECT_EQ(checked.after([](Module &, RewriteLog &) {}), "");
  EXPECT_EQ(checked.checker.counts().passes, 0u);
}

TEST(RewriteChecker, AcceptsWhatIsClaimed) {
  Checked checked(function(pair));
  EXPECT_EQ(checked.run("neuron-eliminate-casts,fold-noop-casts,dce"), "");
  EXPECT_GE(checked.checker.counts().passes, 1u);
  EXPECT_EQ(checked.checker.counts().functions, checked.checker.counts().passes);
}

TEST(RewriteChecker, RefusesWhatIsNotClaimed) {
  Checked checked(function(pair));
  const std::string message = checked.after([&](Module &module, RewriteLog &) {
    Instruction &narrow = checked.find("n");
    narrow.set_result_type(module.types().with_dtype(narrow.type(), DType::Float32));
  });
  EXPECT_THAT(message, testing::HasSubstr("claims that no rounding is removed, but on random "
                                          "inputs of seed 0 '$y[0, 0]' of '@f' is "));
  const std::string left = read_text(checked.defaults().reproducer);
  EXPECT_THAT(left, testing::HasSubstr("// nir-opt --check=4 --passes='fold-noop-casts' "));
  EXPECT_THAT(left, testing::HasSubstr("%n = tensor_copy %a : bfloat16[4, 8]"));
  EXPECT_TRUE(TextModule(left).module);
}

// A rounding that is claimed and still made is as wrong as one that is removed in silence.
TEST(RewriteChecker, RefusesWhatIsClaimedAndNotDone) {
  Checked checked(function(pair));
  const std::string message = checked.after([&](Module &module, RewriteLog &log) {
    log.bypassed(checked.find("n"), false);
    checked.find("w").set_name(module.intern("other"));
  });
  EXPECT_THAT(message, testing::HasSubstr("claims that 1 rounding is removed"));
}

// What else reads the producer of a cast sees what the cast has rounded.
TEST(RewriteChecker, OtherReadersSeeTheNewRounding) {
  Checked checked("func @f {\n"
                  "  tensor $x : bfloat16[4, 8] dram input\n"
                  "  tensor $y : float32[4, 8] dram output\n"
                  "  tensor $z : bfloat16[4, 8] dram output\n"
                  "  %x = load $x : bfloat16[4, 8]\n"
                  "  %a = activation square %x : float8e4[4, 8]\n"
                  "  %c = tensor_copy %a : bfloat16[4, 8]\n"
                  "  %other = activation abs %a : float32[4, 8]\n"
                  "  store %other -> $y\n"
                  "  store %c -> $z\n"
                  "}\n");
  EXPECT_EQ(checked.run("neuron-eliminate-casts"), "");
  EXPECT_EQ(checked.checker.counts().passes, 1u);
}

// The way over float32 would have clamped infinities: the copy back to the source's dtype keeps
// them, and it is this rounding that is claimed.
TEST(RewriteChecker, InfinitiesOfEightBits) {
  Checked checked("func @f {\n"
                  "  tensor $x : float8e3[16, 64] dram input\n"
                  "  tensor $y : float8e3[16, 64] dram output\n"
                  "  %x = load $x : float8e3[16, 64]\n"
                  "  %w = tensor_copy %x : float32[16, 64]\n"
                  "  %n = tensor_copy %w : float8e3[16, 64]\n"
                  "  store %n -> $y\n"
                  "}\n");
  EXPECT_EQ(checked.run("neuron-eliminate-casts"), "");
  EXPECT_EQ(checked.checker.counts().passes, 1u);
}

// The same with one more copy, which the first takes in exactly.
TEST(RewriteChecker, ChainsOfCopiesWithInfinities) {
  Checked checked("func @f {\n"
                  "  tensor $x : float8e3[16, 64] dram input\n"
                  "  tensor $y : float32[16, 64] dram output\n"
                  "  %x = load $x : float8e3[16, 64]\n"
                  "  %w = tensor_copy %x : float32[16, 64]\n"
                  "  %n = tensor_copy %w : float8e3[16, 64]\n"
                  "  %v = tensor_copy %n : float32[16, 64]\n"
                  "  store %v -> $y\n"
                  "}\n");
  EXPECT_EQ(checked.run("neuron-eliminate-casts{src-match=any}"), "");
  EXPECT_EQ(checked.checker.counts().passes, 1u);
}

// The same where the copy back reads the source of a memcast.
TEST(RewriteChecker, BypassedMemcastsWithInfinities) {
  Checked checked("func @f {\n"
                  "  tensor $x : float8e3[16, 64] dram input\n"
                  "  tensor $t : float8e3[16, 64] sbuf\n"
                  "  tensor $u : float32[16, 64] sbuf\n"
                  "  tensor $y : float8e3[16, 64] dram output\n"
                  "  tensor $z : float8e3[16, 64] dram output\n"
                  "  %x = load $x : float8e3[16, 64]\n"
                  "  tensor_copy %x -> $t\n"
                  "  offloaded_memcast $t -> $u\n"
                  "  %n = tensor_copy $u : float8e3[16, 64]\n"
                  "  store %n -> $y\n"
                  "  store $t -> $z\n"
                  "}\n");
  EXPECT_EQ(checked.run("cast-op-elimination"), "");
  EXPECT_EQ(checked.checker.counts().passes, 1u);
}

// %v has absorbed its copy exactly, since $t held float8_e4m3fn; then $t is widened, and the dtype
// between is no longer a rounding on the way.
TEST(RewriteChecker, ExactAbsorptionsBehindARemovedRounding) {
  Checked checked("func @f {\n"
                  "  tensor $x : float32[1, 64] dram input\n"
                  "  tensor $t : float8_e4m3fn[1, 64] sbuf\n"
                  "  tensor $y : float32r[1, 64] dram output\n"
                  "  %x = load $x : float32[1, 64]\n"
                  "  tensor_scalar %x, multiply 0.75 -> $t\n"
                  "  %v = tensor_copy $t : float8_e4m3fn[1, 64]\n"
                  "  %w = tensor_copy %v : float32r[1, 64]\n"
                  "  store %w -> $y\n"
                  "  %u = tensor_copy $t : float32[1, 64]\n"
                  "}\n");
  EXPECT_EQ(checked.run("neuron-eliminate-casts{src-match=any}"), "");
  EXPECT_EQ(checked.checker.counts().passes, 1u);
}

// A store that reads the tensor it writes absorbs the copy with the others.
TEST(RewriteChecker, StoresThatReadTheirOwnTensor) {
  Checked checked("func @f {\n"
                  "  tensor $x : float32[1, 64] dram input\n"
                  "  tensor $t : float16[1, 64] sbuf\n"
                  "  tensor $y : float32[1, 64] dram output\n"
                  "  %x = load $x : float32[1, 64]\n"
                  "  tensor_copy %x -> $t\n"
                  "  %v = tensor_copy $t : float32[1, 64]\n"
                  "  tensor_copy $t -> $t\n"
                  "  store %v -> $y\n"
                  "  %u = tensor_copy $t : float32[1, 64]\n"
                  "}\n");
  EXPECT_EQ(checked.run("neuron-eliminate-casts{src-match=any}"), "");
  EXPECT_EQ(checked.checker.counts().passes, 1u);
}

// Payloads of NaNs are nobody's promise, also where they could be seen as integers.
TEST(RewriteChecker, PayloadsAreNotCompared) {
  Checked checked("func @f {\n"
                  "  tensor $k : bfloat16[4] sbuf const = hex(\"817f817f81ff81ff\")\n"
                  "  tensor $y : bfloat16[4] dram output\n"
                  "  tensor $z : int16[4] dram output\n"
                  "  %w = tensor_copy $k : float32[4]\n"
                  "  %n = tensor_copy %w : bfloat16[4]\n"
                  "  store %n -> $y\n"
                  "  offloaded_bitcast $y -> $z\n"
                  "}\n");
  EXPECT_EQ(checked.run("neuron-eliminate-casts{src-match=any}"), "");
  EXPECT_EQ(checked.checker.counts().passes, 1u);
}

// Elements that are never written are zero in both, and zero stays zero in every dtype.
TEST(RewriteChecker, UndefinedElementsStayZero) {
  Checked checked("func @f {\n"
                  "  tensor $x : float32[2, 8] dram input\n"
                  "  tensor $t : bfloat16[4, 8] sbuf\n"
                  "  tensor $u : float8e4[4, 8] sbuf\n"
                  "  tensor $y : float32[4, 8] dram output\n"
                  "  %x = load $x : float32[2, 8]\n"
                  "  tensor_copy %x -> $t[0 : 2, 0 : 8]\n"
                  "  offloaded_memcast $t -> $u\n"
                  "  %w = tensor_copy $u : float32[4, 8]\n"
                  "  store %w -> $y\n"
                  "}\n");
  EXPECT_EQ(checked.run("cast-op-elimination,neuron-eliminate-casts"), "");
  EXPECT_GE(checked.checker.counts().passes, 1u);
}

TEST(RewriteChecker, CallersOfWhatChangedAreCompared) {
  Checked checked("func @inner {\n"
                  "  tensor $x : float32[4] dram input\n"
                  "  tensor $y : float32[4] dram output\n"
                  "  %x = load $x : float32[4]\n"
                  "  %a = activation exp %x : bfloat16[4]\n"
                  "  %w = tensor_copy %a : float32[4]\n"
                  "  store %w -> $y\n"
                  "}\n"
                  "func @outer {\n"
                  "  tensor $x : float32[4] dram input\n"
                  "  tensor $y : float32[4] dram output\n"
                  "  call @inner($x, $y)\n"
                  "}\n"
                  "func @alone {\n"
                  "  tensor $x : float32[4] dram input\n"
                  "}\n");
  EXPECT_EQ(checked.run("neuron-eliminate-casts"), "");
  EXPECT_EQ(checked.checker.counts().functions, 2u);
}

TEST(RewriteChecker, SaysWhatIsSkipped) {
  CheckOptions options = Checked::defaults();
  options.limits.work = 10;
  Checked checked(function(pair), options);
  EXPECT_EQ(checked.run("neuron-eliminate-casts,dce"), "");
  EXPECT_EQ(checked.checker.counts().functions, 0u);
  EXPECT_GE(checked.checker.counts().skipped, 1u);
  ASSERT_EQ(checked.diagnostics.num_warnings(), 1u); // once, not for each pass
  EXPECT_THAT(checked.diagnostics.diagnostics().front().message,
              testing::StartsWith("'@f' is not checked: it computes about "));
}

TEST(RewriteChecker, EveryInputIsMadeConst) {
  Checked checked(function(pair));
  EXPECT_EQ(checked.run("neuron-eliminate-casts"), "");
  // One input, on random and on edge-case bytes, before and after.
  EXPECT_EQ(checked.checker.counts().constants, 4u);
}

TEST(RewriteChecker, ReportsErrorsAgainstTheReference) {
  CheckOptions options = Checked::defaults();
  options.excess = true;
  Checked checked(function(pair), options);
  EXPECT_EQ(checked.run("neuron-eliminate-casts"), "");
  EXPECT_THAT(checked.checker.excess_report(), testing::HasSubstr("| @f       | $y     |"));
}

HostTensor tensor(Module &module, DType dtype, std::vector<std::uint32_t> codes) {
  const std::int64_t shape[] = {static_cast<std::int64_t>(codes.size())};
  HostTensor result{module.types().get(dtype, shape).value(), {}};
  for (const std::uint32_t code : codes)
    for (unsigned i = 0; i < sizeinbytes(dtype); ++i)
      result.bytes.push_back(static_cast<std::byte>(code >> (8 * i)));
  return result;
}

TEST(CheckedEvaluation, NansOfOneSignAreTheSame) {
  Module module;
  const auto differ = [&](DType dtype, std::uint32_t a, std::uint32_t b) {
    const Outputs left{tensor(module, dtype, {0, a})};
    const Outputs right{tensor(module, dtype, {0, b})};
    const auto difference = first_difference(left, right);
    EXPECT_TRUE(!difference || difference->element == 1);
    return difference.has_value();
  };
  EXPECT_FALSE(differ(DType::Float32, 0x7fc00000, 0x7f800001));
  EXPECT_TRUE(differ(DType::Float32, 0x7fc00000, 0xffc00000));
  EXPECT_TRUE(differ(DType::Float32, 0x7fc00000, 0x7f800000));
  EXPECT_TRUE(differ(DType::Float32, 0, 0x80000000));
  EXPECT_TRUE(differ(DType::Int32, 0x7fc00000, 0x7f800001));
  EXPECT_FALSE(differ(DType::Float8E5, 0x7d, 0x7e));
  EXPECT_TRUE(differ(DType::Bfloat16, 0x3f80, 0x3f81));
}

TEST(CheckedEvaluation, WorkCountsLoopsCallsAndProducts) {
  TextModule source("func @g {\n"
                    "  tensor $x : float32[4] dram input\n"
                    "  %x = load $x : float32[4]\n"
                    "}\n"
                    "func @f {\n"
                    "  tensor $x : float32[4] dram input\n"
                    "  for %i in 0..3 {\n"
                    "    call @g($x)\n"
                    "  }\n"
                    "}\n");
  ASSERT_TRUE(source.module) << source.messages();
  EXPECT_EQ(evaluation_work(*source.module->functions()[0]), 8u);
  EXPECT_EQ(evaluation_work(*source.module->functions()[1]), 3u * (8 + 4));
}

} // namespace
} // namespace nir::test
