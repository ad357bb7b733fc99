// Whole modules as people write them: the corpus, where there is one, and the examples.

#include "passes/pipeline/opt_levels.h"
#include "tests/unit/support/module_text.h"

namespace nir::test {
namespace {

// The levels, and -O2 in the modes that insert most.
std::vector<std::string> level_pipelines() {
  return {opt_level_pipeline(1), opt_level_pipeline(2, {.fp32_cast = "none"}),
          opt_level_pipeline(2), opt_level_pipeline(2, {.fp32_cast = "all"}),
          opt_level_pipeline(2, {.fp32_cast = "all-fp8e4", .excess_precision = false})};
}

void expect_goes_through(const std::filesystem::path &path, const std::string &pipeline) {
  const std::string name = path.filename().string() + " through " + pipeline;
  TextModule parsed(read_text(path), name);
  ASSERT_TRUE(parsed.module) << parsed.messages();
  expect_round_trip(*parsed.module, name);
  if (!expect_pipeline_holds(*parsed.module, pipeline, name))
    FAIL() << name << " is refused";
  const std::string text = expect_round_trip(*parsed.module, name);
  DiagnosticEngine broken;
  EXPECT_TRUE(verify(*parsed.module, VerifyLevel::Legal, broken)) << name;

  // What a pipeline that ends in a fixpoint made of it is final, if nothing is inserted before it.
  EXPECT_TRUE(expect_pipeline_holds(*parsed.module, pipeline, name));
  const bool inserts = pipeline.find("auto-cast") != std::string::npos;
  EXPECT_TRUE(inserts || to_string(*parsed.module) == text) << name;
}

void expect_goes_through(const std::filesystem::path &path) {
  for (const std::string &pipeline : level_pipelines())
    expect_goes_through(path, pipeline);
}

TEST(Corpus, GoesThrough) {
  const auto paths = module_files(NIR_CORPUS_DIR);
  if (paths.empty())
    GTEST_SKIP() << "there is no corpus: set NIR_CORPUS_DIR to a folder of .nir files";
  for (const auto &path : paths)
    expect_goes_through(path);
}

TEST(Examples, GoThrough) {
  const auto paths = example_files();
  ASSERT_FALSE(paths.empty());
  for (const auto &path : paths)
    expect_goes_through(path);
}

// The order of what has no order changes nothing.
TEST(Examples, ShufflingChangesNothing) {
  for (const auto &path : example_files())
    for (const std::string &pipeline : level_pipelines()) {
      const std::string source = read_text(path);
      std::string want;
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const TextModule parsed(source, path.filename().string());
        ASSERT_TRUE(parsed.module) << parsed.messages();
        PassManagerOptions options;
        options.shuffle_seed = seed;
        DiagnosticEngine diagnostics;
        PassManager manager(parse_pipeline(pipeline).value(), options);
        ASSERT_EQ(manager.run(*parsed.module, diagnostics), PipelineStatus::Success);
        const std::string text = to_string(*parsed.module);
        if (seed == 0)
          want = text;
        EXPECT_EQ(text, want) << path << " with seed " << seed << " through " << pipeline;
      }
    }
}

} // namespace
} // namespace nir::test
