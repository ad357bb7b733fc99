#include "lang/nir/lexer/lexer.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "lang/nir/lexer/token_kinds.h"

namespace nir::lang {
namespace {

using namespace std::string_literals;

// Reads all tokens of a text and writes them down: kind and text, and what the payload says.
class LexerTest : public ::testing::Test {
protected:
  std::string tokens(std::string text) {
    const SourceFile file("test.nir", std::move(text));
    Module module;
    DiagnosticEngine diagnostics;
    Lexer lexer(file, module, diagnostics);
    std::string out;
    Token token;
    for (int kind = lexer.next(token); kind != TOK_END; kind = lexer.next(token)) {
      out += out.empty() ? "" : " ";
      out += describe(kind, token, lexer, module);
    }
    return out;
  }

  static std::string describe(int kind, const Token &token, const Lexer &lexer, Module &module) {
    const std::string_view text = lexer.text(token.range());
    switch (kind) {
    case TOK_VALUE:
      return fmt::format("value({})", module.names().str(token.name()));
    case TOK_TENSOR_NAME:
      return fmt::format("tensor({})", module.names().str(token.name()));
    case TOK_SYMBOL:
      return fmt::format("symbol({})", module.names().str(token.name()));
    case TOK_STRING: {
      std::string content;
      unescape(text, content);
      return fmt::format("string({})", content);
    }
    case TOK_TYPE:
      return fmt::format("type({})", to_string(*token.type));
    case TOK_INT:
      return fmt::format("int({})", text);
    case TOK_FLOAT:
    case TOK_INF:
    case TOK_NAN:
      return fmt::format("float({})", text);
    case TOK_WORD:
      return fmt::format("word({})", text);
    case TOK_NIR_YYerror:
      return "error";
    default:
      return kind < 256 ? std::string(1, static_cast<char>(kind)) : fmt::format("<{}>", text);
    }
  }
};

TEST_F(LexerTest, Names) {
  EXPECT_EQ(tokens("%a $b.c @_d %7 %007 %1x %a.b.c"),
            "value(a) tensor(b.c) symbol(_d) value(7) value(007) value(1x) value(a.b.c)");
}

TEST_F(LexerTest, NumericNamesAreNumbersWithoutLeadingZeros) {
  const SourceFile file("test.nir", "%7 %007 %\"7\" %2147483647 %2147483648 %0 %00");
  Module module;
  DiagnosticEngine diagnostics;
  Lexer lexer(file, module, diagnostics);
  Token token;
  std::vector<Name> names;
  while (lexer.next(token) != TOK_END)
    names.push_back(token.name());
  ASSERT_EQ(names.size(), 7u);
  EXPECT_EQ(names[0], Name::number(7));
  EXPECT_FALSE(names[1].is_number());
  EXPECT_EQ(names[2], names[0]);
  EXPECT_EQ(names[3], Name::number(2147483647));
  EXPECT_FALSE(names[4].is_number());
  EXPECT_EQ(names[5], Name::number(0));
  EXPECT_FALSE(names[6].is_number());
}

TEST_F(LexerTest, QuotedNames) {
  EXPECT_EQ(tokens(R"(%"a b" $"a,b/c" @"\"\\\n\t\x41" %"x")"),
            "value(a b) tensor(a,b/c) symbol(\"\\\n\tA) value(x)");
}

TEST_F(LexerTest, QuotedNameIsTheBareName) {
  const SourceFile file("test.nir", R"(%x %"x" %"\x78")");
  Module module;
  DiagnosticEngine diagnostics;
  Lexer lexer(file, module, diagnostics);
  Token a;
  Token b;
  Token c;
  lexer.next(a);
  lexer.next(b);
  lexer.next(c);
  EXPECT_EQ(a.name(), b.name());
  EXPECT_EQ(a.name(), c.name());
}

TEST_F(LexerTest, Integers) {
  EXPECT_EQ(tokens("0 12 007 0x1f 0xAbC -3"),
            "int(0) int(12) int(007) int(0x1f) int(0xAbC) - int(3)");
}

TEST_F(LexerTest, Floats) {
  EXPECT_EQ(tokens("1. .5 1.5 1e5 1e-5 1.E+5 .5e1 0x1.8p3 0x.8p-1 0x1p3 0x1.p0"),
            "float(1.) float(.5) float(1.5) float(1e5) float(1e-5) float(1.E+5) float(.5e1) "
            "float(0x1.8p3) float(0x.8p-1) float(0x1p3) float(0x1.p0)");
}

TEST_F(LexerTest, SpecialFloats) {
  EXPECT_EQ(tokens("inf nan nan(0x7fc00001) -inf"),
            "float(inf) float(nan) float(nan(0x7fc00001)) - float(inf)");
}

TEST_F(LexerTest, RangeIsNoFloat) {
  EXPECT_EQ(tokens("0..8"), "int(0) <..> int(8)");
  EXPECT_EQ(tokens("1.5..2"), "float(1.5) <..> int(2)");
  EXPECT_EQ(tokens("0x10..0x20"), "int(0x10) <..> int(0x20)");
  EXPECT_EQ(tokens("0 .. 8"), "int(0) <..> int(8)");
}

TEST_F(LexerTest, Strings) {
  EXPECT_EQ(tokens(R"("" "a b" "\"\\\n\t\x00\xfF" "// no comment")"),
            "string() string(a b) string(\"\\\n\t"s + '\0' + "\xff) string(// no comment)");
}

TEST_F(LexerTest, AnyBytesButLineEndsInStrings) {
  EXPECT_EQ(tokens("\"\xff\xc3\t\""), "string(\xff\xc3\t)");
}

TEST_F(LexerTest, Words) {
  EXPECT_EQ(tokens("foo _bar x1 exp float32"),
            "word(foo) word(_bar) word(x1) word(exp) word(float32)");
}

TEST_F(LexerTest, ReservedWords) {
  EXPECT_EQ(
      tokens("module func strict tensor for in step as dram sbuf psum input output const splat "
             "dense hex call opaque true false"),
      "<module> <func> <strict> <tensor> <for> <in> <step> <as> <dram> <sbuf> <psum> <input> "
      "<output> <const> <splat> <dense> <hex> <call> <opaque> <true> <false>");
}

TEST_F(LexerTest, EveryOpcodeIsKnown) {
  for (const OpcodeInfo &row : all_opcodes()) {
    const SourceFile file("test.nir", std::string(row.mnemonic));
    Module module;
    DiagnosticEngine diagnostics;
    Lexer lexer(file, module, diagnostics);
    Token token;
    EXPECT_NE(lexer.next(token), TOK_WORD) << row.mnemonic;
    EXPECT_EQ(token.word->opcode, row.opcode) << row.mnemonic;
  }
}

TEST_F(LexerTest, Punctuation) {
  EXPECT_EQ(tokens("= : , [ ] { } ( ) * + - -> .."), "= : , [ ] { } ( ) * + - <->> <..>");
}

TEST_F(LexerTest, TypeOnOneLineIsOneToken) {
  EXPECT_EQ(tokens("float32[128, 512] f32[] bf16 [ 1 ,2 ]"),
            "type(float32[128, 512]) type(float32[]) type(bfloat16[1, 2])");
}

TEST_F(LexerTest, EqualTypesAreTheSame) {
  const SourceFile file("test.nir", "f32[4] f32[4] float32[ 4 ] f32[4, 1]");
  Module module;
  DiagnosticEngine diagnostics;
  Lexer lexer(file, module, diagnostics);
  std::vector<const Type *> types;
  Token token;
  while (lexer.next(token) == TOK_TYPE)
    types.push_back(token.type);
  ASSERT_EQ(types.size(), 4u);
  EXPECT_EQ(types[0], types[1]);
  EXPECT_EQ(types[0], types[2]);
  EXPECT_NE(types[0], types[3]);
}

TEST_F(LexerTest, WhatIsNoPlainTypeIsLeftToTheGrammar) {
  EXPECT_EQ(tokens("foo[1]"), "word(foo) [ int(1) ]");
  EXPECT_EQ(tokens("f32[0]"), "word(f32) [ int(0) ]");
  EXPECT_EQ(tokens("f32[0x10]"), "word(f32) [ int(0x10) ]");
  EXPECT_EQ(tokens("f32[1,\n2]"), "word(f32) [ int(1) , int(2) ]");
  EXPECT_EQ(tokens("f32[9223372036854775808]"), "word(f32) [ int(9223372036854775808) ]");
}

TEST_F(LexerTest, CommentsAndBlanks) {
  EXPECT_EQ(tokens(" \t\r\n// a % \" \xff\n%a// b\n//"), "value(a)");
  EXPECT_EQ(tokens(""), "");
}

TEST_F(LexerTest, BadTokens) {
  EXPECT_EQ(tokens("%"), "error");
  EXPECT_EQ(tokens("%-"), "error -");
  EXPECT_EQ(tokens("12ab 0x 1e"), "error error error");
  EXPECT_EQ(tokens("\"abc"), "error");
  EXPECT_EQ(tokens("^ \xff \x01"), "error error error");
  EXPECT_EQ(tokens(std::string("a\0b", 3)), "word(a) error word(b)");
}

TEST_F(LexerTest, RangesCountBytes) {
  const SourceFile file("test.nir", "  %ab  \"\xc3\xa9\" x");
  Module module;
  DiagnosticEngine diagnostics;
  Lexer lexer(file, module, diagnostics);
  Token token;
  lexer.next(token);
  EXPECT_EQ(token.begin, 2u);
  EXPECT_EQ(token.end, 5u);
  lexer.next(token);
  EXPECT_EQ(token.begin, 7u);
  EXPECT_EQ(token.end, 11u);
  lexer.next(token);
  EXPECT_EQ(token.begin, 12u);
  EXPECT_EQ(lexer.next(token), TOK_END);
  EXPECT_EQ(token.begin, 13u);
}

TEST_F(LexerTest, FirstOnLine) {
  const SourceFile file("test.nir", "a b\n \t c");
  Module module;
  DiagnosticEngine diagnostics;
  const Lexer lexer(file, module, diagnostics);
  EXPECT_TRUE(lexer.is_first_on_line(0));
  EXPECT_FALSE(lexer.is_first_on_line(2));
  EXPECT_TRUE(lexer.is_first_on_line(7));
}

TEST_F(LexerTest, LongTextInMessagesIsCut) {
  EXPECT_EQ(shown_text("abc"), "'abc'");
  EXPECT_EQ(shown_text(std::string(100, 'a')), "'" + std::string(60, 'a') + "...'");
  // Not in the middle of a character.
  EXPECT_EQ(shown_text(std::string(59, 'a') + "\xc3\xa9" + std::string(9, 'b')),
            "'" + std::string(59, 'a') + "...'");
}

} // namespace
} // namespace nir::lang
