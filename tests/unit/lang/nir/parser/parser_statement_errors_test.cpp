// What is wrong with statements: message and place of every error, and that one error causes no
// others.

#include <gtest/gtest.h>

#include "tests/unit/support/parse_errors.h"

namespace nir {
namespace {

using test::errors_in_function;
using test::errors_of;

TEST(ParserStatementErrors, UnknownOpcode) {
  EXPECT_EQ(errors_in_function("%b = tensor_coppy $x : f32[4, 8]\n"
                               "  tensor_cpy $x -> $y"),
            "6:8-12: unknown opcode 'tensor_coppy' (did you mean 'tensor_copy'?)\n"
            "7:3-10: unknown opcode 'tensor_cpy' (did you mean 'tensor_copy'?)\n");
}

TEST(ParserStatementErrors, UnknownOpcodeWithAttributes) {
  EXPECT_EQ(errors_in_function("foo %a {axes = [1]} -> $y\n"
                               "  %c = tensor_copy %q : f32[4, 8]"),
            "6:3-3: unknown opcode 'foo'\n"
            "7:20-2: '%q' is not defined\n");
}

TEST(ParserStatementErrors, UnknownFunction) {
  EXPECT_EQ(errors_in_function("%b = activation expp $x : f32[4, 8]"),
            "6:19-4: unknown function 'expp' (did you mean 'exp'?)\n");
}

TEST(ParserStatementErrors, UnknownOperator) {
  EXPECT_EQ(errors_in_function("%b = tensor_tensor ad $x, %a : f32[4, 8]\n"
                               "  %c = tensor_scalar $x, mul 1.0, ad 2.0 : f32[4, 8]"),
            "6:22-2: unknown operator 'ad' (did you mean 'add'?)\n"
            "7:26-3: unknown operator 'mul'\n"
            "7:35-2: unknown operator 'ad' (did you mean 'add'?)\n");
}

TEST(ParserStatementErrors, MissingFunction) {
  EXPECT_EQ(errors_in_function("%b = activation %a : f32[4, 8]"),
            "6:19-2: expected a function, found '%a'\n");
}

TEST(ParserStatementErrors, MissingType) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x\n"
                               "  %c = tensor_copy %b : f32[4, 8]"),
            "6:22-1: expected 'as', '{', ':', ',' or '[', found end of line\n");
}

TEST(ParserStatementErrors, MissingColon) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x f32[4, 8]"),
            "6:23-9: expected 'as', '{', ':', ',' or '[', found 'f32[4, 8]'\n");
}

TEST(ParserStatementErrors, MissingEquals) {
  EXPECT_EQ(errors_in_function("%b tensor_copy $x : f32[4, 8]\n"
                               "  %c = tensor_copy %b : f32[4, 8]"),
            "6:6-11: expected '=', found 'tensor_copy'\n");
}

TEST(ParserStatementErrors, MissingComma) {
  EXPECT_EQ(errors_in_function("%b = tensor_tensor add %a %a : f32[4, 8]"),
            "6:29-2: expected '{', ':' or ',', found '%a'\n");
}

TEST(ParserStatementErrors, MissingArrow) {
  EXPECT_EQ(errors_in_function("tensor_copy %a"),
            "6:17-1: expected '->', '{' or ',', found end of line\n");
}

TEST(ParserStatementErrors, ArrowAndType) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy %a -> $y"),
            "6:23-2: expected '{', ':' or ',', found '->'\n");
}

TEST(ParserStatementErrors, NumberWhereOperandIsExpected) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy 1.0 : f32[4, 8]"),
            "6:20-3: expected a value, a tensor, '{' or ':', found '1.0'\n");
}

TEST(ParserStatementErrors, OperandWhereNumberIsExpected) {
  EXPECT_EQ(errors_in_function("%b = memset %a : f32[4, 8]"),
            "6:15-2: expected a number, found '%a'\n");
}

TEST(ParserStatementErrors, ArityIsTheVerifiers) {
  EXPECT_EQ(errors_in_function("%b = select %a, %a : f32[4, 8]"),
            "6:8-6: select takes 3 operands, found 2\n");
}

TEST(ParserStatementErrors, ShapeIsTheVerifiers) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy %a : f32[4, 9]"),
            "6:25-9: tensor_copy gives the shape [4, 8], found [4, 9]\n");
}

TEST(ParserStatementErrors, SeveralInOneStatement) {
  EXPECT_EQ(errors_in_function("%b = tensor_tensor ad %q, $z {foo} : f33[4]"),
            "6:22-2: unknown operator 'ad' (did you mean 'add'?)\n"
            "6:25-2: '%q' is not defined\n"
            "6:29-2: '$z' is not declared\n"
            "6:33-3: tensor_tensor has no attribute 'foo', it takes fixed, autocast, loc\n"
            "6:40-3: unknown dtype 'f33' (did you mean 'f32'?)\n");
}

TEST(ParserStatementErrors, NoSpuriousErrorsAfterOne) {
  EXPECT_EQ(errors_in_function("%b = nope %a : f32[4, 8]\n"
                               "  %c = tensor_copy %b : f32[9, 9]\n"
                               "  %d = tensor_copy %c : f32[1]\n"
                               "  tensor_copy %d -> $y"),
            "6:8-4: unknown opcode 'nope'\n");
}

TEST(ParserStatementErrors, CallWithResult) {
  EXPECT_EQ(errors_in_function("%b = call @f() : f32[4]"),
            "6:3-1: recursive call of @f: @f -> @f\n"
            "6:20-6: call stands alone, with neither a value nor '->', found a value\n");
}

TEST(ParserStatementErrors, UndefinedValue) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy %q : f32[4, 8]"), "6:20-2: '%q' is not defined\n");
}

TEST(ParserStatementErrors, ValueUsedByItself) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy %b : f32[4, 8]"), "6:20-2: '%b' is not defined\n");
}

TEST(ParserStatementErrors, UndefinedTensor) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $q : f32[4, 8]"),
            "6:20-2: '$q' is not declared\n");
}

TEST(ParserStatementErrors, TensorAsValue) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy %x : f32[4, 8]"),
            "6:20-2: '%x' is not defined; the tensor is '$x'\n");
}

TEST(ParserStatementErrors, ValueAsTensor) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $a : f32[4, 8]"),
            "6:20-2: '$a' is not declared; the value is '%a'\n");
}

TEST(ParserStatementErrors, Redefinition) {
  EXPECT_EQ(errors_in_function("%a = tensor_copy $x : f32[4, 8]"),
            "6:3-2: '%a' is defined already\n"
            "  5:3-2: first defined here\n");
}

TEST(ParserStatementErrors, RedefinitionIsStillChecked) {
  EXPECT_EQ(errors_in_function("%a = tensor_copy $x : f32[4, 9]"),
            "6:3-2: '%a' is defined already\n"
            "  5:3-2: first defined here\n"
            "6:25-9: tensor_copy gives the shape [4, 8], found [4, 9]\n");
}

TEST(ParserStatementErrors, FirstDefinitionStands) {
  EXPECT_EQ(errors_in_function("%a = tensor_copy $x : bf16[4, 8]\n"
                               "  %b = tensor_tensor add %a, $x : f32[4, 8]"),
            "6:3-2: '%a' is defined already\n"
            "  5:3-2: first defined here\n");
}

TEST(ParserStatementErrors, QuotedNameIsTheSame) {
  EXPECT_EQ(errors_in_function("%\"a\" = tensor_copy $x : f32[4, 8]"),
            "6:3-4: '%\"a\"' is defined already\n"
            "  5:3-2: first defined here\n");
}

TEST(ParserStatementErrors, NotVisibleOutsideLoop) {
  EXPECT_EQ(errors_in_function("for %i in 0..2 {\n"
                               "    %b = tensor_copy $x : f32[4, 8]\n"
                               "  }\n"
                               "  %c = tensor_copy %b : f32[4, 8]"),
            "9:20-2: '%b' is not visible here\n"
            "  7:5-2: it is defined in a loop that has ended\n");
}

TEST(ParserStatementErrors, LoopVariableTwice) {
  EXPECT_EQ(errors_in_function("for %i in 0..2 {\n"
                               "    for %i in 0..2 {\n"
                               "    }\n"
                               "  }"),
            "7:9-2: '%i' is defined already\n"
            "  6:7-2: first defined here\n");
}

TEST(ParserStatementErrors, LoopVariableTakesValuesName) {
  EXPECT_EQ(errors_in_function("for %a in 0..2 {\n"
                               "  }"),
            "6:7-2: '%a' is defined already\n"
            "  5:3-2: first defined here\n");
}

TEST(ParserStatementErrors, LoopVariableAsOperand) {
  EXPECT_EQ(errors_in_function("for %i in 0..2 {\n"
                               "    %b = tensor_copy %i : f32[4, 8]\n"
                               "  }"),
            "7:22-2: '%i' is a loop variable, which only subscripts name\n"
            "  6:7-2: defined here\n");
}

TEST(ParserStatementErrors, ValueInSubscript) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x[%a : 1, 0 : 8] : f32[1, 8]"),
            "6:23-2: '%a' is a value, expected a loop variable or an integer\n"
            "  5:3-2: defined here\n");
}

TEST(ParserStatementErrors, LoopVariableOutsideLoop) {
  EXPECT_EQ(errors_in_function("for %i in 0..2 {\n"
                               "  }\n"
                               "  %b = tensor_copy $x[%i : 1, 0 : 8] : f32[1, 8]"),
            "8:23-2: '%i' is not visible here\n"
            "  6:7-2: it is defined in a loop that has ended\n");
}

TEST(ParserStatementErrors, TensorsOfAnotherFunction) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $x : f32[4] sbuf\n"
                      "  %a = iota : f32[4]\n"
                      "}\n"
                      "func @g {\n"
                      "  %b = tensor_copy $x : f32[4]\n"
                      "  %c = tensor_copy %a : f32[4]\n"
                      "}\n"),
            "6:20-2: '$x' is not declared\n"
            "7:20-2: '%a' is not defined\n");
}

TEST(ParserStatementErrors, SizeBelowOne) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x[0 : 0, 0 : 8] : f32[4, 8]"),
            "6:27-1: size is 0, expected at least 1\n");
}

TEST(ParserStatementErrors, StrideBelowOne) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x[0 : 4 : 0, 0 : 8] : f32[4, 8]"),
            "6:31-1: stride is 0, expected at least 1\n");
}

TEST(ParserStatementErrors, SubscriptOutOfBounds) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x[0 : 4, 1 : 8] : f32[4, 8]"),
            "6:30-5: dimension 1 of $x is accessed up to index 8, expected below its size 8\n");
}

TEST(ParserStatementErrors, AffineOutOfBounds) {
  EXPECT_EQ(errors_in_function("for %i in 0..4 {\n"
                               "    %b = tensor_copy $x[%i * 2 : 1, 0 : 8] : f32[1, 8]\n"
                               "  }"),
            "7:25-10: dimension 0 of $x is accessed up to index 6 at some trip of its loops, "
            "expected below its size 4\n");
}

TEST(ParserStatementErrors, SubscriptCount) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x[0 : 4] : f32[4]"),
            "6:20-9: access to $x has 1 subscript, expected 2: it is float32[4, 8]\n");
}

TEST(ParserStatementErrors, ViewSize) {
  EXPECT_EQ(
      errors_in_function("%b = tensor_copy $x as bf16 : f32[4, 8]"),
      "6:20-10: $x cannot be read as bfloat16: its items have 2 bytes, expected 4 as in float32\n");
}

TEST(ParserStatementErrors, UnknownView) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x as bf17 : f32[4, 8]"),
            "6:26-4: unknown dtype 'bf17' (did you mean 'bf16'?)\n");
}

TEST(ParserStatementErrors, IndexOverflow) {
  EXPECT_EQ(
      errors_in_function("%b = tensor_copy $x[9223372036854775807 + 1 : 4, 0 : 8] : f32[4, 8]"),
      "6:45-1: the index does not fit in 64 bits\n");
}

TEST(ParserStatementErrors, FactorOverflow) {
  EXPECT_EQ(errors_in_function(
                "for %i in 0..2 {\n"
                "    %b = tensor_copy $x[%i * 9223372036854775807 + %i : 4, 0 : 8] : f32[4, 8]\n"
                "  }"),
            "7:25-29: the index does not fit in 64 bits\n");
}

TEST(ParserStatementErrors, LeadingMinusOnVariable) {
  EXPECT_EQ(errors_in_function("for %i in 0..2 {\n"
                               "    %b = tensor_copy $x[-%i : 4, 0 : 8] : f32[4, 8]\n"
                               "  }"),
            "7:26-2: expected an integer, found '%i'\n");
}

TEST(ParserStatementErrors, StoreIntoSubscript) {
  EXPECT_EQ(errors_in_function("store %a -> $d[0 : 4, 4 : 8]"),
            "6:25-5: dimension 1 of $d is accessed up to index 11, expected below its size 8\n");
}

TEST(ParserStatementErrors, UnknownAttribute) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x {exact_int} : f32[4, 8]"),
            "6:24-9: tensor_copy has no attribute 'exact_int' (did you mean 'exact_ints'?), it "
            "takes exact_ints, fixed, autocast, loc\n");
}

TEST(ParserStatementErrors, AttributeOfAnotherOpcode) {
  EXPECT_EQ(
      errors_in_function("%b = tensor_copy $x {axes = [1]} : f32[4, 8]"),
      "6:24-4: tensor_copy has no attribute 'axes', it takes exact_ints, fixed, autocast, loc\n");
}

TEST(ParserStatementErrors, AttributeTwice) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x {fixed, loc = \"a\", fixed} : f32[4, 8]"),
            "6:42-5: attribute 'fixed' is given twice\n"
            "  6:24-5: first given here\n");
}

TEST(ParserStatementErrors, CustomAttributeTwice) {
  EXPECT_EQ(errors_in_function("opaque \"f\"() {k = 1, k = 2}"),
            "6:24-1: attribute 'k' is given twice\n"
            "  6:17-1: first given here\n");
}

TEST(ParserStatementErrors, AttributeKinds) {
  EXPECT_EQ(errors_in_function("%b = tensor_reduce add $x {axes = 1} : f32[4, 1]\n"
                               "  %c = activation exp $x {scale = \"a\"} : f32[4, 8]\n"
                               "  %d = iota {dim = [0]} : f32[4]\n"
                               "  %e = tensor_copy $x {fixed = 1} : f32[4, 8]\n"
                               "  %g = tensor_copy $x {loc = 3} : f32[4, 8]"),
            "6:37-1: attribute 'axes' is a list of integers, found '1'\n"
            "7:35-3: attribute 'scale' is a number, found '\"a\"'\n"
            "8:20-3: attribute 'dim' is an integer, found '[0]'\n"
            "9:32-1: attribute 'fixed' is true or false, found '1'\n"
            "10:30-1: attribute 'loc' is a string, found '3'\n");
}

TEST(ParserStatementErrors, FlagWithoutValueForList) {
  EXPECT_EQ(errors_in_function("%b = tensor_reduce add $x {axes} : f32[4, 1]"),
            "6:30-4: attribute 'axes' is a list of integers, found 'axes'\n");
}

TEST(ParserStatementErrors, EmptyAttributes) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x {} : f32[4, 8]"),
            "6:24-1: expected an attribute, found '}'\n");
}

TEST(ParserStatementErrors, CommaAfterLastAttribute) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x {fixed, } : f32[4, 8]"),
            "6:31-1: expected an attribute, found '}'\n");
}

TEST(ParserStatementErrors, ReservedWordAsAttribute) {
  EXPECT_EQ(errors_in_function("opaque \"f\"() {step = 1}"),
            "6:17-4: expected an attribute, found 'step'\n");
}

TEST(ParserStatementErrors, MissingAttribute) {
  EXPECT_EQ(errors_in_function("%b = tensor_reduce add $x : f32[4, 1]"),
            "6:8-13: tensor_reduce needs the attribute 'axes'\n");
}

TEST(ParserStatementErrors, StrideOfWrongLength) {
  EXPECT_EQ(
      errors_in_function("%b = slice $x {start = [0, 0], size = [4, 8], stride = [1]} : f32[4, 8]"),
      "6:49-6: stride has 1 entries, expected 2: one for each dimension\n");
}

TEST(ParserStatementErrors, IntegerAttributeOverflow) {
  EXPECT_EQ(
      errors_in_function("opaque \"f\"() {k = 9223372036854775808, l = [1, -9223372036854775809]}"),
      "6:21-19: integer '9223372036854775808' does not fit in 64 bits\n"
      "6:50-20: integer '-9223372036854775809' does not fit in 64 bits\n");
}

TEST(ParserStatementErrors, ListsTooDeep) {
  EXPECT_EQ(errors_in_function("opaque \"f\"() {k = [[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]}\n"
                               "  %b = tensor_copy %q : f32[4, 8]"),
            "6:37-1: attribute lists nest deeper than 16\n"
            "7:20-2: '%q' is not defined\n");
}

TEST(ParserStatementErrors, UnclosedAttributes) {
  EXPECT_EQ(errors_in_function("%b = tensor_copy $x {fixed : f32[4, 8]\n"
                               "  %c = tensor_copy %q : f32[4, 8]"),
            "6:30-1: expected '}', '=' or ',', found ':'\n"
            "7:20-2: '%q' is not defined\n");
}

TEST(ParserStatementErrors, BraceOfAttributesDoesNotCloseBlock) {
  EXPECT_EQ(errors_in_function("%b = tensor_reduce add $x {axes = [1 } : f32[4, 1]\n"
                               "  %c = tensor_copy %q : f32[4, 8]"),
            "6:40-1: expected ',' or ']', found '}'\n"
            "7:20-2: '%q' is not defined\n");
}

TEST(ParserStatementErrors, LoopWithoutTrips) {
  EXPECT_EQ(errors_in_function("for %i in 4..4 {\n"
                               "    %b = tensor_copy $x[%i : 1, 0 : 8] : f32[1, 8]\n"
                               "  }"),
            "6:13-4: a loop has at least one trip, found 4..4\n");
}

TEST(ParserStatementErrors, StepBelowOne) {
  EXPECT_EQ(errors_in_function("for %i in 0..4 step 0 {\n"
                               "  }"),
            "6:13-11: the step of a loop is at least 1, found 0\n");
}

TEST(ParserStatementErrors, LoopHeaderError) {
  EXPECT_EQ(errors_in_function("for %i in 0..n {\n"
                               "    %b = tensor_copy $x[%i : 1, 0 : 8] : f32[1, 8]\n"
                               "    %c = tensor_copy %q : f32[4, 8]\n"
                               "  }\n"
                               "  %d = tensor_copy %p : f32[4, 8]"),
            "6:16-1: expected an integer, found 'n'\n"
            "8:22-2: '%q' is not defined\n"
            "10:20-2: '%p' is not defined\n");
}

TEST(ParserStatementErrors, LoopHeaderWithoutVariable) {
  EXPECT_EQ(errors_in_function("for i in 0..4 {\n"
                               "    %c = tensor_copy %q : f32[4, 8]\n"
                               "  }"),
            "6:7-1: expected a loop variable, found 'i'\n"
            "7:22-2: '%q' is not defined\n");
}

TEST(ParserStatementErrors, LoopHeaderWithoutBrace) {
  EXPECT_EQ(errors_in_function("for %i in 0..4\n"
                               "  %c = tensor_copy %q : f32[4, 8]"),
            "6:17-1: expected 'step' or '{', found end of line\n"
            "7:20-2: '%q' is not defined\n");
}

TEST(ParserStatementErrors, BoundOverflow) {
  EXPECT_EQ(errors_in_function("for %i in 0..9223372036854775808 {\n"
                               "  }"),
            "6:16-19: integer '9223372036854775808' does not fit in 64 bits\n");
}

TEST(ParserStatementErrors, FloatBound) {
  EXPECT_EQ(errors_in_function("for %i in 0..4.0 {\n"
                               "  }"),
            "6:16-3: expected an integer, found '4.0'\n");
}

TEST(ParserStatementErrors, UndefinedCallee) {
  EXPECT_EQ(errors_of("func @foo {}\n"
                      "func @g {\n"
                      "  call @fo()\n"
                      "}\n"),
            "3:8-3: function @fo is not defined (did you mean '@foo'?)\n");
}

TEST(ParserStatementErrors, CallOfLaterFunction) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $a : f32[4] dram\n"
                      "  call @g($a, $a)\n"
                      "}\n"
                      "func @g {\n"
                      "  tensor $x : f32[4] dram input\n"
                      "  tensor $y : f32[8] dram output\n"
                      "}\n"),
            "3:15-2: $a is float32[4], but $y of @g is float32[8]\n"
            "  7:10-1: it is declared here\n"
            "3:15-2: output argument $a also stands at place 1 of the call\n");
}

TEST(ParserStatementErrors, CallOfFunctionWithFailedTensor) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  tensor $a : f32[4] dram\n"
                      "  call @g($a, $a)\n"
                      "}\n"
                      "func @g {\n"
                      "  tensor $x : nope[4] dram input\n"
                      "}\n"),
            "6:15-4: unknown dtype 'nope'\n");
}

TEST(ParserStatementErrors, Recursion) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  call @g()\n"
                      "}\n"
                      "func @g {\n"
                      "  call @f()\n"
                      "}\n"),
            "5:3-1: recursive call of @f: @f -> @g -> @f\n");
}

TEST(ParserStatementErrors, OrderOfPositions) {
  EXPECT_EQ(errors_of("func @f {\n"
                      "  call @q()\n"
                      "  %a = tensor_copy %b : f32[1]\n"
                      "}\n"),
            "2:8-2: function @q is not defined\n"
            "3:20-2: '%b' is not defined\n");
}

TEST(ParserStatementErrors, OnlyOpaqueInCall) {
  EXPECT_EQ(errors_in_function("call f()"), "6:8-1: expected an '@' name, found 'f'\n");
}

} // namespace
} // namespace nir
