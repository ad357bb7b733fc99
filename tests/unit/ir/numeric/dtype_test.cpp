#include "ir/numeric/dtype.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace nir {
namespace {

using enum DType;

std::set<std::string_view> names_where(bool (*predicate)(DType)) {
  std::set<std::string_view> names;
  for (DType dtype : all_dtypes()) {
    if (predicate(dtype))
      names.insert(dtype2str(dtype));
  }
  return names;
}

using Names = std::set<std::string_view>;

TEST(DType, CatalogueInOrder) {
  const std::vector<std::string_view> expected = {
      "uint8",         "int8",           "float4_e2m1fn_x4", "float8e3",         "float8e4",
      "float8_e4m3fn", "float8_e8m0fnu", "float8e5",         "float8_e4m3fn_x4", "float8_e5m2_x4",
      "uint16",        "int16",          "bfloat16",         "float16",          "uint32",
      "int32",         "float32",        "float32r",         "uint64",           "int64",
      "float64",       "float4_e2m1fn"};
  std::vector<std::string_view> names;
  for (DType dtype : all_dtypes())
    names.push_back(dtype2str(dtype));
  EXPECT_EQ(names, expected);
  EXPECT_EQ(num_dtypes, 22u);
}

TEST(DType, OrdinalsAndHostOnly) {
  EXPECT_EQ(info(Uint8).ordinal, 0);
  EXPECT_EQ(info(Bfloat16).ordinal, 12);
  EXPECT_EQ(info(Int64).ordinal, 19);
  EXPECT_EQ(names_where(is_host_only), (Names{"float64", "float4_e2m1fn"}));
}

TEST(DType, Sizes) {
  const unsigned expected[] = {1, 1, 2, 1, 1, 1, 1, 1, 4, 4, 2, 2, 2, 2, 4, 4, 4, 4, 8, 8, 8, 1};
  for (DType dtype : all_dtypes())
    EXPECT_EQ(sizeinbytes(dtype), expected[dtype_index(dtype)]) << dtype2str(dtype);
}

TEST(DType, WireTags) {
  const int expected[] = {3, 2, 16, 13, 14, 14, 3, 15, 14, 15, 5, 4, 6, 7, 9, 8, 10, 11, 1, 12};
  for (DType dtype : all_dtypes()) {
    if (is_host_only(dtype)) {
      EXPECT_FALSE(wire_tag(dtype));
      continue;
    }
    EXPECT_EQ(wire_tag(dtype), expected[dtype_index(dtype)]) << dtype2str(dtype);
    const int before = dtype == Float4E2m1fnX4 ? 5 : expected[dtype_index(dtype)];
    EXPECT_EQ(wire_tag(dtype, true), before) << dtype2str(dtype);
  }
}

TEST(DType, NamesReadBack) {
  for (DType dtype : all_dtypes())
    EXPECT_EQ(str2dtype(dtype2str(dtype)), dtype);
}

TEST(DType, Aliases) {
  const std::pair<std::string_view, DType> aliases[] = {
      {"u8", Uint8},      {"s8", Int8},        {"i8", Int8},      {"float8_e3m4", Float8E3},
      {"u16", Uint16},    {"s16", Int16},      {"i16", Int16},    {"float8_e4m3", Float8E4},
      {"bf16", Bfloat16}, {"f16", Float16},    {"fp16", Float16}, {"float8_e5m2", Float8E5},
      {"u32", Uint32},    {"s32", Int32},      {"i32", Int32},    {"f32", Float32},
      {"fp32", Float32},  {"fp32r", Float32r}, {"u64", Uint64},   {"s64", Int64},
      {"i64", Int64},     {"f64", Float64}};
  for (const auto &[alias, dtype] : aliases)
    EXPECT_EQ(str2dtype(alias), dtype) << alias;
}

TEST(DType, OtherWordsAreNoDtype) {
  for (std::string_view word :
       {"", " ", "float", "Float32", "float32 ", "uint", "u128", "float8", "s8 i8", "unknown",
        "float8_e8m0", "float4_e2m1fn_x44", "a_very_long_word_that_is_no_dtype"})
    EXPECT_FALSE(str2dtype(word)) << word;
}

TEST(DType, Classes) {
  EXPECT_EQ(names_where(is_unsigned_int), (Names{"uint8", "uint16", "uint32", "uint64"}));
  EXPECT_EQ(names_where(is_signed_int), (Names{"int8", "int16", "int32", "int64"}));
  EXPECT_EQ(names_where(is_int32_dtypes), (Names{"uint32", "int32"}));
  EXPECT_EQ(names_where(is_int64_dtypes), (Names{"uint64", "int64"}));
  EXPECT_EQ(names_where(is_x4_dtype),
            (Names{"float4_e2m1fn_x4", "float8_e4m3fn_x4", "float8_e5m2_x4"}));
}

TEST(DType, FloatingIsAllButIntegers) {
  for (DType dtype : all_dtypes()) {
    EXPECT_EQ(is_floating(dtype), !is_int_type(dtype)) << dtype2str(dtype);
    EXPECT_EQ(is_float_type(dtype),
              is_floating(dtype) && !is_x4_dtype(dtype) && dtype != Float8E8m0fnu)
        << dtype2str(dtype);
  }
}

TEST(DType, ContainersAndElements) {
  EXPECT_EQ(get_x1_from_x4(Float4E2m1fnX4), Float4E2m1fn);
  EXPECT_EQ(get_x1_from_x4(Float8E4m3fnX4), Float8E4m3fn);
  EXPECT_EQ(get_x1_from_x4(Float8E5m2X4), Float8E5);
  EXPECT_FALSE(get_x1_from_x4(Float8E5));
  EXPECT_EQ(launder_x4_dtype(Float8E5m2X4), Float8E5);
  EXPECT_EQ(launder_x4_dtype(Int32), Int32);
  for (DType dtype : all_dtypes())
    EXPECT_EQ(info(dtype).lanes, is_x4_dtype(dtype) ? 4 : 1);
}

TEST(DType, HasForms) {
  const DType list[] = {Float32, Int64, Float8E5m2X4};
  EXPECT_TRUE(has_int_type(list));
  EXPECT_TRUE(has_float_type(list));
  EXPECT_TRUE(has_floating(list));
  EXPECT_TRUE(has_int64_dtypes(list));
  EXPECT_FALSE(has_int32_dtypes(list));
  EXPECT_TRUE(has_x4_dtype(list));
  EXPECT_FALSE(has_int_type({}));
}

TEST(DType, AValueOutsideTheEnumIsUnknown) {
  const auto stranger = static_cast<DType>(200);
  EXPECT_EQ(dtype2str(stranger), "unknown");
  EXPECT_FALSE(is_floating(stranger));
  EXPECT_FALSE(is_int_type(stranger));
}

} // namespace
} // namespace nir
