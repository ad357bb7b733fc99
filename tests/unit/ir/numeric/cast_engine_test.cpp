// The array casts against the scalar reference: every kernel of this machine, every pair of dtypes.
#include "ir/numeric/cast_engine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cstdio>
#include <cstring>
#include <limits>
#include <ranges>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <xxhash.h>

#include "ir/numeric/cast_engine_kernels.h"
#include "ir/numeric/float_format.h"
#include "tests/unit/support/cast_codes.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace nir {
namespace {

using enum DType;

// The first difference, in words; empty where there is none.
std::string compare(const Codes &source, const Codes &got, const Codes &expected) {
  const auto [at, unused] = std::ranges::mismatch(got, expected);
  if (at == got.end())
    return {};
  const auto index = static_cast<std::size_t>(at - got.begin());
  char text[128];
  std::snprintf(text, sizeof text, "element %zu: code %llx gave %llx, expected %llx", index,
                static_cast<unsigned long long>(source[index]),
                static_cast<unsigned long long>(got[index]),
                static_cast<unsigned long long>(expected[index]));
  return text;
}

void expect_reference(DType from, DType to, const Codes &codes, bool saturate) {
  Codes expected(codes.size());
  std::ranges::transform(codes, expected.begin(),
                         [&](uint64_t code) { return convert_code(from, to, code, saturate); });
  for (const CastKernels *kernels : kernel_sets()) {
    EXPECT_EQ(compare(codes, cast(*kernels, from, to, codes, {.saturate = saturate}), expected), "")
        << dtype2str(from) << " to " << dtype2str(to) << " saturate " << saturate << ' '
        << kernels->name;
  }
}

// To every dtype, `saturate` on and off.
void expect_reference(DType from, const Codes &codes) {
  for (DType to : plain_dtypes()) {
    expect_reference(from, to, codes, true);
    expect_reference(from, to, codes, false);
  }
}

Codes fp32_codes(std::initializer_list<float> values) {
  Codes codes;
  for (float value : values)
    codes.push_back(std::bit_cast<uint32_t>(value));
  return codes;
}

constexpr float inf_bits = std::numeric_limits<float>::infinity();

// --- against the reference ----------------------------------------------------------------------

TEST(CastEngine, EveryCodeOf8Bits) {
  for (DType from : plain_dtypes_of(1))
    expect_reference(from, all_codes(from));
}

TEST(CastEngine, EveryCodeOf16BitsToFloats) {
  for (DType from : plain_dtypes_of(2)) {
    const Codes codes = all_codes(from);
    for (DType to : plain_dtypes()) {
      if (!is_int_type(to))
        expect_reference(from, to, codes, true);
    }
  }
}

TEST(CastEngine, EveryCodeOf16BitsToIntegers) {
  for (DType from : plain_dtypes_of(2)) {
    const Codes codes = all_codes(from);
    for (DType to : int_dtypes())
      expect_reference(from, to, codes, true);
  }
}

TEST(CastEngine, EveryCodeOf16BitsWithoutSaturation) {
  for (DType from : plain_dtypes_of(2)) {
    const Codes codes = all_codes(from);
    for (DType to : plain_dtypes_of(1))
      expect_reference(from, to, codes, false);
  }
}

TEST(CastEngine, SampledCodesOf32Bits) {
  for (DType from : plain_dtypes_of(4))
    expect_reference(from, sampled_codes(from));
}

TEST(CastEngine, SampledCodesOf64Bits) {
  for (DType from : plain_dtypes_of(8))
    expect_reference(from, sampled_codes(from));
}

TEST(CastEngine, RandomCodes) {
  for (unsigned bytes : {4, 8}) {
    for (DType from : plain_dtypes_of(bytes))
      expect_reference(from, random_codes(from, 5000));
  }
}

// Halfway between neighbours of each format, exactly and an fp32 ulp to either side.
TEST(CastEngine, EveryTieOfEveryFormat) {
  for (unsigned bytes : {1, 2}) {
    for (DType to : plain_dtypes_of(bytes)) {
      const FloatFormat *format = float_format(to);
      if (!format)
        continue;
      Codes codes;
      for (uint64_t code = 0; code < format->max_finite_code(); ++code) {
        const double low = std::bit_cast<float>(decode_to_fp32(to, code));
        const double high = std::bit_cast<float>(decode_to_fp32(to, code + 1));
        const uint64_t tie = std::bit_cast<uint32_t>(static_cast<float>((low + high) / 2));
        for (uint64_t bits : {tie - 1, tie, tie + 1})
          codes.insert(codes.end(), {bits, bits | 0x80000000});
      }
      expect_reference(Float32, to, codes, true);
      expect_reference(Float32, to, codes, false);
    }
  }
}

TEST(CastEngine, AroundEveryIntegerLimit) {
  Codes codes;
  for (int exponent = -2; exponent <= 66; ++exponent) {
    const uint32_t bits = static_cast<uint32_t>(exponent + 127) << 23;
    for (uint32_t near : {-2, -1, 0, 1, 2})
      codes.insert(codes.end(), {bits + near, (bits + near) | 0x80000000});
  }
  for (float half = -300.5f; half < 301; half += 1)
    codes.push_back(std::bit_cast<uint32_t>(half));
  for (float value : {32767.5f, 32766.5f, -32768.5f, 65535.5f, 65534.5f, 8388607.5f, 4194304.5f}) {
    codes.push_back(std::bit_cast<uint32_t>(value));
    codes.push_back(std::bit_cast<uint32_t>(-value));
  }
  for (DType to : int_dtypes())
    expect_reference(Float32, to, codes, true);
  expect_reference(Float32, Float8E8m0fnu, codes, true);
}

TEST(CastEngine, EveryNanBitOfFloat32) {
  Codes codes;
  for (unsigned bit = 0; bit < 23; ++bit) {
    const uint64_t nan = 0x7f800000u | 1u << bit;
    codes.insert(codes.end(), {nan, nan | 0x80000000});
  }
  expect_reference(Float32, codes);
  expect_reference(Float32r, codes);
}

TEST(CastEngine, EveryNanBitOfFloat64) {
  Codes codes;
  for (unsigned bit = 0; bit < 52; ++bit) {
    const uint64_t nan = 0x7ff0000000000000 | uint64_t{1} << bit;
    codes.insert(codes.end(), {nan, nan | uint64_t{1} << 63});
  }
  expect_reference(Float64, codes);
}

TEST(CastEngine, Float64AroundTheEndsOfFloat32) {
  Codes codes;
  for (double value : {0x1p-149, 0x1p-150, 0x1.8p-150, 0x1p-126, 0x1.ffffffp-127, 0x1.fffffep127,
                       0x1.ffffffp127, 0x1.fffffefffffffp127, 0x1p128, 1e300, 5e-324}) {
    const auto bits = std::bit_cast<uint64_t>(value);
    for (uint64_t code : {bits - 1, bits, bits + 1})
      codes.insert(codes.end(), {code, code | uint64_t{1} << 63});
  }
  expect_reference(Float64, codes);
}

TEST(CastEngine, Int64RoundsOnceToFp32) {
  Codes codes;
  for (int exponent = 24; exponent < 64; ++exponent) {
    const uint64_t tie = (uint64_t{1} << exponent) + (uint64_t{1} << (exponent - 24));
    // Through double the ones beside the tie of the upper exponents would become the tie.
    for (uint64_t near : {-1, 0, 1})
      codes.insert(codes.end(), {tie + near, -(tie + near)});
  }
  for (DType from : {Int64, Uint64, Int32, Uint32})
    expect_reference(from, Float32, codes, true);
}

// --- lengths, alignment, places
// -------------------------------------------------------------------

TEST(CastEngine, EveryShortLengthAndOffset) {
  for (DType from : plain_dtypes()) {
    const DType to = from == Float8E4 ? Bfloat16 : Float8E4;
    const Codes codes = random_codes(from, 40);
    const Bytes src = to_bytes(from, codes);
    for (const CastKernels *kernels : kernel_sets()) {
      for (std::size_t count = 0; count <= codes.size(); ++count) {
        const std::size_t size = count * sizeinbytes(to);
        const std::size_t offset = count % 8 + 1;
        Bytes moved(src.size() + offset);
        std::ranges::copy(src, moved.begin() + static_cast<std::ptrdiff_t>(offset));
        Bytes dst(offset + size + 1, 0xa5);
        cast_array(*kernels, from, to, &moved[offset], &dst[offset], count);
        const Codes got =
            to_codes(to, Bytes(&dst[offset], &dst[offset] + static_cast<std::ptrdiff_t>(size)));
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_EQ(got[i], convert_code(from, to, codes[i])) << dtype2str(from) << count;
        ASSERT_EQ(dst.back(), 0xa5) << "written beyond the end";
        ASSERT_EQ(dst[offset - 1], 0xa5) << "written before the beginning";
      }
    }
  }
}

TEST(CastEngine, UnalignedToEveryDtype) {
  for (DType to : plain_dtypes()) {
    const Codes codes = random_codes(Float32, 37);
    const Bytes src = to_bytes(Float32, codes);
    Bytes moved(src.size() + 3);
    std::ranges::copy(src, moved.begin() + 3);
    for (const CastKernels *kernels : kernel_sets()) {
      Bytes dst(1 + codes.size() * sizeinbytes(to));
      cast_array(*kernels, Float32, to, &moved[3], &dst[1], codes.size());
      const Codes got = to_codes(to, Bytes(dst.begin() + 1, dst.end()));
      for (std::size_t i = 0; i < codes.size(); ++i)
        ASSERT_EQ(got[i], convert_code(Float32, to, codes[i])) << dtype2str(to);
    }
  }
}

TEST(CastEngine, LengthsAroundTheChunk) {
  for (std::size_t count : {1023, 1024, 1025, 2047, 2048, 3073})
    expect_reference(Float16, Float8E5, random_codes(Float16, count), true);
}

TEST(CastEngine, InPlaceWithEqualSizes) {
  for (DType from : plain_dtypes()) {
    for (DType to : plain_dtypes_of(sizeinbytes(from))) {
      const Codes codes = random_codes(from, 2500);
      Bytes buffer = to_bytes(from, codes);
      cast_array(from, to, buffer.data(), buffer.data(), codes.size());
      const Codes got = to_codes(to, buffer);
      for (std::size_t i = 0; i < codes.size(); ++i) {
        ASSERT_EQ(got[i], convert_code(from, to, codes[i]))
            << dtype2str(from) << " to " << dtype2str(to) << " at " << i;
      }
    }
  }
}

TEST(CastEngine, InPlaceStagesAndExactInts) {
  const Codes ints = random_codes(Uint32, 1500);
  Bytes buffer = to_bytes(Uint32, ints);
  cast_array(Uint32, Int32, buffer.data(), buffer.data(), ints.size(), {.exact_ints = true});
  const Codes got = to_codes(Int32, buffer);
  for (std::size_t i = 0; i < ints.size(); ++i)
    ASSERT_EQ(got[i], convert_code_exact_ints(Uint32, Int32, ints[i]));

  std::vector<float> values(1500, 16777219.0f);
  encode_array(Int32, values.data(), values.data(), values.size());
  decode_array(Int32, values.data(), values.data(), values.size());
  EXPECT_EQ(values, std::vector<float>(1500, 16777220.0f));
}

TEST(CastEngine, NothingToDo) {
  for (DType from : all_dtypes()) {
    for (DType to : all_dtypes())
      cast_array(from, to, nullptr, nullptr, 0);
    decode_array(from, nullptr, nullptr, 0);
    encode_array(from, nullptr, nullptr, 0);
  }
}

TEST(CastEngine, EqualDtypesPassTheBytes) {
  for (DType dtype : all_dtypes()) {
    Bytes src(8 * sizeinbytes(dtype) * info(dtype).lanes);
    for (std::size_t i = 0; i < src.size(); ++i)
      src[i] = static_cast<uint8_t>(255 - i);
    Bytes dst(src.size());
    cast_array(dtype, dtype, src.data(), dst.data(), 8 * info(dtype).lanes * info(dtype).lanes);
    EXPECT_EQ(src, dst) << dtype2str(dtype);
  }
}

// --- the stages alone
// -----------------------------------------------------------------------------

TEST(CastEngine, DecodeArrayIsTheFirstStage) {
  for (const CastKernels *kernels : kernel_sets()) {
    for (DType from : plain_dtypes()) {
      const Codes codes = random_codes(from, 1100);
      std::vector<float> got(codes.size());
      decode_array(*kernels, from, to_bytes(from, codes).data(), got.data(), codes.size());
      for (std::size_t i = 0; i < codes.size(); ++i)
        ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), decode_to_fp32(from, codes[i]))
            << dtype2str(from);
    }
  }
}

TEST(CastEngine, EncodeArrayIsTheSecondStage) {
  const Codes codes = random_codes(Float32, 1100);
  std::vector<float> src(codes.size());
  std::memcpy(src.data(), to_bytes(Float32, codes).data(), codes.size() * sizeof(float));
  for (const CastKernels *kernels : kernel_sets()) {
    for (DType to : plain_dtypes()) {
      for (bool saturate : {false, true}) {
        Bytes dst(codes.size() * sizeinbytes(to));
        encode_array(*kernels, to, src.data(), dst.data(), codes.size(), saturate);
        const Codes got = to_codes(to, dst);
        for (std::size_t i = 0; i < codes.size(); ++i) {
          ASSERT_EQ(got[i], encode_from_fp32(to, static_cast<uint32_t>(codes[i]), saturate))
              << dtype2str(to);
        }
      }
    }
  }
}

TEST(CastEngine, StagesMakeNanOfFloat32Canonical) {
  const float nan = std::bit_cast<float>(0xff800001u);
  float out = 0;
  decode_array(Float32, &nan, &out, 1);
  EXPECT_EQ(std::bit_cast<uint32_t>(out), 0xffc00000u);
  encode_array(Float32, &nan, &out, 1);
  EXPECT_EQ(std::bit_cast<uint32_t>(out), 0xffc00000u);
  cast_array(Float32, Float32, &nan, &out, 1);
  EXPECT_EQ(std::bit_cast<uint32_t>(out), 0xff800001u) << "the same dtype passes";
}

// --- known values
// ---------------------------------------------------------------------------------

void expect_codes(DType to, std::initializer_list<float> values, const Codes &expected,
                  bool saturate = true) {
  for (const CastKernels *kernels : kernel_sets()) {
    // Ten times, so that both the vector loop and the rest see each.
    for (std::size_t repeat = 0; repeat < 10; ++repeat) {
      Codes codes(repeat, 0x3f800000);
      std::ranges::copy(fp32_codes(values), std::back_inserter(codes));
      Codes got = cast(*kernels, Float32, to, codes, {.saturate = saturate});
      got.erase(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(repeat));
      EXPECT_EQ(got, expected) << dtype2str(to) << ' ' << kernels->name;
    }
  }
}

TEST(CastEngineValues, BeyondIsAfterRounding) {
  expect_codes(Float8E4m3fn, {464.0f, 465.0f, 480.0f, -480.0f, inf_bits},
               {0x7e, 0x7e, 0x7e, 0xfe, 0x7e});
  expect_codes(Float8E4m3fn, {464.0f, 465.0f, 480.0f, -480.0f, inf_bits},
               {0x7e, 0x7f, 0x7f, 0xff, 0x7f}, false);
}

TEST(CastEngineValues, InfinityWithAndWithoutSaturation) {
  expect_codes(Float8E5, {inf_bits, -inf_bits, 61440.0f}, {0x7b, 0xfb, 0x7b});
  expect_codes(Float8E5, {inf_bits, -inf_bits, 61440.0f}, {0x7c, 0xfc, 0x7c}, false);
  expect_codes(Float8E4, {inf_bits, -inf_bits, 248.0f}, {0x77, 0xf7, 0x77});
  expect_codes(Float8E3, {inf_bits, -inf_bits, 15.75f}, {0x70, 0xf0, 0x70}, false);
}

TEST(CastEngineValues, WideFormatsNeverSaturate) {
  for (bool saturate : {false, true}) {
    expect_codes(Float16, {65520.0f, -65520.0f, 65519.0f}, {0x7c00, 0xfc00, 0x7bff}, saturate);
    expect_codes(Bfloat16, {0x1.ffp127f, -inf_bits}, {0x7f80, 0xff80}, saturate);
    expect_codes(Float32r, {0x1.fffp127f}, {0x7f800000}, saturate);
  }
}

TEST(CastEngineValues, SignedZerosAndDenormals) {
  expect_codes(Float16, {0.0f, -0.0f, 0x1p-24f, -0x1p-25f, 0x1.8p-25f, 0x1p-149f},
               {0, 0x8000, 1, 0x8000, 1, 0});
  expect_codes(Bfloat16, {-0.0f, 0x1p-133f, -0x1p-134f, 0x1.8p-134f}, {0x8000, 1, 0x8000, 1});
  expect_codes(Float8E5, {-0.0f, 0x1p-16f, 0x1p-17f, -0x1.8p-17f}, {0x80, 1, 0, 0x81});
  expect_codes(Float32r, {0x1p-149f, 0x1p-137f, -0x1p-138f}, {0, 0x1000, 0x80000000});
}

TEST(CastEngineValues, Fp4AlwaysSaturates) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (bool saturate : {false, true}) {
    expect_codes(Float4E2m1fn, {7.0f, -inf_bits, nan, -nan, 0.25f, 0.75f, -0.0f},
                 {0x7, 0xf, 0x7, 0x7, 0, 2, 8}, saturate);
  }
}

TEST(CastEngineValues, NanToIntegers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_codes(Int8, {nan, -nan, inf_bits, -inf_bits}, {0x7f, 0x80, 0x7f, 0x80});
  expect_codes(Uint8, {nan, -nan, inf_bits, -inf_bits}, {0xff, 0, 0xff, 0});
  expect_codes(Int32, {nan, -nan}, {0x7fffffff, 0x80000000});
  expect_codes(Uint32, {nan, -nan}, {0xffffffff, 0});
  expect_codes(Int64, {nan, -nan}, {0x7fffffffffffffff, 0x8000000000000000});
  expect_codes(Uint64, {nan, -nan}, {0xffffffffffffffff, 0});
}

TEST(CastEngineValues, IntegersPassThroughFp32) {
  EXPECT_EQ(cast(best_cast_kernels(), Int32, Int64, {16777217}), Codes{16777216});
  EXPECT_EQ(cast(best_cast_kernels(), Uint32, Int32, {2147483647}), Codes{2147483647});
  EXPECT_EQ(cast(best_cast_kernels(), Int64, Uint64, {uint64_t{1} << 63}), Codes{0});
}

TEST(CastEngineValues, Float64GoesThroughFp32) {
  const auto number = std::bit_cast<uint64_t>(1.0 + 0x1p-8 + 0x1p-40);
  EXPECT_EQ(cast(best_cast_kernels(), Float64, Bfloat16, {number}), Codes{0x3f80});
}

TEST(CastEngineValues, TheScaleIsAByte) {
  expect_codes(Float8E8m0fnu, {2.5f, 300.0f, -1.0f}, {2, 255, 0});
  EXPECT_EQ(cast(best_cast_kernels(), Float8E8m0fnu, Float32, {255}), fp32_codes({255.0f}));
}

// --- digests of other programs
// --------------------------------------------------------------------

TEST(CastEngineDigests, DecodesOfEveryCode) {
  struct Row {
    DType dtype;
    uint64_t digest;
  };
  constexpr Row rows[] = {
      {Float8E3, 0x5e8837027a406f84},     {Float8E4, 0x3f5397037bfa2f0d},
      {Float8E4m3fn, 0x6f011897bc360794}, {Float8E5, 0xd3efb01f843c5ac8},
      {Bfloat16, 0xd6377f18dd487008},     {Float16, 0x97d60ef206ebb98c},
  };
  for (const auto &[dtype, digest] : rows) {
    for (const CastKernels *kernels : kernel_sets()) {
      const Bytes src = to_bytes(dtype, all_codes(dtype));
      std::vector<float> values(src.size() / sizeinbytes(dtype));
      decode_array(*kernels, dtype, src.data(), values.data(), values.size());
      EXPECT_EQ(XXH64(values.data(), values.size() * sizeof(float), 0), digest)
          << dtype2str(dtype) << ' ' << kernels->name;
    }
  }
}

// Number i is i * 0x9e3779b97f4a7c15, shifted right by i mod 64 in its own type.
template <class Int> std::vector<Int> golden_numbers() {
  std::vector<Int> numbers(std::size_t{1} << 20);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<Int>(i * 0x9e3779b97f4a7c15) >> (i % 64);
  return numbers;
}

template <class Int> void expect_golden_digest(DType from, uint64_t digest) {
  const std::vector<Int> numbers = golden_numbers<Int>();
  std::vector<float> values(numbers.size());
  for (const CastKernels *kernels : kernel_sets()) {
    decode_array(*kernels, from, numbers.data(), values.data(), values.size());
    EXPECT_EQ(XXH64(values.data(), values.size() * sizeof(float), 0), digest) << kernels->name;
  }
}

TEST(CastEngineDigests, Int64ToFp32) { expect_golden_digest<int64_t>(Int64, 0xf3adad9ba122ff0b); }
TEST(CastEngineDigests, Uint64ToFp32) {
  expect_golden_digest<uint64_t>(Uint64, 0xd8ca6a179a3c4586);
}

// --- exact integers
// -------------------------------------------------------------------------------

TEST(CastEngineExactInts, EveryPair) {
  for (DType from : int_dtypes()) {
    Codes codes = sizeinbytes(from) <= 2 ? all_codes(from) : sampled_codes(from);
    std::ranges::copy(random_codes(from, 1000), std::back_inserter(codes));
    for (DType to : int_dtypes()) {
      Codes expected(codes.size());
      std::ranges::transform(codes, expected.begin(), [&](uint64_t code) {
        return convert_code_exact_ints(from, to, code);
      });
      const Codes got = cast(best_cast_kernels(), from, to, codes, {.exact_ints = true});
      EXPECT_EQ(compare(codes, got, expected), "") << dtype2str(from) << " to " << dtype2str(to);
    }
  }
}

TEST(CastEngineExactInts, ChangesNothingElse) {
  for (DType from : {Int32, Float32, Float8E8m0fnu}) {
    const Codes codes = random_codes(from, 500);
    for (DType to : plain_dtypes()) {
      if (is_int_type(from) && is_int_type(to))
        continue;
      EXPECT_EQ(cast(best_cast_kernels(), from, to, codes, {.exact_ints = true}),
                cast(best_cast_kernels(), from, to, codes));
    }
  }
}

TEST(CastEngineExactInts, KernelsForIntegersOnly) {
  for (DType from : all_dtypes()) {
    for (DType to : all_dtypes())
      EXPECT_EQ(exact_int_kernel(from, to) != nullptr, is_int_type(from) && is_int_type(to));
  }
}

// --- the environment
// ------------------------------------------------------------------------------

void expect_reference_everywhere() {
  for (DType from : {Float32, Float64, Int32, Uint64, Float16}) {
    Codes codes = random_codes(from, 2000);
    std::ranges::copy(
        sampled_codes(sizeinbytes(from) == 2 ? Float32 : from) | std::views::take(3000) |
            std::views::transform([&](uint64_t code) { return code & code_mask(from); }),
        std::back_inserter(codes));
    expect_reference(from, codes);
  }
}

TEST(CastEngineEnvironment, RoundingModeDoesNotMatter) {
  for (int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    expect_reference_everywhere();
    EXPECT_EQ(std::fegetround(), rounding) << "and is left as it was";
  }
  std::fesetround(FE_TONEAREST);
}

#if defined(__SSE2__)
TEST(CastEngineEnvironment, FlushingDenormalsDoesNotMatter) {
  const unsigned before = _mm_getcsr();
  const unsigned flushing = before | 0x8040; // FTZ, DAZ
  _mm_setcsr(flushing);
  expect_reference_everywhere();
  EXPECT_EQ(_mm_getcsr() & ~0x3fu, flushing & ~0x3fu) << "and is left as it was";
  _mm_setcsr(before);
}

TEST(CastEngineEnvironment, TrapsAreNotTaken) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before & ~0x1f80u & ~0x3fu); // every exception traps
  const uint32_t codes[] = {0x7f800001, 0x00000001, 0x7f7fffff, 0x3f800001};
  std::array<uint8_t, 4> out{};
  cast_array(Float32, Float8E5, codes, out.data(), 4);
  _mm_setcsr(before);
  EXPECT_EQ(out, (std::array<uint8_t, 4>{0x7e, 0x00, 0x7b, 0x3c}));
}
#endif

TEST(CastEngineEnvironment, AnyThread) {
  const Codes codes = all_codes(Float16);
  std::array<Codes, 4> results;
  {
    std::vector<std::jthread> threads;
    for (Codes &result : results)
      threads.emplace_back([&] { result = cast(best_cast_kernels(), Float16, Float8E3, codes); });
  }
  for (const Codes &result : results)
    EXPECT_EQ(result, results[0]);
}

TEST(CastKernels, OnePerDtypeWithOneLane) {
  for (const CastKernels *kernels : kernel_sets()) {
    for (DType dtype : all_dtypes()) {
      const unsigned index = dtype_index(dtype);
      EXPECT_EQ(kernels->decode[index] == nullptr, is_x4_dtype(dtype));
      EXPECT_EQ(kernels->encode[index][0] == nullptr, is_x4_dtype(dtype));
      EXPECT_EQ(kernels->encode[index][1] == nullptr, is_x4_dtype(dtype));
    }
  }
}

TEST(CastKernels, TheBestIsOneOfTheSets) { EXPECT_EQ(&best_cast_kernels(), kernel_sets().back()); }

} // namespace
} // namespace nir
