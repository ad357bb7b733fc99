// Generated modules of every shape: print, parse and print again, and -O1 and
// -O2 on them.

#include "bench/generator/generator.h"
#include "passes/pipeline/opt_levels.h"
#include "tests/unit/support/module_text.h"

namespace nir::test {
namespace {

std::vector<std::string_view> shape_names() {
  std::vector<std::string_view> names;
  for (const ShapeInfo &shape : all_shapes())
    names.push_back(shape.name);
  return names;
}

class Generated : public testing::TestWithParam<std::string_view> {};

TEST_P(Generated, RoundTripsAndGoesThrough) {
  for (const std::uint64_t size : {1u, 10u, 300u}) {
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      const auto module = generate({.shape = GetParam(), .size = size, .seed = seed});
      ASSERT_NE(module, nullptr);
      const std::string name = std::string(GetParam()) + " of size " + std::to_string(size) +
                               " and seed " + std::to_string(seed);
      const std::string text = expect_round_trip(*module, name);

      // The module that was built and the one that was read are the same to every pass.
      TextModule parsed(text, name);
      ASSERT_TRUE(parsed.module) << parsed.messages();
      const std::string pipeline =
          seed % 2 == 0 ? opt_level_pipeline(1) : opt_level_pipeline(2, {.fp32_cast = "all"});
      const bool accepted = expect_pipeline_holds(*module, pipeline, name);
      EXPECT_EQ(expect_pipeline_holds(*parsed.module, pipeline, name), accepted);
      EXPECT_EQ(expect_round_trip(*module, name), to_string(*parsed.module)) << name;
      if (HasFailure())
        FAIL() << text;
    }
  }
}

TEST_P(Generated, DependsOnItsOptionsAlone) {
  const GeneratorOptions options{.shape = GetParam(), .size = 500, .seed = 7};
  EXPECT_EQ(to_string(*generate(options)), to_string(*generate(options)));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Generated, testing::ValuesIn(shape_names()),
                         [](const auto &param) { return std::string(param.param); });

} // namespace
} // namespace nir::test
