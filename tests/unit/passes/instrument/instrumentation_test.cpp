// Checks, dumps, bisecting, times: what is done around passes.

#include <cstdlib>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/support/test_passes.h"

namespace nir::pass_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(InterfaceCheck, IsAlwaysOn) {
  Trial run("test-nothing,test-retype-input,test-bfloat");
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  EXPECT_EQ(run.manager->failed_pass(),
            "pass 'test-retype-input': the interface of function '@f' changed: '$x' was "
            "float32[128, 64] dram input and is float16[128, 64] dram input");
  EXPECT_THAT(run.messages(), ElementsAre(StartsWith("error: internal error: pass ")));
  EXPECT_EQ(find(run.sample.module, "c").dtype(), DType::Float16);
}

TEST(InterfaceCheck, SeesNewLostAndRenamedTensors) {
  EXPECT_THAT(Trial("test-add-output").manager->failed_pass(), HasSubstr("output '$z' is new"));
  EXPECT_THAT(Trial("test-erase-output").manager->failed_pass(), HasSubstr("output '$y' is gone"));
  EXPECT_THAT(Trial("test-rename-input").manager->failed_pass(),
              HasSubstr("'$other' stands where input '$x' was"));
}

TEST(VerifyEach, AcceptsGoodPasses) {
  EXPECT_EQ(Trial("test-bfloat,fixpoint(test-shrink)", verifying()).status,
            PipelineStatus::Success);
}

TEST(VerifyEach, NamesThePassThatBreaksTheModule) {
  Trial run("test-bfloat,test-break-shape,test-single", verifying());
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  EXPECT_THAT(run.manager->failed_pass(),
              StartsWith("pass 'test-break-shape': its result is not well-formed in function "
                         "'@f': "));
  EXPECT_TRUE(run.diagnostics.diagnostics()[0].range.valid());
  EXPECT_EQ(find(run.sample.module, "c").dtype(), DType::Bfloat16);
}

TEST(VerifyEach, LogsTheModuleAsItWas) {
  Trial run("test-break-shape", verifying());
  EXPECT_THAT(run.log, StartsWith("internal error: pass 'test-break-shape': "));
  EXPECT_THAT(run.log,
              HasSubstr("// *** IR before test-break-shape ***\n" + to_string(Sample().module)));
}

TEST(VerifyEach, ChecksLegalFormOnceItIsEstablished) {
  EXPECT_EQ(Trial("test-break-legal-form", verifying()).status, PipelineStatus::Success);
  EXPECT_EQ(Trial("test-break-legal-form,test-legal", verifying()).status,
            PipelineStatus::InternalError);
  Trial run("test-legal,test-break-legal-form", verifying());
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  EXPECT_THAT(run.manager->failed_pass(), StartsWith("pass 'test-break-legal-form'"));
}

TEST(VerifyEach, IsOffByDefault) {
  EXPECT_EQ(Trial("test-break-shape").status, PipelineStatus::Success);
}

TEST(CheckChanged, AcceptsHonestPasses) {
  EXPECT_EQ(
      Trial("test-bfloat,test-bfloat,test-nothing,test-flip,fixpoint(test-shrink)", checking())
          .status,
      PipelineStatus::Success);
}

TEST(CheckChanged, FindsFalseClaims) {
  Trial run("test-nothing,test-claim-change", checking());
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  EXPECT_EQ(run.manager->failed_pass(), "pass 'test-claim-change': says that it changed the "
                                        "module, but left it as it was");
}

TEST(CheckChanged, FindsHiddenChanges) {
  Trial run("test-bfloat,test-hide-change", checking());
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  EXPECT_EQ(run.manager->failed_pass(),
            "pass 'test-hide-change': says that it changed nothing, but changed the module");
}

TEST(CheckChanged, HoldsInsideFixpoints) {
  Trial run("fixpoint(test-bfloat,test-claim-change)", checking());
  EXPECT_THAT(run.manager->failed_pass(), StartsWith("pass 'test-claim-change'"));
}

TEST(CheckChanged, ARefusingPassMustLeaveTheModule) {
  EXPECT_EQ(Trial("test-refuse", checking()).status, PipelineStatus::InputError);
  EXPECT_EQ(Trial("test-refuse-dirty").status, PipelineStatus::InputError);
  Trial run("test-refuse-dirty", checking());
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  EXPECT_EQ(run.manager->failed_pass(),
            "pass 'test-refuse-dirty': reported errors and changed the module");
}

TEST(CheckChanged, IsOffByDefault) {
  EXPECT_EQ(Trial("test-claim-change,test-hide-change").status, PipelineStatus::Success);
}

TEST(Dumps, BeforeAndAfterNamedPasses) {
  Sample sample;
  const std::string before = to_string(sample.module);
  set_dtype(sample.module, DType::Bfloat16);
  const std::string after = to_string(sample.module);
  Trial run("test-nothing,test-bfloat", with([](PassManagerOptions &o) {
              o.print_before = {"test-bfloat"};
              o.print_after = {"test-bfloat"};
            }));
  EXPECT_EQ(run.log, "// *** IR before test-bfloat ***\n" + before +
                         "// *** IR after test-bfloat ***\n" + after);
}

TEST(Dumps, BeforeAndAfterAll) {
  Trial run("test-nothing,test-bfloat", with([](PassManagerOptions &o) {
              o.print_before_all = true;
              o.print_after_all = true;
            }));
  for (const char *line :
       {"before test-nothing", "after test-nothing", "before test-bfloat", "after test-bfloat"})
    EXPECT_THAT(run.log, HasSubstr(std::string("// *** IR ") + line + " ***\nfunc @f {"));
}

TEST(Dumps, ChangesAsText) {
  Trial run("test-nothing,test-bfloat,test-bfloat",
            with([](PassManagerOptions &o) { o.print_changed = PrintChanged::Text; }));
  EXPECT_EQ(run.log, "// *** test-nothing: no change ***\n// *** IR after test-bfloat ***\n" +
                         to_string(run.sample.module) + "// *** test-bfloat: no change ***\n");
}

// What the pass says does not matter.
TEST(Dumps, ChangesAreWhatTheTextShows) {
  Trial run("test-claim-change,test-hide-change",
            with([](PassManagerOptions &o) { o.print_changed = PrintChanged::Text; }));
  EXPECT_THAT(run.log, StartsWith("// *** test-claim-change: no change ***\n"
                                  "// *** IR after test-hide-change ***\nfunc @f strict {"));
}

TEST(Dumps, ChangesAsDiff) {
  Trial run("test-bfloat,test-nothing",
            with([](PassManagerOptions &o) { o.print_changed = PrintChanged::Diff; }));
  EXPECT_THAT(run.log, StartsWith("// *** IR after test-bfloat ***\n--- before test-bfloat\n"
                                  "+++ after test-bfloat\n@@ "));
  EXPECT_THAT(run.log, HasSubstr("\n-  %c = tensor_copy %l : float16[128, 64]\n"
                                 "+  %c = tensor_copy %l : bfloat16[128, 64]\n"));
  EXPECT_THAT(run.log, HasSubstr("// *** test-nothing: no change ***\n"));
}

TEST(Dumps, WithoutDiffTheWholeModuleIsShown) {
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  Trial run("test-bfloat",
            with([](PassManagerOptions &o) { o.print_changed = PrintChanged::Diff; }));
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(run.log, StartsWith("// *** IR after test-bfloat, in full: cannot run diff: "));
  EXPECT_THAT(run.log, HasSubstr(" ***\n" + to_string(run.sample.module)));
}

TEST(Dumps, TellTheRoundsOfFixpoints) {
  Trial run("test-grow,fixpoint(test-shrink)",
            with([](PassManagerOptions &o) { o.print_after = {"test-none"}; }));
  EXPECT_EQ(run.log, "// *** fixpoint(test-shrink): 2 rounds ***\n");
  EXPECT_EQ(Trial("fixpoint(test-shrink)").log, "");
}

TEST(Dumps, NeedALog) {
  Sample sample;
  DiagnosticEngine diagnostics;
  PassManagerOptions options;
  options.print_after_all = options.print_before_all = options.verify_each = true;
  options.print_changed = PrintChanged::Diff;
  options.bisect_limit = 1;
  PassManager manager(*parse_pipeline("test-bfloat,test-break-shape"), options);
  EXPECT_EQ(manager.run(sample.module, diagnostics), PipelineStatus::Success);
}

TEST(Bisect, RunsTheFirstPassesOnly) {
  Trial run("test-bfloat,test-nothing,test-single", limited(2));
  EXPECT_EQ(run.log, "BISECT: running pass (1) test-bfloat\n"
                     "BISECT: running pass (2) test-nothing\n"
                     "BISECT: NOT running pass (3) test-single\n");
  EXPECT_EQ(find(run.sample.module, "c").dtype(), DType::Bfloat16);
}

TEST(Bisect, CountsEachRunInAFixpoint) {
  Trial run("test-grow,test-grow,fixpoint(test-shrink)", limited(3));
  EXPECT_EQ(run.log, "BISECT: running pass (1) test-grow\n"
                     "BISECT: running pass (2) test-grow\n"
                     "BISECT: running pass (3) test-shrink\n"
                     "BISECT: NOT running pass (4) test-shrink\n");
  EXPECT_NE(extra_copy(run.sample.module), nullptr);
}

TEST(Bisect, ZeroRunsNothing) {
  Trial run("test-bfloat", limited(0));
  EXPECT_EQ(run.log, "BISECT: NOT running pass (1) test-bfloat\n");
  EXPECT_EQ(find(run.sample.module, "c").dtype(), DType::Float16);
}

TEST(Timing, IsATableInOrderOfThePipeline) {
  Trial run("test-grow,fixpoint(test-nothing,test-shrink)",
            with([](PassManagerOptions &o) { o.time_passes = true; }));
  const std::string report = run.manager->timing_report();
  std::vector<std::string> labels;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);)
    labels.push_back(line.substr(31));
  EXPECT_THAT(labels, ElementsAre("pass", "test-grow", "fixpoint (2 rounds)", "  test-nothing",
                                  "  test-shrink", "total"))
      << report;
  EXPECT_THAT(run.log, HasSubstr("fixpoint(test-nothing,test-shrink): 2 rounds"));
}

TEST(Trace, IsAListOfCompleteEvents) {
  Trial run("test-bfloat,fixpoint(test-shrink)",
            with([](PassManagerOptions &o) { o.trace = true; }));
  const auto trace = nlohmann::json::parse(run.manager->chrome_trace());
  const auto &events = trace.at("traceEvents");
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].at("name"), "test-bfloat");
  EXPECT_EQ(events[0].at("args").at("changed"), true);
  EXPECT_EQ(events[1].at("name"), "test-shrink");
  EXPECT_EQ(events[1].at("args").at("round"), 1);
  EXPECT_EQ(events[2].at("name"), "fixpoint");
  EXPECT_EQ(events[2].at("args").at("rounds"), 1);
  for (const auto &event : events) {
    EXPECT_EQ(event.at("ph"), "X");
    EXPECT_GE(event.at("ts").get<double>(), 0);
    EXPECT_GE(event.at("dur").get<double>(), 0);
  }
}

TEST(Trace, IsEmptyWhenOff) {
  Trial run("test-bfloat");
  EXPECT_TRUE(nlohmann::json::parse(run.manager->chrome_trace()).at("traceEvents").empty());
}

// Looking must not change what is looked at.
TEST(Instrumentation, ChangesNoResult) {
  constexpr std::string_view pipeline =
      "legalize-dtype,fixpoint(neuron-eliminate-casts,fold-noop-casts,drop-dead-tensors,dce)";
  const auto everything = with([](PassManagerOptions &o) {
    o.verify_each = o.check_changed = o.print_before_all = o.print_after_all = true;
    o.print_changed = PrintChanged::Diff;
    o.time_passes = o.trace = true;
    o.remarks = {true, true};
  });
  Trial plain(pipeline);
  Trial watched(pipeline, everything);
  EXPECT_EQ(plain.status, PipelineStatus::Success);
  EXPECT_EQ(watched.status, PipelineStatus::Success) << watched.manager->failed_pass();
  EXPECT_EQ(to_string(plain.sample.module), to_string(watched.sample.module));
  EXPECT_EQ(plain.manager->statistics_json(), watched.manager->statistics_json());
}

} // namespace
} // namespace nir::pass_test
