// legalize-dtype: what becomes of float64.

#include "tests/unit/support/legalize.h"

namespace nir::test {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

TEST(LegalizeFloat64, Float64ValuesAndTensorsBecomeFloat32) {
  const PassOutcome outcome = legalize(in_function(R"(  tensor $x : float32[8, 4] dram input
  tensor $t : float64[8, 4] sbuf

  %a = load $x : float32[8, 4]
  %b = activation exp %a : float64[8, 4]
  %c = tensor_tensor add %a, %b : float64[8, 4]
  tensor_copy %c -> $t
)"));
  EXPECT_EQ(outcome.text, in_function(R"(  tensor $x : float32[8, 4] dram input
  tensor $t : float32[8, 4] sbuf

  %a = load $x : float32[8, 4]
  %b = activation exp %a : float32[8, 4]
  %c = tensor_tensor add %a, %b : float32[8, 4]
  tensor_copy %c -> $t
)"));
  EXPECT_THAT(outcome.counts, ElementsAre(0, 0));
}

TEST(LegalizeFloat64, CopiesBetweenFloat64AndFloat32StayAsCopies) {
  expect_legalized(R"(  %a = iota : float32[8, 4]
  %b = tensor_copy %a : float64[8, 4]
  %c = tensor_copy %b {fixed} : float32[8, 4]
)",
                   R"(  %a = iota : float32[8, 4]
  %b = tensor_copy %a : float32[8, 4]
  %c = tensor_copy %b {fixed} : float32[8, 4]
)");
}

TEST(LegalizeFloat64, Float64MeetsOthersAsFloat32) {
  expect_legalized(R"(  %a = iota : float64[8, 4]
  %b = iota : float32r[8, 4]
  %c = tensor_tensor add %a, %b : float64[8, 4]
)",
                   R"(  %a = iota : float32[8, 4]
  %b = iota : float32r[8, 4]
  %0 = tensor_copy %a {autocast = "legalize-dtype"} : float32r[8, 4]
  %c = tensor_tensor add %0, %b : float32[8, 4]
)");
}

TEST(LegalizeFloat64, ConstDataIsRoundedOnce) {
  // 1 + 2^-24 + 2^-52 lies above the tie between 1 and its successor; 1 + 2^-24 on it.
  expect_legalized(R"(  tensor $a : float64[1] sbuf const = splat(0.1)
  tensor $b : float64[4] sbuf const = dense(1.0000000596046450, 1.0000000596046448, 1e300, -0.0)
  tensor $c : float64[1] sbuf const = hex("000000000000f03f")
)",
                   R"(  tensor $a : float32[1] sbuf const = splat(0.1)
  tensor $b : float32[4] sbuf const = dense(1.0000001, 1.0, inf, -0.0)
  tensor $c : float32[1] sbuf const = hex("0000803f")
)");
}

TEST(LegalizeFloat64, NanDataKeepsItsSign) {
  const PassOutcome outcome =
      legalize(in_function("  tensor $a : float64[2] sbuf const = dense(nan, -nan)\n"));
  EXPECT_EQ(outcome.text, in_function("  tensor $a : float32[2] sbuf const = dense(nan, -nan)\n"));
}

TEST(LegalizeFloat64, NumbersFollowTheirDestination) {
  expect_legalized(R"(  tensor $t : float64[8, 4] sbuf

  memset 0.1 -> $t
  %a = memset 1e300 : float64[8, 4]
  %b = tensor_scalar %a, add 0.1 : float64[8, 4]
)",
                   R"(  tensor $t : float32[8, 4] sbuf

  memset 0.1 -> $t
  %a = memset inf : float32[8, 4]
  %b = tensor_scalar %a, add 0.1 : float32[8, 4]
)");
}

TEST(LegalizeFloat64, AMemcastThatKeepsItsDtypeBecomesAMemcpyWithItsMarks) {
  expect_legalized(R"(  tensor $a : float32[8, 4] dram
  tensor $b : float64[4, 8] dram
  tensor $c : float32[8, 4] dram
  tensor $d : bfloat16[8, 4] dram

  offloaded_memcast $a -> $b
  offloaded_memcast $b {fixed, autocast = "x", loc = "a.py:1"} -> $c
  offloaded_memcast $b -> $d
)",
                   R"(  tensor $a : float32[8, 4] dram
  tensor $b : float32[4, 8] dram
  tensor $c : float32[8, 4] dram
  tensor $d : bfloat16[8, 4] dram

  offloaded_memcpy $a -> $b
  offloaded_memcpy $b {fixed, autocast = "x", loc = "a.py:1"} -> $c
  offloaded_memcast $b -> $d
)");
}

TEST(LegalizeFloat64, LoadsAndStoresOfFloat64KeepTheirDtype) {
  expect_legalized(R"(  tensor $k : float64[8, 4] dram const = splat(1.0)
  tensor $y : float32[8, 4] dram output

  %a = load $k : float64[8, 4]
  %b = load $k : float32[8, 4]
  store %a -> $y
)",
                   R"(  tensor $k : float32[8, 4] dram const = splat(1.0)
  tensor $y : float32[8, 4] dram output

  %a = load $k : float32[8, 4]
  %b = load $k : float32[8, 4]
  store %a -> $y
)");
}

TEST(LegalizeFloat64, MoversAndOffloadedOpsKeepTheOneDtype) {
  expect_legalized(R"(  tensor $a : float64[8, 4] dram
  tensor $b : float64[8, 4] dram

  offloaded_memcpy $a -> $b
  offloaded_bitcast $a -> $b
  %a = iota : float64[8, 4]
  %b = reshape %a : float64[4, 8]
  %c = concat %b, %b : float64[8, 8]
)",
                   R"(  tensor $a : float32[8, 4] dram
  tensor $b : float32[8, 4] dram

  offloaded_memcpy $a -> $b
  offloaded_bitcast $a -> $b
  %a = iota : float32[8, 4]
  %b = reshape %a : float32[4, 8]
  %c = concat %b, %b : float32[8, 8]
)");
}

TEST(LegalizeFloat64, Float64MatmulOperandsBecomeFloat32Themselves) {
  expect_legalized(R"(  %a = iota : float64[8, 4]
  %b = matmul %a, %a : float32[4, 4]
)",
                   R"(  %a = iota : float32[8, 4]
  %b = matmul %a, %a : float32[4, 4]
)");
}

TEST(LegalizeFloat64, Float64OfTheInterfaceIsAnErrorAtItsDeclaration) {
  EXPECT_THAT(refusals(in_function(R"(  tensor $x : float64[8, 4] dram input
  tensor $y : float64[8, 4] dram output

  opaque "f"($x, $y)
)")),
              ElementsAre(StartsWith("2: error: float64 input '$x' cannot be made legal"),
                          StartsWith("3: error: float64 output '$y' cannot be made legal")));
}

TEST(LegalizeFloat64, AFloat64ResultOfAnOpaqueIsAnError) {
  EXPECT_THAT(refusals(in_function("  %a = opaque \"f\"() {fixed} : float64[8, 4]\n")),
              ElementsAre(StartsWith("2: error: float64 result of opaque \"f\"")));
}

TEST(LegalizeFloat64, FixedFloat64IsAnErrorAlsoInATensor) {
  EXPECT_THAT(refusals(in_function(R"(  tensor $t : float64[8, 4] sbuf

  memset 0.0 {fixed} -> $t
  %a = tensor_copy $t {fixed} : float64[8, 4]
  %b = tensor_copy $t {fixed} : float32[8, 4]
)")),
              ElementsAre(StartsWith("4: error: float64 that a memset writes"),
                          StartsWith("5: error: float64 that '%a' (tensor_copy) writes")));
}

TEST(LegalizeFloat64, Float64GivenToAnOpaqueIsOneErrorAStatement) {
  EXPECT_THAT(refusals(in_function(R"(  tensor $t : float64[8, 4] sbuf

  %a = iota : float64[8, 4]
  opaque "f"($t, $t, %a) -> $t
  opaque "g"($t)
)")),
              ElementsAre("5: error: float64 tensor '$t' cannot become float32: it is given to "
                          "opaque",
                          "5: error: float64 value '%a' cannot become float32: it is given to "
                          "opaque",
                          StartsWith("6: error: float64 tensor '$t'")));
}

TEST(LegalizeFloat64, Float64GivenToACallIsAnError) {
  EXPECT_THAT(refusals(R"(func @g {
  tensor $x : float64[8, 4] dram input
}

func @f {
  tensor $t : float64[8, 4] dram

  call @g($t)
}
)"),
              ElementsAre(StartsWith("2: error: float64 input '$x'"),
                          "8: error: float64 tensor '$t' cannot become float32: it is given to "
                          "call"));
}

TEST(LegalizeFloat64, Float64UnderAReinterpretingAccessIsAnError) {
  EXPECT_THAT(
      refusals(in_function(R"(  tensor $t : float64[8, 4] sbuf
  tensor $u : int64[8, 4] sbuf

  %a = tensor_copy $t as int64 : int64[8, 4]
  %b = tensor_copy $u as float64 : float32[8, 4]
)")),
      ElementsAre("5: error: float64 tensor '$t' cannot become float32: an access reads its "
                  "bytes as int64",
                  "6: error: access to '$u' as float64 cannot be made legal: it "
                  "reinterprets int64"));
}

TEST(LegalizeFloat64, AFloat64ViewGivenToAnOpaqueIsAnErrorToo) {
  EXPECT_THAT(refusals(in_function(R"(  tensor $u : int64[8, 4] sbuf

  opaque "f"($u as float64, $u as float64)
)")),
              ElementsAre(StartsWith("4: error: access to '$u' as float64 cannot be made legal")));
}

TEST(LegalizeFloat64, AViewUnderItsOwnDtypeMeansNothing) {
  EXPECT_TRUE(legalize(in_function(R"(  tensor $t : float64[8, 4] sbuf

  %a = tensor_copy $t as float64 : float32[8, 4]
)"))
                  .changed);
}

TEST(LegalizeFloat64, ABitcastThatWouldChangeItsNumberOfBytesIsAnError) {
  EXPECT_THAT(refusals(in_function(R"(  tensor $t : float64[8, 4] dram
  tensor $u : int64[8, 4] dram

  offloaded_bitcast $t -> $u
  offloaded_bitcast $u -> $t
)")),
              ElementsAre(StartsWith("5: error: float64 tensor '$t' cannot become float32: its "
                                     "bytes are reinterpreted"),
                          StartsWith("6: error: float64 tensor '$t'")));
}

} // namespace
} // namespace nir::test
