// What the parser makes of valid text, and of text in bulk.

#include "lang/nir/parser/parser.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/print/printer.h"
#include "tests/unit/support/parse_errors.h"

namespace nir {
namespace {

using test::errors_of;

class ParserTest : public ::testing::Test {
protected:
  // The module of a text, which must have no error.
  Module &read(std::string text, const ParseOptions &options = {}) {
    file_ = std::make_unique<SourceFile>("test.nir", std::move(text));
    DiagnosticEngine diagnostics;
    module_ = parse(*file_, diagnostics, options);
    for (const Diagnostic &diagnostic : diagnostics.diagnostics()) {
      std::string out;
      render(diagnostic, *file_, out);
      EXPECT_NE(diagnostic.severity, Severity::Error) << out;
    }
    if (module_ == nullptr)
      throw std::runtime_error("the text does not parse");
    return *module_;
  }

  // The printed body of a function with a few tensors, from the statement that is given.
  std::string printed(std::string_view statement) {
    Module &module = read(fmt::format("func @f {{\n"
                                      "  tensor $x : f32[4, 8] sbuf input\n"
                                      "  tensor $i : s32[4, 8] sbuf input\n"
                                      "  tensor $m : u8[4, 8] sbuf\n"
                                      "  tensor $y : f32[4, 8] sbuf output\n"
                                      "  tensor $d : f32[4, 8] dram output\n"
                                      "  tensor $p : f32[8, 8] psum\n"
                                      "  %a = tensor_copy $x : f32[4, 8]\n"
                                      "  {}\n}}\n",
                                      statement));
    const std::string text = to_string(module);
    const std::string start = "  %a = tensor_copy $x : float32[4, 8]\n";
    const std::size_t begin = text.find(start) + start.size();
    return text.substr(begin, text.size() - begin - 2);
  }
  // Whether a statement prints as it stands.
  void expect_same(const std::string &statement) {
    EXPECT_EQ(printed(statement), "  " + statement + "\n");
  }
  Instruction &last_instruction() {
    return *cast<Instruction>(module_->functions().front()->body().last());
  }

  std::unique_ptr<SourceFile> file_;
  std::unique_ptr<Module> module_;
};

TEST_F(ParserTest, EmptyFile) {
  EXPECT_TRUE(read("").functions().empty());
  EXPECT_TRUE(read(" // nothing\n\n").functions().empty());
  EXPECT_FALSE(module_->has_header());
}

TEST_F(ParserTest, Header) {
  Module &module = read("module @\"a b\" {target = \"trn1\"}");
  EXPECT_TRUE(module.has_header());
  EXPECT_EQ(module.names().str(module.name()), "a b");
  EXPECT_EQ(module.target().name, "trn1");
  EXPECT_TRUE(module.prints_target());
  EXPECT_FALSE(read("module @m").prints_target());
}

TEST_F(ParserTest, TargetOfTheCallerWins) {
  ParseOptions options;
  options.target = find_target("trn3");
  EXPECT_EQ(read("module @m {target = \"trn1\"}", options).target().name, "trn3");
}

TEST_F(ParserTest, Functions) {
  Module &module = read("func @f {} func @g strict { }");
  ASSERT_EQ(module.functions().size(), 2u);
  EXPECT_FALSE(module.functions()[0]->is_strict());
  EXPECT_TRUE(module.functions()[1]->is_strict());
}

TEST_F(ParserTest, WhitespaceMeansNothing) {
  EXPECT_EQ(
      to_string(read("func@f{tensor$x:f32[4]sbuf input tensor\n$y\n:\nf32\n[\n4 // four\n]\nsbuf "
                     "output tensor_copy $x->$y}")),
      "func @f {\n  tensor $x : float32[4] sbuf input\n  tensor $y : float32[4] sbuf output\n\n"
      "  tensor_copy $x -> $y\n}\n");
}

TEST_F(ParserTest, Tensors) {
  Module &module = read("func @f {\n"
                        "  tensor $a : u8[] dram\n"
                        "  tensor $b : float8_e4m3fn_x4[2] sbuf const = hex(\"0001020304050607\")\n"
                        "  tensor $c : bf16[2, 2] sbuf const = dense(1, -1.5, inf, -nan)\n"
                        "  tensor $d : s16[3] dram const = splat(-0x10)\n"
                        "}\n");
  const Tensor *tensor = module.functions()[0]->first_tensor();
  EXPECT_EQ(tensor->type()->rank(), 0u);
  EXPECT_EQ(tensor->space(), Space::Dram);
  EXPECT_EQ(tensor->role(), Role::Internal);
  EXPECT_EQ(tensor->init(), nullptr);
  tensor = tensor->next();
  EXPECT_EQ(tensor->init()->bytes, (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  tensor = tensor->next();
  EXPECT_EQ(tensor->init()->bytes,
            (std::vector<std::uint8_t>{0x80, 0x3f, 0xc0, 0xbf, 0x80, 0x7f, 0xc0, 0xff}));
  tensor = tensor->next();
  EXPECT_EQ(tensor->init()->form, InitForm::Splat);
  EXPECT_EQ(tensor->init()->bytes, (std::vector<std::uint8_t>{0xf0, 0xff}));
}

TEST_F(ParserTest, LiteralsAreRoundedOnce) {
  const Module &module =
      read("func @f {\n"
           "  tensor $a : bf16[1] sbuf const = splat(1.0039062500000000000000001)\n"
           "  tensor $b : float8_e4m3fn[1] sbuf const = splat(1.06250000000000000001)\n"
           "  tensor $c : f32[1] sbuf const = splat(1.00000005960464477539062500000001)\n"
           "}\n");
  const Tensor *tensor = module.functions()[0]->first_tensor();
  EXPECT_EQ(tensor->init()->bytes, (std::vector<std::uint8_t>{0x81, 0x3f}));
  EXPECT_EQ(tensor->next()->init()->bytes, (std::vector<std::uint8_t>{0x39}));
  EXPECT_EQ(tensor->next()->next()->init()->bytes,
            (std::vector<std::uint8_t>{0x01, 0x00, 0x80, 0x3f}));
}

TEST_F(ParserTest, PlainStatements) {
  expect_same("%b = tensor_copy %a : bfloat16[4, 8]");
  expect_same("%b = select $m, %a, $x : float32[4, 8]");
  expect_same("tensor_copy $x -> $y");
}

TEST_F(ParserTest, FormsOfStatements) {
  expect_same("%b = activation exp %a : float32[4, 8]");
  expect_same("activation gelu_tanh $x {scale = 0.5} -> $y");
  expect_same("%b = tensor_tensor add %a, $x : float32[4, 8]");
  expect_same("%b = tensor_reduce max %a {axes = [1]} : float32[4, 1]");
  expect_same("%b = tensor_scalar %a, multiply 2.0 : float32[4, 8]");
  expect_same("%b = tensor_scalar %a, subtract -1.5, add nan {reverse0, fixed} : float32[4, 8]");
  expect_same("%b = memset -0.0 : float32[4, 8]");
  expect_same("%b = iota {dim = 1} : int32[4, 8]");
  expect_same("memset 7 -> $m[0 : 4, 0 : 1]");
  expect_same("%b = transpose %a {perm = [1, 0]} : float32[8, 4]");
  expect_same("%b = concat %a, $x, %a : float32[12, 8]");
  expect_same("store %a -> $d");
  expect_same("opaque \"f\"()");
  expect_same("opaque \"a b\"(%a, $d[0 : 1, 0 : 8]) {k = 1}");
  expect_same("%b = opaque \"f\"(%a) : float64[]");
  expect_same("opaque \"f\"(%a) -> $d");
}

TEST_F(ParserTest, SelectTakesPredicate) {
  EXPECT_NE(errors_of("func @f {\n  %a = iota : s32[4]\n  %b = select %a, %a, %a : s32[4]\n}\n"),
            "");
}

TEST_F(ParserTest, NumbersTakeTheDTypeOfSrc) {
  printed("%b = tensor_scalar $i, add 3 : int32[4, 8]");
  EXPECT_EQ(last_instruction().operand(1).dtype(), DType::Int32);
  printed("%b = tensor_scalar $x, add 3 : bfloat16[4, 8]");
  EXPECT_EQ(last_instruction().operand(1).dtype(), DType::Float32);
  printed("%b = tensor_scalar $x as int32, add 3 : int32[4, 8]");
  EXPECT_EQ(last_instruction().operand(1).dtype(), DType::Int32);
  printed("%b = memset 3 : uint8[4]");
  EXPECT_EQ(last_instruction().operand(0).dtype(), DType::Uint8);
}

TEST_F(ParserTest, Calls) {
  const Module &module =
      read("func @f {\n  tensor $a : f32[4] dram\n  call @g($a)\n  call @h()\n}\n"
           "func @g {\n  tensor $x : f32[4] dram output\n}\nfunc @h {}\n");
  const auto *call = cast<Instruction>(module.functions()[0]->body().first());
  EXPECT_EQ(call->callee(), module.functions()[1]);
  EXPECT_EQ(call->num_operands(), 1u);
}

TEST_F(ParserTest, WholeAccessIsNone) {
  for (const char *access : {"$x", "$x[0 : 4, 0 : 8]", "$x[0 : 4 : 1, 0 : 8]", "$x as float32",
                             "$x[0 : 4, 1 - 1 : 8] as f32"}) {
    EXPECT_EQ(printed(std::string("%b = tensor_copy ") + access + " : f32[4, 8]"),
              "  %b = tensor_copy $x : float32[4, 8]\n");
    EXPECT_EQ(last_instruction().operand(0).access(), nullptr) << access;
  }
}

TEST_F(ParserTest, Accesses) {
  expect_same("%b = tensor_copy $x[1 : 2, 0 : 4 : 2] : float32[2, 4]");
  expect_same("%b = tensor_copy $x as uint32 : uint32[4, 8]");
  expect_same("%b = tensor_copy $x[0 : 1, 0 : 8] as int32 : float32[1, 8]");
  EXPECT_TRUE(last_instruction().operand(0).reinterprets());
}

TEST_F(ParserTest, RankZeroAccess) {
  read("func @f {\n  tensor $s : f32[] sbuf\n  %a = tensor_copy $s[] : f32[]\n}\n");
  EXPECT_EQ(last_instruction().operand(0).access(), nullptr);
}

// The first subscript of a load in two loops, as it prints.
class AffineTest : public ParserTest {
protected:
  std::string index(std::string_view text) {
    read(fmt::format(
        "func @f {{\n  tensor $x : f32[4096] sbuf\n  for %i in 0..2 {{\n"
        "    for %j in 0..2 {{\n      %b = tensor_copy $x[{} : 1] : f32[1]\n    }}\n  }}\n}}\n",
        text));
    const std::string printed = to_string(*module_);
    const std::size_t begin = printed.find("$x[") + 3;
    return printed.substr(begin, printed.find(" : 1]") - begin);
  }
};

TEST_F(AffineTest, Terms) {
  EXPECT_EQ(index("%i"), "%i");
  EXPECT_EQ(index("%i * 2"), "%i * 2");
  EXPECT_EQ(index("2 * %i"), "%i * 2");
  EXPECT_EQ(index("7"), "7");
  EXPECT_EQ(index("0x10"), "16");
  EXPECT_EQ(index("8 - %i"), "%i * -1 + 8");
  EXPECT_EQ(index("-2 * %i + 8"), "%i * -2 + 8");
  EXPECT_EQ(index("8 + %i * -2"), "%i * -2 + 8");
  EXPECT_EQ(index("8 - -2"), "10");
}

TEST_F(AffineTest, TermsAreOrderedAndAddedUp) {
  EXPECT_EQ(index("%j + %i"), "%i + %j");
  EXPECT_EQ(index("%j + 3 + %i * 2 + %j + 1"), "%i * 2 + %j * 2 + 4");
  EXPECT_EQ(index("%i * 2 - %i - %i + %j"), "%j");
  EXPECT_EQ(index("%i * 0"), "0");
  EXPECT_EQ(index("%i + %j - %i - %j + 5"), "5");
}

TEST_F(ParserTest, EqualAccessesAreShared) {
  const Module &module = read("func @f {\n  tensor $x : f32[4] sbuf\n  tensor $y : f32[4] sbuf\n"
                              "  tensor_copy $x[1 : 2] -> $y[1 : 2]\n}\n");
  const auto *inst = cast<Instruction>(module.functions()[0]->body().first());
  EXPECT_EQ(inst->operand(0).access(), inst->dst()->access());
}

TEST_F(ParserTest, DefaultsAreDropped) {
  EXPECT_EQ(printed("%b = activation exp %a {scale = 1, fixed = false} : f32[4, 8]"),
            "  %b = activation exp %a : float32[4, 8]\n");
  EXPECT_EQ(last_instruction().attrs(), nullptr);
  EXPECT_EQ(printed("%b = slice %a {stride = [1, 1], size = [2, 2], start = [0, 0]} : f32[2, 2]"),
            "  %b = slice %a {start = [0, 0], size = [2, 2]} : float32[2, 2]\n");
  EXPECT_EQ(printed("%b = matmul $p, $p {lhs_contract = [0], rhs_contract = [0], lhs_batch = [], "
                    "accumulate = false} : f32[8, 8]"),
            "  %b = matmul $p, $p : float32[8, 8]\n");
}

TEST_F(ParserTest, MarksOfStatements) {
  EXPECT_EQ(
      printed("%b = tensor_copy %a {loc = \"a.py:3\", autocast = \"pass\", fixed = true} : "
              "bf16[4, 8]"),
      "  %b = tensor_copy %a {fixed, autocast = \"pass\", loc = \"a.py:3\"} : bfloat16[4, 8]\n");
  EXPECT_TRUE(last_instruction().is_fixed());
  EXPECT_EQ(module_->names().str(last_instruction().autocast()), "pass");
}

TEST_F(ParserTest, EqualAttributesAreShared) {
  printed("%b = tensor_reduce add %a {axes = [1]} : f32[4, 1]\n"
          "  %c = tensor_reduce max %a {axes = [1]} : f32[4, 1]");
  const auto *before = cast<Instruction>(last_instruction().prev());
  EXPECT_EQ(before->attrs(), last_instruction().attrs());
}

TEST_F(ParserTest, AttributesOfOpaques) {
  expect_same(
      "opaque \"f\"() {a, b = false, c = -1, d = 1.5, e = \"s\\\"\", g = word, h = [], i = [1, "
      "2], j = [1, 2.0, [x, [\"y\"], []], true], scale = 2, axes = nan, fixed, loc = \"l\"}");
}

TEST_F(ParserTest, AttributesMayBeNamedLikeOpcodes) {
  expect_same("opaque \"f\"() {tensor_copy = select, add = exp, memset}");
}

TEST_F(ParserTest, ListsNestSixteenDeep) {
  const std::string list = std::string(16, '[') + std::string(16, ']');
  expect_same("opaque \"f\"() {k = " + list + "}");
}

TEST_F(ParserTest, Loops) {
  const Module &module =
      read("func @f {\n  for %i in -4..5 step 3 {\n    for %j in 0x0..1 {\n    }\n  }\n}\n");
  const auto *loop = cast<Loop>(module.functions()[0]->body().first());
  EXPECT_EQ(loop->lo(), -4);
  EXPECT_EQ(loop->hi(), 5);
  EXPECT_EQ(loop->step(), 3);
  EXPECT_EQ(loop->trips(), 3);
  EXPECT_EQ(cast<Loop>(loop->body().first())->depth(), 2u);
}

TEST_F(ParserTest, NamesAreFreeAgainAfterTheirBlock) {
  read("func @f {\n  for %i in 0..2 {\n    %a = iota : s32[1]\n  }\n"
       "  for %i in 0..2 {\n    %a = iota : s32[2]\n  }\n  %a = iota : s32[3]\n  %i = iota : "
       "s32[4]\n}\n"
       "func @g {\n  %a = iota : s32[5]\n}\n");
}

TEST_F(ParserTest, ValuesTensorsAndFunctionsHaveTheirOwnNames) {
  read("func @a {\n  tensor $a : f32[1] sbuf\n  %a = tensor_copy $a : f32[1]\n}\n");
}

TEST_F(ParserTest, NumericNamesFarApart) {
  read("func @f {\n  %2000000000 = iota : s32[1]\n  %5 = tensor_copy %2000000000 : s32[1]\n"
       "  %3000 = tensor_copy %5 : s32[1]\n  %007 = tensor_copy %3000 : s32[1]\n"
       "  %7 = tensor_copy %007 : s32[1]\n}\n");
}

// A number that was far away when it was defined is found when the file has grown up to it.
TEST_F(ParserTest, NumericNameThatBecomesDense) {
  std::string text = "func @f {\n  %9000 = iota : s32[1]\n";
  for (int i = 0; i < 8000; ++i)
    text += fmt::format("  %{} = iota : s32[1]\n", i);
  text += "  %9001 = tensor_copy %9000 : s32[1]\n}\n";
  read(text);
  EXPECT_EQ(errors_of(text + "func @g {\n  %a = tensor_copy %9000 : s32[1]\n}\n"),
            "8006:20-5: '%9000' is not defined\n");
}

TEST_F(ParserTest, WithoutVerificationRulesAreNotChecked) {
  ParseOptions options;
  options.verify = false;
  read("func @f {\n  %a = iota : s32[4]\n  %b = tensor_copy %a : s32[5]\n}\n", options);
}

TEST_F(ParserTest, SourcesArePositions) {
  const Module &module =
      read("func @f {\n  tensor $x : f32[4] sbuf\n  %a = tensor_copy $x : f32[4]\n}\n");
  const Function &function = *module.functions()[0];
  EXPECT_EQ(file_->locate(function.first_tensor()->source()).line, 2u);
  const LineColumn place = file_->locate(function.body().first()->source());
  EXPECT_EQ(place.line, 3u);
  EXPECT_EQ(place.column, 3u);
}

TEST_F(ParserTest, LoopsNestAThousandDeep) {
  std::string text = "func @f {\n";
  for (int i = 0; i < 1000; ++i)
    text += fmt::format("for %i{} in 0..1 {{\n", i);
  read(text + std::string(1001, '}'));
  text += "for %x in 0..1 {\n";
  EXPECT_EQ(errors_of(text), "1002:1-3: loops nest deeper than 1000\n");
}

TEST_F(ParserTest, NestingWithoutEndIsOneError) {
  std::string text = "func @f {\n";
  for (int i = 0; i < 100000; ++i)
    text += fmt::format("for %i{} in 0..1 {{\n", i);
  EXPECT_EQ(errors_of(text), "1002:1-3: loops nest deeper than 1000\n");
  EXPECT_EQ(errors_of("func @f {\n  opaque \"f\"() {k = " + std::string(100000, '[')),
            "2:37-1: attribute lists nest deeper than 16\n"
            "2:100021-0: expected '}', found end of file\n"
            "  1:9-1: to close the block that begins here\n");
}

TEST_F(ParserTest, AsManyErrorsAsAskedFor) {
  std::string text = "func @f {\n";
  for (int i = 0; i < 100; ++i)
    text += "  tensor_copy %q\n";
  text += "}\n";
  const SourceFile file("test.nir", text);
  DiagnosticEngine diagnostics(7);
  EXPECT_EQ(parse(file, diagnostics), nullptr);
  EXPECT_EQ(diagnostics.diagnostics().size(), 7u);
  EXPECT_GE(diagnostics.num_errors(), 100u);
}

// An undefined callee is known at the end only, but its error stands in its place.
TEST_F(ParserTest, ErrorsAtTheEndStandInTheirPlace) {
  std::string text = "func @f {\n  call @q()\n";
  for (int i = 0; i < 3; ++i)
    text += "  tensor_copy %q -> $r\n";
  EXPECT_EQ(errors_of(text + "}\n", 2), "2:8-2: function @q is not defined\n"
                                        "3:15-2: '%q' is not defined\n");
}

TEST_F(ParserTest, CutOffAnywhereIsAnErrorOrAModule) {
  const std::string text = "module @m {target = \"trn2\"}\n\nfunc @f strict {\n"
                           "  tensor $x : f32[4, 8] dram input\n"
                           "  tensor $k : f32[2] dram const = dense(1.5, -2)\n"
                           "  for %i in 0..4 step 2 {\n"
                           "    %a = load $x[%i * 1 + 0 : 1, 0 : 8] : f32[1, 8]\n"
                           "    opaque \"f\\n\"(%a) {k = [1, [x]], fixed}\n  }\n}\n";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const bool complete = size == 0 || size == 9 || size == 10 || (size >= 27 && size <= 29) ||
                          size + 1 == text.size();
    EXPECT_EQ(errors_of(text.substr(0, size)).empty(), complete) << size;
  }
}

TEST_F(ParserTest, CorpusRoundTrips) {
  if (std::string_view(NIR_CORPUS_DIR).empty())
    GTEST_SKIP() << "no corpus";
  for (const auto &entry : std::filesystem::directory_iterator(NIR_CORPUS_DIR)) {
    if (entry.path().extension() != ".nir")
      continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    const std::string printed = to_string(read(text.str()));
    EXPECT_EQ(to_string(read(printed)), printed) << entry.path();
  }
}

} // namespace
} // namespace nir
