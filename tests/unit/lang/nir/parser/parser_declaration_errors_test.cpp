// What is wrong with tokens, headers, functions and tensors: message and place of every error.

#include <gtest/gtest.h>

#include "tests/unit/support/parse_errors.h"

namespace nir {
namespace {

using test::errors_in_function;
using test::errors_of;

TEST(ParserDeclarationErrors, NulByteOutsideText) {
  EXPECT_EQ(errors_of(std::string("func @f {\000}", 11)), "1:10-1: NUL byte in the text\n");
}

TEST(ParserDeclarationErrors, NulByteInComment) {
  EXPECT_EQ(errors_of(std::string("// a\000b\n"
                                  "func @f {}",
                                  17)),
            "1:5-1: NUL byte in the text\n");
}

TEST(ParserDeclarationErrors, NulByteInString) {
  EXPECT_EQ(errors_of(std::string("func @f {\n"
                                  "  opaque \"a\000b\"()\n"
                                  "}\n",
                                  29)),
            "2:12-1: NUL byte in the text\n");
}

TEST(ParserDeclarationErrors, InvalidUtf8) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  \377\n"
                      "}\n"),
            "2:3-1: byte 0xff is not valid UTF-8\n");
}

TEST(ParserDeclarationErrors, CutUtf8) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  \303\n"
                      "}\n"),
            "2:3-1: byte 0xc3 is not valid UTF-8\n");
}

TEST(ParserDeclarationErrors, OverlongUtf8) {
  EXPECT_EQ(errors_of("func \300\257"), "1:6-1: byte 0xc0 is not valid UTF-8\n");
}

TEST(ParserDeclarationErrors, ValidUtf8IsNoToken) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  \303\251\n"
                      "}\n"),
            "2:3-2: unexpected character 'é'\n");
}

TEST(ParserDeclarationErrors, ControlByte) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  \001\n"
                      "}\n"),
            "2:3-1: unexpected control byte 0x01\n");
}

TEST(ParserDeclarationErrors, UnexpectedCharacter) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  ^\n"
                      "}\n"),
            "2:3-1: unexpected character '^'\n");
}

TEST(ParserDeclarationErrors, StringWithoutEnd) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  opaque \"abc\n"
                      "}\n"),
            "2:10-4: string is not terminated on its line\n");
}

TEST(ParserDeclarationErrors, StringWithoutEndAtEndOfFile) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  opaque \"abc"),
            "2:10-4: string is not terminated on its line\n"
            "2:14-0: expected '}', found end of file\n"
            "  1:9-1: to close the block that begins here\n");
}

TEST(ParserDeclarationErrors, UnknownEscape) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  opaque \"ab\\q\"()\n"
                      "}\n"),
            "2:13-2: unknown escape '\\q'; there are \\\", \\\\, \\n, \\t and \\xHH\n");
}

TEST(ParserDeclarationErrors, CutHexEscape) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  opaque \"ab\\x1\"()\n"
                      "}\n"),
            "2:13-2: expected two hexadecimal digits behind '\\x'\n");
}

TEST(ParserDeclarationErrors, EmptyQuotedName) {
  EXPECT_EQ(errors_of("func @\"\" {}\n"), "1:6-3: a name must not be empty\n");
}

TEST(ParserDeclarationErrors, SigilWithoutName) {
  EXPECT_EQ(errors_of("func @ {}\n"), "1:6-1: expected a name directly behind '@'\n");
}

TEST(ParserDeclarationErrors, MalformedNumber) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x : f32[4, 8z]"),
            "6:32-2: malformed number '8z'\n");
}

TEST(ParserDeclarationErrors, MalformedHex) {
  EXPECT_EQ(errors_in_function("for %i in 0..0x {\n"
                               "  }"),
            "6:16-2: malformed number '0x'\n");
}

TEST(ParserDeclarationErrors, UnknownModuleAttribute) {
  EXPECT_EQ(errors_of("module @m {targte = \"trn1\"}\n"),
            "1:12-6: module has no attribute 'targte', it takes target\n");
}

TEST(ParserDeclarationErrors, UnknownTarget) {
  EXPECT_EQ(errors_of("module @m {target = \"trn7\"}\n"),
            "1:21-6: unknown target 'trn7' (did you mean 'trn1'?), expected trn1, trn2, trn3\n");
}

TEST(ParserDeclarationErrors, TargetIsNoString) {
  EXPECT_EQ(errors_of("module @m {target = 1}\n"),
            "1:21-1: attribute 'target' is a string, found '1'\n");
}

TEST(ParserDeclarationErrors, TargetWithoutValue) {
  EXPECT_EQ(errors_of("module @m {target}\n"),
            "1:12-6: attribute 'target' is a string, found no value\n");
}

TEST(ParserDeclarationErrors, TargetTwice) {
  EXPECT_EQ(errors_of("module @m {target = \"trn1\", target = \"trn2\"}\n"),
            "1:29-6: attribute 'target' is given twice\n");
}

TEST(ParserDeclarationErrors, EmptyModuleAttributes) {
  EXPECT_EQ(errors_of("module @m {}\n"), "1:12-1: expected an attribute, found '}'\n");
}

TEST(ParserDeclarationErrors, ModuleWithoutName) {
  EXPECT_EQ(errors_of("module {target = \"trn1\"}\n"
                      "func @f {}\n"),
            "1:8-1: expected an '@' name, found '{'\n");
}

TEST(ParserDeclarationErrors, SecondModule) {
  EXPECT_EQ(errors_of("module @m\n"
                      "module @n\n"
                      "func @f {}\n"),
            "2:1-6: expected end of file, 'func' or '{', found 'module'\n");
}

TEST(ParserDeclarationErrors, StatementOutsideFunction) {
  EXPECT_EQ(errors_of("%a = iota : f32[4]\n"
                      "func @f {}\n"),
            "1:1-2: expected end of file, 'module' or 'func', found '%a'\n");
}

TEST(ParserDeclarationErrors, StrayBrace) {
  EXPECT_EQ(errors_of("func @f {}\n"
                      "}\n"
                      "func @g {}\n"),
            "2:1-1: expected end of file or 'func', found '}'\n");
}

TEST(ParserDeclarationErrors, FunctionTwice) {
  EXPECT_EQ(errors_of("func @f {}\n"
                      "func @f {}\n"),
            "2:6-2: '@f' is defined already\n"
            "  1:6-2: first defined here\n");
}

TEST(ParserDeclarationErrors, FunctionWithoutName) {
  EXPECT_EQ(errors_of("func {\n"
                      "  %a = iota : f32[4]\n"
                      "}\n"
                      "func @g {\n"
                      "  call @h()\n"
                      "}\n"),
            "1:6-1: expected an '@' name, found '{'\n");
}

TEST(ParserDeclarationErrors, FunctionWithoutBrace) {
  EXPECT_EQ(errors_of("func @f\n"
                      "  %a = iota : f32[4]\n"
                      "  %b = tensor_copy %c : f32[4]\n"
                      "}\n"),
            "1:8-1: expected 'strict' or '{', found end of line\n"
            "3:20-2: '%c' is not defined\n");
}

TEST(ParserDeclarationErrors, MissingBraceBeforeFunction) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  %a = iota : f32[4]\n"
                      "\n"
                      "func @g {}\n"),
            "4:1-4: expected '}', found 'func'\n"
            "  1:9-1: to close the block that begins here\n");
}

TEST(ParserDeclarationErrors, MissingBracesOfLoops) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  for %i in 0..2 {\n"
                      "    for %j in 0..2 {\n"
                      "\n"
                      "func @g {\n"
                      "  %a = tensor_copy %b : f32[1]\n"
                      "}\n"),
            "5:1-4: expected '}', found 'func'\n"
            "  3:20-1: to close the block that begins here\n"
            "6:20-2: '%b' is not defined\n");
}

TEST(ParserDeclarationErrors, MissingBraceAtEnd) {
  EXPECT_EQ(errors_of("func @f {\n"), "2:1-0: expected '}', found end of file\n"
                                      "  1:9-1: to close the block that begins here\n");
}

TEST(ParserDeclarationErrors, MissingTypeAndBraceAtEnd) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  %a = iota"),
            "2:12-1: expected a value, a tensor, '{' or ':', found end of file\n");
}

TEST(ParserDeclarationErrors, UnknownDType) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : flaot32[4] sbuf\n"
                      "}\n"),
            "2:15-7: unknown dtype 'flaot32' (did you mean 'float32'?)\n");
}

TEST(ParserDeclarationErrors, UnknownSpace) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : f32[4] sbuff\n"
                      "}\n"),
            "2:22-5: expected 'dram', 'sbuf' or 'psum', found 'sbuff'\n");
}

TEST(ParserDeclarationErrors, TensorTwice) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : f32[4] sbuf\n"
                      "  tensor $x : f32[8] sbuf\n"
                      "}\n"),
            "3:10-2: '$x' is defined already\n"
            "  2:10-2: first defined here\n");
}

TEST(ParserDeclarationErrors, TensorInLoop) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  for %i in 0..2 {\n"
                      "    tensor $x : f32[4] sbuf\n"
                      "  }\n"
                      "}\n"),
            "3:5-6: tensor is declared in a loop, expected in the function's body\n");
}

TEST(ParserDeclarationErrors, DimensionBelowOne) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : f32[4, 0] sbuf\n"
                      "  tensor $y : f32[-3] sbuf\n"
                      "}\n"),
            "2:22-1: dimension is 0, expected at least 1\n"
            "3:19-2: dimension is -3, expected at least 1\n");
}

TEST(ParserDeclarationErrors, DimensionTooLarge) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : f32[9223372036854775808] sbuf\n"
                      "}\n"),
            "2:19-19: integer '9223372036854775808' does not fit in 64 bits\n");
}

TEST(ParserDeclarationErrors, TypeTooLarge) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : f32[4294967296, 4294967296] sbuf\n"
                      "}\n"),
            "2:15-27: the byte size of the type does not fit in 63 bits\n");
}

TEST(ParserDeclarationErrors, RankTooLarge) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] sbuf\n"
                      "}\n"),
            "2:15-38: rank 17 is above the limit of 16\n");
}

TEST(ParserDeclarationErrors, FailedTensorIsSilentLater) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : nope[4] sbuf\n"
                      "  %a = tensor_copy $x : f32[4]\n"
                      "  %b = tensor_copy %a : f32[5]\n"
                      "}\n"),
            "2:15-4: unknown dtype 'nope'\n");
}

TEST(ParserDeclarationErrors, DenseCount) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : f32[3] sbuf const = dense(1, 2)\n"
                      "}\n"),
            "2:35-11: dense has 2 numbers, expected 3, one for each element of float32[3]\n");
}

TEST(ParserDeclarationErrors, DenseNumberOutOfRange) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : u8[3] sbuf const = dense(1, 256, -1)\n"
                      "}\n"),
            "2:43-3: 256 is out of range, expected 0..255 for uint8\n"
            "2:48-2: -1 is out of range, expected 0..255 for uint8\n");
}

TEST(ParserDeclarationErrors, FractionForInteger) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : u8[1] sbuf const = splat(1.5)\n"
                      "}\n"),
            "2:40-3: found 1.5, expected an integer in 0..255 for uint8\n");
}

TEST(ParserDeclarationErrors, NumberForContainer) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : float8_e4m3fn_x4[1] sbuf const = splat(1)\n"
                      "}\n"),
            "2:54-1: found a number for float8_e4m3fn_x4, which has none: its elements are written "
            "as hex\n");
}

TEST(ParserDeclarationErrors, HexDigit) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : u8[2] sbuf const = hex(\"0g12\")\n"
                      "}\n"),
            "2:40-1: hex holds hexadecimal digits only\n");
}

TEST(ParserDeclarationErrors, HexSize) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : u16[2] sbuf const = hex(\"001122\")\n"
                      "}\n"),
            "2:39-8: hex has 6 digits, expected two for each of the 4 bytes of uint16[2]\n");
}

TEST(ParserDeclarationErrors, ConstWithoutInit) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : u16[2] sbuf const\n"
                      "}\n"),
            "2:3-29: const tensor $x has no init\n");
}

TEST(ParserDeclarationErrors, InitWithoutConst) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : u16[2] sbuf = splat(1)\n"
                      "}\n"),
            "2:3-34: tensor $x has an init but is no const\n");
}

TEST(ParserDeclarationErrors, PsumDType) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : bf16[2] psum\n"
                      "}\n"),
            "2:3-24: tensor $x in psum has dtype bfloat16, expected one of 4 bytes\n");
}

} // namespace
} // namespace nir
