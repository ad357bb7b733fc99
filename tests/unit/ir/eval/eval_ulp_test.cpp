#include "ir/eval/ulp_error.h"

#include <array>
#include <limits>

#include "ir/core/module.h"
#include "tests/unit/support/eval_module.h"

namespace nir::test {
namespace {

class Ulp : public testing::Test {
protected:
  UlpError error(DType dtype, std::initializer_list<std::uint64_t> codes,
                 std::initializer_list<double> exact) {
    const std::array shape{static_cast<std::int64_t>(codes.size())};
    HostTensor reference{*module_.types().get(DType::Float64, shape), {}};
    for (const double value : exact) {
      const auto *bytes = reinterpret_cast<const std::byte *>(&value);
      reference.bytes.insert(reference.bytes.end(), bytes, bytes + sizeof value);
    }
    return ulp_error(host_tensor(*module_.types().get(dtype, shape), codes), reference);
  }
  Module module_;
};

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_F(Ulp, CountsSpacingsOfTheDtype) {
  EXPECT_EQ(error(DType::Bfloat16, {0x3f80}, {1.0}).max, 0);
  EXPECT_EQ(error(DType::Bfloat16, {0x3f80}, {1 + 0x1p-8}).max, 0.5);
  EXPECT_EQ(error(DType::Bfloat16, {0x3f82}, {1.0}).max, 2);
  EXPECT_EQ(error(DType::Float32, {0x3f800001}, {1.0}).max, 1);
}

TEST_F(Ulp, MaxAndMean) {
  const UlpError found = error(DType::Float16, {0x3c00, 0x3c01, 0x3c03}, {1.0, 1.0, 1.0});
  EXPECT_EQ(found.max, 3);
  EXPECT_DOUBLE_EQ(found.mean, 4.0 / 3);
}

TEST_F(Ulp, SubnormalsHaveOneSpacing) {
  EXPECT_EQ(error(DType::Float16, {1}, {0.0}).max, 1);
  EXPECT_EQ(error(DType::Float16, {0}, {0x1p-30}).max, 0x1p-6);
}

TEST_F(Ulp, ClampedNumbersAreFarOff) {
  EXPECT_EQ(error(DType::Float8E4, {0x77}, {480.0}).max, 15); // 240 for 480, spacing 16
}

TEST_F(Ulp, InfinitiesAndNans) {
  EXPECT_EQ(error(DType::Float16, {0x7c00}, {1e6}).max, 0);
  EXPECT_EQ(error(DType::Float16, {0x7c00}, {1000.0}).max, infinity);
  EXPECT_EQ(error(DType::Float16, {0x7c00}, {infinity}).max, 0);
  EXPECT_EQ(error(DType::Float16, {0xfc00}, {infinity}).max, infinity);
  EXPECT_EQ(error(DType::Float16, {0x7e00}, {std::numeric_limits<double>::quiet_NaN()}).max, 0);
  EXPECT_EQ(error(DType::Float16, {0x7e00}, {1.0}).max, infinity);
  EXPECT_EQ(error(DType::Float16, {0x3c00}, {std::numeric_limits<double>::quiet_NaN()}).max,
            infinity);
}

TEST_F(Ulp, Integers) {
  const Type *type = *module_.types().get(DType::Int64, std::array<std::int64_t, 1>{2});
  const HostTensor a = host_tensor(type, {5, 0x8000'0000'0000'0000});
  const HostTensor b = host_tensor(type, {7, 0x7fff'ffff'ffff'ffff});
  EXPECT_EQ(ulp_error(a, b).max, 0x1p64);
  EXPECT_EQ(identical_elements(a, b), 0u);
}

TEST_F(Ulp, IdenticalElements) {
  const Type *type = *module_.types().get(DType::Float32, std::array<std::int64_t, 1>{4});
  const HostTensor a = host_tensor(type, {0, 0x7fc00000, 0x7fc00000, 0x3f800000});
  const HostTensor b = host_tensor(type, {0x80000000, 0x7fc00001, 0xffc00000, 0x3f800000});
  EXPECT_EQ(identical_elements(a, b), 2u);
  EXPECT_EQ(identical_elements(a, a), 4u);
}

} // namespace
} // namespace nir::test
