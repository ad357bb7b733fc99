// nir-opt as another project calls it, with passes of its own that misbehave.

#include "driver/opt/opt_main.h"

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "passes/pipeline/registry.h"
#include "tests/unit/support/test_passes.h"

namespace nir {
namespace {

using testing::HasSubstr;

bool throw_error(Module &, PassContext &) { throw std::runtime_error("lost my way"); }

const PassInfo throwing{"test-throw", "for tests", {}, {}, pass_test::create<throw_error>};
const bool registered = [] {
  register_pass(throwing);
  return true;
}();

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

class OptMainTest : public testing::Test {
protected:
  OptMainTest() {
    std::ofstream(input_) << "func @f {\n  tensor $x : float32[128, 64] dram input\n"
                             "  tensor $y : float32[128, 64] dram output\n"
                             "  %l = load $x : float32[128, 64]\n"
                             "  %c = tensor_copy %l : float16[128, 64]\n"
                             "  %e = activation exp %c : float32[128, 64]\n"
                             "  store %e -> $y\n}\n";
  }
  ~OptMainTest() override { std::filesystem::remove(input_); }

  Outcome run(std::initializer_list<std::string> options) const {
    std::vector<std::string> words{"nir-opt"};
    words.insert(words.end(), options);
    words.push_back(input_);
    std::vector<char *> argv;
    for (std::string &word : words)
      argv.push_back(word.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = opt_main(static_cast<int>(argv.size()), argv.data());
    return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
  }

  std::string input_ = (std::filesystem::temp_directory_path() /
                        ("nir-opt-main-test-" + std::to_string(::getpid()) + ".nir"))
                           .string();
};

TEST_F(OptMainTest, RunsAPassOfTheProgram) {
  const Outcome outcome = run({"--passes=test-bfloat"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("%c = tensor_copy %l : bfloat16[128, 64]"));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(OptMainTest, APassThatThrows) {
  const Outcome outcome = run({"--passes=test-nothing,test-throw"});
  EXPECT_EQ(outcome.status, 70);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("internal error: pass 'test-throw': threw 'lost my way'"));
  EXPECT_THAT(outcome.err,
              HasSubstr("to reproduce: nir-opt --passes=test-nothing,test-throw " + input_));
}

// Found by the last verification: the pipeline is run again to find who did it.
TEST_F(OptMainTest, APassThatBreaksTheModule) {
  const Outcome outcome = run({"--passes=test-nothing,test-break-shape,test-bfloat"});
  EXPECT_EQ(outcome.status, 70);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("nir-opt: internal error: pass 'test-break-shape'"));
  EXPECT_THAT(outcome.err, HasSubstr("to reproduce: nir-opt --passes=test-nothing"));
}

TEST_F(OptMainTest, APassThatBreaksTheModuleUnderVerifyEach) {
  const Outcome outcome = run({"--verify-each", "--passes=test-break-shape"});
  EXPECT_EQ(outcome.status, 70);
  EXPECT_THAT(outcome.err, HasSubstr("internal error: pass 'test-break-shape'"));
}

TEST_F(OptMainTest, NobodyLooksWithoutVerification) {
  EXPECT_EQ(run({"--verify=off", "--passes=test-break-shape"}).status, 0);
}

TEST_F(OptMainTest, APassThatLosesLegalForm) {
  const std::string passes = "--passes=legalize-dtype,test-break-legal-form";
  EXPECT_EQ(run({passes}).status, 0);
  const Outcome outcome = run({passes, "--verify=legal"});
  EXPECT_EQ(outcome.status, 70);
  EXPECT_THAT(outcome.err, HasSubstr("nir-opt: internal error: pass 'test-break-legal-form'"));
}

TEST_F(OptMainTest, APassThatChangesAnInterface) {
  const Outcome outcome = run({"--passes=test-add-output"});
  EXPECT_EQ(outcome.status, 70);
  EXPECT_THAT(outcome.err, HasSubstr("pass 'test-add-output'"));
}

TEST_F(OptMainTest, APassThatLiesAboutChanges) {
  EXPECT_EQ(run({"--passes=test-claim-change"}).status, 0);
  EXPECT_EQ(run({"--passes=test-claim-change", "--check-changed"}).status, 70);
  EXPECT_EQ(run({"--passes=test-hide-change", "--check-changed"}).status, 70);
}

TEST_F(OptMainTest, APassThatRefusesItsInput) {
  const Outcome outcome = run({"--passes=test-refuse"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(":5:3: error: cannot do that"));
  EXPECT_THAT(outcome.err, HasSubstr("1 error generated"));
}

TEST_F(OptMainTest, WarningsOfAPassUnderWerror) {
  EXPECT_EQ(run({"--passes=test-warn"}).status, 0);
  EXPECT_EQ(run({"--passes=test-warn", "--werror"}).status, 1);
}

TEST_F(OptMainTest, AFixpointThatDoesNotEnd) {
  const Outcome outcome = run({"--passes=fixpoint(test-flip)"});
  EXPECT_EQ(outcome.status, 70);
  EXPECT_THAT(outcome.err, HasSubstr("test-flip"));
  EXPECT_THAT(outcome.err, HasSubstr("to reproduce:"));
}

TEST_F(OptMainTest, AFixpointThatMeetsItsMaximum) {
  const std::string passes = "--passes=fixpoint{max=2}(test-grow)";
  const Outcome outcome = run({passes});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("warning: fixpoint{max=2}(test-grow)"));
  EXPECT_EQ(run({passes, "--werror"}).status, 1);
}

TEST_F(OptMainTest, KnowsThePassInHelp) {
  EXPECT_THAT(run({"--list-passes"}).out, HasSubstr("test-bfloat"));
  EXPECT_THAT(run({"--help"}).out, HasSubstr("test-bfloat"));
}

} // namespace
} // namespace nir
