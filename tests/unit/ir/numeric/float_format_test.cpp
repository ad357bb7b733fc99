// The scalar reference against the format table, known cases, and, where the folder of reference
// data is at hand, its tables and vectors.
#include "ir/numeric/float_format.h"

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <xxhash.h>

namespace nir {
namespace {

using enum DType;

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }
float value(DType dtype, uint64_t code) {
  return std::bit_cast<float>(decode_to_fp32(dtype, code));
}
uint64_t encode(DType dtype, float number, bool saturate = true) {
  return encode_from_fp32(dtype, bits(number), saturate);
}
const float inf_bits = std::bit_cast<float>(0x7f800000u);

struct FormatFacts {
  DType dtype;
  uint64_t min_denormal;
  uint64_t max_finite;
  uint32_t first_overflow;
  uint64_t infinity; // 0: none
  uint64_t nan;      // 0: none
};

constexpr FormatFacts format_facts[] = {
    {Bfloat16, 0x0001, 0x7f7f, 0x7f7f8000, 0x7f80, 0x7fc0},
    {Float16, 0x0001, 0x7bff, 0x477ff000, 0x7c00, 0x7e00},
    {Float32r, 0x00001000, 0x7f7ff000, 0x7f7ff800, 0x7f800000, 0x7fc00000},
    {Float8E3, 0x01, 0x6f, 0x417c0000, 0x70, 0x78},
    {Float8E4, 0x01, 0x77, 0x43780000, 0x78, 0x7c},
    {Float8E4m3fn, 0x01, 0x7e, 0x43e80001, 0, 0x7f},
    {Float8E5, 0x01, 0x7b, 0x47700000, 0x7c, 0x7e},
    {Float4E2m1fn, 0x1, 0x7, 0, 0, 0},
};

TEST(FloatFormat, DerivedCodes) {
  for (const FormatFacts &facts : format_facts) {
    const FloatFormat &format = *float_format(facts.dtype);
    EXPECT_EQ(format.max_finite_code(), facts.max_finite) << dtype2str(facts.dtype);
    EXPECT_EQ(format.has_infinity, facts.infinity != 0) << dtype2str(facts.dtype);
    if (facts.infinity) {
      EXPECT_EQ(format.infinity_code(), facts.infinity) << dtype2str(facts.dtype);
    }
    if (facts.nan) {
      EXPECT_EQ(format.nan_code(), facts.nan) << dtype2str(facts.dtype);
    }
  }
}

TEST(FloatFormat, OnlyFloatsHaveOne) {
  for (DType dtype : all_dtypes())
    EXPECT_EQ(float_format(dtype) != nullptr, is_float_type(dtype)) << dtype2str(dtype);
}

TEST(FloatFormat, OverflowBegins) {
  for (const FormatFacts &facts : format_facts) {
    if (!facts.first_overflow)
      continue;
    const uint64_t beyond = facts.infinity ? facts.infinity : facts.nan;
    EXPECT_EQ(encode_from_fp32(facts.dtype, facts.first_overflow - 1, false), facts.max_finite);
    EXPECT_EQ(encode_from_fp32(facts.dtype, facts.first_overflow, false), beyond)
        << dtype2str(facts.dtype);
  }
}

TEST(FloatFormat, CodesSurviveARoundTrip) {
  for (DType dtype :
       {Bfloat16, Float16, Float8E3, Float8E4, Float8E4m3fn, Float8E5, Float4E2m1fn}) {
    const uint64_t codes = float_format(dtype)->sign_mask() * 2;
    for (uint64_t code = 0; code < codes; ++code) {
      if (!is_nan_code(dtype, code)) {
        ASSERT_EQ(encode_from_fp32(dtype, decode_to_fp32(dtype, code), false), code)
            << dtype2str(dtype);
      }
    }
  }
}

TEST(FloatFormat, NanBecomesCanonicalWithItsSign) {
  for (const FormatFacts &facts : format_facts) {
    if (!facts.nan)
      continue;
    const uint64_t sign = float_format(facts.dtype)->sign_mask();
    for (uint32_t nan : {0x7f800001u, 0x7fc00000u, 0x7fffffffu}) {
      EXPECT_EQ(encode_from_fp32(facts.dtype, nan), facts.nan);
      EXPECT_EQ(encode_from_fp32(facts.dtype, nan | 0x80000000), facts.nan | sign);
    }
    EXPECT_EQ(decode_to_fp32(facts.dtype, facts.nan), 0x7fc00000u);
    EXPECT_EQ(decode_to_fp32(facts.dtype, facts.nan | sign), 0xffc00000u);
  }
}

TEST(FloatFormat, Float32rKeepsElevenBits) {
  EXPECT_EQ(encode_from_fp32(Float32r, 0x3f800800), 0x3f800000u); // tie to even
  EXPECT_EQ(encode_from_fp32(Float32r, 0x3f800801), 0x3f801000u);
  EXPECT_EQ(encode_from_fp32(Float32r, 0x3f801800), 0x3f802000u);
  EXPECT_EQ(decode_to_fp32(Float32r, 0x3f800001), 0x3f800001u) << "a pattern is read whole";
}

TEST(FloatFormat, Float64NarrowsToFp32) {
  const auto code = [](double number) { return std::bit_cast<uint64_t>(number); };
  EXPECT_EQ(decode_to_fp32(Float64, code(1.0 + 0x1p-24)), bits(1.0f));
  EXPECT_EQ(decode_to_fp32(Float64, code(1.0 + 0x1.8p-24)), bits(1.0f + 0x1p-23f));
  EXPECT_EQ(decode_to_fp32(Float64, code(1e300)), 0x7f800000u);
  EXPECT_EQ(decode_to_fp32(Float64, code(-1e-300)), 0x80000000u);
  EXPECT_EQ(decode_to_fp32(Float64, 0xfff0000000000001), 0xffc00000u);
  EXPECT_EQ(encode_from_fp32(Float64, 0x00000001), code(0x1p-149));
  EXPECT_EQ(encode_from_fp32(Float64, 0xff800001), 0xfff8000000000000u);
}

// A cast goes by way of fp32, a literal does not.
TEST(FloatFormat, CastOfFloat64RoundsTwiceAndExactOnce) {
  const uint64_t number = std::bit_cast<uint64_t>(1.0 + 0x1p-8 + 0x1p-40);
  EXPECT_EQ(convert_code(Float64, Bfloat16, number), 0x3f80u);
  EXPECT_EQ(encode_exact(*float_format(Bfloat16), exact_value(Float64, number)), 0x3f81u);
}

TEST(EncodeExact, StickyDecidesTies) {
  const FloatFormat &fp32 = *float_format(Float32);
  const uint64_t tie = (uint64_t{1} << 63) | (uint64_t{1} << 39);
  EXPECT_EQ(encode_exact(fp32, {false, tie, -63}), 0x3f800000u);
  EXPECT_EQ(encode_exact(fp32, {false, tie, -63, true}), 0x3f800001u);
  EXPECT_EQ(encode_exact(fp32, {true, tie, -63, true}), 0xbf800001u);
}

TEST(EncodeExact, FarOutExponents) {
  for (const FormatFacts &facts : format_facts) {
    const FloatFormat &format = *float_format(facts.dtype);
    EXPECT_EQ(encode_exact(format, {false, 1, -1000000}), 0u);
    EXPECT_EQ(encode_exact(format, {true, ~uint64_t{0}, -1000000, true}), format.sign_mask());
    const uint64_t huge = encode_exact(format, {false, 1, 1000000});
    EXPECT_EQ(huge, format.overflow == OverflowKind::Infinity ? format.infinity_code()
                                                              : format.max_finite_code());
  }
}

TEST(Casts, EqualDtypesPassTheBytes) {
  EXPECT_EQ(convert_code(Float32, Float32, 0x7f800001), 0x7f800001u);
  EXPECT_EQ(convert_code(Float8E4, Float8E4, 0x78), 0x78u);
  EXPECT_EQ(convert_code(Int64, Int64, 0x7fffffffffffffff), 0x7fffffffffffffffu);
}

TEST(Casts, IntegersPassThroughFp32) {
  EXPECT_EQ(convert_code(Int32, Int64, 16777217), 16777216u);
  EXPECT_EQ(convert_code(Uint32, Int32, 2147483647), 2147483647u) << "2^31 saturates";
  EXPECT_EQ(convert_code(Int32, Uint32, 0xffffffff), 0u);
  EXPECT_EQ(convert_code(Int16, Int8, 0xff00), 0x80u);
}

TEST(Casts, ExactInts) {
  EXPECT_EQ(convert_code_exact_ints(Int32, Int64, 16777217), 16777217u);
  EXPECT_EQ(convert_code_exact_ints(Int64, Int32, 0x7fffffff00000001), 0x7fffffffu);
  EXPECT_EQ(convert_code_exact_ints(Int64, Int32, uint64_t{1} << 63), 0x80000000u);
  EXPECT_EQ(convert_code_exact_ints(Int8, Uint64, 0xff), 0u);
  EXPECT_EQ(convert_code_exact_ints(Int8, Int64, 0xff), 0xffffffffffffffffu);
  EXPECT_EQ(convert_code_exact_ints(Uint64, Int64, ~uint64_t{0}), 0x7fffffffffffffffu);
}

TEST(Casts, ToIntegersRoundsHalfToEven) {
  EXPECT_EQ(encode(Int8, 0.5f), 0u);
  EXPECT_EQ(encode(Int8, 1.5f), 2u);
  EXPECT_EQ(encode(Int8, 2.5f), 2u);
  EXPECT_EQ(encode(Int8, -0.5f), 0u);
  EXPECT_EQ(encode(Int8, -1.5f), 0xfeu);
  EXPECT_EQ(encode(Uint8, 255.5f), 255u);
  EXPECT_EQ(encode(Uint64, 0x1p63f), uint64_t{1} << 63);
}

TEST(Casts, NanToIntegers) {
  constexpr uint32_t nan = 0x7fc00000;
  constexpr uint32_t negative_nan = 0xffc00000;
  EXPECT_EQ(encode_from_fp32(Int16, nan), 0x7fffu);
  EXPECT_EQ(encode_from_fp32(Int16, negative_nan), 0x8000u);
  EXPECT_EQ(encode_from_fp32(Uint16, nan), 0xffffu);
  EXPECT_EQ(encode_from_fp32(Uint16, negative_nan), 0u);
  EXPECT_EQ(encode_from_fp32(Int64, negative_nan), uint64_t{1} << 63);
}

TEST(Casts, TheScaleIsAByte) {
  EXPECT_EQ(value(Float8E8m0fnu, 255), 255.0f);
  EXPECT_EQ(encode(Float8E8m0fnu, 2.5f), 2u);
  EXPECT_EQ(encode(Float8E8m0fnu, 300.0f), 255u);
  EXPECT_EQ(encode(Float8E8m0fnu, -1.0f), 0u);
}

TEST(E8m0, OcpIsAPowerOfTwo) {
  EXPECT_EQ(decode_e8m0_ocp(0), 0x00400000u);
  EXPECT_EQ(decode_e8m0_ocp(127), bits(1.0f));
  EXPECT_EQ(decode_e8m0_ocp(0xfe), bits(0x1p127f));
  EXPECT_EQ(decode_e8m0_ocp(0xff), 0x7fc00000u);
  for (unsigned code = 0; code < 256; ++code)
    EXPECT_EQ(encode_e8m0_ocp(decode_e8m0_ocp(static_cast<uint8_t>(code))), code);
}

// B14: nearest, ties to the larger power.
TEST(FieldBugs, B14ScaleLooksAtTheRightBits) {
  EXPECT_EQ(encode_e8m0_ocp(bits(1.125f)), 127u);
  EXPECT_EQ(encode_e8m0_ocp(bits(1.25f)), 127u);
  EXPECT_EQ(encode_e8m0_ocp(bits(1.5f)), 128u);
  EXPECT_EQ(encode_e8m0_ocp(bits(5.0f)), 129u);
  EXPECT_EQ(encode_e8m0_ocp(bits(6.0f)), 130u);
  EXPECT_EQ(encode_e8m0_ocp(0x005fffff), 0u);
  EXPECT_EQ(encode_e8m0_ocp(0x00600000), 1u);
  EXPECT_EQ(encode_e8m0_ocp(bits(1.5f * 0x1p127f)), 0xfeu);
  EXPECT_EQ(encode_e8m0_ocp(bits(1.5f * 0x1p127f), false), 0xffu);
}

TEST(FieldBugs, B13OverflowOfE4m3fn) {
  for (float number : {448.0f, 464.0f, 464.0001f, 465.0f, 1000.0f, inf_bits})
    EXPECT_EQ(value(Float8E4m3fn, encode(Float8E4m3fn, number)), 448.0f);
  EXPECT_EQ(encode(Float8E4m3fn, 464.0f, false), 0x7eu);
  for (float number : {464.0001f, 465.0f, 1000.0f, inf_bits}) {
    EXPECT_EQ(encode(Float8E4m3fn, number, false), 0x7fu);
    EXPECT_EQ(encode(Float8E4m3fn, -number, false), 0xffu);
  }
  EXPECT_EQ(value(Float8E4, encode(Float8E4, 247.9f, false)), 240.0f);
  EXPECT_EQ(encode(Float8E4, 248.0f, false), 0x78u);
  EXPECT_EQ(encode(Float8E4, 248.0f), 0x77u);
}

TEST(FieldBugs, B15TopBinadeOfE4m3fn) {
  const std::pair<float, float> cases[] = {{256, 256}, {288, 288}, {300, 288},
                                           {272, 256}, {304, 320}, {448, 448}};
  for (auto [input, expected] : cases)
    EXPECT_EQ(value(Float8E4m3fn, encode(Float8E4m3fn, input)), expected) << input;
}

TEST(FieldBugs, B16InfinityOfE5m2) {
  for (float number : {57344.0f, 61439.0f, 61440.0f, inf_bits})
    EXPECT_EQ(encode(Float8E5, number), 0x7bu);
  EXPECT_EQ(encode(Float8E5, 61439.0f, false), 0x7bu);
  EXPECT_EQ(encode(Float8E5, 61440.0f, false), 0x7cu);
  EXPECT_EQ(encode(Float8E5, inf_bits, false), 0x7cu);
}

TEST(FieldBugs, B17SpecialsSurviveWidening) {
  for (DType wide : {Bfloat16, Float16, Float32}) {
    const FloatFormat &format = *float_format(wide);
    for (uint64_t code : {0x7fu, 0xffu})
      EXPECT_TRUE(is_nan_code(wide, convert_code(Float8E4m3fn, wide, code)));
    for (uint64_t code : {0x7du, 0x7eu, 0x7fu})
      EXPECT_EQ(convert_code(Float8E5, wide, code), format.nan_code());
    EXPECT_EQ(convert_code(Float8E5, wide, 0x7c), format.infinity_code());
    EXPECT_EQ(convert_code(Float8E5, wide, 0xfc), format.infinity_code() | format.sign_mask());
  }
}

TEST(FieldBugs, B18NanStaysNanInBfloat16) {
  EXPECT_EQ(encode_from_fp32(Bfloat16, 0x7f800001), 0x7fc0u);
  EXPECT_EQ(encode_from_fp32(Bfloat16, 0xff800001), 0xffc0u);
  EXPECT_EQ(encode_from_fp32(Bfloat16, 0x7f7fffff), 0x7f80u);
}

TEST(FieldBugs, B19NegativeZero) {
  for (float number : {-0.0f, -1e-9f}) {
    for (DType dtype : {Float8E4m3fn, Float8E4, Float8E5, Float8E3})
      EXPECT_EQ(encode(dtype, number), 0x80u) << dtype2str(dtype);
    EXPECT_EQ(encode(Float4E2m1fn, number), 0x8u);
  }
}

TEST(FieldBugs, B20Float4AlwaysSaturates) {
  for (bool saturate : {true, false}) {
    EXPECT_EQ(encode(Float4E2m1fn, inf_bits, saturate), 0x7u);
    EXPECT_EQ(encode(Float4E2m1fn, -inf_bits, saturate), 0xfu);
    EXPECT_EQ(encode(Float4E2m1fn, -1000.0f, saturate), 0xfu);
    EXPECT_EQ(encode_from_fp32(Float4E2m1fn, 0x7fc00000, saturate), 0x7u);
    EXPECT_EQ(encode_from_fp32(Float4E2m1fn, 0xffc00000, saturate), 0x7u);
  }
}

TEST(FieldBugs, B21CopiesOfIntegersKeepEveryBit) {
  EXPECT_EQ(convert_code(Uint32, Uint32, 2147483647), 2147483647u);
  EXPECT_EQ(convert_code(Int32, Int32, 16777217), 16777217u);
}

TEST(FieldBugs, B22Bfloat16IsRounded) {
  EXPECT_EQ(encode_from_fp32(Bfloat16, 0x3e89ccd5), 0x3e8au);
  EXPECT_EQ(encode_from_fp32(Bfloat16, 0x3f808000), 0x3f80u);
  EXPECT_EQ(encode_from_fp32(Bfloat16, 0x3f818000), 0x3f82u);
}

// XXH64 of all decodes, 4 bytes each, from two independent implementations.
TEST(Digests, Decode) {
  const std::tuple<DType, unsigned, uint64_t> digests[] = {
      {Float8E3, 256, 0x5e8837027a406f84},     {Float8E4, 256, 0x3f5397037bfa2f0d},
      {Float8E4m3fn, 256, 0x6f011897bc360794}, {Float8E5, 256, 0xd3efb01f843c5ac8},
      {Float4E2m1fn, 16, 0x0d01c5bc96881c48},  {Bfloat16, 65536, 0xd6377f18dd487008},
      {Float16, 65536, 0x97d60ef206ebb98c}};
  for (auto [dtype, codes, expected] : digests) {
    std::vector<uint32_t> decoded;
    for (uint64_t code = 0; code < codes; ++code)
      decoded.push_back(decode_to_fp32(dtype, code));
    EXPECT_EQ(XXH64(decoded.data(), decoded.size() * 4, 0), expected) << dtype2str(dtype);
  }
  std::vector<uint32_t> decoded;
  for (unsigned code = 0; code < 256; ++code)
    decoded.push_back(decode_e8m0_ocp(static_cast<uint8_t>(code)));
  EXPECT_EQ(XXH64(decoded.data(), decoded.size() * 4, 0), 0x9c5758b7409e3599u);
}

// XXH64 of what `convert` gives for fp32 patterns 0, 4093, 8186, … below 2^32, `bytes` bytes a
// value.
template <typename Convert> uint64_t stride_digest(size_t bytes, Convert convert) {
  std::string out;
  for (uint64_t pattern = 0; pattern >> 32 == 0; pattern += 4093) {
    const uint64_t code = convert(static_cast<uint32_t>(pattern));
    for (size_t i = 0; i < bytes; ++i)
      out.push_back(static_cast<char>(code >> (8 * i)));
  }
  return XXH64(out.data(), out.size(), 0);
}

// From three to five independent implementations each.
TEST(Digests, EncodeStride) {
  const std::tuple<DType, bool, uint64_t> digests[] = {
      {Bfloat16, true, 0x0653bbb89559811f},      {Float16, true, 0xf78644c56f4d3749},
      {Float32r, true, 0x1ba09b92a5a55d92},      {Float8E3, true, 0x1afc6892942f78a0},
      {Float8E3, false, 0xfb3dec0dbd44fd6b},     {Float8E4, true, 0xea8663a4ffacf11b},
      {Float8E4, false, 0xbf10ebfcf8f09c26},     {Float8E4m3fn, true, 0x399586beea9e1c07},
      {Float8E4m3fn, false, 0xb3d5074c9ee430fe}, {Float8E5, true, 0x75aa470ef926f72c},
      {Float8E5, false, 0x73c7c943391460cc},     {Float4E2m1fn, true, 0x0f9ed393c6fd56bb},
      {Int8, true, 0xf460e26a92686658},          {Int16, true, 0xc816a980f9790f7a},
      {Int32, true, 0x9c154b82605fb164},         {Int64, true, 0x89a66040fdd545e1},
      {Uint8, true, 0xd8d4f1a6b900f32f},         {Uint16, true, 0x1ba6994be443b8e2},
      {Uint32, true, 0xcd8ef00b4d09748c},        {Uint64, true, 0x134bba4bfd57acbb}};
  for (auto [dtype, saturate, expected] : digests) {
    const auto encoded = [to = dtype, option = saturate](uint32_t pattern) {
      return encode_from_fp32(to, pattern, option);
    };
    EXPECT_EQ(stride_digest(sizeinbytes(dtype), encoded), expected)
        << dtype2str(dtype) << (saturate ? "" : " nosat");
  }
  EXPECT_EQ(stride_digest(1, [](uint32_t p) { return encode_e8m0_ocp(p); }), 0x3fefbe236a7b2ae2u);
  EXPECT_EQ(stride_digest(1, [](uint32_t p) { return encode_e8m0_ocp(p, false); }),
            0xd18bbb312648597bu);
}

TEST(Digests, IntegersToFp32) {
  EXPECT_EQ(stride_digest(4, [](uint32_t p) { return decode_to_fp32(Int32, p); }),
            0x77def74e2a58d5ceu);
  EXPECT_EQ(stride_digest(4, [](uint32_t p) { return decode_to_fp32(Uint32, p); }),
            0xfc35d7763b7bcbf8u);
  std::vector<uint32_t> from_signed;
  std::vector<uint32_t> from_unsigned;
  for (uint64_t i = 0; i < 1u << 20; ++i) {
    const uint64_t x = i * 0x9e3779b97f4a7c15;
    from_signed.push_back(
        decode_to_fp32(Int64, static_cast<uint64_t>(static_cast<int64_t>(x) >> (i % 64))));
    from_unsigned.push_back(decode_to_fp32(Uint64, x >> (i % 64)));
  }
  EXPECT_EQ(XXH64(from_signed.data(), from_signed.size() * 4, 0), 0xf3adad9ba122ff0bu);
  EXPECT_EQ(XXH64(from_unsigned.data(), from_unsigned.size() * 4, 0), 0xd8ca6a179a3c4586u);
}

// Tests over the folder of reference data; without it they are skipped.
class ReferenceData : public testing::Test {
protected:
  void SetUp() override {
    if (const char *folder = std::getenv("NIR_NUMERICS_DIR"))
      folder_ = folder;
#ifdef NIR_NUMERICS_DIR
    if (folder_.empty())
      folder_ = NIR_NUMERICS_DIR;
#endif
    if (folder_.empty() || !std::filesystem::is_directory(folder_))
      GTEST_SKIP() << "NIR_NUMERICS_DIR names no folder of reference data";
  }

  // The fields of each line of a file, without comments and heading.
  std::vector<std::vector<std::string>> rows(const std::string &file, char separator) const {
    std::ifstream stream(folder_ / file);
    EXPECT_TRUE(stream) << file;
    std::vector<std::vector<std::string>> result;
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with('#') || is_heading(line))
        continue;
      std::vector<std::string> fields(1);
      for (char c : line) {
        if (c == separator)
          fields.emplace_back();
        else
          fields.back().push_back(c);
      }
      result.push_back(std::move(fields));
    }
    return result;
  }

private:
  static bool is_heading(const std::string &line) {
    return line.starts_with("format,") || line.starts_with("type,");
  }

  std::filesystem::path folder_;
};

uint64_t hex(const std::string &text) { return std::stoull(text, nullptr, 16); }

uint64_t decimal_code(DType dtype, const std::string &text) {
  const bool negative = text.starts_with('-');
  const uint64_t magnitude = std::stoull(negative ? text.substr(1) : text);
  return (negative ? -magnitude : magnitude) & code_mask(dtype);
}

TEST_F(ReferenceData, DecodeTables) {
  for (DType dtype : {Float8E3, Float8E4, Float8E4m3fn, Float8E5, Float4E2m1fn}) {
    const auto table = rows("decode_" + std::string(dtype2str(dtype)) + ".txt", ' ');
    EXPECT_EQ(table.size(), dtype == Float4E2m1fn ? 16u : 256u);
    for (const auto &row : table)
      EXPECT_EQ(decode_to_fp32(dtype, hex(row[0])), hex(row[1]))
          << dtype2str(dtype) << ' ' << row[0];
  }
  for (const auto &row : rows("decode_float8_e8m0fnu.txt", ' '))
    EXPECT_EQ(decode_e8m0_ocp(static_cast<uint8_t>(hex(row[0]))), hex(row[1])) << row[0];
}

TEST_F(ReferenceData, DecodeSamples) {
  for (DType dtype : {Bfloat16, Float16}) {
    for (const auto &row : rows("decode_" + std::string(dtype2str(dtype)) + "_samples.txt", ' '))
      EXPECT_EQ(decode_to_fp32(dtype, hex(row[0])), hex(row[1]))
          << dtype2str(dtype) << ' ' << row[0];
  }
}

TEST_F(ReferenceData, EncodeVectors) {
  size_t checked = 0;
  for (const auto &row : rows("encode_vectors.csv", ',')) {
    if (row[1].starts_with("sat_nan"))
      continue; // other NaN rules of float4, not ours
    const bool saturate = row[1] != "nosat";
    const auto input = static_cast<uint32_t>(hex(row[2]));
    const DType dtype = *str2dtype(row[0]);
    const uint64_t code = dtype == Float8E8m0fnu ? encode_e8m0_ocp(input, saturate)
                                                 : encode_from_fp32(dtype, input, saturate);
    EXPECT_EQ(code, hex(row[3])) << row[0] << ' ' << row[1] << ' ' << row[2] << ' ' << row[4];
    ++checked;
  }
  EXPECT_GT(checked, 3000u);
}

TEST_F(ReferenceData, Fp32ToIntegers) {
  const auto vectors = rows("fp32_to_int_vectors.csv", ',');
  EXPECT_EQ(vectors.size(), 1712u);
  for (const auto &row : vectors) {
    const DType dtype = *str2dtype(row[0]);
    EXPECT_EQ(encode_from_fp32(dtype, static_cast<uint32_t>(hex(row[1]))),
              decimal_code(dtype, row[2]))
        << row[0] << ' ' << row[1] << ' ' << row[3];
  }
}

TEST_F(ReferenceData, IntegersToFp32) {
  const auto vectors = rows("int_to_fp32_vectors.csv", ',');
  EXPECT_EQ(vectors.size(), 655u);
  for (const auto &row : vectors) {
    const DType dtype = *str2dtype(row[0]);
    EXPECT_EQ(decode_to_fp32(dtype, decimal_code(dtype, row[1])), hex(row[2]))
        << row[0] << ' ' << row[1] << ' ' << row[3];
  }
}

} // namespace
} // namespace nir
