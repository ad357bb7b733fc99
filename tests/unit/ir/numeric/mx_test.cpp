// Containers of four lanes, in casts and alone, and the dequantisation of MX blocks.
#include "ir/numeric/mx.h"

#include <array>
#include <bit>
#include <cfenv>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "ir/numeric/cast_engine.h"
#include "ir/numeric/float_format.h"
#include "tests/unit/support/cast_codes.h"

namespace nir {
namespace {

using enum DType;

constexpr float inf_bits = std::numeric_limits<float>::infinity();

// --- containers
// -----------------------------------------------------------------------------------

constexpr DType num_containers[] = {Float4E2m1fnX4, Float8E4m3fnX4, Float8E5m2X4};

// Lanes with every code.
Bytes lane_codes(DType container) {
  const bool nibbles = container == Float4E2m1fnX4;
  Bytes lanes(nibbles ? 2048 : 4096);
  for (std::size_t i = 0; i < lanes.size(); ++i)
    lanes[i] = static_cast<uint8_t>((i * 37 + i / 256) & (nibbles ? 0xf : 0xff));
  return lanes;
}

Bytes packed(DType container, const Bytes &lanes) {
  Bytes bytes(lanes.size() / 4 * sizeinbytes(container));
  pack_x4(container, lanes.data(), bytes.data(), lanes.size() / 4);
  return bytes;
}

TEST(CastContainers, LaneZeroIsInTheLowestBits) {
  const uint8_t nibbles[] = {0x1, 0x2, 0x3, 0xf4};
  uint16_t four = 0;
  pack_x4(Float4E2m1fnX4, nibbles, &four, 1);
  EXPECT_EQ(four, 0x4321);
  const uint8_t bytes[] = {0x11, 0x22, 0x33, 0x44};
  uint32_t eight = 0;
  pack_x4(Float8E5m2X4, bytes, &eight, 1);
  EXPECT_EQ(eight, 0x44332211u);
  std::array<uint8_t, 4> lanes{};
  unpack_x4(Float4E2m1fnX4, &four, lanes.data(), 1);
  EXPECT_EQ(lanes, (std::array<uint8_t, 4>{1, 2, 3, 4}));
}

TEST(CastContainers, UnpackingUndoesPacking) {
  for (DType container : num_containers) {
    const Bytes lanes = lane_codes(container);
    Bytes back(lanes.size());
    unpack_x4(container, packed(container, lanes).data(), back.data(), lanes.size() / 4);
    EXPECT_EQ(back, lanes) << dtype2str(container);
  }
}

TEST(CastContainers, ToAndFromEveryPlainDtype) {
  for (DType container : num_containers) {
    const DType element = *get_x1_from_x4(container);
    const Bytes lanes = lane_codes(container);
    const Bytes containers = packed(container, lanes);
    for (DType plain : plain_dtypes()) {
      Bytes expected(lanes.size() * sizeinbytes(plain));
      cast_array(element, plain, lanes.data(), expected.data(), lanes.size());
      Bytes got(expected.size());
      cast_array(container, plain, containers.data(), got.data(), lanes.size());
      EXPECT_EQ(got, expected) << dtype2str(container) << " to " << dtype2str(plain);

      Bytes elements(lanes.size());
      cast_array(plain, element, expected.data(), elements.data(), lanes.size());
      Bytes back(containers.size());
      cast_array(plain, container, expected.data(), back.data(), lanes.size());
      EXPECT_EQ(back, packed(container, elements)) << dtype2str(plain);
    }
  }
}

TEST(CastContainers, ToEachOther) {
  for (DType from : num_containers) {
    const Bytes lanes = lane_codes(from);
    for (DType to : num_containers) {
      Bytes elements(lanes.size());
      cast_array(*get_x1_from_x4(from), *get_x1_from_x4(to), lanes.data(), elements.data(),
                 lanes.size());
      Bytes got(lanes.size() / 4 * sizeinbytes(to));
      cast_array(from, to, packed(from, lanes).data(), got.data(), lanes.size());
      EXPECT_EQ(got, packed(to, elements)) << dtype2str(from) << " to " << dtype2str(to);
    }
  }
}

TEST(CastContainers, TheirElementPassesUntouched) {
  const Bytes nans = {0x7d, 0xfe, 0x7c, 0x01}; // as float8e5: NaNs with payload, an infinity
  Bytes container(4);
  cast_array(Float8E5, Float8E5m2X4, nans.data(), container.data(), 4);
  EXPECT_EQ(container, nans);
  Bytes elements(4);
  cast_array(Float8E5m2X4, Float8E5, container.data(), elements.data(), 4);
  EXPECT_EQ(elements, nans);
}

TEST(CastContainers, NibblesPackAndUnpack) {
  const Bytes lanes = {0x1, 0xf2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8}; // the high bits are no part of it
  std::array<uint16_t, 2> containers{};
  cast_array(Float4E2m1fn, Float4E2m1fnX4, lanes.data(), containers.data(), 8);
  EXPECT_EQ(containers, (std::array<uint16_t, 2>{0x4321, 0x8765}));
  Bytes back(8);
  cast_array(Float4E2m1fnX4, Float4E2m1fn, containers.data(), back.data(), 8);
  EXPECT_EQ(back, (Bytes{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(CastContainers, StagesCountLanes) {
  const std::vector<float> values = {1.0f, -2.0f, 6.0f, 0.5f, inf_bits, -0.0f, 3.0f, -inf_bits};
  std::array<uint16_t, 2> containers{};
  encode_array(Float4E2m1fnX4, values.data(), containers.data(), 8);
  EXPECT_EQ(containers, (std::array<uint16_t, 2>{0x17c2, 0xf587}));
  std::vector<float> back(8);
  decode_array(Float4E2m1fnX4, containers.data(), back.data(), 8);
  EXPECT_EQ(back, (std::vector<float>{1.0f, -2.0f, 6.0f, 0.5f, 6.0f, -0.0f, 3.0f, -6.0f}));
}

// --- MX
// -------------------------------------------------------------------------------------------

// By definition, one element at a time. Exact in double, so the only rounding is the last.
uint32_t reference_mx(DType element, uint8_t code, uint8_t scale) {
  const uint32_t value = decode_to_fp32(element, code);
  if (scale == 0xff)
    return 0x7fc00000;
  if (is_nan_code(element, code))
    return value;
  const double product = static_cast<double>(std::bit_cast<float>(value)) *
                         static_cast<double>(std::bit_cast<float>(decode_e8m0_ocp(scale)));
  return std::bit_cast<uint32_t>(static_cast<float>(product));
}

TEST(Mx, EveryCodeWithEveryScale) {
  for (DType element : {Float8E3, Float8E4, Float8E4m3fn, Float8E5, Float4E2m1fn}) {
    ASSERT_TRUE(is_mx_element(element));
    Bytes codes;
    Bytes scales;
    for (unsigned scale = 0; scale < 256; ++scale) {
      for (unsigned code = 0; code < 256; ++code)
        codes.push_back(static_cast<uint8_t>(code));
      scales.insert(scales.end(), 256 / mx_block_size, static_cast<uint8_t>(scale));
    }
    std::vector<float> values(codes.size());
    dequantize_mx(element, codes.data(), scales.data(), values.data(), codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(values[i]),
                reference_mx(element, codes[i], scales[i / mx_block_size]))
          << dtype2str(element) << ' ' << i;
    }
  }
}

TEST(Mx, ContainersGiveWhatTheirElementsGive) {
  for (DType container : num_containers) {
    ASSERT_TRUE(is_mx_element(container));
    const Bytes lanes = lane_codes(container);
    Bytes scales(lanes.size() / mx_block_size);
    for (std::size_t i = 0; i < scales.size(); ++i)
      scales[i] = static_cast<uint8_t>(i * 91);
    std::vector<float> expected(lanes.size());
    dequantize_mx(*get_x1_from_x4(container), lanes.data(), scales.data(), expected.data(),
                  lanes.size());
    std::vector<float> got(lanes.size());
    dequantize_mx(container, packed(container, lanes).data(), scales.data(), got.data(),
                  lanes.size());
    EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)), 0)
        << dtype2str(container);
  }
}

TEST(Mx, TheLastBlockMayBeShort) {
  const Bytes codes(33, 0x38); // 1.0 in float8_e4m3fn
  const Bytes scales = {128, 126};
  std::vector<float> values(34, -1.0f);
  dequantize_mx(Float8E4m3fn, codes.data(), scales.data(), values.data(), codes.size());
  EXPECT_EQ(values[31], 2.0f);
  EXPECT_EQ(values[32], 0.5f);
  EXPECT_EQ(values[33], -1.0f);
}

TEST(Mx, OnlyFloatsOfAByteAndContainers) {
  for (DType dtype : {Int8, Uint8, Float8E8m0fnu, Bfloat16, Float32, Uint16})
    EXPECT_FALSE(is_mx_element(dtype)) << dtype2str(dtype);
}

TEST(Mx, FlushingAndRoundingModesDoNotMatter) {
  const uint8_t codes[] = {0x01, 0x7b, 0x81};
  const uint8_t scale = 0; // 2^-127: a denormal result
  std::array<float, 3> values{};
  std::fesetround(FE_UPWARD);
  dequantize_mx(Float8E5, codes, &scale, values.data(), 3);
  std::fesetround(FE_TONEAREST);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(std::bit_cast<uint32_t>(values[i]), reference_mx(Float8E5, codes[i], scale));
}

} // namespace
} // namespace nir
