// The rules of statements and of the legal form, each broken once.

#include "ir/verify/verifier.h"

#include <bit>

#include "tests/unit/support/ir_fixture.h"

namespace nir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class StatementTest : public IrTest {
protected:
  void set_target(std::string_view name) { module.set_target(*find_target(name)); }
  Operand box(Tensor *t, std::int64_t start, std::int64_t size, std::int64_t stride = 1) {
    return b.access(t, {AccessDim{{}, start, size, stride}});
  }
  const Type *f32(std::initializer_list<std::int64_t> shape) { return type(DType::Float32, shape); }
  Immediate *one() { return number(DType::Float32, std::bit_cast<std::uint32_t>(1.0f)); }

  Instruction *x = value(DType::Float32, {128, 512}, "x");
};

// Form

TEST_F(StatementTest, WellFormedStatements) {
  Instruction *column = value(DType::Float32, {128, 1}, "c");
  Instruction *scalar = value(DType::Float32, {}, "s");
  Tensor *psum = tensor("p", DType::Float32, {512, 512}, Space::Psum);
  make(Opcode::Activation, {{x}, {column}}, f32({128, 512}));
  make(Opcode::TensorScalar, {{x}, {scalar}, {one()}}, f32({128, 512}));
  make(Opcode::TensorReduce, {{x}}, f32({128, 1}), {.attrs = attrs({ints(AttrKey::Axes, {1})})});
  make(Opcode::Transpose, {{x}}, f32({512, 128}), {.attrs = attrs({ints(AttrKey::Perm, {1, 0})})});
  make(Opcode::Reshape, {{x}}, f32({64, 1024}));
  make(Opcode::Broadcast, {{column}}, f32({128, 4, 7}),
       {.attrs = attrs({ints(AttrKey::Dims, {0, 2})})});
  make(Opcode::Slice, {{x}}, f32({1, 256}),
       {.attrs = attrs({ints(AttrKey::Start, {127, 1}), ints(AttrKey::Size, {1, 256}),
                        ints(AttrKey::Stride, {1, 2})})});
  make(Opcode::Concat, {{x}, {x}}, f32({256, 512}));
  make(Opcode::Matmul, {{x}, {x}}, nullptr, {.dst = {psum}, .flags = inst_flag::Accumulate});
  make(Opcode::Iota, {}, type(DType::Int32, {4}));
  make(Opcode::Memset, {{one()}}, f32({}));
  EXPECT_THAT(errors(VerifyLevel::Legal), IsEmpty());
}

TEST_F(StatementTest, OperandCount) {
  make(Opcode::TensorTensor, {{x}, {x}, {x}}, f32({128, 512}));
  make(Opcode::TensorScalar, {{x}}, f32({128, 512}));
  make(Opcode::Concat, {{x}}, f32({128, 512}), {.attrs = nullptr});
  EXPECT_THAT(errors(), ElementsAre("tensor_tensor takes 2 operands, found 3",
                                    "tensor_scalar takes 2 or 3 operands, found 1",
                                    "concat takes at least 2 operands, found 1"));
}

TEST_F(StatementTest, ResultForm) {
  Tensor *t = tensor("t", DType::Float32, {128, 512});
  make(Opcode::TensorCopy, {{x}});
  make(Opcode::Load, {{t}}, nullptr, {.dst = {t}});
  make(Opcode::Store, {{x}}, f32({128, 512}));
  make(Opcode::TensorCopy, {{x}}, f32({128, 512}), {.dst = {t}});
  EXPECT_THAT(
      errors(),
      ElementsAre("tensor_copy defines a value or writes a tensor through '->', found neither",
                  "load defines a value, found a write through '->'",
                  "store writes a tensor through '->', found a value",
                  "tensor_copy defines a value and writes a tensor, expected one of the "
                  "two"));
}

TEST_F(StatementTest, OperandKinds) {
  Tensor *t = tensor("t", DType::Float32, {128, 512});
  Loop *loop = b.loop("i", 0, 2);
  make(Opcode::TensorCopy, {{one()}}, f32({}));
  make(Opcode::Memset, {{x}}, f32({}));
  make(Opcode::Load, {{x}}, f32({128, 512}));
  make(Opcode::OffloadedMemcpy, {{x}}, nullptr, {.dst = {t}});
  make(Opcode::TensorScalar, {{one()}, {x}}, f32({}));
  make(Opcode::TensorCopy, {{nullptr}}, f32({}));
  make(Opcode::TensorCopy, {{x}}, nullptr, {.dst = {x}});
  Instruction *store = b.store(x, {t});
  make(Opcode::TensorCopy, {{store}}, f32({}));
  EXPECT_THAT(errors(),
              ElementsAre("operand 1 of tensor_copy must be a value or a tensor, found a number",
                          "operand 1 of memset must be a number, found a value",
                          "operand 1 of load must be a tensor, found a value",
                          "operand 1 of offloaded_memcpy must be a tensor, found a value",
                          "operand 1 of tensor_scalar must be a value or a tensor, found a number",
                          "operand 1 of tensor_copy must be a value or a tensor, found nothing",
                          "the destination of tensor_copy must be a tensor, found a value",
                          "operand 1 of tensor_copy must be a value or a tensor, found an "
                          "instruction that defines no value"));
  make(Opcode::TensorCopy, {{loop}}, f32({}));
  EXPECT_FALSE(errors().empty());
}

TEST_F(StatementTest, UnknownOperator) {
  make(Opcode::TensorTensor, {{x}, {x}}, f32({128, 512}), {.op0 = AluOp{200}});
  EXPECT_THAT(errors(), ElementsAre(HasSubstr("unknown function or operator (number 200)")));
}

TEST_F(StatementTest, CallsAndOpaquesNeedTheirNames) {
  make(Opcode::Call, {});
  make(Opcode::Opaque, {});
  EXPECT_THAT(errors(), ElementsAre("call names no function", "opaque has no name"));
}

// Attributes

TEST_F(StatementTest, MissingAttribute) {
  make(Opcode::TensorReduce, {{x}}, f32({128, 1}));
  make(Opcode::Slice, {{x}}, f32({128, 1}), {.attrs = attrs({ints(AttrKey::Start, {0, 0})})});
  EXPECT_THAT(errors(), ElementsAre("tensor_reduce needs the attribute 'axes'",
                                    "slice needs the attribute 'size'"));
}

TEST_F(StatementTest, UnknownAttribute) {
  make(Opcode::TensorCopy, {{x}}, f32({128, 512}), {.attrs = attrs({ints(AttrKey::Axes, {1})})});
  make(Opcode::TensorCopy, {{x}}, f32({128, 512}), {.flags = inst_flag::Accumulate});
  make(Opcode::TensorCopy, {{x}}, f32({128, 512}),
       {.attrs = attrs({{AttrKey::Custom, module.intern("q"), AttrValue::of_int(1)}})});
  EXPECT_THAT(
      errors(),
      ElementsAre(
          "tensor_copy has no attribute 'axes', it takes exact_ints, fixed, autocast, loc",
          "tensor_copy has no attribute 'accumulate', it takes exact_ints, fixed, autocast, loc",
          "tensor_copy has no attribute 'q', it takes exact_ints, fixed, autocast, loc"));
}

TEST_F(StatementTest, AttributeKindAndRepetition) {
  make(Opcode::TensorReduce, {{x}}, f32({128, 1}),
       {.attrs = attrs({attr(AttrKey::Axes, AttrValue::of_int(1))})});
  make(Opcode::TensorReduce, {{x}}, f32({128, 1}),
       {.attrs = attrs({ints(AttrKey::Axes, {1}), ints(AttrKey::Axes, {1})})});
  EXPECT_THAT(errors(), ElementsAre("attribute 'axes' must be a list of integers, found an integer",
                                    "attribute 'axes' is given twice"));
}

TEST_F(StatementTest, OpaqueAttributes) {
  const auto opaque = [&](std::string_view key, AttrValue value) {
    make(Opcode::Opaque, {}, nullptr,
         {.attrs = attrs({attr(AttrKey::OpaqueName, AttrValue::of_string("g")),
                          {AttrKey::Custom, module.intern(key), value}})});
  };
  std::vector<AttrValue> nest(20);
  for (std::size_t i = 1; i < nest.size(); ++i)
    nest[i] = AttrValue::of_list({&nest[i - 1], 1});
  opaque("ok", nest[16]);
  opaque("deep", nest[17]);
  opaque("a b", AttrValue::of_int(1));
  opaque("7", AttrValue::of_int(1));
  opaque("a.b", AttrValue::of_int(1));
  opaque("fixed", AttrValue::of_bool(true));
  opaque("f32", AttrValue::of_float32(0));
  EXPECT_THAT(errors(),
              ElementsAre("attribute 'deep' nests lists more than 16 deep",
                          "attribute name 'a b' is no word", "attribute name '7' is no word",
                          "attribute name 'a.b' is no word",
                          "'fixed' is a mark, not an attribute of its own",
                          "attribute 'f32' holds a number, which has no text"));
}

TEST_F(StatementTest, AccumulateNeedsADestination) {
  make(Opcode::Matmul, {{x}, {x}}, f32({512, 512}), {.flags = inst_flag::Accumulate});
  EXPECT_THAT(errors(), ElementsAre("accumulate needs a tensor to add to: expected '->', found a "
                                    "value"));
}

// Accesses and places

TEST_F(StatementTest, BoundsOfConstantAccesses) {
  Tensor *t = tensor("t", DType::Float32, {10});
  b.load(box(t, 0, 10), DType::Float32);
  b.load(box(t, 1, 5, 2), DType::Float32);
  b.load(box(t, 5, 6), DType::Float32);
  b.load(box(t, -1, 2), DType::Float32);
  b.load(box(t, 2, 5, 2), DType::Float32);
  b.load(box(t, 1, 2, std::numeric_limits<std::int64_t>::max()), DType::Float32);
  EXPECT_THAT(
      errors(),
      ElementsAre("dimension 0 of $t is accessed up to index 10, expected below its size 10",
                  "dimension 0 of $t is accessed from index -1, expected at least 0",
                  "dimension 0 of $t is accessed up to index 10, expected below its size 10",
                  "the index in dimension 0 of $t does not fit in 64 bits"));
}

TEST_F(StatementTest, BoundsOfAffineAccessesAtEveryTrip) {
  Tensor *t = tensor("t", DType::Float32, {100});
  Loop *i = b.loop("i", 0, 10, 3); // 0, 3, 6, 9
  b.insert_at_end(i->body());
  const auto load = [&](std::int64_t factor, std::int64_t constant, std::int64_t size) {
    b.load(b.access(t, {AccessDim{b.terms({{i, factor}}), constant, size, 1}}), DType::Float32);
  };
  load(10, 0, 10);  // up to 99
  load(10, 0, 11);  // up to 100
  load(-10, 90, 1); // down to 0
  load(-10, 89, 1); // down to -1
  load(std::numeric_limits<std::int64_t>::max(), 0, 1);
  EXPECT_THAT(errors(), ElementsAre(HasSubstr("up to index 100 at some trip of its loops"),
                                    HasSubstr("from index -1 at some trip of its loops"),
                                    HasSubstr("does not fit in 64 bits")));
}

TEST_F(StatementTest, SubscriptsMatchTheRank) {
  Tensor *t = tensor("t", DType::Float32, {10, 10});
  const AccessDim dim{{}, 0, 5, 1};
  const Operand access{t, Access::create(module.arena(), f32({5}), {&dim, 1}, false, false)};
  b.load(access, DType::Float32);
  EXPECT_THAT(errors(), ElementsAre("access to $t has 1 subscript, expected 2: it is "
                                    "float32[10, 10]"));
}

TEST_F(StatementTest, ViewsKeepTheItemSize) {
  Tensor *t = tensor("t", DType::Float32, {10});
  b.load(b.view(t, DType::Int32), DType::Int32);
  b.load(b.view(t, DType::Bfloat16), DType::Bfloat16);
  EXPECT_THAT(errors(), ElementsAre("$t cannot be read as bfloat16: its items have 2 bytes, "
                                    "expected 4 as in float32"));
}

TEST_F(StatementTest, EnginesDoNotReachDram) {
  Tensor *t = tensor("t", DType::Float32, {128, 512}, Space::Dram);
  make(Opcode::TensorCopy, {{t}}, f32({128, 512}));
  make(Opcode::Reshape, {{x}}, nullptr, {.dst = {t}});
  make(Opcode::Iota, {}, nullptr, {.dst = {t}});
  b.load(t);
  EXPECT_THAT(errors(), ElementsAre("tensor_copy addresses sbuf and psum, found $t in dram",
                                    "reshape addresses sbuf and psum, found $t in dram",
                                    "iota addresses sbuf and psum, found $t in dram"));
}

TEST_F(StatementTest, OffloadedOpsTakeWholeTensors) {
  Tensor *t = tensor("t", DType::Float32, {10});
  Tensor *u = tensor("u", DType::Float32, {5});
  make(Opcode::OffloadedSlice, {box(t, 5, 5)}, nullptr, {.dst = {u}});
  make(Opcode::OffloadedMemcpy, {box(t, 5, 5)}, nullptr, {.dst = {u}});
  make(Opcode::OffloadedSlice, {{u}}, nullptr, {.dst = box(t, 5, 5)});
  EXPECT_THAT(errors(), ElementsAre("offloaded_memcpy takes whole tensors, found a part of $t",
                                    "offloaded_slice takes whole tensors, found a part of $t"));
}

TEST_F(StatementTest, InputsAndConstsAreNeverWritten) {
  Tensor *in = tensor("in", DType::Float32, {128, 512}, Space::Sbuf, Role::Input);
  ConstData *data = module.add_const_data({InitForm::Splat, {0, 0, 0, 0}});
  Tensor *k = b.tensor("k", f32({128, 512}), Space::Dram, Role::Const, data);
  b.tensor_copy_to({x}, {in});
  b.store(x, {k});
  make(Opcode::Opaque, {{in}, {k}}, nullptr,
       {.attrs = attrs({attr(AttrKey::OpaqueName, AttrValue::of_string("g"))})});
  EXPECT_THAT(errors(),
              ElementsAre("input tensor $in is never written", "const tensor $k is never written"));
}

TEST_F(StatementTest, MatmulWritesFloat32IntoPsum) {
  Tensor *sbuf = tensor("s", DType::Float32, {512, 512});
  Tensor *dram = tensor("d", DType::Float32, {512, 512}, Space::Dram);
  make(Opcode::Matmul, {{x}, {x}}, nullptr, {.dst = {sbuf}});
  make(Opcode::Matmul, {{x}, {x}}, nullptr, {.dst = {dram}});
  make(Opcode::Matmul, {{x}, {x}}, type(DType::Bfloat16, {512, 512}));
  EXPECT_THAT(errors(), ElementsAre("matmul writes psum, found $s in sbuf",
                                    "matmul writes psum, found $d in dram",
                                    "matmul writes float32, found bfloat16"));
}

// DTypes

TEST_F(StatementTest, MoversKeepTheDType) {
  make(Opcode::Reshape, {{x}}, type(DType::Bfloat16, {512, 128}));
  make(Opcode::Concat, {{x}, {value(DType::Float16, {128, 512}, "h")}}, f32({256, 512}));
  EXPECT_THAT(errors(), ElementsAre("reshape keeps the dtype float32 of %x, found bfloat16",
                                    "concat keeps the dtype float16 of %h, found float32"));
}

TEST_F(StatementTest, DmaCastsOnlyWhereTheTargetCan) {
  Tensor *t = tensor("t", DType::Float32, {128, 512}, Space::Dram);
  b.load({t}, DType::Bfloat16);
  EXPECT_THAT(errors(), IsEmpty());
  set_target("trn1");
  EXPECT_THAT(errors(), ElementsAre("load from float32 to bfloat16 changes the dtype, which DMA "
                                    "cannot on target trn1"));
}

TEST_F(StatementTest, MemcastChangesTheDType) {
  Tensor *t = tensor("t", DType::Float32, {8});
  make(Opcode::OffloadedMemcast, {{t}}, nullptr, {.dst = {t}});
  EXPECT_THAT(errors(),
              ElementsAre("offloaded_memcast changes the dtype, found float32 on both sides"));
}

TEST_F(StatementTest, BitcastKeepsTheBytes) {
  Tensor *t = tensor("t", DType::Float32, {8});
  Tensor *u = tensor("u", DType::Uint16, {4, 4});
  Tensor *v = tensor("v", DType::Uint16, {8});
  make(Opcode::OffloadedBitcast, {{t}}, nullptr, {.dst = {u}});
  make(Opcode::OffloadedBitcast, {{t}}, nullptr, {.dst = {v}});
  EXPECT_THAT(errors(), ElementsAre("offloaded_bitcast keeps the bytes, found 32 of them and 16"));
}

TEST_F(StatementTest, ExactIntsIsForIntegers) {
  Instruction *i = value(DType::Int32, {4}, "i");
  make(Opcode::TensorCopy, {{i}}, type(DType::Int8, {4}), {.flags = inst_flag::ExactInts});
  make(Opcode::TensorCopy, {{i}}, f32({4}), {.flags = inst_flag::ExactInts});
  EXPECT_THAT(errors(), ElementsAre("exact_ints is for copies between integer dtypes, found int32 "
                                    "to float32"));
}

TEST_F(StatementTest, BitwiseOperatorsTakeIntegers) {
  Instruction *i = value(DType::Int32, {128, 512}, "i");
  Instruction *u = value(DType::Uint64, {128, 512}, "u");
  make(Opcode::TensorTensor, {{i}, {i}}, f32({128, 512}), {.op0 = AluOp::BitwiseAnd});
  make(Opcode::TensorTensor, {{i}, {x}}, f32({128, 512}), {.op0 = AluOp::BitwiseOr});
  make(Opcode::TensorTensor, {{i}, {u}}, f32({128, 512}), {.op0 = AluOp::BitwiseXor});
  make(Opcode::TensorScalar, {{x}, {one()}}, f32({128, 512}), {.op0 = AluOp::LogicalShiftLeft});
  make(Opcode::TensorReduce, {{x}}, f32({128, 1}),
       {.attrs = attrs({ints(AttrKey::Axes, {1})}), .op0 = AluOp::BitwiseOr});
  EXPECT_THAT(errors(),
              ElementsAre("bitwise_or takes integers, found %x of dtype float32",
                          "bitwise_xor takes integers, but int32 and uint64 meet in float32",
                          "logical_shift_left takes integers, found %x of dtype float32",
                          "bitwise_or takes integers, found %x of dtype float32"));
}

TEST_F(StatementTest, ReduceOperators) {
  make(Opcode::TensorReduce, {{x}}, f32({128, 1}),
       {.attrs = attrs({ints(AttrKey::Axes, {1})}), .op0 = AluOp::Subtract});
  EXPECT_THAT(errors(), ElementsAre(StartsWith("tensor_reduce cannot reduce with 'subtract'")));
}

TEST_F(StatementTest, SelectsPredicateIsUint8) {
  Instruction *p = value(DType::Uint8, {128, 512}, "p");
  make(Opcode::Select, {{p}, {x}, {x}}, f32({128, 512}));
  make(Opcode::Select, {{x}, {x}, {x}}, f32({128, 512}));
  EXPECT_THAT(errors(), ElementsAre("the predicate of select must be uint8, found float32"));
}

TEST_F(StatementTest, NumbersHaveTheDTypeOfTheirPlace) {
  Instruction *i = value(DType::Int16, {4}, "i");
  make(Opcode::Memset, {{number(DType::Float16, 0)}}, type(DType::Bfloat16, {4}));
  make(Opcode::TensorScalar, {{i}, {one()}}, type(DType::Int16, {4}));
  make(Opcode::TensorScalar, {{x}, {number(DType::Int32, 1)}}, f32({128, 512}));
  make(Opcode::TensorScalar, {{i}, {number(DType::Int16, 1)}}, type(DType::Int16, {4}));
  make(Opcode::Memset, {{number(DType::Float8E5, 0x7c)}}, type(DType::Float8E5, {4}));
  EXPECT_THAT(errors(), ElementsAre("the number of memset must be bfloat16, found float16",
                                    "the number of tensor_scalar must be int16, found float32",
                                    "the number of tensor_scalar must be float32, found int32",
                                    "no number is the float8e5 with the bits 0x7c"));
}

TEST_F(StatementTest, X4ContainersAreOnlyMoved) {
  const DType x4 = DType::Float8E4m3fnX4;
  Instruction *c = value(x4, {32, 8}, "c");
  Tensor *t = tensor("t", x4, {32, 8}, Space::Dram);
  Tensor *u = tensor("u", DType::Float32, {32, 8}, Space::Dram);
  make(Opcode::Reshape, {{c}}, type(x4, {8, 32}));
  b.store(c, {t});
  make(Opcode::OffloadedMemcpy, {{t}}, nullptr, {.dst = {t}});
  make(Opcode::OffloadedBitcast, {{t}}, nullptr, {.dst = {u}});
  EXPECT_THAT(errors(), IsEmpty());
  make(Opcode::TensorCopy, {{c}}, f32({32, 8}));
  make(Opcode::TensorCopy, {{x}}, type(x4, {128, 512}));
  make(Opcode::OffloadedMemcast, {{t}}, nullptr, {.dst = {u}});
  b.load({t}, DType::Float32);
  make(Opcode::TensorTensor, {{c}, {c}}, type(x4, {32, 8}));
  EXPECT_THAT(
      errors(),
      ElementsAre("tensor_copy cannot take float8_e4m3fn_x4: x4 containers are only moved",
                  "tensor_copy cannot write float8_e4m3fn_x4: x4 containers are only moved",
                  "offloaded_memcast cannot take float8_e4m3fn_x4: x4 containers are only moved",
                  "load cannot cast float8_e4m3fn_x4 to float32, expected the same dtype",
                  "tensor_tensor cannot take float8_e4m3fn_x4: x4 containers are only moved"));
}

TEST_F(StatementTest, X4MatmulNeedsTheTarget) {
  Instruction *c = value(DType::Float8E4m3fnX4, {32, 8}, "c");
  make(Opcode::Matmul, {{c}, {x}}, f32({8, 512}));
  EXPECT_THAT(errors(), ElementsAre("matmul cannot take float8_e4m3fn_x4 on target trn2, which has "
                                    "no x4 matmul"));
  set_target("trn3");
  EXPECT_THAT(errors(VerifyLevel::Legal), IsEmpty());
}

TEST_F(StatementTest, ScalesAreMovedAndCast) {
  const DType scale = DType::Float8E8m0fnu;
  Instruction *s = value(scale, {128, 512}, "s");
  Instruction *p = value(DType::Uint8, {128, 512}, "p");
  make(Opcode::TensorCopy, {{s}}, f32({128, 512}));
  make(Opcode::TensorCopy, {{x}}, type(scale, {128, 512}));
  make(Opcode::TensorTensor, {{s}, {x}}, f32({128, 512}));
  make(Opcode::Select, {{p}, {s}, {x}}, f32({128, 512}));
  EXPECT_THAT(errors(), IsEmpty());
  make(Opcode::TensorTensor, {{x}, {x}}, type(scale, {128, 512}));
  make(Opcode::Activation, {{s}}, f32({128, 512}));
  make(Opcode::Matmul, {{s}, {x}}, f32({512, 512}));
  EXPECT_THAT(errors(), ElementsAre(StartsWith("tensor_tensor cannot write float8_e8m0fnu"),
                                    StartsWith("activation cannot take float8_e8m0fnu"),
                                    StartsWith("matmul cannot take float8_e8m0fnu")));
}

TEST_F(StatementTest, Float4IsNeverStored) {
  value(DType::Float4E2m1fn, {4}, "v");
  tensor("t", DType::Float4E2m1fn, {4});
  Tensor *u = tensor("u", DType::Uint8, {4});
  b.load(b.view(u, DType::Float4E2m1fn), DType::Uint8);
  EXPECT_THAT(errors(), ElementsAre("tensor $t has dtype float4_e2m1fn, which is never stored",
                                    "float4_e2m1fn is never stored, expected another dtype",
                                    "float4_e2m1fn is never stored, expected another dtype"));
}

// Shapes

TEST_F(StatementTest, ElementwiseShapes) {
  Instruction *y = value(DType::Float32, {128, 1}, "y");
  make(Opcode::TensorTensor, {{x}, {y}}, f32({128, 512}));
  make(Opcode::TensorCopy, {{x}}, f32({128, 511}));
  EXPECT_THAT(errors(), ElementsAre("operands of tensor_tensor have the same shape, found "
                                    "[128, 512] and [128, 1]",
                                    "tensor_copy gives the shape [128, 512], found [128, 511]"));
}

TEST_F(StatementTest, ScalarsAndBiases) {
  Instruction *row = value(DType::Float32, {1, 512}, "row");
  Instruction *other = value(DType::Float32, {64, 1}, "o");
  make(Opcode::Activation, {{x}, {row}}, f32({128, 512}));
  make(Opcode::TensorScalar, {{x}, {one()}, {other}}, f32({128, 512}));
  EXPECT_THAT(errors(),
              ElementsAre("the bias of activation has the shape [128, 1, ..., 1] or rank 0, found "
                          "[1, 512]",
                          "the scalar of tensor_scalar has the shape [128, 1, ..., 1] or rank 0, "
                          "found [64, 1]"));
}

TEST_F(StatementTest, DimensionListsAreDistinctAndInRange) {
  const auto reduce = [&](std::initializer_list<std::int64_t> axes) {
    make(Opcode::TensorReduce, {{x}}, f32({128, 1}), {.attrs = attrs({ints(AttrKey::Axes, axes)})});
  };
  reduce({2});
  reduce({-1});
  reduce({1, 1});
  reduce({0});
  EXPECT_THAT(errors(), ElementsAre("axes names dimension 2, expected one below the rank 2",
                                    "axes names dimension -1, expected one below the rank 2",
                                    "axes names dimension 1 a second time",
                                    "tensor_reduce gives the shape [1, 512], found [128, 1]"));
}

TEST_F(StatementTest, TransposeAndReshape) {
  make(Opcode::Transpose, {{x}}, f32({512, 128}), {.attrs = attrs({ints(AttrKey::Perm, {1})})});
  make(Opcode::Transpose, {{x}}, f32({128, 512}), {.attrs = attrs({ints(AttrKey::Perm, {1, 0})})});
  make(Opcode::Reshape, {{x}}, f32({7, 7}));
  EXPECT_THAT(errors(),
              ElementsAre("perm has 1 entries, expected 2: one for each dimension",
                          "transpose gives the shape [512, 128], found [128, 512]",
                          "reshape keeps the number of elements, found [128, 512] with 65536 and "
                          "[7, 7] with 49"));
}

TEST_F(StatementTest, Broadcast) {
  make(Opcode::Broadcast, {{x}}, f32({128, 512, 4}),
       {.attrs = attrs({ints(AttrKey::Dims, {0, 2})})});
  make(Opcode::Broadcast, {{x}}, f32({128, 512}), {.attrs = attrs({ints(AttrKey::Dims, {0, 2})})});
  EXPECT_THAT(errors(), ElementsAre(StartsWith("broadcast cannot make size 4 of size 512"),
                                    "dims names dimension 2, expected one below the rank 2"));
}

TEST_F(StatementTest, Slice) {
  const auto slice = [&](std::int64_t start, std::int64_t size, std::int64_t stride) {
    make(Opcode::Slice, {{x}}, f32({128, size > 0 ? size : 1}),
         {.attrs = attrs({ints(AttrKey::Start, {0, start}), ints(AttrKey::Size, {128, size}),
                          ints(AttrKey::Stride, {1, stride})})});
  };
  slice(0, 256, 2);
  slice(2, 256, 2);
  slice(-1, 2, 1);
  slice(0, 0, 1);
  slice(0, 2, 0);
  slice(1, 3, std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(
      errors(),
      ElementsAre("slice of dimension 1 from 2 with size 256 and stride 2 leaves its size 512",
                  "start of dimension 1 is -1, expected at least 0",
                  "size of dimension 1 is 0, expected at least 1",
                  "stride of dimension 1 is 0, expected at least 1",
                  HasSubstr("leaves its size 512")));
}

TEST_F(StatementTest, Concat) {
  Instruction *y = value(DType::Float32, {64, 511}, "y");
  make(Opcode::Concat, {{x}, {y}}, f32({192, 512}));
  make(Opcode::Concat, {{x}, {x}}, f32({128, 1024}),
       {.attrs = attrs({attr(AttrKey::Dim, AttrValue::of_int(2))})});
  make(Opcode::Concat, {{x}, {x}}, f32({128, 1024}));
  EXPECT_THAT(errors(), ElementsAre("operands of concat differ in dimension 0 only, found "
                                    "[128, 512] and [64, 511]",
                                    "dim is 2, expected one below the rank 2",
                                    "concat gives the shape [256, 512], found [128, 1024]"));
}

TEST_F(StatementTest, Matmul) {
  Instruction *y = value(DType::Float32, {64, 4}, "y");
  Instruction *lhs = value(DType::Float32, {3, 128, 5}, "l");
  Instruction *rhs = value(DType::Float32, {3, 7, 128}, "r");
  const auto lists =
      [&](std::initializer_list<std::int64_t> lc, std::initializer_list<std::int64_t> rc,
          std::initializer_list<std::int64_t> lb, std::initializer_list<std::int64_t> rb) {
        return attrs({ints(AttrKey::LhsContract, lc), ints(AttrKey::RhsContract, rc),
                      ints(AttrKey::LhsBatch, lb), ints(AttrKey::RhsBatch, rb)});
      };
  make(Opcode::Matmul, {{lhs}, {rhs}}, f32({3, 5, 7}), {.attrs = lists({1}, {2}, {0}, {0})});
  EXPECT_THAT(errors(), IsEmpty());
  make(Opcode::Matmul, {{x}, {y}}, f32({512, 4}));
  make(Opcode::Matmul, {{lhs}, {rhs}}, f32({3, 5, 7}), {.attrs = lists({1}, {2, 1}, {0}, {0})});
  make(Opcode::Matmul, {{lhs}, {rhs}}, f32({3, 5, 7}), {.attrs = lists({1}, {2}, {1}, {0})});
  make(Opcode::Matmul, {{lhs}, {rhs}}, f32({5, 7}), {.attrs = lists({1}, {2}, {0}, {0})});
  EXPECT_THAT(errors(),
              ElementsAre("dimension 0 of float32[128, 512] meets dimension 0 of float32[64, 4], "
                          "expected equal sizes",
                          "lhs_contract has 1 entries and rhs_contract has 2, expected as many",
                          "lhs_batch names dimension 1 a second time",
                          "matmul gives the shape [3, 5, 7], found [5, 7]"));
}

TEST_F(StatementTest, IotaHasARank) {
  make(Opcode::Iota, {}, f32({}));
  EXPECT_THAT(errors(), ElementsAre("iota has a rank of at least 1, found rank 0"));
}

TEST_F(StatementTest, OneBrokenRuleIsOneError) {
  make(Opcode::TensorTensor, {{x}}, type(DType::Float4E2m1fn, {1}), {.op0 = AluOp::BitwiseAnd});
  EXPECT_EQ(errors().size(), 1u);
}

TEST_F(StatementTest, ErrorsStandWhereTheStatementDoes) {
  b.set_source(17);
  make(Opcode::TensorCopy, {{x}}, f32({1}));
  DiagnosticEngine diagnostics;
  EXPECT_FALSE(verify(module, VerifyLevel::Structure, diagnostics));
  EXPECT_EQ(diagnostics.diagnostics()[0].range.begin, 17u);
  EXPECT_EQ(diagnostics.diagnostics()[0].range.end, 18u);
}

// Legal form

using LegalTest = StatementTest;

TEST_F(LegalTest, OperandsAgree) {
  Instruction *y = value(DType::Bfloat16, {128, 512}, "y");
  Instruction *p = value(DType::Uint8, {128, 512}, "p");
  make(Opcode::TensorTensor, {{x}, {y}}, f32({128, 512}));
  make(Opcode::Select, {{p}, {y}, {x}}, f32({128, 512}));
  EXPECT_THAT(errors(), IsEmpty());
  EXPECT_THAT(errors(VerifyLevel::Legal),
              ElementsAre("tensor_tensor of float32 and bfloat16, expected the same dtype",
                          "select of bfloat16 and float32, expected the same dtype"));
}

TEST_F(LegalTest, NoScalesInArithmetic) {
  Instruction *s = value(DType::Float8E8m0fnu, {128, 512}, "s");
  make(Opcode::TensorTensor, {{s}, {s}}, f32({128, 512}));
  EXPECT_THAT(errors(VerifyLevel::Legal),
              ElementsAre("tensor_tensor of float8_e8m0fnu, expected a dtype that computes"));
}

TEST_F(LegalTest, NoFloat64) {
  Tensor *t = tensor("t", DType::Float64, {4});
  b.load(t);
  EXPECT_THAT(errors(), IsEmpty());
  EXPECT_THAT(errors(VerifyLevel::Legal),
              ElementsAre("tensor $t has dtype float64, expected what the target stores",
                          "float64 is left, expected what the target stores"));
}

TEST_F(LegalTest, MatmulMultipliesWhatTheTargetCan) {
  Instruction *i = value(DType::Int32, {128, 4}, "i");
  make(Opcode::Matmul, {{i}, {x}}, f32({4, 512}));
  EXPECT_THAT(errors(), IsEmpty());
  EXPECT_THAT(errors(VerifyLevel::Legal), ElementsAre("target trn2 does not multiply int32"));
}

} // namespace
} // namespace nir
