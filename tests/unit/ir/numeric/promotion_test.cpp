#include "ir/numeric/promotion.h"

#include <string>

#include <gtest/gtest.h>

namespace nir {
namespace {

using enum DType;

std::string no_path(DType t0, DType t1) {
  return "No available implicit dtype promotion path for input dtypes " +
         std::string(dtype2str(t0)) + " and " + std::string(dtype2str(t1)) +
         ". Use .astype(dtype) explicitly.";
}

// Both orders, since promotion commutes.
void expect_promotes(DType t0, DType t1, DType expected) {
  for (const auto &result : {promote_type(t0, t1), promote_type(t1, t0)}) {
    ASSERT_TRUE(result) << result.error();
    EXPECT_EQ(*result, expected) << dtype2str(t0) << ", " << dtype2str(t1) << " gives "
                                 << dtype2str(*result);
  }
}

void expect_no_path(DType t0, DType t1) {
  const auto result = promote_type(t0, t1);
  ASSERT_FALSE(result) << dtype2str(t0) << ", " << dtype2str(t1) << " gives " << dtype2str(*result);
  EXPECT_EQ(result.error(), no_path(t0, t1));
}

TEST(Promotion, ErrorTextsWordForWord) {
  EXPECT_EQ(
      promote_type(Float8E3, Float8E8m0fnu).error(),
      "No available implicit dtype promotion path for input dtypes float8e3 and float8_e8m0fnu. "
      "Use .astype(dtype) explicitly.");
  const auto stranger = static_cast<DType>(200);
  EXPECT_EQ(promote_type(stranger, Float32).error(), "unexpected dtype: unknown");
  EXPECT_EQ(promote_type(Int8, stranger).error(), "unexpected dtype: unknown");
}

TEST(Promotion, Idempotent) {
  for (DType dtype : all_dtypes())
    expect_promotes(dtype, dtype, dtype);
}

TEST(Promotion, Commutative) {
  for (DType t0 : all_dtypes()) {
    for (DType t1 : all_dtypes()) {
      const auto one = promote_type(t0, t1);
      const auto other = promote_type(t1, t0);
      ASSERT_EQ(one.has_value(), other.has_value()) << dtype2str(t0) << ", " << dtype2str(t1);
      if (one) {
        EXPECT_EQ(*one, *other) << dtype2str(t0) << ", " << dtype2str(t1);
      }
    }
  }
}

TEST(Promotion, ResultIsAnOperandButForMixedSigns) {
  for (DType t0 : all_dtypes()) {
    for (DType t1 : all_dtypes()) {
      const bool mixed =
          (is_signed_int(t0) && is_unsigned_int(t1)) || (is_unsigned_int(t0) && is_signed_int(t1));
      const auto result = promote_type(t0, t1);
      if (result && !mixed) {
        EXPECT_TRUE(*result == t0 || *result == t1) << dtype2str(t0) << ", " << dtype2str(t1);
      }
    }
  }
}

// numpy.promote_types for every pair of integers, but uint64 with signed, float64 there.
TEST(Promotion, IntegersAsInNumpy) {
  constexpr DType order[] = {Uint8, Uint16, Uint32, Uint64, Int8, Int16, Int32, Int64};
  constexpr DType expected[8][8] = {
      {Uint8, Uint16, Uint32, Uint64, Int16, Int16, Int32, Int64},
      {Uint16, Uint16, Uint32, Uint64, Int32, Int32, Int32, Int64},
      {Uint32, Uint32, Uint32, Uint64, Int64, Int64, Int64, Int64},
      {Uint64, Uint64, Uint64, Uint64, Float32, Float32, Float32, Float32},
      {Int16, Int32, Int64, Float32, Int8, Int16, Int32, Int64},
      {Int16, Int32, Int64, Float32, Int16, Int16, Int32, Int64},
      {Int32, Int32, Int64, Float32, Int32, Int32, Int32, Int64},
      {Int64, Int64, Int64, Float32, Int64, Int64, Int64, Int64},
  };
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j)
      expect_promotes(order[i], order[j], expected[i][j]);
  }
}

TEST(Promotion, AFloatTakesAnyInteger) {
  for (DType t0 : all_dtypes()) {
    if (!is_float_type(t0))
      continue;
    for (DType t1 : all_dtypes()) {
      if (is_int_type(t1))
        expect_promotes(t0, t1, t0);
    }
  }
}

TEST(Promotion, WiderFloatWins) {
  expect_promotes(Float8E3, Float16, Float16);
  expect_promotes(Float8E4m3fn, Bfloat16, Bfloat16);
  expect_promotes(Bfloat16, Float32, Float32);
  expect_promotes(Float16, Float32r, Float32r);
  expect_promotes(Float32r, Float64, Float64);
  expect_promotes(Float4E2m1fn, Float16, Float16);
}

TEST(Promotion, LadderOfEqualSizes) {
  expect_promotes(Float32, Float32r, Float32r);
  expect_promotes(Bfloat16, Float16, Bfloat16);
  expect_promotes(Float8E4, Float8E4m3fn, Float8E4);
  expect_promotes(Float8E4, Float8E5, Float8E4);
  expect_promotes(Float8E4m3fn, Float8E5, Float8E4m3fn);
  expect_promotes(Float8E3, Float8E4, Float8E4);
  expect_promotes(Float8E3, Float8E4m3fn, Float8E4m3fn);
  expect_promotes(Float8E3, Float8E5, Float8E5);
  expect_no_path(Float8E3, Float4E2m1fn);
}

TEST(Promotion, TheScaleMeetsOnlyItself) {
  for (DType dtype : all_dtypes()) {
    if (dtype == Float8E8m0fnu)
      continue;
    expect_no_path(Float8E8m0fnu, dtype);
    expect_no_path(dtype, Float8E8m0fnu);
  }
}

TEST(Promotion, ContainersMeetThroughTheirElements) {
  expect_promotes(Float8E4m3fnX4, Float8E5m2X4, Float8E4m3fnX4);
  expect_promotes(Float4E2m1fnX4, Float8E5m2X4, Float8E5m2X4);
  expect_promotes(Float4E2m1fnX4, Float8E4m3fnX4, Float8E4m3fnX4);
}

TEST(Promotion, AContainerWithAPlainDtypeHasNoPath) {
  for (DType container : {Float4E2m1fnX4, Float8E4m3fnX4, Float8E5m2X4}) {
    for (DType dtype : all_dtypes()) {
      if (is_x4_dtype(dtype))
        continue;
      expect_no_path(container, dtype);
      expect_no_path(dtype, container);
    }
  }
}

// uint64 with a signed integer leaves the integers for float32, which a narrower float does not
// undo.
TEST(Promotion, IsNotAssociative) {
  EXPECT_EQ(*promote_type(*promote_type(Int8, Uint64), Float8E3), Float32);
  EXPECT_EQ(*promote_type(Int8, *promote_type(Uint64, Float8E3)), Float8E3);
}

TEST(Merge, WiderOfOneClass) {
  EXPECT_EQ(merge_type(Uint8, Uint32), Uint32);
  EXPECT_EQ(merge_type(Int64, Int16), Int64);
  EXPECT_EQ(merge_type(Bfloat16, Float32), Float32);
  EXPECT_EQ(merge_type(Float8E5, Float16), Float16);
  EXPECT_EQ(merge_type(Float16, Float16), Float16);
}

TEST(Merge, EqualSizes) {
  EXPECT_EQ(merge_type(Float32, Float32r), Float32r);
  EXPECT_EQ(merge_type(Float32r, Float32), Float32r);
  for (auto [t0, t1] :
       {std::pair{Bfloat16, Float16}, {Uint8, Int8}, {Float8E4, Float8E5}, {Int32, Float32}}) {
    EXPECT_FALSE(can_merge_type(t0, t1));
    EXPECT_EQ(merge_type(t0, t1).error(), "Cannot merge type!");
  }
}

TEST(Merge, ClassesDoNotMix) {
  EXPECT_FALSE(can_merge_type(Uint8, Int16));
  EXPECT_FALSE(can_merge_type(Int32, Float64));
  EXPECT_FALSE(can_merge_type(Float8E8m0fnu, Float16));
  EXPECT_FALSE(can_merge_type(Float4E2m1fnX4, Float8E4m3fnX4));
  for (DType dtype : all_dtypes())
    EXPECT_EQ(merge_type(dtype, dtype), dtype);
}

TEST(IntBitcast, BothIntegersOfOneSize) {
  EXPECT_TRUE(is_int_bitcast(Uint8, Int8));
  EXPECT_TRUE(is_int_bitcast(Int64, Uint64));
  EXPECT_FALSE(is_int_bitcast(Int32, Int64));
  EXPECT_FALSE(is_int_bitcast(Int32, Float32));
  EXPECT_FALSE(is_int_bitcast(Uint8, Float8E8m0fnu));
}

TEST(ScalarDtype, OfHostScalars) {
  EXPECT_EQ(scalar_dtype(true), Uint8);
  EXPECT_EQ(scalar_dtype(int64_t{0}), Int32);
  EXPECT_EQ(scalar_dtype(int64_t{2147483647}), Int32);
  EXPECT_EQ(scalar_dtype(int64_t{2147483648}), Int64);
  EXPECT_EQ(scalar_dtype(int64_t{-2147483648}), Int32);
  EXPECT_EQ(scalar_dtype(int64_t{-2147483649}), Int64);
  EXPECT_EQ(scalar_dtype(1.0), Float64);
}

} // namespace
} // namespace nir
