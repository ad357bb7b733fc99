// The table of cast triples against enumeration: every code of every dtype of up to 16 bits, and
// structured and seeded random codes of the wide ones.
#include "ir/numeric/cast_triple.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "ir/numeric/float_format.h"

namespace nir {
namespace {

using enum DType;

std::vector<DType> castable_dtypes() {
  std::vector<DType> list;
  for (DType dtype : all_dtypes()) {
    if (!is_x4_dtype(dtype))
      list.push_back(dtype);
  }
  return list;
}

std::string triple_name(DType a, DType b, DType c) {
  std::string name(dtype2str(a));
  return name.append(" -> ").append(dtype2str(b)).append(" -> ").append(dtype2str(c));
}

bool sign_of(DType dtype, uint64_t code) { return code & float_format(dtype)->sign_mask(); }

// Equal results, as the contract words it: bit for bit, but of a NaN only that it is one, and its
// sign.
bool same_result(DType c, bool input_is_nan, uint64_t direct, uint64_t through) {
  if (input_is_nan && is_nan_code(c, direct))
    return is_nan_code(c, through) && sign_of(c, direct) == sign_of(c, through);
  return direct == through;
}

// A float4 stands alone in its byte, in the low bits.
uint64_t last_code(DType dtype) { return dtype == Float4E2m1fn ? 0xf : code_mask(dtype); }

// The codes of `a` with what each decodes to.
struct Source {
  DType dtype;
  std::vector<uint64_t> codes;
  std::vector<uint32_t> values;
  std::vector<bool> nans;

  Source(DType a, std::vector<uint64_t> list) : dtype(a), codes(std::move(list)) {
    for (uint64_t code : codes) {
      values.push_back(decode_to_fp32(a, code));
      nans.push_back(is_nan_code(a, code));
    }
  }

  std::vector<uint64_t> converted(DType to) const {
    if (to == dtype)
      return codes;
    std::vector<uint64_t> result;
    result.reserve(values.size());
    for (uint32_t value : values)
      result.push_back(encode_from_fp32(to, value));
    return result;
  }
};

// Does any code of `source` tell the two ways apart?
bool finds_difference(const Source &source, DType b, DType c, const std::vector<uint64_t> &in_b,
                      const std::vector<uint64_t> &in_c) {
  for (size_t i = 0; i < source.codes.size(); ++i) {
    if (!same_result(c, source.nans[i], in_c[i], convert_code(b, c, in_b[i])))
      return true;
  }
  return false;
}

void check_source(const Source &source) {
  const auto dtypes = castable_dtypes();
  std::vector<std::vector<uint64_t>> in(num_dtypes);
  for (DType dtype : dtypes)
    in[dtype_index(dtype)] = source.converted(dtype);
  for (DType b : dtypes) {
    for (DType c : dtypes) {
      const bool differs = finds_difference(source, b, c, in[dtype_index(b)], in[dtype_index(c)]);
      EXPECT_EQ(triple_is_exact(source.dtype, b, c), !differs) << triple_name(source.dtype, b, c);
    }
  }
}

std::vector<uint64_t> all_codes(DType dtype) {
  std::vector<uint64_t> codes;
  for (uint64_t code = 0; code <= last_code(dtype); ++code)
    codes.push_back(code);
  return codes;
}

// Bit patterns with short runs at every place: lone bits, their neighbours, long runs of ones.
std::vector<uint64_t> structured_fields(int bits) {
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  std::vector<uint64_t> fields{0, 1, 2, 3, mask, mask - 1};
  for (int i = 0; i < bits; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    for (uint64_t field :
         {bit, bit - 1, bit + 1, 3 * bit, 3 * bit - 1, 3 * bit + 1, mask - bit, -bit})
      fields.push_back(field & mask);
  }
  std::ranges::sort(fields);
  fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  return fields;
}

std::vector<uint64_t> wide_codes(DType dtype) {
  std::mt19937_64 random(20240607);
  std::vector<uint64_t> codes;
  const uint64_t mask = code_mask(dtype);
  if (const FloatFormat *format = float_format(dtype)) {
    // float64 exponents matter where fp32 has values; the rest is overflow or underflow.
    const uint64_t fields = format->exponent_mask() >> format->stored_mantissa_bits();
    const uint64_t first = dtype == Float64 ? 1023 - 152 : 0;
    const uint64_t last = dtype == Float64 ? 1023 + 130 : fields;
    const auto mantissas = structured_fields(format->stored_mantissa_bits());
    for (uint64_t field = first; field <= last; ++field) {
      for (uint64_t mantissa : mantissas) {
        const uint64_t code = field << format->stored_mantissa_bits() | mantissa;
        codes.push_back(code);
        codes.push_back(code | format->sign_mask());
      }
    }
    for (uint64_t code :
         {uint64_t{0}, format->max_finite_code(), format->infinity_code(), format->nan_code()})
      codes.insert(codes.end(), {code, code | format->sign_mask()});
  } else {
    for (int bits = 1; bits <= 8 * static_cast<int>(sizeinbytes(dtype)); ++bits) {
      for (uint64_t field : structured_fields(std::min(bits, 63)))
        codes.insert(codes.end(), {field & mask, -field & mask});
    }
    codes.insert(codes.end(), {mask, mask >> 1, (mask >> 1) + 1, mask - 1});
    for (uint64_t small = 0; small < 4096; ++small)
      codes.insert(codes.end(), {small, -small & mask});
  }
  for (int i = 0; i < 20000; ++i)
    codes.push_back(random() & mask);
  return codes;
}

class NarrowTriples : public testing::TestWithParam<DType> {};
class WideTriples : public testing::TestWithParam<DType> {};

std::string param_name(const testing::TestParamInfo<DType> &param) {
  return std::string(dtype2str(param.param));
}

TEST_P(NarrowTriples, AgreeWithEveryCode) {
  check_source(Source(GetParam(), all_codes(GetParam())));
}

TEST_P(WideTriples, AgreeWithSampledCodes) {
  check_source(Source(GetParam(), wide_codes(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(CastTriple, NarrowTriples,
                         testing::Values(Uint8, Int8, Float8E3, Float8E4, Float8E4m3fn,
                                         Float8E8m0fnu, Float8E5, Uint16, Int16, Bfloat16, Float16,
                                         Float4E2m1fn),
                         param_name);
INSTANTIATE_TEST_SUITE_P(CastTriple, WideTriples,
                         testing::Values(Uint32, Int32, Float32, Float32r, Uint64, Int64, Float64),
                         param_name);

// B08: A to B to A, over the dtypes that the report names. Saturation takes e5m2's infinities away.
TEST(FieldBugs, B08WidthIsNoMeasure) {
  for (DType wide : {Float16, Bfloat16, Float32}) {
    EXPECT_TRUE(triple_is_exact(Float8E4m3fn, wide, Float8E4m3fn));
    EXPECT_TRUE(triple_is_exact(Float4E2m1fn, wide, Float4E2m1fn));
    EXPECT_FALSE(triple_is_exact(Float8E5, wide, Float8E5)) << "infinity comes back as 57344";
    EXPECT_TRUE(triple_is_exact(Float8E5, wide, Float32));
  }
  EXPECT_TRUE(triple_is_exact(Float16, Float32, Float16));
  EXPECT_TRUE(triple_is_exact(Bfloat16, Float32, Bfloat16));
  EXPECT_FALSE(triple_is_exact(Float8E5, Float8E4, Float8E5));
  EXPECT_FALSE(triple_is_exact(Float8E5, Float8E4m3fn, Float8E5));
  EXPECT_FALSE(triple_is_exact(Float8E4, Float8E4m3fn, Float8E4));
  EXPECT_FALSE(triple_is_exact(Bfloat16, Float16, Bfloat16));
  EXPECT_FALSE(triple_is_exact(Float16, Bfloat16, Float16));
}

TEST(FieldBugs, B04TheMiddleOfAChainCounts) {
  EXPECT_FALSE(triple_is_exact(Float32, Float16, Bfloat16));
}

TEST(CastTriple, ACopyToTheSameDtypeKeepsEverything) {
  for (DType a : castable_dtypes()) {
    for (DType b : castable_dtypes()) {
      EXPECT_TRUE(triple_is_exact(a, a, b)) << triple_name(a, a, b);
      EXPECT_TRUE(triple_is_exact(a, b, b)) << triple_name(a, b, b);
    }
  }
}

TEST(CastTriple, Float32IsTransparentUnlessTheBytesWouldPass) {
  for (DType a : castable_dtypes()) {
    for (DType c : castable_dtypes()) {
      if (a != c) {
        EXPECT_TRUE(triple_is_exact(a, Float32, c)) << triple_name(a, Float32, c);
      }
    }
  }
  for (DType a : {Int32, Uint32, Int64, Uint64, Float64, Float32r, Float8E3, Float8E4, Float8E5})
    EXPECT_FALSE(triple_is_exact(a, Float32, a)) << dtype2str(a);
  for (DType a : {Int8, Uint8, Int16, Uint16, Bfloat16, Float16, Float8E4m3fn, Float8E8m0fnu})
    EXPECT_TRUE(triple_is_exact(a, Float32, a)) << dtype2str(a);
}

TEST(CastTriple, ClampsOfClamps) {
  EXPECT_TRUE(triple_is_exact(Float32, Int16, Uint8));
  EXPECT_TRUE(triple_is_exact(Int64, Int32, Int8));
  EXPECT_TRUE(triple_is_exact(Float32, Int32, Int8));
  EXPECT_FALSE(triple_is_exact(Float32, Uint8, Int8)) << "a negative number clamps to 0 first";
  EXPECT_FALSE(triple_is_exact(Int32, Int8, Int32));
}

TEST(CastTriple, RangeOfTheResultCounts) {
  // float16 does not hold bfloat16, but all that it loses is beyond float8_e4m3fn, or below.
  EXPECT_TRUE(triple_is_exact(Bfloat16, Float16, Float8E4m3fn));
  EXPECT_FALSE(holds(Float16, Bfloat16));
}

TEST(CastTriple, ContainersHaveNoCasts) {
  EXPECT_TRUE(triple_is_exact(Float8E5m2X4, Float8E5m2X4, Float8E5m2X4));
  for (DType dtype : castable_dtypes()) {
    EXPECT_FALSE(triple_is_exact(Float8E5m2X4, Float8E5m2X4, dtype));
    EXPECT_FALSE(triple_is_exact(Float8E5m2X4, dtype, Float8E5m2X4));
    EXPECT_FALSE(triple_is_exact(dtype, dtype, Float8E4m3fnX4));
  }
}

TEST(CastTriple, AnswersStayTheSameFromAnyThread) {
  std::vector<int> counts(4);
  std::vector<std::thread> threads;
  for (int &count : counts) {
    threads.emplace_back([&count] {
      for (DType a : all_dtypes())
        for (DType b : all_dtypes())
          for (DType c : all_dtypes())
            count += triple_is_exact(a, b, c);
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(std::set<int>(counts.begin(), counts.end()).size(), 1u);
}

TEST(Holds, Floats) {
  for (DType dtype : castable_dtypes())
    EXPECT_TRUE(holds(dtype, dtype)) << dtype2str(dtype);
  for (DType dtype : {Bfloat16, Float16, Float32r, Float8E3, Float8E4, Float8E5, Float8E4m3fn})
    EXPECT_TRUE(holds(Float32, dtype)) << dtype2str(dtype);
  EXPECT_TRUE(holds(Float32r, Bfloat16));
  EXPECT_TRUE(holds(Float32r, Float16));
  EXPECT_TRUE(holds(Float16, Float8E5)) << "infinities are kept on the way up";
  EXPECT_TRUE(holds(Bfloat16, Float8E3));
  EXPECT_FALSE(holds(Float32r, Float32));
  EXPECT_FALSE(holds(Bfloat16, Float16));
  EXPECT_FALSE(holds(Float8E4m3fn, Float8E4));
  EXPECT_TRUE(holds(Float16, Float4E2m1fn));
  EXPECT_TRUE(holds(Float8E3, Float4E2m1fn));
}

TEST(Holds, Integers) {
  EXPECT_TRUE(holds(Int16, Uint8));
  EXPECT_TRUE(holds(Int64, Uint32));
  EXPECT_FALSE(holds(Uint8, Int8));
  EXPECT_FALSE(holds(Int8, Uint8));
  EXPECT_FALSE(holds(Uint64, Int8));
  EXPECT_TRUE(holds(Bfloat16, Uint8));
  EXPECT_TRUE(holds(Float16, Int8));
  EXPECT_FALSE(holds(Bfloat16, Int16));
  EXPECT_FALSE(holds(Float16, Uint16));
  EXPECT_TRUE(holds(Float32, Uint16));
  EXPECT_TRUE(holds(Float32r, Uint8));
  EXPECT_FALSE(holds(Float32, Int32));
  EXPECT_TRUE(holds(Float64, Uint32));
  EXPECT_FALSE(holds(Float64, Int64));
  EXPECT_FALSE(holds(Int64, Float8E5)) << "no integer is -0.0, or a half";
  EXPECT_TRUE(holds(Uint8, Float8E8m0fnu)) << "casts read the scale as a byte";
  EXPECT_TRUE(holds(Float8E8m0fnu, Uint8));
}

// Where no integer takes part, and for integers whose every value fp32 has, holding is a triple.
TEST(Holds, AgreesWithTheTriples) {
  for (DType a : castable_dtypes()) {
    for (DType b : castable_dtypes()) {
      if (a != b && sizeinbytes(a) <= 2) {
        EXPECT_EQ(holds(b, a), triple_is_exact(a, b, Float32))
            << dtype2str(a) << " in " << dtype2str(b);
      }
    }
  }
}

} // namespace
} // namespace nir
