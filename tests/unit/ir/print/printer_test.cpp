#include "ir/print/printer.h"

#include <bit>

#include "ir/name/name_text.h"
#include "tests/unit/support/ir_fixture.h"

namespace nir {
namespace {

class PrinterTest : public IrTest {
protected:
  // The text of @f without its frame, two blanks less a line where there is one line only.
  std::string body() {
    const std::string text = to_string(*f);
    return text.substr(10, text.size() - 12);
  }
  Attr custom(std::string_view name, AttrValue value) {
    return {AttrKey::Custom, module.intern(name), value};
  }
  Instruction *opaque(std::vector<Attr> list, std::initializer_list<Operand> operands = {}) {
    list.push_back(attr(AttrKey::OpaqueName, AttrValue::of_string("g")));
    return make(Opcode::Opaque, operands, nullptr,
                {.attrs = AttrList::create(module.arena(), list)});
  }
};

TEST_F(PrinterTest, EmptyModuleIsEmptyText) { EXPECT_EQ(to_string(Module()), ""); }

TEST_F(PrinterTest, EmptyFunction) { EXPECT_EQ(to_string(module), "func @f {\n}\n"); }

TEST_F(PrinterTest, HeaderAndFunctionsAreSetApart) {
  module.set_header(module.intern("demo"));
  module.add_function(module.intern("g"))->set_strict(true);
  EXPECT_EQ(to_string(module), "module @demo\n\nfunc @f {\n}\n\nfunc @g strict {\n}\n");
  module.set_prints_target(true);
  EXPECT_TRUE(to_string(module).starts_with("module @demo {target = \"trn2\"}\n\nfunc"));
}

TEST_F(PrinterTest, HeaderAlone) {
  Module alone;
  alone.set_header(alone.intern("demo"));
  EXPECT_EQ(to_string(alone), "module @demo\n");
}

TEST_F(PrinterTest, TheExampleOfTheLanguageReference) {
  Tensor *y = tensor("y", DType::Uint16, {1024, 512}, Space::Dram, Role::Output);
  const float one = 1.0f;
  const auto bits = std::bit_cast<std::array<std::uint8_t, 4>>(one);
  ConstData *data = module.add_const_data({InitForm::Splat, {bits.begin(), bits.end()}});
  Tensor *k = b.tensor("k", type(DType::Float32, {1}), Space::Sbuf, Role::Const, data);
  Instruction *w = value(DType::Float32, {128, 128}, "w");
  Instruction *r = value(DType::Float32, {128, 1}, "r");
  Loop *loop = b.loop("i", 0, 8, 2);
  b.insert_at_end(loop->body());
  const Attr loc = attr(AttrKey::Loc, AttrValue::of_string("a.py:3"));
  Instruction *n = make(Opcode::TensorScalar,
                        {{w}, {r}, {number(DType::Float32, std::bit_cast<std::uint32_t>(one))}},
                        type(DType::Uint16, {128, 128}),
                        {.attrs = attrs({loc}),
                         .op0 = AluOp::Multiply,
                         .op1 = AluOp::Add,
                         .flags = inst_flag::Reverse0 | inst_flag::Fixed,
                         .name = "n"});
  const std::int64_t list[] = {1, 2};
  opaque({custom("k", AttrValue::of_ints(list))}, {{n}, {k}});
  const AccessDim dims[] = {{b.terms({{loop, 128}}), 4, 128, 1}, {{}, 0, 256, 2}};
  const Type *box = type(DType::Bfloat16, {128, 256});
  make(Opcode::Store, {{n}}, nullptr,
       {.dst = {y, Access::create(module.arena(), box, dims, false, true)}});
  EXPECT_EQ(to_string(module),
            "func @f {\n"
            "  tensor $y : uint16[1024, 512] dram output\n"
            "  tensor $k : float32[1] sbuf const = splat(1.0)\n"
            "\n"
            "  %w = opaque \"v\"() : float32[128, 128]\n"
            "  %r = opaque \"v\"() : float32[128, 1]\n"
            "  for %i in 0..8 step 2 {\n"
            "    %n = tensor_scalar %w, multiply %r, add 1.0 {reverse0, fixed, loc = \"a.py:3\"} : "
            "uint16[128, 128]\n"
            "    opaque \"g\"(%n, $k) {k = [1, 2]}\n"
            "    store %n -> $y[%i * 128 + 4 : 128, 0 : 256 : 2] as bfloat16\n"
            "  }\n"
            "}\n");
}

TEST_F(PrinterTest, NestedAndEmptyLoops) {
  Loop *outer = b.loop("i", -4, 4);
  b.insert_at_end(outer->body());
  b.loop("j", 0, 1);
  Loop *last = b.loop("k", 0, 2);
  b.insert_at_end(last->body());
  b.loop("l", 0, 3);
  b.insert_at_end(f->body());
  b.loop("m", 0, 1);
  EXPECT_EQ(to_string(*f), "func @f {\n"
                           "  for %i in -4..4 {\n"
                           "    for %j in 0..1 {\n"
                           "    }\n"
                           "    for %k in 0..2 {\n"
                           "      for %l in 0..3 {\n"
                           "      }\n"
                           "    }\n"
                           "  }\n"
                           "  for %m in 0..1 {\n"
                           "  }\n"
                           "}\n");
}

TEST_F(PrinterTest, DeepNestIsNoRecursion) {
  constexpr int depth = 5000;
  for (int i = 0; i < depth; ++i)
    b.insert_at_end(b.loop("", 0, 1)->body());
  const TextSink count = [](std::string_view) {};
  f->renumber();
  print(module, count);
}

TEST_F(PrinterTest, UnnamedValuesTakeFreeNumbers) {
  value(DType::Int8, {1}, "1");
  value(DType::Int8, {1});
  Loop *loop = b.loop("", 0, 1);
  loop->set_name(Name());
  b.insert_at_end(loop->body());
  value(DType::Int8, {1});
  value(DType::Int8, {1}, "3");
  value(DType::Int8, {1}, "007");
  Instruction *last = value(DType::Int8, {1});
  opaque({}, {{last}});
  EXPECT_EQ(to_string(*f), "func @f {\n"
                           "  %1 = opaque \"v\"() : int8[1]\n"
                           "  %0 = opaque \"v\"() : int8[1]\n"
                           "  for %2 in 0..1 {\n"
                           "    %4 = opaque \"v\"() : int8[1]\n"
                           "    %3 = opaque \"v\"() : int8[1]\n"
                           "    %007 = opaque \"v\"() : int8[1]\n"
                           "    %5 = opaque \"v\"() : int8[1]\n"
                           "    opaque \"g\"(%5)\n"
                           "  }\n"
                           "}\n");
}

TEST_F(PrinterTest, NamesAreQuotedOnlyWhereTheyMustBe) {
  const auto quoted = [&](std::string_view name) {
    return quoted_name(module.names(), '%', module.intern(name));
  };
  EXPECT_EQ(quoted("x"), "%x");
  EXPECT_EQ(quoted("0.a_B"), "%0.a_B");
  EXPECT_EQ(quoted("007"), "%007");
  EXPECT_EQ(quoted("_"), "%_");
  EXPECT_EQ(quoted(".a"), "%\".a\"");
  EXPECT_EQ(quoted("a b"), "%\"a b\"");
  EXPECT_EQ(quoted("a-b"), "%\"a-b\"");
  EXPECT_EQ(quoted("for"), "%for");
  EXPECT_EQ(quoted("\xC3\xA4"), "%\"\xC3\xA4\"");
  EXPECT_EQ(quoted("99999999999"), "%99999999999");
}

TEST_F(PrinterTest, StringEscapes) {
  const std::string odd("\"\\\n\t\r\x01\x7f\xff\xC3\xA4\xE2\x82 \0z", 15);
  opaque({custom("s", AttrValue::of_string(odd))});
  EXPECT_EQ(body(), "  opaque \"g\"() {s = \"\\\"\\\\\\n\\t\\x0d\\x01\\x7f\\xff\xC3\xA4\\xe2\\x82 "
                    "\\x00z\"}\n");
}

TEST_F(PrinterTest, OpaqueAttributesAreAsWritten) {
  const AttrValue inner[] = {AttrValue::of_bool(true), AttrValue::of_word("exp")};
  const AttrValue outer[] = {AttrValue::of_list(inner), AttrValue::of_list({}),
                             AttrValue::of_double(0.1)};
  Instruction *inst = opaque(
      {custom("z", AttrValue::of_bool(true)), custom("a", AttrValue::of_bool(false)),
       custom("d", AttrValue::of_double(1.0)), custom("i", AttrValue::of_int(-3)),
       custom("w", AttrValue::of_word("relu")), custom("n", AttrValue::of_list(outer)),
       custom("e", AttrValue::of_list({})), attr(AttrKey::Loc, AttrValue::of_string("f:1"))});
  inst->set_flag(inst_flag::Fixed, true);
  inst->set_autocast(module.intern("p"));
  EXPECT_EQ(body(), "  opaque \"g\"() {z, a = false, d = 1.0, i = -3, w = relu, n = [[true, exp], "
                    "[], 0.1], e = [], fixed, autocast = \"p\", loc = \"f:1\"}\n");
}

TEST_F(PrinterTest, DefaultAttributesAreLeftOut) {
  Tensor *p = tensor("p", DType::Float32, {8, 8}, Space::Psum);
  Instruction *a = value(DType::Float32, {8, 8}, "a");
  make(Opcode::Matmul, {{a}, {a}}, nullptr,
       {.dst = {p},
        .attrs = attrs({ints(AttrKey::LhsContract, {0}), ints(AttrKey::RhsContract, {1}),
                        ints(AttrKey::LhsBatch, {})}),
        .flags = inst_flag::Accumulate});
  EXPECT_THAT(body(), testing::EndsWith("matmul %a, %a {rhs_contract = [1], accumulate} -> $p\n"));
}

TEST_F(PrinterTest, AttributesStandInTableOrder) {
  Instruction *a = value(DType::Float32, {8}, "a");
  make(Opcode::Slice, {{a}}, type(DType::Float32, {2}),
       {.attrs = attrs(
            {ints(AttrKey::Stride, {2}), ints(AttrKey::Size, {2}), ints(AttrKey::Start, {0})}),
        .name = "s"});
  EXPECT_THAT(body(), testing::EndsWith(
                          "%s = slice %a {start = [0], size = [2], stride = [2]} : float32[2]\n"));
}

TEST_F(PrinterTest, ScaleIsAFloat32) {
  Instruction *a = value(DType::Float32, {8}, "a");
  const float scale = 0.1f;
  make(Opcode::Activation, {{a}, {a}}, type(DType::Bfloat16, {8}),
       {.attrs = attrs(
            {attr(AttrKey::Scale, AttrValue::of_float32(std::bit_cast<std::uint32_t>(scale)))}),
        .name = "s"});
  EXPECT_THAT(body(),
              testing::EndsWith("%s = activation identity %a, %a {scale = 0.1} : bfloat16[8]\n"));
}

TEST_F(PrinterTest, NumbersPrintInTheirDType) {
  make(Opcode::Memset, {{number(DType::Bfloat16, 0x3f81)}}, type(DType::Bfloat16, {}),
       {.name = "b"});
  make(Opcode::Memset, {{number(DType::Int8, 0x80)}}, type(DType::Int8, {2}), {.name = "i"});
  make(Opcode::Memset, {{number(DType::Float32, 0xffc00001)}}, type(DType::Float32, {2}),
       {.name = "n"});
  EXPECT_EQ(body(), "  %b = memset 1.01 : bfloat16[]\n"
                    "  %i = memset -128 : int8[2]\n"
                    "  %n = memset -nan(0x7fc00001) : float32[2]\n");
}

TEST_F(PrinterTest, InitsPrintAsWritten) {
  const auto constant = [&](std::string_view name, DType dtype, InitForm form,
                            std::vector<std::uint8_t> bytes) {
    ConstData *data = module.add_const_data({form, std::move(bytes)});
    b.tensor(name, type(dtype, {2}), Space::Dram, Role::Const, data);
  };
  constant("a", DType::Int16, InitForm::Dense, {0xff, 0xff, 0x00, 0x01});
  constant("b", DType::Int16, InitForm::Hex, {0xff, 0xAB, 0x00, 0x01});
  constant("c", DType::Float8E8m0fnu, InitForm::Splat, {200});
  EXPECT_EQ(body(), "  tensor $a : int16[2] dram const = dense(-1, 256)\n"
                    "  tensor $b : int16[2] dram const = hex(\"ffab0001\")\n"
                    "  tensor $c : float8_e8m0fnu[2] dram const = splat(200)\n");
}

TEST_F(PrinterTest, AffineIndices) {
  Tensor *t = tensor("t", DType::Int8, {100});
  Loop *i = b.loop("i", 0, 2);
  b.insert_at_end(i->body());
  Loop *j = b.loop("j", 0, 2);
  b.insert_at_end(j->body());
  const auto text = [&](std::span<const AffineTerm> terms, std::int64_t constant) {
    return to_string(opaque({}, {b.access(t, {AccessDim{terms, constant, 1, 1}})})->operand(0));
  };
  EXPECT_EQ(text({}, 0), "$t[0 : 1]");
  EXPECT_EQ(text({}, -3), "$t[-3 : 1]");
  EXPECT_EQ(text(b.terms({{i, 1}}), 0), "$t[%i : 1]");
  EXPECT_EQ(text(b.terms({{i, 1}, {j, -2}}), -4), "$t[%i + %j * -2 - 4 : 1]");
  EXPECT_EQ(text(b.terms({{i, -1}}), 4), "$t[%i * -1 + 4 : 1]");
  EXPECT_EQ(text(b.terms({{i, 1}}), std::numeric_limits<std::int64_t>::min()),
            "$t[%i - 9223372036854775808 : 1]");
}

TEST_F(PrinterTest, WholeAccessesAndViews) {
  Tensor *t = tensor("t", DType::Float32, {4});
  Instruction *inst = opaque({}, {{t}, b.view(t, DType::Uint32), b.access(t, {{.size = 4}})});
  EXPECT_EQ(to_string(*inst), "opaque \"g\"($t, $t as uint32, $t)");
}

TEST_F(PrinterTest, CallsAndGenerators) {
  Function *g = module.add_function(module.intern("a b"));
  Tensor *t = tensor("t", DType::Float32, {4});
  call(*g, {});
  call(*g, {{t}, {t}});
  make(Opcode::Iota, {}, type(DType::Int32, {4}), {.name = "i"});
  EXPECT_EQ(body(), "  tensor $t : float32[4] sbuf\n\n"
                    "  call @\"a b\"()\n"
                    "  call @\"a b\"($t, $t)\n"
                    "  %i = iota : int32[4]\n");
}

TEST_F(PrinterTest, SingleStatements) {
  Instruction *a = value(DType::Float32, {8});
  Instruction *copy = b.tensor_copy(a, DType::Bfloat16);
  EXPECT_EQ(to_string(*copy), "%? = tensor_copy %? : bfloat16[8]");
  EXPECT_EQ(to_string(*b.loop("i", 0, 8, 3)), "for %i in 0..8 step 3 {");
}

TEST_F(PrinterTest, LargeTextComesInPieces) {
  for (int i = 0; i < 50000; ++i)
    value(DType::Float32, {128, 512}, "some_long_name");
  std::size_t pieces = 0;
  std::string text;
  print(module, [&](std::string_view piece) {
    ++pieces;
    EXPECT_LE(piece.size(), std::size_t{1} << 20);
    text += piece;
  });
  EXPECT_GT(pieces, 2u);
  EXPECT_EQ(text, to_string(module));
}

} // namespace
} // namespace nir
