// Small passes that behave well or badly, registered under names that begin with `test-`, and a
// module for them: for the tests of the pass manager and of what is done around passes.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ir/core/builder.h"
#include "ir/print/printer.h"
#include "passes/manager/pass_manager.h"
#include "passes/pipeline/registry.h"

namespace nir::pass_test {

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

inline Instruction &find(Module &module, std::string_view name) {
  for (Stmt &stmt : module.functions()[0]->statements())
    if (!stmt.name().empty() && module.names().str(stmt.name()) == name)
      return *cast<Instruction>(&stmt);
  throw std::logic_error("no such instruction");
}

inline bool set_dtype(Module &module, DType dtype) {
  Instruction &copy = find(module, "c");
  if (copy.dtype() == dtype)
    return false;
  copy.set_result_type(module.types().with_dtype(copy.type(), dtype));
  return true;
}

inline Instruction *extra_copy(Module &module) {
  Stmt *last = module.functions()[0]->body().last();
  Instruction *inst = dyn_cast<Instruction>(last);
  return inst != nullptr && inst->opcode() == Opcode::TensorCopy ? inst : nullptr;
}

// The test passes, each a function.
inline bool do_nothing(Module &, PassContext &) { return false; }
inline bool to_half(Module &m, PassContext &) { return set_dtype(m, DType::Float16); }
inline bool to_bfloat(Module &m, PassContext &) { return set_dtype(m, DType::Bfloat16); }
inline bool to_single(Module &m, PassContext &) { return set_dtype(m, DType::Float32); }
inline bool flip(Module &m, PassContext &) {
  const bool is_half = find(m, "c").dtype() == DType::Float16;
  return set_dtype(m, is_half ? DType::Bfloat16 : DType::Float16);
}
// float16 to bfloat16 to float32 and around.
inline bool rotate(Module &m, PassContext &) {
  const DType dtype = find(m, "c").dtype();
  return set_dtype(m, dtype == DType::Float16    ? DType::Bfloat16
                      : dtype == DType::Bfloat16 ? DType::Float32
                                                 : DType::Float16);
}
inline bool grow(Module &m, PassContext &) {
  Builder(*m.functions()[0]).tensor_copy(&find(m, "l"), DType::Float32);
  return true;
}
inline bool grow_once(Module &m, PassContext &c) { return extra_copy(m) == nullptr && grow(m, c); }
inline bool shrink(Module &m, PassContext &) {
  Instruction *copy = extra_copy(m);
  if (copy != nullptr)
    copy->erase();
  return copy != nullptr;
}
inline bool claim_change(Module &, PassContext &) { return true; }
inline bool hide_change(Module &m, PassContext &) {
  m.functions()[0]->set_strict(!m.functions()[0]->is_strict());
  return false;
}
inline bool retype_input(Module &m, PassContext &) {
  Tensor *x = m.functions()[0]->first_tensor();
  x->retype(m.types().with_dtype(x->type(), DType::Float16));
  return true;
}
inline bool add_output(Module &m, PassContext &) {
  Function &f = *m.functions()[0];
  f.add_tensor(m.intern("z"), f.first_tensor()->type(), Space::Dram, Role::Output);
  return true;
}
inline bool rename_input(Module &m, PassContext &) {
  m.functions()[0]->first_tensor()->set_name(m.intern("other"));
  return true;
}
inline bool erase_output(Module &m, PassContext &) {
  Function &f = *m.functions()[0];
  cast<Instruction>(f.body().last())->erase();
  f.last_tensor()->erase();
  return true;
}
inline bool break_shape(Module &m, PassContext &) {
  Instruction &e = find(m, "e");
  const std::array<std::int64_t, 1> shape{3};
  e.set_result_type(m.types().get(DType::Float32, shape).value());
  return true;
}
inline bool break_legal_form(Module &m, PassContext &) {
  Instruction &e = find(m, "e");
  Builder b(*m.functions()[0]);
  b.insert_before(*e.next());
  b.tensor_tensor(AluOp::Add, {&e, nullptr}, {&find(m, "c"), nullptr}, DType::Float32);
  return true;
}
inline bool refuse(Module &m, PassContext &c) {
  c.diagnostics().error(SourceRange::at(find(m, "c").source()), "cannot do that");
  return false;
}
inline bool refuse_dirty(Module &m, PassContext &c) {
  m.functions()[0]->set_strict(true);
  return refuse(m, c);
}
inline bool warn(Module &, PassContext &c) {
  c.diagnostics().warning({}, "take care");
  return false;
}
inline int remarks_built = 0;
inline bool give_remarks(Module &m, PassContext &c) {
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
inline bool give_remarks_unasked(Module &m, PassContext &c) {
  c.remark(RemarkClass::Exact, find(m, "c"), "yes");
  c.remark(RemarkClass::Declined, find(m, "c"), "no");
  return false;
}
inline constexpr std::array<PassStatistic, 2> count_statistics{
    {{"Number of things", "things"}, {"Number of bytes of things", "bytes"}}};
inline bool do_count(Module &, PassContext &c) {
  c.count(0);
  c.count(1, 3 << 20);
  return false;
}
inline bool overflow(Module &, PassContext &c) {
  c.count(1, ~std::uint64_t{0});
  c.count(1, 5);
  return false;
}
inline std::vector<std::vector<int>> shuffled;
inline bool do_shuffle(Module &, PassContext &c) {
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

inline std::vector<std::string> visited;
class Visit : public FunctionPass {
public:
  bool run(Function &function, PassContext &) override {
    visited.push_back(function.module().names().str(function.name()));
    return visited.size() == 2;
  }
};
inline std::unique_ptr<Pass> create_visit(const PassOptions &) { return std::make_unique<Visit>(); }

#define TEST_PASS(name, function)                                                                  \
  PassInfo { name, "for tests", {}, {}, create<function> }
inline const std::array infos{
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

inline const bool registered = [] {
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

inline PassManagerOptions with(const std::function<void(PassManagerOptions &)> &change) {
  PassManagerOptions options;
  change(options);
  return options;
}
inline PassManagerOptions checking() {
  return with([](PassManagerOptions &o) { o.check_changed = true; });
}
inline PassManagerOptions verifying() {
  return with([](PassManagerOptions &o) { o.verify_each = true; });
}
inline PassManagerOptions limited(std::uint64_t limit) {
  return with([limit](PassManagerOptions &o) { o.bisect_limit = limit; });
}

} // namespace nir::pass_test
