// Numbers as text: reading, printing, and that printing reads back.
#include "ir/numeric/literal.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "ir/numeric/float_format.h"

namespace nir {
namespace {

using enum DType;
using Kind = NumberToken::Kind;

// As a lexer would: the sign, then the kind from the look of the rest.
NumberToken token(std::string_view text) {
  NumberToken number;
  number.negative = text.starts_with('-');
  if (number.negative)
    text.remove_prefix(1);
  number.text = text;
  const bool hex = text.starts_with("0x");
  if (text == "inf")
    number.kind = Kind::Inf;
  else if (text == "nan")
    number.kind = Kind::Nan;
  else if (text.starts_with("nan("))
    number.kind = Kind::NanPayload;
  else if (hex)
    number.kind = text.find_first_of(".p") == text.npos ? Kind::HexInteger : Kind::HexFloat;
  else
    number.kind = text.find_first_of(".eE") == text.npos ? Kind::Integer : Kind::Decimal;
  return number;
}

uint64_t read(std::string_view text, DType dtype) {
  const auto code = literal_to_code(token(text), dtype);
  EXPECT_TRUE(code) << text.substr(0, 60) << ": " << code.error();
  return code.value_or(~uint64_t{0});
}

std::string error(std::string_view text, DType dtype) {
  const auto code = literal_to_code(token(text), dtype);
  EXPECT_FALSE(code) << text.substr(0, 60) << " is " << *code;
  return code ? "" : code.error();
}

uint64_t bits(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t bits64(double value) { return std::bit_cast<uint64_t>(value); }

TEST(ReadInteger, InRange) {
  EXPECT_EQ(read("255", Uint8), 255u);
  EXPECT_EQ(read("-128", Int8), 0x80u);
  EXPECT_EQ(read("0x7f", Int8), 0x7fu);
  EXPECT_EQ(read("-0x80", Int8), 0x80u);
  EXPECT_EQ(read("-1", Int64), ~uint64_t{0});
  EXPECT_EQ(read("18446744073709551615", Uint64), ~uint64_t{0});
  EXPECT_EQ(read("-9223372036854775808", Int64), uint64_t{1} << 63);
  EXPECT_EQ(read("-0", Uint8), 0u);
  EXPECT_EQ(read("0000000000000000000000000000000000042", Int16), 42u);
}

TEST(ReadInteger, OutOfRangeNamesTheRange) {
  EXPECT_EQ(error("256", Uint8), "256 is out of range, expected 0..255 for uint8");
  EXPECT_EQ(error("-1", Uint32), "-1 is out of range, expected 0..4294967295 for uint32");
  EXPECT_EQ(error("-129", Int8), "-129 is out of range, expected -128..127 for int8");
  EXPECT_EQ(error("0xff", Int8), "0xff is out of range, expected -128..127 for int8");
  EXPECT_EQ(error("18446744073709551616", Uint64),
            "18446744073709551616 is out of range, expected 0..18446744073709551615 for uint64");
  EXPECT_EQ(error("9223372036854775808", Int64),
            "9223372036854775808 is out of range, expected "
            "-9223372036854775808..9223372036854775807 for int64");
}

TEST(ReadInteger, TakesNoFloat) {
  EXPECT_EQ(error("1.0", Int32),
            "found 1.0, expected an integer in -2147483648..2147483647 for int32");
  EXPECT_EQ(error("-1e3", Int8), "found -1e3, expected an integer in -128..127 for int8");
  EXPECT_EQ(error("nan", Uint8), "found nan, expected an integer in 0..255 for uint8");
  EXPECT_EQ(error("0x1p3", Uint8), "found 0x1p3, expected an integer in 0..255 for uint8");
}

TEST(ReadInteger, MessagesStayShort) {
  const std::string digits(1000000, '9');
  EXPECT_LT(error(digits, Int32).size(), 120u);
  EXPECT_LT(error(digits + ".5", Int32).size(), 120u);
}

TEST(ReadScale, IsAByte) {
  EXPECT_EQ(read("127", Float8E8m0fnu), 127u);
  EXPECT_EQ(read("255", Float8E8m0fnu), 255u);
  EXPECT_EQ(error("256", Float8E8m0fnu), "256 is out of range, expected 0..255 for float8_e8m0fnu");
  EXPECT_EQ(error("1.0", Float8E8m0fnu),
            "found 1.0, expected an integer in 0..255 for float8_e8m0fnu");
}

TEST(ReadFloat, UsualForms) {
  for (std::string_view text :
       {"1", "1.", "1.0", "10e-1", "0.1e1", "1e0", "1E+0", "0x1", "0x1p0", "0x.8p1", "0x8p-3"})
    EXPECT_EQ(read(text, Float32), bits(1.0f)) << text;
  EXPECT_EQ(read(".5", Float16), 0x3800u);
  EXPECT_EQ(read("0x1p-3", Bfloat16), 0x3e00u);
  EXPECT_EQ(read("0x1.8p3", Float32), bits(12.0f));
}

TEST(ReadFloat, IntegersAreNumbers) {
  EXPECT_EQ(read("-0", Float32), 0x80000000u);
  EXPECT_EQ(read("0", Float32), 0u);
  EXPECT_EQ(read("-0", Float8E4m3fn), 0x80u);
  EXPECT_EQ(read("0x10", Float32), bits(16.0f));
  EXPECT_EQ(read("16777217", Float32), bits(16777216.0f));
  EXPECT_EQ(read("16777219", Float32), bits(16777220.0f));
}

TEST(ReadFloat, OverflowAndUnderflow) {
  EXPECT_EQ(read("1e39", Float32), 0x7f800000u);
  EXPECT_EQ(read("-1e400", Float32), 0xff800000u);
  EXPECT_EQ(read("1e400", Float64), 0x7ff0000000000000u);
  EXPECT_EQ(read("65519.999", Float16), 0x7bffu);
  EXPECT_EQ(read("65520", Float16), 0x7c00u);
  EXPECT_EQ(read("1e400", Float8E5), 0x7bu);
  EXPECT_EQ(read("-500", Float8E4), 0xf7u);
  EXPECT_EQ(read("500", Float8E4m3fn), 0x7eu);
  EXPECT_EQ(read("1e99999999999999999999", Bfloat16), 0x7f80u);
  EXPECT_EQ(read("-1e-99999999999999999999", Bfloat16), 0x8000u);
  EXPECT_EQ(read("0e99999999999999999999", Bfloat16), 0u);
  EXPECT_EQ(read("1e-400", Float64), 0u);
  EXPECT_EQ(read("0x1p99999999999999999999", Float16), 0x7c00u);
  EXPECT_EQ(read("-0x1p-99999999999999999999", Float16), 0x8000u);
}

// Infinities included: text has no cast that does not saturate.
TEST(ReadFloat, TextSaturates) {
  EXPECT_EQ(read("inf", Float8E3), 0x6fu);
  EXPECT_EQ(read("inf", Float8E4), 0x77u);
  EXPECT_EQ(read("-inf", Float8E4m3fn), 0xfeu);
  EXPECT_EQ(read("-inf", Float8E5), 0xfbu);
  EXPECT_EQ(read("inf", Float16), 0x7c00u);
  EXPECT_EQ(read("-inf", Bfloat16), 0xff80u);
  EXPECT_EQ(read("inf", Float32r), 0x7f800000u);
  EXPECT_EQ(read("-inf", Float64), 0xfff0000000000000u);
}

TEST(ReadFloat, SubnormalTies) {
  EXPECT_EQ(read("0x1p-149", Float32), 1u);
  EXPECT_EQ(read("0x1p-150", Float32), 0u);
  EXPECT_EQ(read("0x1.000000000000000000000001p-150", Float32), 1u);
  EXPECT_EQ(read("0x1.8p-149", Float32), 2u);
  // 2^-150 in full: a tie, and one digit more.
  const std::string half =
      "7.006492321624085354618647916449580656401309709382578858785341419448955413"
      "42930300743319094181060791015625e-46";
  EXPECT_EQ(read(half, Float32), 0u);
  std::string above = half;
  above.insert(above.find('e'), "0001");
  EXPECT_EQ(read(above, Float32), 1u);
  EXPECT_EQ(read("5e-324", Float64), 1u);
  EXPECT_EQ(read("2e-324", Float64), 0u);
}

TEST(FieldBugs, B40LiteralsRoundOnce) {
  EXPECT_EQ(read("1.0039062500000000000000001", Bfloat16), 0x3f81u);
  EXPECT_EQ(read("1.00390625", Bfloat16), 0x3f80u);
  EXPECT_EQ(read("1.0039062499999999999999999", Bfloat16), 0x3f80u);
  EXPECT_EQ(read("1.06250000000000000001", Float8E4m3fn), 0x39u);
  EXPECT_EQ(read("1.0625", Float8E4m3fn), 0x38u);
  EXPECT_EQ(read("1.00000005960464477539062500000001", Float32), 0x3f800001u);
  EXPECT_EQ(read("1.000000059604644775390625", Float32), 0x3f800000u);
  EXPECT_EQ(read("1.000244140625", Float32r), 0x3f800000u);
  EXPECT_EQ(read("1.0002441406250000000000000000001", Float32r), 0x3f801000u);
  EXPECT_EQ(read("0x1.01000000000000000000000000000001p0", Bfloat16), 0x3f81u);
}

TEST(FieldBugs, B39UsualFormsOfSmallAndLargeNumbers) {
  EXPECT_EQ(read("1e-5", Float32), bits(1e-5f));
  EXPECT_EQ(read("1e22", Float32), bits(1e22f));
  EXPECT_EQ(read("3.4e38", Float32), bits(3.4e38f));
  EXPECT_EQ(read("1e-45", Float32), 1u);
  EXPECT_EQ(read("5e-324", Float64), 1u);
}

// Digits without end: the answer is right, and found in linear time.
TEST(ReadFloat, LongText) {
  const std::string zeros(20000000, '0');
  EXPECT_EQ(read("1.00390625" + zeros + "1", Bfloat16), 0x3f81u);
  EXPECT_EQ(read("1.00390625" + zeros, Bfloat16), 0x3f80u);
  EXPECT_EQ(read("1" + zeros + "e-20000000", Float32), bits(1.0f));
  EXPECT_EQ(read("0." + zeros + "1e20000001", Float32), bits(1.0f));
  EXPECT_EQ(read(zeros + "2.5", Float64), bits64(2.5));
  EXPECT_EQ(read("0x1.01" + zeros + "1p0", Bfloat16), 0x3f81u);
  EXPECT_EQ(read("0x1" + zeros + "p-80000000", Float16), 0x3c00u);
  EXPECT_EQ(read("1" + zeros, Float8E4), 0x77u);
}

TEST(ReadFloat, MalformedTextIsAnError) {
  for (auto [kind, text] : {std::pair{Kind::Decimal, "."},
                            {Kind::Decimal, "1e"},
                            {Kind::Decimal, "1.2.3"},
                            {Kind::Decimal, "e5"},
                            {Kind::Integer, ""},
                            {Kind::HexFloat, "0x"},
                            {Kind::HexFloat, "0x1p"},
                            {Kind::NanPayload, "nan()"},
                            {Kind::Decimal, "--1"}})
    EXPECT_EQ(literal_to_code({false, kind, text}, Float32).error(),
              "malformed number '" + std::string(text) + "'");
}

TEST(ReadNan, Canonical) {
  EXPECT_EQ(read("nan", Float32), 0x7fc00000u);
  EXPECT_EQ(read("-nan", Float32), 0xffc00000u);
  EXPECT_EQ(read("nan", Bfloat16), 0x7fc0u);
  EXPECT_EQ(read("-nan", Float8E4m3fn), 0xffu);
  EXPECT_EQ(read("nan", Float8E3), 0x78u);
  EXPECT_EQ(read("-nan", Float64), 0xfff8000000000000u);
  EXPECT_EQ(read("-nan", Float4E2m1fn), 0x7u) << "no NaN: +6 whatever the sign";
}

TEST(ReadNan, Payloads) {
  EXPECT_EQ(read("nan(0x7fc00001)", Float32), 0x7fc00001u);
  EXPECT_EQ(read("nan(0x7f800001)", Float32), 0x7f800001u) << "signalling bits are kept";
  EXPECT_EQ(read("-nan(0x7fc00001)", Float32), 0xffc00001u);
  EXPECT_EQ(read("nan(0xffc00001)", Float32), 0xffc00001u);
  EXPECT_EQ(read("nan(0x7f810000)", Bfloat16), 0x7f81u);
  EXPECT_EQ(read("nan(0x7f800001)", Bfloat16), 0x7fc0u)
      << "nothing left of the payload, still a NaN";
  EXPECT_EQ(read("nan(0x7fc00001)", Float8E4m3fn), 0x7fu);
  EXPECT_EQ(read("nan(0x7f800001)", Float64), 0x7ff0000020000000u);
  EXPECT_EQ(read("-nan(0x7ff0000000000001)", Float64), 0xfff0000000000001u);
}

TEST(ReadNan, MustBeANan) {
  EXPECT_EQ(error("nan(0x3f800000)", Float32),
            "found nan(0x3f800000), expected the fp32 bits of a NaN");
  error("nan(0x7f800000)", Float32);
  error("nan(0x7ff8000000000000)", Float32);
  error("nan(0x17fc00000)", Float32);
  error("nan(0x1ffffffffffffffffff)", Float64);
}

TEST(Print, LaidOutAsToChars) {
  EXPECT_EQ(code_to_text(Float32, bits(1.0f)), "1.0");
  EXPECT_EQ(code_to_text(Float32, bits(-0.0f)), "-0.0");
  EXPECT_EQ(code_to_text(Float32, bits(0.1f)), "0.1");
  EXPECT_EQ(code_to_text(Float32, bits(1e-5f)), "1e-05");
  EXPECT_EQ(code_to_text(Float32, bits(1e22f)), "1e+22");
  EXPECT_EQ(code_to_text(Float32, 1), "1e-45");
  EXPECT_EQ(code_to_text(Float32, 0x7f7fffff), "3.4028235e+38");
  EXPECT_EQ(code_to_text(Float32, 0xff800000), "-inf");
  EXPECT_EQ(code_to_text(Float32, bits(100000.0f)), "1e+05");
  EXPECT_EQ(code_to_text(Float32, bits(12345.0f)), "12345.0");
  EXPECT_EQ(code_to_text(Float64, bits64(0.1)), "0.1");
  EXPECT_EQ(code_to_text(Float64, 1), "5e-324");
}

TEST(Print, FewestDigitsOfNarrowFloats) {
  EXPECT_EQ(code_to_text(Bfloat16, 0x3f81), "1.01");
  EXPECT_EQ(code_to_text(Bfloat16, 0x3f80), "1.0");
  EXPECT_EQ(code_to_text(Bfloat16, 0x3eab), "0.334");
  EXPECT_EQ(code_to_text(Bfloat16, 0x7f7f), "3.39e+38");
  EXPECT_EQ(code_to_text(Float16, 0x7bff), "65500.0");
  EXPECT_EQ(code_to_text(Float16, 0x3555), "0.3333");
  EXPECT_EQ(code_to_text(Float16, 0x0001), "6e-08");
  EXPECT_EQ(code_to_text(Float8E3, 0x6f), "15.5") << "20 would only saturate there";
  EXPECT_EQ(code_to_text(Float8E4, 0x77), "240.0");
  EXPECT_EQ(code_to_text(Float8E5, 0xfb), "-60000.0");
  EXPECT_EQ(code_to_text(Float4E2m1fn, 0xf), "-6.0");
  EXPECT_EQ(code_to_text(Float32r, 0x3f801000), "1.0005");
}

TEST(Print, Integers) {
  EXPECT_EQ(code_to_text(Int8, 0x80), "-128");
  EXPECT_EQ(code_to_text(Uint64, ~uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(code_to_text(Int64, uint64_t{1} << 63), "-9223372036854775808");
  EXPECT_EQ(code_to_text(Float8E8m0fnu, 127), "127");
}

TEST(Print, Nans) {
  EXPECT_EQ(code_to_text(Float32, 0x7fc00000), "nan");
  EXPECT_EQ(code_to_text(Float32, 0xffc00000), "-nan");
  EXPECT_EQ(code_to_text(Float32, 0x7fc00001), "nan(0x7fc00001)");
  EXPECT_EQ(code_to_text(Float32, 0xff800001), "-nan(0x7f800001)");
  EXPECT_EQ(code_to_text(Bfloat16, 0xff81), "-nan(0x7f810000)");
  EXPECT_EQ(code_to_text(Float16, 0x7c01), "nan(0x7f802000)");
  EXPECT_EQ(code_to_text(Float8E4m3fn, 0xff), "-nan");
  EXPECT_EQ(code_to_text(Float64, 0x7ff8000020000000), "nan(0x7fc00001)");
  EXPECT_EQ(code_to_text(Float64, 0xfff8000000000001), "-nan(0x7ff8000000000001)");
}

TEST(Print, AppendsToABuffer) {
  std::string out = "[";
  append_code_text(out, Int16, 7);
  out += ", ";
  append_code_text(out, Float16, 0x3c00);
  EXPECT_EQ(out, "[7, 1.0");
}

void expect_reads_back(DType dtype, uint64_t code) {
  const std::string text = code_to_text(dtype, code);
  const auto back = literal_to_code(token(text), dtype);
  ASSERT_TRUE(back) << dtype2str(dtype) << ' ' << text << ": " << back.error();
  ASSERT_EQ(*back == code, text_reads_back(dtype, code)) << dtype2str(dtype) << ' ' << text;
}

TEST(FixedPoint, EveryCodeOfUpTo16Bits) {
  for (DType dtype : all_dtypes()) {
    if (is_x4_dtype(dtype) || sizeinbytes(dtype) > 2)
      continue;
    const unsigned codes = dtype == Float4E2m1fn ? 16 : 1u << (8 * sizeinbytes(dtype));
    for (unsigned code = 0; code < codes; ++code)
      expect_reads_back(dtype, code);
  }
}

TEST(FixedPoint, WhatHasNoText) {
  for (DType dtype : all_dtypes()) {
    if (is_x4_dtype(dtype) || sizeinbytes(dtype) > 2)
      continue;
    const FloatFormat *format = float_format(dtype);
    const bool infinities = format && format->has_infinity && sizeinbytes(dtype) == 1;
    unsigned without = 0;
    for (unsigned code = 0; code < 1u << (8 * sizeinbytes(dtype)); ++code)
      without += !text_reads_back(dtype, code);
    EXPECT_EQ(without, infinities ? 2u : 0u) << dtype2str(dtype);
  }
  EXPECT_FALSE(text_reads_back(Float32r, 0x3f800001));
  EXPECT_TRUE(text_reads_back(Float32r, 0x3f801000));
}

TEST(FixedPoint, WideCodes) {
  std::mt19937_64 random(7);
  for (DType dtype : {Float32, Float32r, Float64, Uint32, Int32, Uint64, Int64}) {
    const uint64_t mask = code_mask(dtype);
    for (int i = 0; i < 50000; ++i) {
      uint64_t code = random() & mask;
      if (dtype == Float32r && !is_nan_code(dtype, code))
        code &= ~uint64_t{0xfff};
      expect_reads_back(dtype, code);
    }
    for (uint64_t code : {uint64_t{0}, uint64_t{1}, mask, mask >> 1, (mask >> 1) + 1})
      expect_reads_back(dtype, code);
  }
}

TEST(FixedPoint, PowersOfTwoAndTheirNeighbours) {
  for (DType dtype : {Float32, Float32r, Float64}) {
    const FloatFormat &format = *float_format(dtype);
    const uint64_t step = uint64_t{1} << format.trailing_bits;
    const uint64_t binade = uint64_t{1} << format.stored_mantissa_bits();
    for (uint64_t code = binade; code <= format.infinity_code(); code += binade) {
      for (uint64_t neighbour : {code - step, code, code + step})
        expect_reads_back(dtype, neighbour);
    }
  }
}

// No text with fewer digits rounds to the code, for every bfloat16 of a few binades.
TEST(Print, NoShorterDecimalExists) {
  for (uint64_t code = 0x3f00; code < 0x4300; ++code) {
    const std::string text = code_to_text(Bfloat16, code);
    const double value = std::strtod(text.c_str(), nullptr);
    std::string shortest;
    for (int digits = 0; digits < 6 && shortest.empty(); ++digits) {
      char buffer[40];
      // All decimals with so many digits nearby: the nearest, and one on either side.
      snprintf(buffer, sizeof buffer, "%.*e", digits,
               static_cast<double>(std::bit_cast<float>(uint32_t(code) << 16)));
      std::string nearest = buffer;
      const double unit = std::strtod(("1" + nearest.substr(nearest.find('e'))).c_str(), nullptr) *
                          std::pow(10.0, -digits);
      for (int offset : {0, -1, 1}) {
        snprintf(buffer, sizeof buffer, "%.*e", digits,
                 std::strtod(nearest.c_str(), nullptr) + offset * unit);
        if (shortest.empty() && read(buffer, Bfloat16) == code)
          shortest = buffer;
      }
    }
    EXPECT_DOUBLE_EQ(value, std::strtod(shortest.c_str(), nullptr)) << text << " or " << shortest;
  }
}

} // namespace
} // namespace nir
