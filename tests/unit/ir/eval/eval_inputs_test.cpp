#include "ir/eval/eval_inputs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>

#include "ir/core/module.h"
#include "ir/numeric/float_format.h"
#include "tests/unit/support/eval_module.h"

namespace nir::test {
namespace {

class EvalInputs : public testing::Test {
protected:
  const Type *type(DType dtype, std::int64_t count) {
    return *module_.types().get(dtype, std::array{count});
  }
  Module module_;
};

TEST_F(EvalInputs, DependOnSeedAndNameOnly) {
  const Type *t = type(DType::Float32, 100);
  const auto bytes = [&](std::string_view name, std::uint64_t seed) {
    return make_input(t, name, seed, InputKind::Random).bytes;
  };
  EXPECT_EQ(bytes("x", 1), bytes("x", 1));
  EXPECT_NE(bytes("x", 1), bytes("y", 1));
  EXPECT_NE(bytes("x", 1), bytes("x", 2));
}

// The stream is part of the interface: what a test or a report says of a seed stays true.
TEST_F(EvalInputs, AreTheSameEverywhere) {
  EXPECT_EQ(tensor_text(make_input(type(DType::Int32, 6), "x", 0, InputKind::Random)),
            "-69 -20 3 37 -47 1");
  EXPECT_EQ(tensor_text(make_input(type(DType::Bfloat16, 6), "x", 0, InputKind::Random)),
            "-0.25 0.812 0.157 -0.46 0.459 -0.232");
}

TEST_F(EvalInputs, ALongerOneBeginsAlike) {
  const auto shorter = make_input(type(DType::Float16, 10), "x", 3, InputKind::Edges).bytes;
  const auto longer = make_input(type(DType::Float16, 50), "x", 3, InputKind::Edges).bytes;
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST_F(EvalInputs, RandomFloatsAreFiniteAndModerate) {
  for (const DType dtype : all_dtypes()) {
    if (!is_float_type(dtype) || dtype == DType::Float4E2m1fn)
      continue;
    const HostTensor tensor = make_input(type(dtype, 1000), "x", 5, InputKind::Random);
    bool negative = false;
    bool positive = false;
    for (std::size_t i = 0; i < 1000; ++i) {
      const auto value = std::bit_cast<float>(decode_to_fp32(dtype, code_at(tensor, i)));
      ASSERT_LE(std::fabs(value), 4) << dtype2str(dtype);
      negative |= value < 0;
      positive |= value > 0;
    }
    EXPECT_TRUE(negative && positive);
  }
}

TEST_F(EvalInputs, EdgesHoldWhatADtypeHas) {
  for (const DType dtype : all_dtypes()) {
    const FloatFormat *format = float_format(dtype);
    if (format == nullptr)
      continue;
    const auto codes = edge_codes(dtype);
    const auto has = [&](std::uint64_t magnitude) {
      return std::ranges::count(codes, magnitude) == 1 &&
             std::ranges::count(codes, magnitude | format->sign_mask()) == 1;
    };
    EXPECT_TRUE(has(0)) << dtype2str(dtype);
    EXPECT_TRUE(has(format->max_finite_code())) << dtype2str(dtype);
    if (dtype != DType::Float64) {
      EXPECT_TRUE(has(std::uint64_t{1} << format->trailing_bits)) << dtype2str(dtype);
    }
    if (format->has_infinity) {
      EXPECT_TRUE(has(format->infinity_code())) << dtype2str(dtype);
    }
    if (format->nan != NanKind::None) {
      EXPECT_TRUE(has(format->nan_code())) << dtype2str(dtype);
    }
  }
}

TEST_F(EvalInputs, EdgesOfFp32HoldTiesAndLimitsOfNarrowerFormats) {
  const auto codes = edge_codes(DType::Float32);
  for (const float value : {0x1.01p0F, 0x1.03p0F, 0x1.002p0F, 65504.0F, 65520.0F, 240.0F, 448.0F,
                            57344.0F, 15.5F, 0x1p-25F, 127.5F, 2147483648.0F, 0x1p-149F})
    EXPECT_EQ(std::ranges::count(codes, std::bit_cast<std::uint32_t>(value)), 1) << value;
}

TEST_F(EvalInputs, EdgesOfIntegers) {
  const auto codes = edge_codes(DType::Int8);
  for (const std::uint64_t code : {0x80u, 0x81u, 0x7fu, 0x7eu, 0u, 1u, 0xffu})
    EXPECT_EQ(std::ranges::count(codes, code), 1) << code;
  const auto wide = edge_codes(DType::Int64);
  EXPECT_EQ(std::ranges::count(wide, 0x7fff'ffff'ffff'fffeu), 1);
  EXPECT_EQ(std::ranges::count(wide, 0x100'0001u), 1);
}

TEST_F(EvalInputs, EdgesStandInVariedPlaces) {
  const auto codes = edge_codes(DType::Float32);
  const HostTensor tensor = make_input(type(DType::Float32, 4000), "x", 9, InputKind::Edges);
  std::set<std::uint64_t> seen;
  std::size_t edges = 0;
  for (std::size_t i = 0; i < 4000; ++i)
    if (std::ranges::binary_search(codes, code_at(tensor, i))) {
      seen.insert(code_at(tensor, i));
      ++edges;
    }
  EXPECT_GT(edges, 1500u);
  EXPECT_LT(edges, 2500u);
  EXPECT_EQ(seen.size(), codes.size());
}

TEST_F(EvalInputs, ContainersAndScales) {
  for (const DType dtype :
       {DType::Float4E2m1fnX4, DType::Float8E4m3fnX4, DType::Float8E5m2X4, DType::Float8E8m0fnu})
    for (const InputKind kind : {InputKind::Random, InputKind::Edges}) {
      const HostTensor tensor = make_input(type(dtype, 16), "x", 0, kind);
      EXPECT_EQ(tensor.bytes.size(), 16 * sizeinbytes(dtype));
    }
}

} // namespace
} // namespace nir::test
