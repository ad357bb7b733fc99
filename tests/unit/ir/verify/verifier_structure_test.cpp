// The invariants of the IR that no text can break, and the rules between functions.

#include <cstring>
#include <limits>

#include "tests/unit/support/ir_fixture.h"

namespace nir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Ways to the links that only the IR itself writes.
struct StmtLinks : Stmt {
  static auto prev() { return &StmtLinks::prev_; }
  static auto next() { return &StmtLinks::next_; }
  static auto parent() { return &StmtLinks::parent_; }
};
struct ValueLinks : Value {
  static auto uses() { return &ValueLinks::uses_; }
  static auto type() { return &ValueLinks::type_; }
};

class StructureTest : public IrTest {
protected:
  Operand affine(Tensor *t, std::initializer_list<AffineTerm> terms, std::int64_t size = 1) {
    return b.access(t, {AccessDim{b.terms(terms), 0, size, 1}});
  }
  Instruction *copy(Value *src) { return b.tensor_copy(src, DType::Float32); }
  Instruction *fresh(std::string_view name = "") { return value(DType::Float32, {4}, name); }
};

TEST_F(StructureTest, NothingIsCheckedWhereOff) {
  copy(fresh())->set_result_type(type(DType::Float4E2m1fn, {9}));
  EXPECT_THAT(errors(VerifyLevel::Off), IsEmpty());
}

// Links

TEST_F(StructureTest, BrokenPrev) {
  fresh();
  Instruction *second = fresh();
  second->*StmtLinks::prev() = nullptr;
  EXPECT_THAT(errors(), ElementsAre("a statement does not point back to the one before it"));
}

TEST_F(StructureTest, CircleOfStatements) {
  Instruction *first = fresh();
  Instruction *second = fresh();
  fresh();
  second->*StmtLinks::next() = first;
  EXPECT_THAT(errors(), ElementsAre("a statement does not point back to the one before it"));
}

TEST_F(StructureTest, BrokenLast) {
  Instruction *first = fresh();
  fresh();
  first->*StmtLinks::next() = nullptr;
  EXPECT_THAT(errors(), ElementsAre("a block does not point to its last statement"));
}

TEST_F(StructureTest, BrokenParent) {
  Loop *loop = b.loop("i", 0, 2);
  Instruction *inst = fresh();
  inst->*StmtLinks::parent() = &loop->body();
  EXPECT_THAT(errors(), ElementsAre("a statement does not point to the block that holds it"));
}

// Use-lists

TEST_F(StructureTest, UseListThatLostItsUses) {
  Instruction *x = fresh("x");
  copy(x);
  x->*ValueLinks::uses() = nullptr;
  EXPECT_THAT(errors(), ElementsAre("the use-list of %x does not know of a use of it"));
}

TEST_F(StructureTest, UseListOfATensorThatLostItsUses) {
  Tensor *t = tensor("t", DType::Float32, {4});
  b.load(t);
  t->*ValueLinks::uses() = nullptr;
  EXPECT_THAT(errors(), ElementsAre("the use-list of $t does not know of a use of it"));
}

TEST_F(StructureTest, UseListWithAnothersUse) {
  Instruction *x = fresh("x");
  Instruction *y = fresh("y");
  Instruction *user = copy(x);
  y->*ValueLinks::uses() = &user->operand(0);
  EXPECT_THAT(errors(), ElementsAre("the use-list of %y holds what does not use it"));
}

TEST_F(StructureTest, UserThatWasUnlinkedOnly) {
  Instruction *x = fresh("x");
  Instruction *user = copy(x);
  f->body().unlink(user);
  EXPECT_THAT(errors(), ElementsAre(StartsWith("the use-list of %x ")));
}

TEST_F(StructureTest, UserThatWasUnlinkedBesideOthers) {
  Instruction *x = fresh("x");
  Instruction *user = copy(x);
  copy(x);
  copy(x);
  f->body().unlink(user);
  EXPECT_THAT(errors(), ElementsAre(StartsWith("the use-list of %x ")));
}

TEST_F(StructureTest, DefinitionThatWasUnlinkedOnly) {
  Instruction *x = fresh("x");
  copy(x);
  f->body().unlink(x);
  EXPECT_THAT(errors(), ElementsAre("%x is not in the function that uses it"));
}

// Visibility

TEST_F(StructureTest, UseBeforeDefinition) {
  Instruction *x = fresh("x");
  b.insert_before(*x);
  copy(x);
  EXPECT_THAT(errors(), ElementsAre(StartsWith("%x is not visible here")));
}

TEST_F(StructureTest, ValueDoesNotLeaveItsLoop) {
  b.insert_at_end(b.loop("i", 0, 2)->body());
  Instruction *x = fresh("x");
  copy(x);
  b.insert_at_end(f->body());
  copy(x);
  EXPECT_THAT(errors(), ElementsAre(StartsWith("%x is not visible here")));
}

TEST_F(StructureTest, InstructionThatUsesItself) {
  Instruction *x = fresh("x");
  Instruction *user = copy(x);
  user->operand(0).set(user);
  EXPECT_THAT(errors(), ElementsAre(HasSubstr("is not visible here")));
}

TEST_F(StructureTest, ValuesAndTensorsOfOtherFunctions) {
  Instruction *x = fresh("x");
  Tensor *t = tensor("t", DType::Float32, {4});
  Builder other(*module.add_function(module.intern("g")));
  other.load(t);
  other.tensor_copy(x, DType::Float32);
  EXPECT_THAT(errors(), testing::Contains("tensor $t belongs to another function"));
  EXPECT_THAT(errors(), testing::Contains("%x is not in the function that uses it"));
}

TEST_F(StructureTest, SubscriptsNameEnclosingLoops) {
  Tensor *t = tensor("t", DType::Float32, {4});
  Loop *i = b.loop("i", 0, 2);
  b.load(affine(t, {{i, 1}}), DType::Float32);
  b.insert_at_end(i->body());
  b.load(affine(t, {{i, 1}}), DType::Float32);
  EXPECT_THAT(errors(),
              ElementsAre("subscript names %i, which is the variable of no loop around it"));
}

TEST_F(StructureTest, TermsStandInCanonicalOrder) {
  Tensor *t = tensor("t", DType::Float32, {4});
  Loop *i = b.loop("i", 0, 2);
  b.insert_at_end(i->body());
  Loop *j = b.loop("j", 0, 2);
  b.insert_at_end(j->body());
  b.load(affine(t, {{i, 1}, {j, 1}}), DType::Float32);
  b.load(affine(t, {{j, 1}, {i, 1}}), DType::Float32);
  b.load(affine(t, {{i, 1}, {i, 1}}), DType::Float32);
  b.load(affine(t, {{i, 0}}), DType::Float32);
  EXPECT_THAT(errors(), ElementsAre(HasSubstr("with %i are not in canonical order"),
                                    HasSubstr("with %i are not in canonical order"),
                                    HasSubstr("with %i are not in canonical order")));
}

// Accesses, types and numbers

TEST_F(StructureTest, WholeAccessesAreKeptAsSuch) {
  Tensor *t = tensor("t", DType::Float32, {4});
  const AccessDim dim{{}, 0, 4, 1};
  const Type *box = t->type();
  b.load({t, Access::create(module.arena(), box, {&dim, 1}, true, false)}, DType::Float32);
  b.load({t, Access::create(module.arena(), box, {&dim, 1}, false, false)}, DType::Float32);
  b.load({t, Access::create(module.arena(), box, {&dim, 1}, true, true)}, DType::Float32);
  EXPECT_THAT(errors(), ElementsAre("an access to $t of the whole tensor is kept as a pattern",
                                    "an access to $t does not know whether it is whole",
                                    "an access to $t views it as the dtype that it has"));
}

// A second object with the bytes of `object`, as no table of the module would make it.
template <class T> T *twin(Arena &arena, const T *object, std::size_t bytes) {
  void *memory = arena.allocate(bytes);
  std::memcpy(memory, static_cast<const void *>(object), bytes);
  return static_cast<T *>(memory);
}

TEST_F(StructureTest, TypesAndNumbersAreInterned) {
  const Type *interned = type(DType::Float32, {4});
  fresh("x")->set_result_type(twin(module.arena(), interned, sizeof(Type) + sizeof(std::int64_t)));
  Immediate *zero = number(DType::Float32, 0);
  Immediate *other_zero = twin(module.arena(), zero, sizeof(Immediate));
  other_zero->*ValueLinks::type() = zero->type();
  make(Opcode::Memset, {{other_zero}}, interned);
  EXPECT_THAT(errors(), ElementsAre("type float32[4] is not interned in the module",
                                    "a number is not interned in the module"));
}

// Names

TEST_F(StructureTest, NoShadowing) {
  fresh("x");
  Loop *i = b.loop("i", 0, 2);
  b.insert_at_end(i->body());
  fresh("x");
  fresh("i");
  b.loop("i", 0, 1);
  b.insert_at_end(f->body());
  fresh("x");
  EXPECT_THAT(errors(), ElementsAre("%x is defined where an earlier %x is visible",
                                    "%i is defined where an earlier %i is visible",
                                    "%i is defined where an earlier %i is visible",
                                    "%x is defined where an earlier %x is visible"));
}

TEST_F(StructureTest, NamesAreFreeAfterTheirBlock) {
  for (int n = 0; n < 2; ++n) {
    b.insert_at_end(f->body());
    b.insert_at_end(b.loop("i", 0, 2)->body());
    fresh("x");
  }
  b.insert_at_end(f->body());
  fresh("x");
  fresh("i");
  EXPECT_THAT(errors(), IsEmpty());
}

TEST_F(StructureTest, TensorsHaveTheirOwnNames) {
  fresh("t");
  tensor("t", DType::Float32, {4});
  EXPECT_THAT(errors(), IsEmpty());
  tensor("t", DType::Float32, {4});
  EXPECT_THAT(errors(), ElementsAre("tensor $t is declared twice"));
}

TEST_F(StructureTest, FunctionsAreDefinedOnce) {
  module.add_function(module.intern("f"));
  EXPECT_THAT(errors(), ElementsAre("function @f is defined twice"));
}

TEST_F(StructureTest, NamedInstructionDefinesAValue) {
  Tensor *t = tensor("t", DType::Float32, {4});
  b.store(fresh(), {t})->set_name(module.intern("s"));
  EXPECT_THAT(errors(), ElementsAre("an instruction named %s defines no value"));
}

TEST_F(StructureTest, RedefinitionPointsAtTheEarlierOne) {
  b.set_source(5);
  fresh("x");
  b.set_source(9);
  fresh("x");
  DiagnosticEngine diagnostics;
  EXPECT_FALSE(verify(module, VerifyLevel::Structure, diagnostics));
  ASSERT_EQ(diagnostics.diagnostics().size(), 1u);
  EXPECT_EQ(diagnostics.diagnostics()[0].range.begin, 9u);
  ASSERT_EQ(diagnostics.diagnostics()[0].notes.size(), 1u);
  EXPECT_EQ(diagnostics.diagnostics()[0].notes[0].range.begin, 5u);
}

// Loops

TEST(LoopBounds, AtLeastOneTripAndStep) {
  constexpr auto min = std::numeric_limits<std::int64_t>::min();
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(loop_bounds_error(0, 1, 1), "");
  EXPECT_EQ(loop_bounds_error(min, max, 3), "");
  EXPECT_EQ(loop_bounds_error(0, max, 1), "");
  EXPECT_EQ(loop_bounds_error(2, 2, 1), "a loop has at least one trip, found 2..2");
  EXPECT_EQ(loop_bounds_error(0, 2, 0), "the step of a loop is at least 1, found 0");
  EXPECT_THAT(loop_bounds_error(min, max, 1), HasSubstr("do not fit in 63 bits"));
  EXPECT_THAT(loop_bounds_error(-1, max, 1), HasSubstr("do not fit in 63 bits"));
}

TEST_F(StructureTest, LoopWithoutTrips) {
  b.loop("i", 3, 3);
  EXPECT_THAT(errors(), ElementsAre("a loop has at least one trip, found 3..3"));
}

TEST_F(StructureTest, NestLimit) {
  for (unsigned i = 0; i < max_loop_depth; ++i)
    b.insert_at_end(b.loop("i" + std::to_string(i), 0, 2)->body());
  fresh("x");
  EXPECT_THAT(errors(), IsEmpty());
  b.insert_at_end(b.loop("j", 0, 2)->body());
  b.insert_at_end(b.loop("k", 0, 2)->body());
  EXPECT_THAT(errors(), ElementsAre("loops nest more than 1000 deep"));
}

// Calls

class CallTest : public StructureTest {
protected:
  CallTest() {
    Builder gb(*g);
    gb.tensor("in", type(DType::Float32, {4}), Space::Dram, Role::Input);
    gb.tensor("tmp", type(DType::Float32, {4}), Space::Sbuf);
    gb.tensor("out", type(DType::Float32, {8}), Space::Dram, Role::Output);
  }
  Tensor *dram(std::string_view name, std::int64_t size, Role role = Role::Internal) {
    return tensor(name, DType::Float32, {size}, Space::Dram, role);
  }
  Function *g = module.add_function(module.intern("g"));
};

TEST_F(CallTest, InputsThenOutputs) {
  call(*g, {{dram("a", 4)}, {dram("b", 8)}});
  EXPECT_THAT(errors(), IsEmpty());
}

TEST_F(CallTest, Count) {
  call(*g, {{dram("a", 4)}});
  EXPECT_THAT(errors(),
              ElementsAre("call of @g passes 1 tensor, expected 2: 1 input and 1 output"));
}

TEST_F(CallTest, TypesAndSpaces) {
  Tensor *sbuf = tensor("s", DType::Float32, {8});
  Tensor *other = tensor("o", DType::Bfloat16, {4}, Space::Dram);
  call(*g, {{other}, {sbuf}});
  EXPECT_THAT(errors(), ElementsAre("$o is bfloat16[4], but $in of @g is float32[4]",
                                    "$s is in sbuf, but $out of @g is in dram"));
}

TEST_F(CallTest, WholeTensorsOnly) {
  Tensor *a = dram("a", 8);
  call(*g, {b.access(a, {AccessDim{{}, 0, 4, 1}}), {dram("b", 8)}});
  EXPECT_THAT(errors(), ElementsAre("call takes whole tensors, found a part of $a"));
}

TEST_F(CallTest, OutputsAreWritten) {
  call(*g, {{dram("a", 4, Role::Input)}, {dram("b", 8, Role::Input)}});
  EXPECT_THAT(errors(), ElementsAre("input tensor $b is never written, but $out of @g is an "
                                    "output"));
}

TEST_F(CallTest, OutputsStandAlone) {
  Function *h = module.add_function(module.intern("h"));
  Builder hb(*h);
  for (const auto &[name, role] : {std::pair("x", Role::Input), std::pair("w", Role::Input),
                                   std::pair("y", Role::Output), std::pair("z", Role::Output)})
    hb.tensor(name, type(DType::Float32, {4}), Space::Dram, role);
  Tensor *a = dram("a", 4);
  Tensor *c = dram("c", 4);
  Tensor *d = dram("d", 4);
  call(*h, {{a}, {a}, {c}, {d}});
  call(*h, {{a}, {c}, {c}, {d}});
  call(*h, {{a}, {a}, {c}, {c}});
  EXPECT_THAT(errors(), ElementsAre("output argument $c also stands at place 2 of the call",
                                    "output argument $c also stands at place 3 of the call"));
}

TEST_F(CallTest, UnknownFunction) {
  call(*module.declare_function(module.intern("nowhere")), {});
  EXPECT_THAT(errors(), ElementsAre("call of unknown function @nowhere"));
}

TEST_F(CallTest, NoRecursion) {
  Function *a = module.add_function(module.intern("a"));
  Function *c = module.add_function(module.intern("c"));
  call(*f, {});
  call(*a, {});
  b = Builder(*a);
  call(*c, {});
  b = Builder(*c);
  call(*a, {});
  EXPECT_THAT(errors(), ElementsAre("recursive call of @f: @f -> @f",
                                    "recursive call of @a: @a -> @c -> @a"));
}

TEST_F(CallTest, LongChainsOfCallsAreNoRecursion) {
  Function *caller = f;
  for (int i = 0; i < 100000; ++i) {
    Function *callee = module.add_function(Name::number(static_cast<std::uint32_t>(i)));
    b = Builder(*caller);
    call(*callee, {});
    caller = callee;
  }
  EXPECT_THAT(errors(), IsEmpty());
  b = Builder(*caller);
  call(*f, {});
  EXPECT_THAT(errors(), ElementsAre("recursive call of @f: @f -> ... -> @99996 -> @99997 -> "
                                    "@99998 -> @99999 -> @f"));
}

// Size: all of this is linear.

TEST_F(StructureTest, ManyUsersOfOneValue) {
  Instruction *x = fresh("x");
  Tensor *t = tensor("t", DType::Float32, {4});
  for (int i = 0; i < 200000; ++i) {
    copy(x);
    b.store(x, {t});
  }
  EXPECT_THAT(errors(), IsEmpty());
}

TEST_F(StructureTest, ManyFunctions) {
  for (std::uint32_t i = 0; i < 200000; ++i) {
    Builder other(*module.add_function(Name::number(i)));
    other.tensor("t", type(DType::Float32, {4}), Space::Sbuf);
    other.load(other.function().first_tensor());
  }
  EXPECT_THAT(errors(), IsEmpty());
}

TEST_F(CallTest, ManyCallsOfAFunctionWithManyTensors) {
  Builder gb(*g);
  for (std::uint32_t i = 0; i < 50000; ++i)
    gb.tensor(std::to_string(i), type(DType::Float32, {4}), Space::Sbuf);
  Tensor *in = dram("a", 4);
  Tensor *out = dram("b", 8);
  for (int i = 0; i < 50000; ++i)
    call(*g, {{in}, {out}});
  EXPECT_THAT(errors(), IsEmpty());
}

} // namespace
} // namespace nir
