#include "passes/pass_manager.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ir/builder.h"
#include "ir/printer.h"

namespace nir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A module of one function, whose `%c` the passes below change.
struct Sample {
  Sample() {
    Function *function = module.add_function(module.intern("f"), 0);
    Builder b(*function);
    const Type *type = b.type(DType::Float32, {128, 64});
    Tensor *x = b.tensor("x", type, Space::Dram, Role::Input);
    Tensor *y = b.tensor("y", type, Space::Dram, Role::Output);
    b.set_source(100);
    Instruction *load = b.load(x);
    load->set_name(module.intern("l"));
    Instruction *copy = b.tensor_copy(load, DType::Float16);
    copy->set_name(module.intern("c"));
    copy->set_source(200);
    Instruction *e = b.activation(ActivationFn::Exp, copy, DType::Float32);
    e->set_name(module.intern("e"));
    b.store(e, {y, nullptr});
  }
  Module module;
};

Instruction &find(Module &module, std::string_view name) {
  for (Stmt &stmt : module.functions()[0]->statements())
    if (!stmt.name().empty() && module.names().str(stmt.name()) == name)
      return *cast<Instruction>(&stmt);
  throw std::logic_error("no such instruction");
}

bool set_dtype(Module &module, DType dtype) {
  Instruction &copy = find(module, "c");
  if (copy.dtype() == dtype)
    return false;
  copy.set_result_type(module.types().with_dtype(copy.type(), dtype));
  return true;
}

Instruction *extra_copy(Module &module) {
  Stmt *last = module.functions()[0]->body().last();
  Instruction *inst = dyn_cast<Instruction>(last);
  return inst != nullptr && inst->opcode() == Opcode::TensorCopy ? inst : nullptr;
}

// The test passes, each a function.
bool do_nothing(Module &, PassContext &) { return false; }
bool to_half(Module &m, PassContext &) { return set_dtype(m, DType::Float16); }
bool to_bfloat(Module &m, PassContext &) { return set_dtype(m, DType::Bfloat16); }
bool to_single(Module &m, PassContext &) { return set_dtype(m, DType::Float32); }
bool flip(Module &m, PassContext &) {
  const bool is_half = find(m, "c").dtype() == DType::Float16;
  return set_dtype(m, is_half ? DType::Bfloat16 : DType::Float16);
}
// float16 to bfloat16 to float32 and around.
bool rotate(Module &m, PassContext &) {
  const DType dtype = find(m, "c").dtype();
  return set_dtype(m, dtype == DType::Float16    ? DType::Bfloat16
                      : dtype == DType::Bfloat16 ? DType::Float32
                                                 : DType::Float16);
}
bool grow(Module &m, PassContext &) {
  Builder(*m.functions()[0]).tensor_copy(&find(m, "l"), DType::Float32);
  return true;
}
bool grow_once(Module &m, PassContext &c) { return extra_copy(m) == nullptr && grow(m, c); }
bool shrink(Module &m, PassContext &) {
  Instruction *copy = extra_copy(m);
  if (copy != nullptr)
    copy->erase();
  return copy != nullptr;
}
bool claim_change(Module &, PassContext &) { return true; }
bool hide_change(Module &m, PassContext &) {
  m.functions()[0]->set_strict(!m.functions()[0]->is_strict());
  return false;
}
bool retype_input(Module &m, PassContext &) {
  Tensor *x = m.functions()[0]->first_tensor();
  x->retype(m.types().with_dtype(x->type(), DType::Float16));
  return true;
}
bool add_output(Module &m, PassContext &) {
  Function &f = *m.functions()[0];
  f.add_tensor(m.intern("z"), f.first_tensor()->type(), Space::Dram, Role::Output);
  return true;
}
bool rename_input(Module &m, PassContext &) {
  m.functions()[0]->first_tensor()->set_name(m.intern("other"));
  return true;
}
bool erase_output(Module &m, PassContext &) {
  Function &f = *m.functions()[0];
  cast<Instruction>(f.body().last())->erase();
  f.last_tensor()->erase();
  return true;
}
bool break_shape(Module &m, PassContext &) {
  Instruction &e = find(m, "e");
  const std::array<std::int64_t, 1> shape{3};
  e.set_result_type(m.types().get(DType::Float32, shape).value());
  return true;
}
bool break_legal_form(Module &m, PassContext &) {
  Instruction &e = find(m, "e");
  Builder b(*m.functions()[0]);
  b.insert_before(*e.next());
  b.tensor_tensor(AluOp::Add, {&e, nullptr}, {&find(m, "c"), nullptr}, DType::Float32);
  return true;
}
bool refuse(Module &m, PassContext &c) {
  c.diagnostics().error(SourceRange::at(find(m, "c").source()), "cannot do that");
  return false;
}
bool refuse_dirty(Module &m, PassContext &c) {
  m.functions()[0]->set_strict(true);
  return refuse(m, c);
}
bool warn(Module &, PassContext &c) {
  c.diagnostics().warning({}, "take care");
  return false;
}
int remarks_built = 0;
bool give_remarks(Module &m, PassContext &c) {
  const Stmt &at = find(m, "c");
  if (c.wants_applied()) {
    c.remark(RemarkClass::Exact, at, "went");
    c.remark(RemarkClass::Inserted, at, "was made here");
    c.remark(RemarkClass::Permitted, at, "was allowed");
    ++remarks_built;
  }
  if (c.wants_missed()) {
    c.remark(RemarkClass::Declined, at, "it is fixed");
    ++remarks_built;
  }
  return false;
}
bool give_remarks_unasked(Module &m, PassContext &c) {
  c.remark(RemarkClass::Exact, find(m, "c"), "yes");
  c.remark(RemarkClass::Declined, find(m, "c"), "no");
  return false;
}
constexpr std::array<PassStatistic, 2> count_statistics{
    {{"Number of things", "things"}, {"Number of bytes of things", "bytes"}}};
bool do_count(Module &, PassContext &c) {
  c.count(0);
  c.count(1, 3 << 20);
  return false;
}
bool overflow(Module &, PassContext &c) {
  c.count(1, ~std::uint64_t{0});
  c.count(1, 5);
  return false;
}
std::vector<std::vector<int>> shuffled;
bool do_shuffle(Module &, PassContext &c) {
  std::vector<int> items{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  c.shuffle(items);
  shuffled.push_back(items);
  return false;
}

using RunFunction = bool (*)(Module &, PassContext &);

template <RunFunction function> class TestPass : public Pass {
public:
  bool run(Module &module, PassContext &context) override { return function(module, context); }
};

template <RunFunction function> std::unique_ptr<Pass> create(const PassOptions &) {
  return std::make_unique<TestPass<function>>();
}

std::vector<std::string> visited;
class Visit : public FunctionPass {
public:
  bool run(Function &function, PassContext &) override {
    visited.push_back(function.module().names().str(function.name()));
    return visited.size() == 2;
  }
};
std::unique_ptr<Pass> create_visit(const PassOptions &) { return std::make_unique<Visit>(); }

#define TEST_PASS(name, function)                                                                  \
  PassInfo { name, "for tests", {}, {}, create<function> }
const std::array infos{
    TEST_PASS("test-nothing", do_nothing),
    TEST_PASS("test-half", to_half),
    TEST_PASS("test-bfloat", to_bfloat),
    TEST_PASS("test-single", to_single),
    TEST_PASS("test-flip", flip),
    TEST_PASS("test-rotate", rotate),
    TEST_PASS("test-grow", grow),
    TEST_PASS("test-grow-once", grow_once),
    TEST_PASS("test-shrink", shrink),
    TEST_PASS("test-claim-change", claim_change),
    TEST_PASS("test-hide-change", hide_change),
    TEST_PASS("test-retype-input", retype_input),
    TEST_PASS("test-add-output", add_output),
    TEST_PASS("test-rename-input", rename_input),
    TEST_PASS("test-erase-output", erase_output),
    TEST_PASS("test-break-shape", break_shape),
    TEST_PASS("test-break-legal-form", break_legal_form),
    TEST_PASS("test-refuse", refuse),
    TEST_PASS("test-refuse-dirty", refuse_dirty),
    TEST_PASS("test-warn", warn),
    TEST_PASS("test-remarks", give_remarks),
    TEST_PASS("test-remarks-unasked", give_remarks_unasked),
    TEST_PASS("test-shuffle", do_shuffle),
    PassInfo{"test-count", "for tests", {}, count_statistics, create<do_count>},
    PassInfo{"test-overflow", "for tests", {}, count_statistics, create<overflow>},
    PassInfo{"test-visit", "for tests", {}, {}, create_visit},
    PassInfo{"test-legal", "for tests", {}, {}, create<do_nothing>, true},
};
#undef TEST_PASS

[[maybe_unused]] const bool registered = [] {
  for (const PassInfo &info : infos)
    register_pass(info);
  return true;
}();

// One manager over one module, with everything that it says.
struct Trial {
  explicit Trial(std::string_view pipeline, PassManagerOptions options = {}) {
    options.log = [this](std::string_view text) { log += text; };
    auto parsed = parse_pipeline(pipeline);
    if (!parsed)
      throw std::logic_error(render(parsed.error(), pipeline));
    manager = std::make_unique<PassManager>(std::move(*parsed), std::move(options));
    status = manager->run(sample.module, diagnostics);
  }
  std::vector<std::string> messages() const {
    std::vector<std::string> all;
    for (const Diagnostic &diagnostic : diagnostics.diagnostics())
      all.push_back(std::string(to_string(diagnostic.severity)) + ": " + diagnostic.message);
    return all;
  }

  Sample sample;
  DiagnosticEngine diagnostics;
  std::string log;
  std::unique_ptr<PassManager> manager;
  PipelineStatus status{};
};

PassManagerOptions with(const std::function<void(PassManagerOptions &)> &change) {
  PassManagerOptions options;
  change(options);
  return options;
}
PassManagerOptions checking() {
  return with([](PassManagerOptions &o) { o.check_changed = true; });
}
PassManagerOptions verifying() {
  return with([](PassManagerOptions &o) { o.verify_each = true; });
}
PassManagerOptions limited(std::uint64_t limit) {
  return with([limit](PassManagerOptions &o) { o.bisect_limit = limit; });
}

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
  Trial run("fixpoint(test-flip)");
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  const std::string expected =
      "fixpoint(test-flip) does not end, the module after round 2 is as it was at its start: "
      "'test-flip' undoes itself: `%c = tensor_copy %l : float16[128, 64]` becomes "
      "`%c = tensor_copy %l : bfloat16[128, 64]` and back";
  EXPECT_EQ(run.manager->failed_pass(), expected);
  EXPECT_THAT(run.messages(), ElementsAre("error: internal error: " + expected));
  EXPECT_EQ(run.diagnostics.diagnostics()[0].range.begin, 200u);
}

TEST(Fixpoint, LongerCyclesAreFound) {
  Trial run("test-bfloat,fixpoint(test-nothing,test-rotate)");
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  EXPECT_THAT(run.manager->failed_pass(), HasSubstr("after round 3 is as it was at its start"));
  EXPECT_THAT(run.manager->failed_pass(), HasSubstr("'test-rotate' undoes itself"));
  EXPECT_THAT(run.manager->failed_pass(), Not(HasSubstr("'test-nothing'")));
}

// Both passes are honest, yet no round ever ends without a change.
TEST(Fixpoint, PassesThatUndoEachOtherWithinARoundAreFound) {
  Trial run("fixpoint(test-bfloat,test-nothing,test-half)");
  EXPECT_EQ(run.status, PipelineStatus::InternalError);
  EXPECT_THAT(run.manager->failed_pass(),
              HasSubstr("after round 1 is as it was at its start: 'test-bfloat' and 'test-half' "
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
  Trial run("fixpoint(test-count,test-remarks,test-flip)", with([](PassManagerOptions &o) {
              o.remarks = {true, true};
            }));
  EXPECT_EQ(run.manager->statistics()[0].values[0], 2u);
  EXPECT_EQ(run.diagnostics.diagnostics().size(), 2u * 4 + 1);
}

TEST(Fixpoint, ErrorsInsideStopIt) {
  Trial run("fixpoint(test-grow,test-refuse)");
  EXPECT_EQ(run.status, PipelineStatus::InputError);
  EXPECT_THAT(run.manager->fixpoint_rounds(), ElementsAre(1u));
}

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
} // namespace nir
