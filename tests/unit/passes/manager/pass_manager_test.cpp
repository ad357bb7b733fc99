#include "passes/manager/pass_manager.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/support/test_passes.h"

namespace nir::pass_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(PassManager, EmptyPipelineChangesNothing) {
  const std::string before = to_string(Sample().module);
  Trial run("");
  EXPECT_EQ(run.status, PipelineStatus::Success);
  EXPECT_EQ(to_string(run.sample.module), before);
  EXPECT_EQ(run.log, "");
}

TEST(PassManager, RunsPassesInOrder) {
  Trial run("test-bfloat,test-single");
  EXPECT_EQ(find(run.sample.module, "c").dtype(), DType::Float32);
  Trial other("test-single,test-bfloat");
  EXPECT_EQ(find(other.sample.module, "c").dtype(), DType::Bfloat16);
}

TEST(PassManager, FunctionPassesSeeFunctionsInOrder) {
  visited.clear();
  Sample sample;
  sample.module.add_function(sample.module.intern("g"));
  DiagnosticEngine diagnostics;
  PassManager manager(*parse_pipeline("test-visit"), {});
  EXPECT_EQ(manager.run(sample.module, diagnostics), PipelineStatus::Success);
  EXPECT_THAT(visited, ElementsAre("f", "g"));
}

TEST(PassManager, ErrorsOfAPassStopThePipeline) {
  Trial run("test-bfloat,test-refuse,test-single");
  EXPECT_EQ(run.status, PipelineStatus::InputError);
  EXPECT_THAT(run.messages(), ElementsAre("error: cannot do that"));
  EXPECT_EQ(find(run.sample.module, "c").dtype(), DType::Bfloat16);
  EXPECT_EQ(run.manager->failed_pass(), "");
}

TEST(PassManager, WarningsDoNotStopThePipeline) {
  Trial run("test-warn,test-single");
  EXPECT_EQ(run.status, PipelineStatus::Success);
  EXPECT_EQ(find(run.sample.module, "c").dtype(), DType::Float32);
}

TEST(PassManager, ServesSeveralModules) {
  Sample a;
  Sample b;
  DiagnosticEngine diagnostics;
  PassManager manager(*parse_pipeline("test-count,test-bfloat"), {});
  EXPECT_EQ(manager.run(a.module, diagnostics), PipelineStatus::Success);
  EXPECT_EQ(manager.run(b.module, diagnostics), PipelineStatus::Success);
  EXPECT_EQ(manager.statistics()[0].values[0], 2u);
  EXPECT_EQ(to_string(a.module), to_string(b.module));
}

TEST(PassManager, KnowsLegalForm) {
  EXPECT_FALSE(Trial("test-nothing").manager->has_legal_form());
  EXPECT_TRUE(Trial("test-nothing,test-legal").manager->has_legal_form());
  EXPECT_FALSE(Trial("test-nothing,test-legal", limited(1)).manager->has_legal_form());
  EXPECT_TRUE(Trial("legalize-dtype").manager->has_legal_form());
}

TEST(Fixpoint, StopsWhenARoundChangesNothing) {
  Trial run("test-grow,test-grow,test-grow,fixpoint(test-shrink)");
  EXPECT_EQ(run.status, PipelineStatus::Success);
  EXPECT_THAT(run.manager->fixpoint_rounds(), ElementsAre(4u));
  EXPECT_EQ(to_string(run.sample.module), to_string(Sample().module));
}

TEST(Fixpoint, OneRoundWhereThereIsNothingToDo) {
  EXPECT_THAT(Trial("fixpoint(test-nothing)").manager->fixpoint_rounds(), ElementsAre(1u));
}

TEST(Fixpoint, Nests) {
  Trial run("fixpoint(test-bfloat,fixpoint(test-shrink))");
  EXPECT_EQ(run.status, PipelineStatus::Success);
  EXPECT_THAT(run.manager->fixpoint_rounds(), ElementsAre(2u, 1u));
}

TEST(Fixpoint, WarnsAtItsMaximum) {
  Trial run("fixpoint{max=3}(test-grow),test-bfloat");
  EXPECT_EQ(run.status, PipelineStatus::Success);
  EXPECT_THAT(run.messages(),
              ElementsAre("warning: fixpoint{max=3}(test-grow) still changes the module after 3 "
                          "rounds"));
  EXPECT_EQ(find(run.sample.module, "c").dtype(), DType::Bfloat16);
}

TEST(Fixpoint, TakesThirtyTwoRoundsUnlessToldOtherwise) {
  EXPECT_THAT(Trial("fixpoint(test-grow)").manager->fixpoint_rounds(), ElementsAre(32u));
}

TEST(Fixpoint, ItsMaximumIsAnErrorUnderWerror) {
  Trial run("fixpoint{max=1}(test-grow),test-bfloat",
            with([](PassManagerOptions &o) { o.werror = true; }));
  EXPECT_EQ(run.status, PipelineStatus::InputError);
  EXPECT_THAT(run.messages(), ElementsAre(HasSubstr("error: fixpoint{max=1}")));
  EXPECT_EQ(find(run.sample.module, "c").dtype(), DType::Float16);
}

TEST(Fixpoint, WarnsOnceWhereItIsRunAgain) {
  Trial run("fixpoint{max=4}(fixpoint{max=2}(test-grow))");
  EXPECT_EQ(std::ranges::count(run.messages(),
                               "warning: fixpoint{max=2}(test-grow) still changes the module "
                               "after 2 rounds"),
            1);
}

TEST(Fixpoint, AStateThatComesBackNamesPassAndInstruction) {
  Trial run("fixpoint{max=8}(test-flip)");
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  const std::string expected =
      "fixpoint{max=8}(test-flip) does not end, the module after round 2 is as it was at its "
      "start: "
      "'test-flip' undoes itself: `%c = tensor_copy %l : float16[128, 64]` becomes "
      "`%c = tensor_copy %l : bfloat16[128, 64]` and back";
  EXPECT_EQ(run.manager->failed_pass(), expected);
  EXPECT_THAT(run.messages(), ElementsAre("error: internal error: " + expected));
  EXPECT_EQ(run.diagnostics.diagnostics()[0].range.begin, 200u);
}

// Without a maximum the first states are not hashed: the circle is found when it closes again.
TEST(Fixpoint, AStateThatComesBackIsFoundWithoutAMaximum) {
  Trial run("fixpoint(test-flip)");
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  EXPECT_THAT(run.manager->failed_pass(),
              HasSubstr("after round 4 is as it was after round 2: 'test-flip' undoes itself"));
}

TEST(Fixpoint, LongerCyclesAreFound) {
  Trial run("test-bfloat,fixpoint(test-nothing,test-rotate)");
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  EXPECT_THAT(run.manager->failed_pass(), HasSubstr("after round 5 is as it was after round 2"));
  EXPECT_THAT(run.manager->failed_pass(), HasSubstr("'test-rotate' undoes itself"));
  EXPECT_THAT(run.manager->failed_pass(), Not(HasSubstr("'test-nothing'")));
}

// Both passes are honest, yet no round ever ends without a change.
TEST(Fixpoint, PassesThatUndoEachOtherWithinARoundAreFound) {
  Trial run("fixpoint(test-bfloat,test-nothing,test-half)");
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  EXPECT_THAT(run.manager->failed_pass(),
              HasSubstr("after round 3 is as it was after round 2: 'test-bfloat' and 'test-half' "
                        "undo each other: `%c = tensor_copy %l : float16"));
}

TEST(Fixpoint, AnInstructionThatComesAndGoesIsNamed) {
  Trial run("fixpoint(test-grow-once,test-shrink)");
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  EXPECT_THAT(run.manager->failed_pass(), HasSubstr("'test-grow-once' and 'test-shrink' undo"));
  EXPECT_THAT(run.manager->failed_pass(),
              HasSubstr("tensor_copy %l : float32[128, 64]` comes and goes"));
  Trial other("test-grow,fixpoint(test-shrink,test-grow-once)");
  EXPECT_THAT(other.manager->failed_pass(), HasSubstr("` goes and comes back"));
}

TEST(Fixpoint, APassThatClaimsChangesIsNamed) {
  Trial run("fixpoint(test-nothing,test-claim-change)");
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  EXPECT_THAT(run.manager->failed_pass(),
              HasSubstr("'test-claim-change' says that it changed the module, but left it as it "
                        "was"));
}

TEST(Fixpoint, ExplainingACycleLeavesNoTraces) {
  Trial run("fixpoint{max=8}(test-count,test-remarks,test-flip)", with([](PassManagerOptions &o) {
              o.remarks = {true, true};
            }));
  EXPECT_EQ(run.manager->statistics()[0].values[0], 2u);
  // What the second round says again is not said again.
  EXPECT_EQ(run.diagnostics.diagnostics().size(), 4u + 1);
}

TEST(Fixpoint, ErrorsInsideStopIt) {
  Trial run("fixpoint(test-grow,test-refuse)");
  EXPECT_EQ(run.status, PipelineStatus::InputError);
  EXPECT_THAT(run.manager->fixpoint_rounds(), ElementsAre(1u));
}

TEST(Remarks, AreNotBuiltUnlessWanted) {
  remarks_built = 0;
  EXPECT_TRUE(Trial("test-remarks,test-remarks-unasked").diagnostics.diagnostics().empty());
  EXPECT_EQ(remarks_built, 0);
}

TEST(Remarks, AppliedAndMissedAreSeparate) {
  Trial applied("test-remarks,test-remarks-unasked",
                with([](PassManagerOptions &o) { o.remarks.applied = true; }));
  EXPECT_THAT(applied.messages(), ElementsAre("remark: test-remarks: exact: went",
                                              "remark: test-remarks: inserted: was made here",
                                              "remark: test-remarks: permitted: was allowed",
                                              "remark: test-remarks-unasked: exact: yes"));
  EXPECT_EQ(applied.diagnostics.diagnostics()[0].range.begin, 200u);
  Trial missed("test-remarks,test-remarks-unasked",
               with([](PassManagerOptions &o) { o.remarks.missed = true; }));
  EXPECT_THAT(missed.messages(), ElementsAre("remark: test-remarks: declined: it is fixed",
                                             "remark: test-remarks-unasked: declined: no"));
}

TEST(Statistics, AreOneJsonObjectOnOneLine) {
  Trial run("test-count,fixpoint(test-count),test-nothing");
  EXPECT_EQ(run.manager->statistics_json(),
            "{\"statistics\": [{\"pass\": \"test-count\", \"name\": \"Number of things\", "
            "\"unit\": \"things\", \"value\": 2}, {\"pass\": \"test-count\", \"name\": \"Number of "
            "bytes of things\", \"unit\": \"bytes\", \"value\": 6291456}]}");
  EXPECT_EQ(Trial("").manager->statistics_json(), "{\"statistics\": []}");
}

TEST(Statistics, ShowZerosInOrderOfAppearance) {
  Trial run("test-overflow,test-count", limited(0));
  const auto json = nlohmann::json::parse(run.manager->statistics_json());
  std::vector<std::string> passes;
  for (const auto &row : json.at("statistics")) {
    passes.push_back(row.at("pass"));
    EXPECT_EQ(row.at("value"), 0);
  }
  EXPECT_THAT(passes, ElementsAre("test-overflow", "test-overflow", "test-count", "test-count"));
}

TEST(Statistics, Saturate) {
  Trial run("test-overflow");
  EXPECT_EQ(run.manager->statistics()[0].values[1], ~std::uint64_t{0});
  EXPECT_THAT(run.manager->statistics_json(), HasSubstr("\"value\": 18446744073709551615}"));
}

TEST(Statistics, AreATableWithUnits) {
  EXPECT_EQ(Trial("test-count").manager->statistics_text(),
            "      1  things           test-count  Number of things\n"
            "3145728  bytes (3.0 MiB)  test-count  Number of bytes of things\n");
  EXPECT_EQ(Trial("test-nothing").manager->statistics_text(), "");
}

TEST(Shuffle, KeepsOrderWithoutASeedAndIsSeeded) {
  const auto shuffled_with = [](std::uint64_t seed) {
    shuffled.clear();
    Trial run("test-shuffle,test-shuffle",
              with([seed](PassManagerOptions &o) { o.shuffle_seed = seed; }));
    EXPECT_EQ(shuffled.at(0), shuffled.at(1));
    return shuffled.at(0);
  };
  const std::vector<int> sorted{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(shuffled_with(0), sorted);
  EXPECT_NE(shuffled_with(1), sorted);
  EXPECT_EQ(shuffled_with(1), shuffled_with(1));
  EXPECT_NE(shuffled_with(1), shuffled_with(2));
  EXPECT_THAT(shuffled_with(3), testing::UnorderedElementsAreArray(sorted));
}

} // namespace
} // namespace nir::pass_test
