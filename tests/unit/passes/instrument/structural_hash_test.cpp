#include "passes/instrument/structural_hash.h"

#include <array>
#include <bit>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "ir/core/builder.h"
#include "ir/print/printer.h"
#include "passes/manager/pass_manager.h"

namespace nir {
namespace {

// The objects of the sample module that tests change.
struct Sample {
  std::unique_ptr<Module> module = std::make_unique<Module>();
  Function *function = nullptr;
  Tensor *x = nullptr;
  Tensor *y = nullptr;
  Tensor *k = nullptr;
  Loop *loop = nullptr;
  Instruction *load = nullptr;
  Instruction *copy = nullptr;
  Instruction *sum = nullptr;
  Instruction *scaled = nullptr;
  Instruction *store = nullptr;
};

AccessDim row(Builder &builder, const Loop *loop, std::int64_t factor, std::int64_t constant) {
  return {builder.terms({{loop, factor}}), constant, 128, 1};
}

Sample make_sample() {
  Sample s;
  s.module->set_header(s.module->intern("m"));
  s.function = s.module->add_function(s.module->intern("f"));
  Builder b(*s.function);
  const Type *big = b.type(DType::Float32, {1024, 64});
  s.x = b.tensor("x", big, Space::Dram, Role::Input);
  s.y = b.tensor("y", big, Space::Dram, Role::Output);
  ConstData *init = s.module->add_const_data({InitForm::Dense, std::vector<std::uint8_t>(8)});
  s.k = b.tensor("k", b.type(DType::Float32, {2}), Space::Sbuf, Role::Const, init);
  s.loop = b.loop("i", 0, 4);
  b.insert_at_end(s.loop->body());
  const auto at = [&](Tensor *tensor) {
    return b.access(tensor, {row(b, s.loop, 128, 0), {.size = 64}});
  };
  s.load = b.load(at(s.x), DType::Float32);
  s.load->set_name(s.module->intern("a"));
  s.copy = b.tensor_copy(s.load, DType::Bfloat16);
  s.copy->set_name(s.module->intern("7"));
  s.sum = b.tensor_tensor(AluOp::Add, {s.load, nullptr}, {s.copy, nullptr}, DType::Float32);
  s.scaled = b.tensor_scalar({s.sum, nullptr}, AluOp::Multiply, 2.0f, DType::Float32);
  s.store = b.store(s.scaled, at(s.y));
  return s;
}

std::uint64_t hash_of(const Sample &sample) { return structural_hash(*sample.module); }

TEST(StructuralHash, EqualModulesHashEqual) {
  EXPECT_EQ(hash_of(make_sample()), hash_of(make_sample()));
}

TEST(StructuralHash, IsStable) {
  const Sample sample = make_sample();
  const std::uint64_t hash = hash_of(sample);
  EXPECT_EQ(hash_of(sample), hash);
}

TEST(StructuralHash, DoesNotDependOnInterningOrAddresses) {
  const Sample plain = make_sample();
  Sample other;
  other.module->intern("zzz");
  other.module->intern("k");
  other.module->intern("y");
  other.module->arena().allocate(4096);
  // The same text in a module with another history.
  other.module->set_header(other.module->intern("m"));
  other.function = other.module->add_function(other.module->intern("f"));
  Builder b(*other.function);
  b.type(DType::Float16, {3});
  const Type *type = b.type(DType::Float32, {2});
  b.tensor("k", type, Space::Sbuf);
  Module twin;
  twin.set_header(twin.intern("m"));
  Builder c(*twin.add_function(twin.intern("f")));
  c.tensor("k", c.type(DType::Float32, {2}), Space::Sbuf);
  EXPECT_EQ(to_string(*other.module), to_string(twin));
  EXPECT_EQ(hash_of(other), structural_hash(twin));
}

TEST(StructuralHash, EmptyModulesHashEqual) {
  Module a;
  Module b;
  EXPECT_EQ(structural_hash(a), structural_hash(b));
}

const AttrList *with(Module &module, AttrKey key, AttrValue value, Name custom = {}) {
  Attr attr;
  attr.key = key;
  attr.custom_name = custom;
  attr.value = value;
  return AttrList::create(module.arena(), {&attr, 1});
}

// Each change shows in the text, so each must show in the hash.
TEST(StructuralHash, SeesEveryChangeThatPrints) {
  const std::map<std::string, std::function<void(Sample &)>> changes{
      {"header name", [](Sample &s) { s.module->set_header(s.module->intern("n")); }},
      {"target shown", [](Sample &s) { s.module->set_prints_target(true); }},
      {"another target",
       [](Sample &s) {
         s.module->set_prints_target(true);
         s.module->set_target(*find_target("trn1"));
       }},
      {"strict", [](Sample &s) { s.function->set_strict(true); }},
      {"a second function", [](Sample &s) { s.module->add_function(s.module->intern("g")); }},
      {"tensor name", [](Sample &s) { s.x->set_name(s.module->intern("xx")); }},
      {"tensor type",
       [](Sample &s) { s.x->retype(s.module->types().with_dtype(s.x->type(), DType::Float16)); }},
      {"another tensor",
       [](Sample &s) { Builder(*s.function).tensor("t", s.x->type(), Space::Sbuf); }},
      {"a tensor in psum",
       [](Sample &s) { Builder(*s.function).tensor("t", s.x->type(), Space::Psum); }},
      {"const bytes", [](Sample &s) { s.k->init()->bytes[3] = 1; }},
      {"const form", [](Sample &s) { s.k->init()->form = InitForm::Hex; }},
      {"value name", [](Sample &s) { s.load->set_name(s.module->intern("b")); }},
      {"value number", [](Sample &s) { s.copy->set_name(s.module->intern("8")); }},
      {"number as text", [](Sample &s) { s.copy->set_name(s.module->intern("07")); }},
      {"name taken away", [](Sample &s) { s.load->set_name({}); }},
      {"loop name", [](Sample &s) { s.loop->set_name(s.module->intern("j")); }},
      {"result dtype",
       [](Sample &s) {
         s.copy->set_result_type(s.module->types().with_dtype(s.copy->type(), DType::Float16));
       }},
      {"flag", [](Sample &s) { s.copy->set_flag(inst_flag::Fixed, true); }},
      {"exact_ints", [](Sample &s) { s.copy->set_flag(inst_flag::ExactInts, true); }},
      {"autocast", [](Sample &s) { s.copy->set_autocast(s.module->intern("p")); }},
      {"another autocast", [](Sample &s) { s.copy->set_autocast(s.module->intern("q")); }},
      {"loc",
       [](Sample &s) {
         s.copy->set_attrs(with(*s.module, AttrKey::Loc, AttrValue::of_string("a.py:1")));
       }},
      {"another loc",
       [](Sample &s) {
         s.copy->set_attrs(with(*s.module, AttrKey::Loc, AttrValue::of_string("a.py:2")));
       }},
      {"operand", [](Sample &s) { s.sum->operand(1).set(s.load); }},
      {"operands swapped",
       [](Sample &s) {
         s.sum->operand(0).set(s.copy);
         s.sum->operand(1).set(s.load);
       }},
      {"number operand",
       [](Sample &s) {
         const auto bits = std::bit_cast<std::uint32_t>(3.0f);
         s.scaled->operand(1).set(s.module->immediate(DType::Float32, bits));
       }},
      {"written tensor", [](Sample &s) { s.store->dst()->set(s.x, s.store->dst()->access()); }},
      {"whole access", [](Sample &s) { s.store->dst()->set(s.y); }},
      {"offset",
       [](Sample &s) {
         Builder b(*s.function);
         const Operand moved = b.access(s.y, {row(b, s.loop, 128, 1), {.size = 64}});
         s.store->dst()->set(s.y, moved.access);
       }},
      {"factor",
       [](Sample &s) {
         Builder b(*s.function);
         const Operand moved = b.access(s.y, {row(b, s.loop, 64, 0), {.size = 64}});
         s.store->dst()->set(s.y, moved.access);
       }},
      {"stride",
       [](Sample &s) {
         Builder b(*s.function);
         const Operand moved =
             b.access(s.y, {row(b, s.loop, 128, 0), {.constant = 0, .size = 64, .stride = 2}});
         s.store->dst()->set(s.y, moved.access);
       }},
      {"reinterpreting access",
       [](Sample &s) {
         s.store->dst()->set(s.y, Builder(*s.function).view(s.y, DType::Int32).access);
       }},
      {"an instruction more",
       [](Sample &s) {
         Builder b(*s.function);
         b.insert_at_end(s.loop->body());
         b.tensor_copy(s.load, DType::Float32);
       }},
      {"the same outside the loop",
       [](Sample &s) { Builder(*s.function).tensor_copy(s.load, DType::Float32); }},
      {"an instruction less", [](Sample &s) { s.store->erase(); }},
      {"other order",
       [](Sample &s) {
         Builder b(*s.function);
         b.insert_before(*s.copy);
         b.store(s.load, {s.y, nullptr});
       }},
      {"a loop", [](Sample &s) { Builder(*s.function).loop("j", 0, 4); }},
      {"other bounds", [](Sample &s) { Builder(*s.function).loop("j", 1, 4); }},
      {"a step", [](Sample &s) { Builder(*s.function).loop("j", 0, 4, 2); }},
  };
  std::map<std::uint64_t, std::string> seen{{hash_of(make_sample()), "none"}};
  const std::string text = to_string(*make_sample().module);
  for (const auto &[name, change] : changes) {
    Sample sample = make_sample();
    change(sample);
    EXPECT_NE(to_string(*sample.module), text) << name;
    const auto [it, is_new] = seen.emplace(hash_of(sample), name);
    EXPECT_TRUE(is_new) << name << " hashes as " << it->second;
  }
}

TEST(StructuralHash, IgnoresWhatDoesNotPrint) {
  const std::map<std::string, std::function<void(Sample &)>> changes{
      {"target not shown", [](Sample &s) { s.module->set_target(*find_target("trn1")); }},
      {"positions",
       [](Sample &s) {
         s.load->set_source(17);
         s.function->set_source(3);
       }},
      {"a declared function", [](Sample &s) { s.module->declare_function(s.module->intern("h")); }},
      {"default attribute",
       [](Sample &s) { s.copy->set_attrs(with(*s.module, AttrKey::Dim, AttrValue::of_int(0))); }},
      {"a whole access written out",
       [](Sample &s) {
         const Access *whole = Builder(*s.function).view(s.y, DType::Int32).access;
         const auto dims = whole->dims();
         s.store->dst()->set(s.y,
                             Access::create(s.module->arena(), s.y->type(), dims, true, false));
       }},
  };
  for (const auto &[name, change] : changes) {
    Sample reference = make_sample();
    if (name == "a whole access written out")
      reference.store->dst()->set(reference.y);
    Sample sample = make_sample();
    change(sample);
    EXPECT_EQ(to_string(*sample.module), to_string(*reference.module)) << name;
    EXPECT_EQ(hash_of(sample), hash_of(reference)) << name;
  }
}

// A value without a name is the value with the number under which it prints.
TEST(StructuralHash, UnnamedValuesHashAsTheyPrint) {
  Sample unnamed = make_sample();
  Sample numbered = make_sample();
  unnamed.copy->set_name(unnamed.module->intern("0"));
  numbered.copy->set_name(numbered.module->intern("0"));
  numbered.sum->set_name(numbered.module->intern("1"));
  numbered.scaled->set_name(numbered.module->intern("2"));
  EXPECT_EQ(to_string(*unnamed.module), to_string(*numbered.module));
  EXPECT_EQ(hash_of(unnamed), hash_of(numbered));
  numbered.scaled->set_name(numbered.module->intern("3"));
  EXPECT_NE(hash_of(unnamed), hash_of(numbered));
}

TEST(StructuralHash, UnnamedNumbersSkipLaterNames) {
  Sample a = make_sample();
  Sample b = make_sample();
  a.load->set_name({});
  a.copy->set_name(a.module->intern("0"));
  b.load->set_name(b.module->intern("1"));
  b.copy->set_name(b.module->intern("0"));
  EXPECT_EQ(to_string(*a.module), to_string(*b.module));
  EXPECT_EQ(hash_of(a), hash_of(b));
}

TEST(StructuralHash, EachFunctionCountsItsOwnNumbers) {
  Module a;
  Module b;
  for (const char *name : {"f", "g"}) {
    Builder make_a(*a.add_function(a.intern(name)));
    Builder make_b(*b.add_function(b.intern(name)));
    Tensor *ta = make_a.tensor("t", make_a.type(DType::Float32, {4}), Space::Sbuf);
    Tensor *tb = make_b.tensor("t", make_b.type(DType::Float32, {4}), Space::Sbuf);
    make_a.tensor_copy({ta, nullptr}, DType::Float16);
    make_b.tensor_copy({tb, nullptr}, DType::Float16)->set_name(b.intern("0"));
  }
  EXPECT_EQ(to_string(a), to_string(b));
  EXPECT_EQ(structural_hash(a), structural_hash(b));
}

TEST(StructuralHash, TellsAttributeKindsApart) {
  Sample sample = make_sample();
  Module &module = *sample.module;
  const Name key = module.intern("k");
  const std::array<std::int64_t, 2> ints{1, 2};
  const std::array<AttrValue, 2> list{AttrValue::of_int(1), AttrValue::of_int(2)};
  const std::array<AttrValue, 1> nested{AttrValue::of_list(list)};
  std::map<std::uint64_t, std::size_t> seen;
  const std::array values{AttrValue::of_bool(true),  AttrValue::of_bool(false),
                          AttrValue::of_int(1),      AttrValue::of_int(-1),
                          AttrValue::of_double(1.0), AttrValue::of_double(-0.0),
                          AttrValue::of_double(0.0), AttrValue::of_word("w"),
                          AttrValue::of_string("w"), AttrValue::of_string(""),
                          AttrValue::of_ints(ints),  AttrValue::of_list(nested),
                          AttrValue::of_list({}),    AttrValue::of_function(sample.function)};
  for (std::size_t i = 0; i < values.size(); ++i) {
    sample.copy->set_attrs(with(module, AttrKey::Custom, values[i], key));
    EXPECT_TRUE(seen.emplace(hash_of(sample), i).second) << i;
  }
  sample.copy->set_attrs(with(module, AttrKey::Custom, values[0], module.intern("l")));
  EXPECT_TRUE(seen.emplace(hash_of(sample), 0).second) << "another key";
}

TEST(StructuralHash, UndoingAChangeGivesTheOldHash) {
  const Sample sample = make_sample();
  const std::uint64_t hash = hash_of(sample);
  Builder b(*sample.function);
  b.insert_before(*sample.load);
  Instruction *extra = b.load(sample.x);
  EXPECT_NE(hash_of(sample), hash);
  extra->erase();
  EXPECT_EQ(hash_of(sample), hash);
}

TEST(StructuralHash, PiecesPointAtTheFirstDifference) {
  Sample sample = make_sample();
  const auto before = piece_hashes(*sample.module);
  // Header, function, three tensors, the loop and five instructions.
  ASSERT_EQ(before.size(), 11u);
  EXPECT_EQ(piece_at(*sample.module, 0).stmt, nullptr);
  EXPECT_EQ(piece_at(*sample.module, 2).tensor, sample.x);
  EXPECT_EQ(piece_at(*sample.module, 5).stmt, sample.loop);
  EXPECT_EQ(piece_at(*sample.module, 10).stmt, sample.store);
  EXPECT_EQ(piece_at(*sample.module, 11).stmt, nullptr);
  sample.sum->set_flag(inst_flag::Fixed, true);
  const auto after = piece_hashes(*sample.module);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(before[i] == after[i], piece_at(*sample.module, i).stmt != sample.sum) << i;
}

TEST(StructuralHash, OneValueWithManyUsersIsCheap) {
  Module module;
  Builder b(*module.add_function(module.intern("f")));
  Tensor *x = b.tensor("x", b.type(DType::Float32, {4}), Space::Dram, Role::Input);
  Instruction *load = b.load(x);
  for (int i = 0; i < 100'000; ++i)
    b.tensor_copy(load, DType::Float16);
  const std::uint64_t hash = structural_hash(module);
  load->set_name(module.intern("99999"));
  EXPECT_NE(structural_hash(module), hash);
}

} // namespace
} // namespace nir
