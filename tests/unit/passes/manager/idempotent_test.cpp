// Passes that say of themselves that a second run finds nothing are skipped in fixpoints on the
// strength of it.

#include "bench/generator/generator.h"
#include "passes/manager/pass_manager.h"
#include "passes/pipeline/registry.h"
#include "tests/unit/support/module_text.h"
#include "tests/unit/support/run_pass.h"

namespace nir::test {
namespace {

std::vector<const PassInfo *> idempotent_passes() {
  std::vector<const PassInfo *> passes;
  for (const PassInfo *info : all_passes())
    if (info->idempotent)
      passes.push_back(info);
  return passes;
}

// Runs the passes in turn until nobody has anything to do, each twice, and looks at the second run.
void expect_second_runs_idle(const std::string &text, const std::string &name) {
  ParsedModule parsed(text);
  ASSERT_TRUE(parsed.module) << name;
  for (const std::string_view first : {"legalize-dtype", "neuron-eliminate-casts"}) {
    run_once(first, *parsed.module, parsed.file);
    for (const PassInfo *info : idempotent_passes()) {
      const std::string after = run_once(info->name, *parsed.module, parsed.file).text;
      const PassOutcome again = run_once(info->name, *parsed.module, parsed.file);
      const std::string where = name + ": " + std::string(info->name);
      EXPECT_FALSE(again.changed) << where;
      EXPECT_EQ(again.text, after) << where;
      for (const std::uint64_t count : again.counts)
        EXPECT_EQ(count, 0) << where;
    }
  }
}

TEST(Idempotent, SomePassesSayThatTheyAre) { EXPECT_FALSE(idempotent_passes().empty()); }

TEST(Idempotent, SecondRunsOnGeneratedModules) {
  for (const ShapeInfo &shape : all_shapes())
    expect_second_runs_idle(to_string(*generate({.shape = shape.name, .size = 400})),
                            std::string(shape.name));
}

TEST(Idempotent, SecondRunsOnRandomModules) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    expect_second_runs_idle(to_string(*generate({.shape = "random", .size = 120, .seed = seed})),
                            "seed " + std::to_string(seed));
}

TEST(Idempotent, SecondRunsOnFiles) {
  std::vector<std::filesystem::path> paths = example_files();
  const auto corpus = module_files(NIR_CORPUS_DIR);
  paths.insert(paths.end(), corpus.begin(), corpus.end());
  for (const auto &path : paths)
    expect_second_runs_idle(read_text(path), path.filename().string());
}

} // namespace
} // namespace nir::test
