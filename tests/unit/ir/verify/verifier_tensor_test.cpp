// The rules of declarations, each broken once.

#include "tests/unit/support/ir_fixture.h"

namespace nir {
namespace {

using testing::ElementsAre;

class TensorTest : public IrTest {
protected:
  void constant(DType dtype, InitForm form, std::vector<std::uint8_t> bytes) {
    ConstData *data = module.add_const_data({form, std::move(bytes)});
    const std::string name = "k" + std::to_string(count++);
    b.tensor(name, type(dtype, {2}), Space::Dram, Role::Const, data);
  }
  int count = 0;
};

TEST_F(TensorTest, PsumHoldsFourByteItems) {
  tensor("a", DType::Int32, {4}, Space::Psum);
  tensor("b", DType::Bfloat16, {4}, Space::Psum);
  EXPECT_THAT(errors(),
              ElementsAre("tensor $b in psum has dtype bfloat16, expected one of 4 bytes"));
}

TEST_F(TensorTest, InitsBelongToConsts) {
  tensor("a", DType::Int8, {4}, Space::Dram, Role::Const);
  ConstData *data = module.add_const_data({InitForm::Splat, {0}});
  b.tensor("b", type(DType::Int8, {4}), Space::Dram, Role::Output, data);
  EXPECT_THAT(errors(),
              ElementsAre("const tensor $a has no init", "tensor $b has an init but is no const"));
}

TEST_F(TensorTest, InitsHaveTheSizeOfTheTensor) {
  constant(DType::Int16, InitForm::Splat, {1, 2});
  constant(DType::Int16, InitForm::Dense, {1, 2, 3, 4});
  constant(DType::Int16, InitForm::Splat, {1, 2, 3, 4});
  constant(DType::Int16, InitForm::Dense, {1, 2});
  constant(DType::Int16, InitForm::Hex, {1, 2, 3});
  EXPECT_THAT(errors(), ElementsAre("splat of $k2 has 2 elements, expected 1 for int16[2]",
                                    "dense of $k3 has 1 elements, expected 2 for int16[2]",
                                    "hex of $k4 has 3 bytes, expected 4 for int16[2]"));
}

TEST_F(TensorTest, InitsHoldWhatTheirFormCanSay) {
  constant(DType::Float8E5, InitForm::Hex, {0x7c, 0x7c});
  constant(DType::Float8E5, InitForm::Dense, {0x3c, 0x7c});
  constant(DType::Float8E4m3fnX4, InitForm::Hex, std::vector<std::uint8_t>(8));
  constant(DType::Float8E4m3fnX4, InitForm::Splat, std::vector<std::uint8_t>(4));
  EXPECT_THAT(errors(),
              ElementsAre("dense of $k1 holds the float8e5 code 0x7c, which no number gives, "
                          "expected hex",
                          "tensor $k3 of float8_e4m3fn_x4 is initialised by splat, expected hex: a "
                          "container has no number"));
}

TEST_F(TensorTest, RetypedConstWithoutItsData) {
  constant(DType::Int16, InitForm::Dense, {1, 2, 3, 4});
  f->first_tensor()->retype(type(DType::Int32, {2}));
  EXPECT_THAT(errors(), ElementsAre("dense of $k0 has 1 elements, expected 2 for int32[2]"));
}

} // namespace
} // namespace nir
