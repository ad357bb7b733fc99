#include <gmock/gmock.h>

#include <fmt/format.h>

#include "ir/core/builder.h"
#include "ir/numeric/promotion.h"
#include "tests/unit/support/legalize.h"

namespace nir::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::string_view pass = "legalize-dtype";

constexpr std::string_view no_path_of_scales =
    "error: No available implicit dtype promotion path for input dtypes float8_e8m0fnu and "
    "float8_e8m0fnu. Use .astype(dtype) explicitly.";

// Casts where operands disagree.

TEST(LegalizeDType, TheNarrowSideIsCast) {
  const PassOutcome outcome = legalize(in_function(R"(  tensor $t : float32[8, 4] sbuf

  %a = iota : bfloat16[8, 4]
  %b = iota : float32[8, 4]
  tensor_tensor add %a, %b -> $t
)"));
  EXPECT_EQ(outcome.text, in_function(R"(  tensor $t : float32[8, 4] sbuf

  %a = iota : bfloat16[8, 4]
  %b = iota : float32[8, 4]
  %0 = tensor_copy %a {autocast = "legalize-dtype"} : float32[8, 4]
  tensor_tensor add %0, %b -> $t
)"));
  EXPECT_THAT(outcome.counts, ElementsAre(1, 16));
  EXPECT_THAT(outcome.messages, IsEmpty());
}

TEST(LegalizeDType, TheSecondSideIsCastWhereItIsTheNarrowOne) {
  expect_legalized(R"(  %a = iota : float16[8, 4]
  %b = iota : float8e4[8, 4]
  %c = tensor_tensor add %a, %b : float32[8, 4]
)",
                   R"(  %a = iota : float16[8, 4]
  %b = iota : float8e4[8, 4]
  %0 = tensor_copy %b {autocast = "legalize-dtype"} : float16[8, 4]
  %c = tensor_tensor add %a, %0 : float32[8, 4]
)");
}

TEST(LegalizeDType, TheResultDtypeStays) {
  expect_legalized(R"(  %a = iota : bfloat16[8, 4]
  %b = iota : float16[8, 4]
  %c = tensor_tensor add %a, %b : int8[8, 4]
)",
                   R"(  %a = iota : bfloat16[8, 4]
  %b = iota : float16[8, 4]
  %0 = tensor_copy %b {autocast = "legalize-dtype"} : bfloat16[8, 4]
  %c = tensor_tensor add %a, %0 : int8[8, 4]
)");
}

TEST(LegalizeDType, BothSidesAreCastWhereTheyMeetInAThirdDtype) {
  const PassOutcome outcome = legalize(in_function(R"(  %a = iota : uint8[8, 4]
  %b = iota : int8[8, 4]
  %c = tensor_tensor add %a, %b : int8[8, 4]
)"));
  EXPECT_EQ(outcome.text, in_function(R"(  %a = iota : uint8[8, 4]
  %b = iota : int8[8, 4]
  %0 = tensor_copy %a {autocast = "legalize-dtype"} : int16[8, 4]
  %1 = tensor_copy %b {autocast = "legalize-dtype"} : int16[8, 4]
  %c = tensor_tensor add %0, %1 : int8[8, 4]
)"));
  EXPECT_THAT(outcome.counts, ElementsAre(2, 16));
}

TEST(LegalizeDType, ArmsOfASelectAreCastAndThePredicateIsNot) {
  expect_legalized(R"(  %p = iota : uint8[8, 4]
  %a = iota : bfloat16[8, 4]
  %b = iota : float32[8, 4]
  %c = select %p, %a, %b : bfloat16[8, 4]
)",
                   R"(  %p = iota : uint8[8, 4]
  %a = iota : bfloat16[8, 4]
  %b = iota : float32[8, 4]
  %0 = tensor_copy %a {autocast = "legalize-dtype"} : float32[8, 4]
  %c = select %p, %0, %b : bfloat16[8, 4]
)");
}

TEST(LegalizeDType, LegalModulesAreUnchanged) {
  expect_legal(R"(  tensor $t : float32[8, 4] sbuf

  %p = iota : uint8[8, 4]
  %a = iota : bfloat16[8, 4]
  %b = tensor_tensor add %a, %a : float32[8, 4]
  %c = select %p, %b, $t : bfloat16[8, 4]
  %d = matmul %a, $t : float32[4, 4]
  %e = tensor_scalar %c, add 1.0 : int32[8, 4]
  %f = activation exp %e, $t[0 : 8, 0 : 1] : float16[8, 4]
)");
}

// The field's report: a cleanup inside the legalizer must not take casts that it did not insert.
TEST(LegalizeDType, AnAuthorsPairStays) {
  expect_legal(R"(  %a = iota : float32[8, 4]
  %b = tensor_copy %a : float16[8, 4]
  %c = tensor_copy %b : float32[8, 4]
  %d = tensor_copy %c : float32[8, 4]
)");
}

TEST(LegalizeDType, FixedInstructionsGetCastOperandsAndStayFixed) {
  expect_legalized(R"(  %a = iota : bfloat16[8, 4]
  %b = iota : float32[8, 4]
  %c = tensor_tensor add %a, %b {fixed} : bfloat16[8, 4]
)",
                   R"(  %a = iota : bfloat16[8, 4]
  %b = iota : float32[8, 4]
  %0 = tensor_copy %a {autocast = "legalize-dtype"} : float32[8, 4]
  %c = tensor_tensor add %0, %b {fixed} : bfloat16[8, 4]
)");
}

// One cast per value and dtype.

TEST(LegalizeDType, LaterUsersInTheBlockAndInsideItShareTheCast) {
  const PassOutcome outcome = legalize(in_function(R"(  %a = iota : bfloat16[8, 4]
  %b = iota : float32[8, 4]
  %c = tensor_tensor add %a, %b : float32[8, 4]
  %d = tensor_tensor add %b, %a : float32[8, 4]
  for %i in 0..4 {
    for %j in 0..4 {
      %e = tensor_tensor max %a, %b : float32[8, 4]
    }
  }
)"));
  EXPECT_EQ(outcome.text, in_function(R"(  %a = iota : bfloat16[8, 4]
  %b = iota : float32[8, 4]
  %0 = tensor_copy %a {autocast = "legalize-dtype"} : float32[8, 4]
  %c = tensor_tensor add %0, %b : float32[8, 4]
  %d = tensor_tensor add %b, %0 : float32[8, 4]
  for %i in 0..4 {
    for %j in 0..4 {
      %e = tensor_tensor max %0, %b : float32[8, 4]
    }
  }
)"));
  EXPECT_THAT(outcome.counts, ElementsAre(1, 16));
}

TEST(LegalizeDType, AUserOutsideTheFirstOnesLoopGetsItsOwnCast) {
  const PassOutcome outcome = legalize(in_function(R"(  %a = iota : bfloat16[8, 4]
  %b = iota : float32[8, 4]
  for %i in 0..4 {
    %c = tensor_tensor add %a, %b : float32[8, 4]
  }
  %d = tensor_tensor add %a, %b : float32[8, 4]
  for %i in 0..4 {
    %e = tensor_tensor add %a, %b : float32[8, 4]
  }
)"));
  EXPECT_EQ(outcome.text, in_function(R"(  %a = iota : bfloat16[8, 4]
  %b = iota : float32[8, 4]
  for %i in 0..4 {
    %0 = tensor_copy %a {autocast = "legalize-dtype"} : float32[8, 4]
    %c = tensor_tensor add %0, %b : float32[8, 4]
  }
  %1 = tensor_copy %a {autocast = "legalize-dtype"} : float32[8, 4]
  %d = tensor_tensor add %1, %b : float32[8, 4]
  for %i in 0..4 {
    %e = tensor_tensor add %1, %b : float32[8, 4]
  }
)"));
  EXPECT_THAT(outcome.counts, ElementsAre(2, 5 * 16));
}

TEST(LegalizeDType, EachDtypeHasItsOwnCast) {
  expect_legalized(R"(  %a = iota : int8[8, 4]
  %b = iota : float32[8, 4]
  %c = iota : float16[8, 4]
  %d = tensor_tensor add %a, %b : float32[8, 4]
  %e = tensor_tensor add %a, %c : float32[8, 4]
)",
                   R"(  %a = iota : int8[8, 4]
  %b = iota : float32[8, 4]
  %c = iota : float16[8, 4]
  %0 = tensor_copy %a {autocast = "legalize-dtype"} : float32[8, 4]
  %d = tensor_tensor add %0, %b : float32[8, 4]
  %1 = tensor_copy %a {autocast = "legalize-dtype"} : float16[8, 4]
  %e = tensor_tensor add %1, %c : float32[8, 4]
)");
}

TEST(LegalizeDType, AnAccessIsCastForEachUse) {
  const PassOutcome outcome = legalize(in_function(R"(  tensor $t : bfloat16[8, 4] sbuf
  tensor $u : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  tensor_tensor add $t, %a -> $u
  memset 0.0 -> $t
  tensor_tensor add $t, %a -> $u
)"));
  EXPECT_EQ(outcome.text, in_function(R"(  tensor $t : bfloat16[8, 4] sbuf
  tensor $u : float32[8, 4] sbuf

  %a = iota : float32[8, 4]
  %0 = tensor_copy $t {autocast = "legalize-dtype"} : float32[8, 4]
  tensor_tensor add %0, %a -> $u
  memset 0.0 -> $t
  %1 = tensor_copy $t {autocast = "legalize-dtype"} : float32[8, 4]
  tensor_tensor add %1, %a -> $u
)"));
  EXPECT_THAT(outcome.counts, ElementsAre(2, 32));
}

TEST(LegalizeDType, SubscriptsAndViewsMoveToTheCast) {
  expect_legalized(R"(  tensor $t : uint16[64, 4] sbuf

  %a = iota : float32[8, 2]
  for %i in 0..4 {
    %b = tensor_tensor add %a, $t[%i * 8 + 8 : 8, 0 : 2 : 2] as bfloat16 : float32[8, 2]
  }
)",
                   R"(  tensor $t : uint16[64, 4] sbuf

  %a = iota : float32[8, 2]
  for %i in 0..4 {
    %0 = tensor_copy $t[%i * 8 + 8 : 8, 0 : 2 : 2] as bfloat16 {autocast = "legalize-dtype"} : float32[8, 2]
    %b = tensor_tensor add %a, %0 : float32[8, 2]
  }
)");
}

TEST(LegalizeDType, BytesCountTheTripsAndOnePartition) {
  const PassOutcome outcome = legalize(in_function(R"(  %a = iota : bfloat16[128, 512]
  %b = iota : float32[128, 512]
  for %i in 0..8 {
    for %j in 0..3 {
      %c = tensor_tensor add %a, %b : float32[128, 512]
    }
  }
)"));
  EXPECT_THAT(outcome.counts, ElementsAre(1, 512 * 4 * 24));
}

TEST(LegalizeDType, TheCastHasThePlaceAndTheLocOfItsUser) {
  ParsedModule parsed{in_function(R"(  %a = iota {loc = "a.py:1"} : bfloat16[8, 4]
  %b = iota : float32[8, 4]
  %c = tensor_tensor add %a, %b {fixed, loc = "a.py:3"} : float32[8, 4]
)")};
  const PassOutcome outcome = run_pass(pass, parsed);
  EXPECT_THAT(outcome.text,
              HasSubstr("%0 = tensor_copy %a {autocast = \"legalize-dtype\", loc = \"a.py:3\"} :"));
  const Stmt *user = parsed.module->functions()[0]->body().last();
  EXPECT_EQ(user->prev()->source(), user->source());
  EXPECT_NE(user->source(), no_source);
}

// Integers.

TEST(LegalizeDType, WideIntegersAreCastToIntegersExactly) {
  expect_legalized(R"(  %a = iota : int32[8, 4]
  %b = iota : int64[8, 4]
  %c = tensor_tensor add %a, %b : int64[8, 4]
)",
                   R"(  %a = iota : int32[8, 4]
  %b = iota : int64[8, 4]
  %0 = tensor_copy %a {exact_ints, autocast = "legalize-dtype"} : int64[8, 4]
  %c = tensor_tensor add %0, %b : int64[8, 4]
)");
}

TEST(LegalizeDType, NarrowIntegersNeedNoFlagAndNoWarning) {
  const PassOutcome outcome = legalize(in_function(R"(  %a = iota : int16[8, 4]
  %b = iota : int64[8, 4]
  %c = tensor_tensor add %a, %b : int64[8, 4]
  %d = iota : bfloat16[8, 4]
  %e = tensor_tensor add %a, %d : bfloat16[8, 4]
)"));
  EXPECT_THAT(outcome.text, testing::Not(HasSubstr("exact_ints")));
  EXPECT_THAT(outcome.messages, IsEmpty());
}

TEST(LegalizeDType, MixedSignsWarnOnlyWhereTheyMeetInAFloat) {
  const PassOutcome outcome = legalize(in_function(R"(  %a = iota : uint32[8, 4]
  %b = iota : int32[8, 4]
  %c = tensor_tensor add %a, %b : int32[8, 4]
  %d = iota : uint64[8, 4]
  %e = tensor_tensor add %d, %b : int32[8, 4]
)"));
  EXPECT_EQ(outcome.text, in_function(R"(  %a = iota : uint32[8, 4]
  %b = iota : int32[8, 4]
  %0 = tensor_copy %a {exact_ints, autocast = "legalize-dtype"} : int64[8, 4]
  %1 = tensor_copy %b {exact_ints, autocast = "legalize-dtype"} : int64[8, 4]
  %c = tensor_tensor add %0, %1 : int32[8, 4]
  %d = iota : uint64[8, 4]
  %2 = tensor_copy %d {autocast = "legalize-dtype"} : float32[8, 4]
  %3 = tensor_copy %b {autocast = "legalize-dtype"} : float32[8, 4]
  %e = tensor_tensor add %2, %3 : int32[8, 4]
)"));
  EXPECT_THAT(outcome.messages, ElementsAre(StartsWith("6: warning: tensor_tensor operand '%d' is "
                                                       "cast from uint64 to float32"),
                                            StartsWith("6: warning: tensor_tensor operand '%b' is "
                                                       "cast from int32 to float32")));
}

TEST(LegalizeDType, ASharedCastWarnsOnce) {
  const PassOutcome outcome = legalize(in_function(R"(  %a = iota : int32[8, 4]
  %b = iota : float16[8, 4]
  %c = tensor_tensor add %a, %b : int32[8, 4]
  %d = tensor_tensor max %a, %b : int32[8, 4]
)"));
  EXPECT_THAT(outcome.messages,
              ElementsAre(StartsWith("4: warning: tensor_tensor operand '%a' is cast from int32 to "
                                     "float16")));
}

// Matmul.

TEST(LegalizeDType, IntegerMatmulOperandsBecomeFloat32) {
  const PassOutcome outcome = legalize(in_function(R"(  tensor $p : float32[4, 4] psum

  %a = iota : int8[8, 4]
  %b = iota : int32[8, 4]
  matmul %a, %b {accumulate} -> $p
)"));
  EXPECT_EQ(outcome.text, in_function(R"(  tensor $p : float32[4, 4] psum

  %a = iota : int8[8, 4]
  %b = iota : int32[8, 4]
  %0 = tensor_copy %a {autocast = "legalize-dtype"} : float32[8, 4]
  %1 = tensor_copy %b {autocast = "legalize-dtype"} : float32[8, 4]
  matmul %0, %1 {accumulate} -> $p
)"));
  EXPECT_THAT(outcome.messages, ElementsAre(StartsWith("6: warning: matmul operand '%b'")));
}

TEST(LegalizeDType, BothOperandsOfAMatmulMayBeOneCast) {
  expect_legalized(R"(  %a = iota : int8[8, 4]
  %b = matmul %a, %a : float32[4, 4]
)",
                   R"(  %a = iota : int8[8, 4]
  %0 = tensor_copy %a {autocast = "legalize-dtype"} : float32[8, 4]
  %b = matmul %0, %0 : float32[4, 4]
)");
}

TEST(LegalizeDType, MatmulOperandsMayDiffer) {
  expect_legal(R"(  %a = iota : bfloat16[8, 4]
  %b = iota : float32[8, 4]
  %c = matmul %a, %b : float32[4, 4]
)");
}

TEST(LegalizeDType, AnActiveMatmulModeChoosesTheDtypeOfFloat32) {
  ParsedModule parsed{in_function(R"(  %a = iota : float32[8, 4]
  %b = iota : float16[8, 4]
  %c = matmul %a, %b : float32[4, 4]
)")};
  Target target = parsed.module->target();
  target.matmul_mode = MatmulMode::Bfloat16;
  parsed.module->set_target(target);
  EXPECT_THAT(run_pass(pass, parsed).text,
              HasSubstr("%0 = tensor_copy %a {autocast = \"legalize-dtype\"} : bfloat16[8, 4]\n"
                        "  %c = matmul %0, %b : float32[4, 4]\n"));
}

TEST(LegalizeDType, X4IsMultipliedOnlyByTargetsThatCan) {
  ParsedModule parsed{"module @m {target = \"trn3\"}\n\n" + in_function(R"(
  tensor $a : float8_e4m3fn_x4[8, 4] sbuf
  %c = matmul $a, $a : float32[4, 4]
)")};
  EXPECT_FALSE(run_pass(pass, parsed).changed);
  parsed.module->set_target(*find_target("trn2"));
  const PassOutcome outcome = run_once(pass, *parsed.module, parsed.file);
  EXPECT_FALSE(outcome.changed);
  EXPECT_THAT(outcome.messages,
              ElementsAre("6: error: matmul operand '$a' is float8_e4m3fn_x4, which target trn2 "
                          "cannot multiply"));
}

// Scales and other pairs without a path.

TEST(LegalizeDType, AScaleMeetsNothing) {
  EXPECT_THAT(refusals(in_function(R"(  tensor $s : float8_e8m0fnu[8, 4] sbuf

  %a = iota : int8[8, 4]
  %b = tensor_tensor add $s, %a : float32[8, 4]
)")),
              ElementsAre("5: error: No available implicit dtype promotion path for input dtypes "
                          "float8_e8m0fnu and int8. Use .astype(dtype) explicitly."));
}

TEST(LegalizeDType, TwoScalesDoNotMeetEither) {
  EXPECT_THAT(
      refusals(in_function(R"(  tensor $s : float8_e8m0fnu[8, 4] sbuf

  %p = iota : uint8[8, 4]
  %b = tensor_tensor add $s, $s : float32[8, 4]
  %c = select %p, $s, $s : float32[8, 4]
)")),
      ElementsAre("5: " + std::string(no_path_of_scales), "6: " + std::string(no_path_of_scales)));
}

TEST(LegalizeDType, EveryPairOfPlainDtypesDoesWhatPromotionSays) {
  for (const DType t0 : all_dtypes())
    for (const DType t1 : all_dtypes()) {
      if (is_host_only(t0) || is_host_only(t1) || is_x4_dtype(t0) || is_x4_dtype(t1))
        continue;
      const std::string text =
          in_function(fmt::format("  tensor $a : {}[8, 4] sbuf\n  tensor $b : {}[8, 4] sbuf\n\n"
                                  "  %c = tensor_tensor add $a, $b : float32[8, 4]\n",
                                  dtype2str(t0), dtype2str(t1)));
      ParsedModule parsed{text};
      ASSERT_NE(parsed.module, nullptr);
      const PassOutcome outcome = run_once(pass, *parsed.module, parsed.file);
      const auto meeting = promote_type(t0, t1);
      const bool scale = t0 == DType::Float8E8m0fnu || t1 == DType::Float8E8m0fnu;
      if (!meeting || scale) {
        EXPECT_THAT(outcome.messages, ElementsAre("5: error: " + no_promotion_path(t0, t1)));
        continue;
      }
      const Instruction *sum = cast<Instruction>(parsed.module->functions()[0]->body().last());
      EXPECT_EQ(sum->operand(0).dtype(), *meeting);
      EXPECT_EQ(sum->operand(1).dtype(), *meeting);
      EXPECT_EQ(outcome.counts[0], unsigned{t0 != *meeting} + unsigned{t1 != *meeting});
    }
}

TEST(LegalizeDType, AllErrorsOfAModuleAreReported) {
  EXPECT_THAT(refusals(R"(func @g {
  tensor $x : float64[8, 4] dram input
}

func @f {
  tensor $s : float8_e8m0fnu[8, 4] sbuf

  %a = tensor_tensor add $s, $s : float32[8, 4]
  %b = iota : float32[8, 4]
  %c = iota : bfloat16[8, 4]
  %d = tensor_tensor add %b, %c : float32[8, 4]
  %e = iota {fixed} : float64[8, 4]
}
)"),
              ElementsAre(StartsWith("2: error: float64 input '$x'"),
                          "8: " + std::string(no_path_of_scales),
                          StartsWith("12: error: float64 that '%e' (iota) writes")));
}

TEST(LegalizeDType, ACastMustHaveASizeThatATypeMayHave) {
  EXPECT_THAT(
      refusals(in_function(R"(  tensor $a : int8[2305843009213693952, 2] sbuf

  %b = matmul $a, $a {lhs_contract = [0, 1], rhs_contract = [0, 1]} : float32[]
)")),
      ElementsAre(StartsWith("4: error: operand '$a' of matmul cannot be cast to float32")));
}

// Scale.

TEST(LegalizeDType, AValueWithManyUsersIsCastOnce) {
  constexpr unsigned users = 100'000;
  Module module;
  Function *function = module.add_function(module.intern("f"));
  Builder builder(*function);
  const Type *narrow = builder.type(DType::Bfloat16, {8, 4});
  const Type *wide = builder.type(DType::Float32, {8, 4});
  Value *a = builder.create({.opcode = Opcode::Iota, .type = narrow});
  Value *b = builder.create({.opcode = Opcode::Iota, .type = wide});
  for (unsigned i = 0; i < users; ++i)
    builder.tensor_tensor(AluOp::Add, {a, nullptr}, {b, nullptr}, DType::Float32);
  const SourceFile none("", "");
  EXPECT_THAT(run_once(pass, module, none).counts, ElementsAre(1, 16));
}

TEST(LegalizeDType, CastsInManyLoopsAreLinear) {
  Module module;
  Function *function = module.add_function(module.intern("f"));
  Builder builder(*function);
  Value *a =
      builder.create({.opcode = Opcode::Iota, .type = builder.type(DType::Bfloat16, {8, 4})});
  Value *b = builder.create({.opcode = Opcode::Iota, .type = builder.type(DType::Float32, {8, 4})});
  for (unsigned i = 0; i < 50'000; ++i) {
    builder.insert_at_end(builder.loop("i", 0, 2)->body());
    builder.tensor_tensor(AluOp::Add, {a, nullptr}, {b, nullptr}, DType::Float32);
    builder.insert_at_end(function->body());
  }
  const SourceFile none("", "");
  EXPECT_THAT(run_once(pass, module, none).counts, ElementsAre(50'000, 50'000 * 2 * 16));
}

} // namespace
} // namespace nir::test
