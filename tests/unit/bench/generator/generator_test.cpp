#include "bench/generator/generator.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "ir/print/printer.h"
#include "ir/verify/verifier.h"
#include "lang/nir/parser/parser.h"
#include "passes/manager/pass_manager.h"
#include "passes/pipeline/opt_levels.h"

namespace nir {
namespace {

std::string text_of(std::string_view shape, std::uint64_t size, std::uint64_t seed) {
  return to_string(*generate({.shape = shape, .size = size, .seed = seed}));
}

std::string errors_of(const DiagnosticEngine &diagnostics) {
  std::string text;
  for (const Diagnostic &diagnostic : diagnostics.diagnostics())
    if (diagnostic.severity == Severity::Error)
      text += diagnostic.message + '\n';
  return text;
}

std::size_t num_statements(const Module &module) {
  std::size_t count = 0;
  for (const Function *function : module.functions())
    for (const Stmt &stmt : function->statements())
      count += stmt.parent() != nullptr ? 1 : 0;
  return count;
}

class GeneratorTest : public testing::TestWithParam<ShapeInfo> {
protected:
  std::string_view shape() const { return GetParam().name; }
};

TEST_P(GeneratorTest, IsWellFormed) {
  for (std::uint64_t seed = 0; seed < 12; ++seed)
    for (const std::uint64_t size : {1, 50, 3000}) {
      const auto module = generate({.shape = shape(), .size = size, .seed = seed});
      DiagnosticEngine diagnostics;
      EXPECT_TRUE(verify(*module, VerifyLevel::Structure, diagnostics))
          << seed << ' ' << size << '\n'
          << errors_of(diagnostics);
    }
}

TEST_P(GeneratorTest, IsWellFormedForEveryTarget) {
  for (const Target &target : all_targets()) {
    const auto module = generate({.shape = shape(), .size = 3000, .seed = 5, .target = target});
    DiagnosticEngine diagnostics;
    EXPECT_TRUE(verify(*module, VerifyLevel::Structure, diagnostics)) << target.name << '\n'
                                                                      << errors_of(diagnostics);
  }
}

TEST_P(GeneratorTest, ReadsBackAsPrinted) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const SourceFile file("generated", text_of(shape(), 2000, seed));
    DiagnosticEngine diagnostics;
    const auto module = parse(file, diagnostics);
    ASSERT_NE(module, nullptr) << seed << '\n' << errors_of(diagnostics);
    EXPECT_TRUE(to_string(*module) == file.text()) << seed;
  }
}

TEST_P(GeneratorTest, HasALegalForm) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto module = generate({.shape = shape(), .size = 2000, .seed = seed});
    PassManager manager(parse_pipeline("legalize-dtype").value(), {});
    DiagnosticEngine diagnostics;
    EXPECT_EQ(manager.run(*module, diagnostics), PipelineStatus::Success) << seed << '\n'
                                                                          << errors_of(diagnostics);
    EXPECT_TRUE(verify(*module, VerifyLevel::Legal, diagnostics)) << seed << '\n'
                                                                  << errors_of(diagnostics);
  }
}

TEST_P(GeneratorTest, DependsOnItsOptionsOnly) {
  EXPECT_TRUE(text_of(shape(), 2000, 1) == text_of(shape(), 2000, 1));
}

TEST_P(GeneratorTest, HasAboutTheWantedSize) {
  for (const std::uint64_t size : {1000, 20000}) {
    const std::size_t count = num_statements(*generate({.shape = shape(), .size = size}));
    EXPECT_GE(count, size);
    EXPECT_LE(count, size + 500);
  }
}

std::string test_name(const testing::TestParamInfo<ShapeInfo> &info) {
  return std::string(info.param.name);
}
INSTANTIATE_TEST_SUITE_P(AllShapes, GeneratorTest,
                         testing::ValuesIn(all_shapes().begin(), all_shapes().end()), test_name);

TEST(Generator, KnowsItsShapes) { EXPECT_EQ(generate({.shape = "none"}), nullptr); }

// A change of what a shape generates is a change of every number measured with it.
TEST(Generator, SeedsDiffer) {
  EXPECT_FALSE(text_of("random", 500, 1) == text_of("random", 500, 2));
  EXPECT_FALSE(text_of("roundtrip", 500, 1) == text_of("roundtrip", 500, 2));
}

TEST(Generator, RandomHasEveryOpcodeAndDtype) {
  const auto module = generate({.shape = "random", .size = 50'000});
  std::set<Opcode> opcodes;
  std::set<DType> dtypes;
  for (const Function *function : module->functions())
    for (const Stmt &stmt : function->statements())
      if (const Instruction *inst = dyn_cast<Instruction>(&stmt)) {
        opcodes.insert(inst->opcode());
        for (const Use &use : inst->uses_of_operands())
          dtypes.insert(use.dtype());
      }
  EXPECT_EQ(opcodes.size(), num_opcodes);
  EXPECT_EQ(dtypes.size(), num_dtypes - 1); // float4_e2m1fn is never stored
}

TEST(Generator, RandomIsLegalOrNotAsAsked) {
  for (const Target &target : all_targets())
    for (std::uint64_t seed = 0; seed < 60; ++seed)
      for (const bool legal : {true, false}) {
        const auto module = generate({.shape = "random",
                                      .size = 1 + seed * 5,
                                      .seed = seed,
                                      .target = target,
                                      .legal = legal});
        DiagnosticEngine diagnostics;
        EXPECT_EQ(verify(*module, VerifyLevel::Legal, diagnostics), legal)
            << target.name << ' ' << seed << '\n'
            << errors_of(diagnostics);
      }
}

std::int64_t largest_extent(const Module &module) {
  std::int64_t largest = 0;
  const auto look = [&largest](std::span<const std::int64_t> shape) {
    for (const std::int64_t extent : shape)
      largest = std::max(largest, extent);
  };
  for (const Function *function : module.functions()) {
    for (const Tensor *tensor = function->first_tensor(); tensor; tensor = tensor->next())
      look(tensor->shape());
    for (const Stmt &stmt : function->statements())
      if (stmt.type() != nullptr)
        look(stmt.shape());
  }
  return largest;
}

TEST(Generator, SmallRandomModulesHaveSmallShapes) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    EXPECT_LE(largest_extent(*generate({.shape = "random", .size = 500, .seed = seed})),
              max_small_extent)
        << seed;
  EXPECT_LE(largest_extent(*generate({.shape = "random", .size = 5000, .small = true})),
            max_small_extent);
  EXPECT_GT(largest_extent(*generate({.shape = "random", .size = 5000})), max_small_extent);
}

TEST(Generator, NestIsAsDeepAsTheLanguageAllows) {
  const auto module = generate({.shape = "nest", .size = 10'000});
  unsigned depth = 0;
  for (const Stmt &stmt : module->functions()[0]->statements())
    if (const Loop *loop = dyn_cast<Loop>(&stmt))
      depth = std::max(depth, loop->depth());
  EXPECT_EQ(depth, 1000u);
}

TEST(Generator, RoundtripLosesEveryCast) {
  const auto module = generate({.shape = "roundtrip", .size = 3000});
  const auto num_casts = [&module] {
    std::size_t count = 0;
    for (const Stmt &stmt : module->functions()[0]->statements())
      if (const Instruction *inst = dyn_cast<Instruction>(&stmt))
        count += inst->opcode() == Opcode::TensorCopy ? 1 : 0;
    return count;
  };
  EXPECT_NEAR(static_cast<double>(num_casts()), 2000.0, 10.0);
  PassManager manager(parse_pipeline(opt_level_pipeline(1)).value(), {});
  DiagnosticEngine diagnostics;
  ASSERT_EQ(manager.run(*module, diagnostics), PipelineStatus::Success);
  EXPECT_EQ(num_casts(), 0u);
}

} // namespace
} // namespace nir
