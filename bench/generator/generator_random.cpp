// Random functions: which statement comes next. Every choice is well-formed by construction, and
// legalize-dtype finds a legal form of all of it, which is where it began if that was asked for.

#include <algorithm>
#include <bit>

#include "bench/generator/generator_mix.h"
#include "ir/numeric/promotion.h"

namespace nir {
namespace {

constexpr std::uint64_t max_call_cost = 4096;
constexpr std::size_t max_callees = 8; // of the functions made last

constexpr Kind computing_kinds[] = {Kind::Matrix, Kind::Matrix,  Kind::Matrix, Kind::Column,
                                    Kind::Wide,   Kind::Flipped, Kind::Square, Kind::Cube};

std::uint8_t code(ActivationFn fn) { return static_cast<std::uint8_t>(fn); }
std::uint8_t code(AluOp op) { return static_cast<std::uint8_t>(op); }

} // namespace

// A statement that may come next, and how often it does.
struct RandomFunction::Step {
  void (RandomFunction::*add)();
  unsigned weight;
};

const RandomFunction::Step RandomFunction::steps[] = {
    {&RandomFunction::add_load, 10},        {&RandomFunction::add_generator, 3},
    {&RandomFunction::add_activation, 12},  {&RandomFunction::add_scalar, 12},
    {&RandomFunction::add_copy, 18},        {&RandomFunction::add_binary, 12},
    {&RandomFunction::add_select, 4},       {&RandomFunction::add_reduce, 4},
    {&RandomFunction::add_transpose, 4},    {&RandomFunction::add_reshape, 2},
    {&RandomFunction::add_broadcast, 2},    {&RandomFunction::add_slice, 2},
    {&RandomFunction::add_concat, 2},       {&RandomFunction::add_matmul, 3},
    {&RandomFunction::add_batch_matmul, 1}, {&RandomFunction::add_store, 8},
    {&RandomFunction::add_offloaded, 4},    {&RandomFunction::add_memcast, 4},
    {&RandomFunction::add_call, 1},         {&RandomFunction::add_opaque, 2},
    {&RandomFunction::add_packed, 1},       {&RandomFunction::add_scale, 1},
    {&RandomFunction::open_loop, 5},        {&RandomFunction::close_loop, 6},
};

void RandomFunction::step() {
  unsigned total = 0;
  for (const Step &step : steps)
    total += step.weight;
  std::uint64_t chosen = random_.below(total);
  for (const Step &step : steps) {
    if (chosen < step.weight)
      return (this->*step.add)();
    chosen -= step.weight;
  }
}

void RandomFunction::add_load() {
  const TensorPlace &place = random_.pick_from(tensors_);
  const Operand from = access(place, true);
  const bool casts = e_.module().target().dma_cast && random_.one_in(4);
  const DType dtype = casts ? random_dtype() : dtype_of(from);
  keep(define({.opcode = Opcode::Load, .operands = {&from, 1}}, type_of(place.kind, dtype)),
       place.kind);
}

void RandomFunction::add_store() {
  const TensorPlace &place = random_.pick_from(tensors_);
  const Role role = place.tensor->role();
  if (role == Role::Input || role == Role::Const)
    return;
  Operand to = access(place, true);
  const bool casts = e_.module().target().dma_cast && random_.one_in(4);
  Value *from = casts ? value(place.kind) : value_of(place.kind, dtype_of(to));
  const Operand src{from, nullptr};
  InstructionDesc desc{.opcode = Opcode::Store, .operands = {&src, 1}, .dst = to};
  finish(desc);
  e_.add(e_.builder().create(desc));
}

void RandomFunction::add_generator() {
  const Kind kind = random_.pick_from(computing_kinds);
  if (random_.one_in(2)) {
    fresh(kind, random_dtype());
    return;
  }
  const auto rank = static_cast<std::int64_t>(shape_of(kind).size());
  attribute(AttrKey::Dim, AttrValue::of_int(random_.between(0, rank - 1)));
  deliver({.opcode = Opcode::Iota}, kind, random_dtype());
}

void RandomFunction::add_activation() {
  const Kind kind = random_.pick_from(computing_kinds);
  std::vector<Operand> operands{operand(kind)};
  const bool is_tall = kind != Kind::Flipped && kind != Kind::Square && kind != Kind::Cube;
  if (random_.one_in(4))
    operands.push_back(is_tall && random_.one_in(2) ? operand(Kind::Column)
                                                    : Operand{value(Kind::Scalar), nullptr});
  if (random_.one_in(3)) {
    const float scale = static_cast<float>(random_.between(-8, 8)) / 4;
    attribute(AttrKey::Scale, AttrValue::of_float32(std::bit_cast<std::uint32_t>(scale)));
  }
  const auto fn = static_cast<ActivationFn>(random_.below(all_activation_fns().size()));
  deliver({.opcode = Opcode::Activation, .fn = code(fn), .operands = operands}, kind,
          random_dtype());
}

AluOp RandomFunction::random_op(bool integers) {
  while (true) {
    const auto op = static_cast<AluOp>(random_.below(all_alu_ops().size()));
    if (integers || !is_integer_only(op))
      return op;
  }
}

// A number in the dtype that the language gives it, or one for each row.
Operand RandomFunction::scalar_operand(DType src) {
  const DType dtype = is_int_type(src) ? src : DType::Float32;
  return {e_.module().immediate(dtype, random_code(dtype)), nullptr};
}

void RandomFunction::add_scalar() {
  const Kind kind = random_.pick({Kind::Matrix, Kind::Matrix, Kind::Column, Kind::Wide});
  std::vector<Operand> operands{operand(kind)};
  const DType src = dtype_of(operands[0]);
  bool integers = is_int_type(src);
  for (std::int64_t i = random_.one_in(3) ? 2 : 1; i > 0; --i) {
    operands.push_back(random_.one_in(3) ? operand(Kind::Column) : scalar_operand(src));
    integers = integers && is_int_type(dtype_of(operands.back()));
  }
  const AluOp first = random_op(integers);
  const AluOp second = operands.size() > 2 ? random_op(integers) : AluOp{};
  std::uint16_t flags = random_.one_in(4) ? inst_flag::Reverse0 : std::uint16_t{0};
  if (operands.size() > 2 && random_.one_in(4))
    flags |= inst_flag::Reverse1;
  deliver({.opcode = Opcode::TensorScalar,
           .op0 = code(first),
           .op1 = code(second),
           .operands = operands,
           .flags = flags},
          kind, random_dtype());
}

void RandomFunction::add_copy() {
  const Kind kind = random_.pick_from(computing_kinds);
  const Operand src = operand(kind);
  const DType dtype = random_dtype();
  const bool exact = is_int_type(dtype_of(src)) && is_int_type(dtype) && random_.one_in(2);
  deliver({.opcode = Opcode::TensorCopy,
           .operands = {&src, 1},
           .flags = exact ? inst_flag::ExactInts : std::uint16_t{0}},
          kind, dtype);
}

// Now and then two dtypes differ, where they can be promoted.
void RandomFunction::match_dtypes(Operand &a, Operand &b, Kind kind) {
  const bool may_differ =
      !e_.legal() && random_.one_in(3) && promote_type(dtype_of(a), dtype_of(b)).has_value();
  if (!may_differ && dtype_of(a) != dtype_of(b))
    b = operand_of(kind, dtype_of(a));
}

void RandomFunction::add_binary() {
  const Kind kind = random_.pick_from(computing_kinds);
  Operand operands[] = {operand(kind), operand(kind)};
  match_dtypes(operands[0], operands[1], kind);
  const bool integers =
      is_int_type(dtype_of(operands[0])) && dtype_of(operands[0]) == dtype_of(operands[1]);
  const AluOp op = random_op(integers);
  const bool compares = op >= AluOp::IsEqual && op <= AluOp::LogicalXor;
  deliver({.opcode = Opcode::TensorTensor, .op0 = code(op), .operands = operands}, kind,
          compares && random_.one_in(2) ? DType::Uint8 : random_dtype());
}

void RandomFunction::add_select() {
  const Kind kind = random_.pick_from(computing_kinds);
  Operand operands[] = {operand_of(kind, DType::Uint8), operand(kind), operand(kind)};
  match_dtypes(operands[1], operands[2], kind);
  deliver({.opcode = Opcode::Select, .operands = operands}, kind, random_dtype());
}

void RandomFunction::add_reduce() {
  const Operand src = operand(random_.pick({Kind::Matrix, Kind::Wide}));
  const bool integers = is_int_type(dtype_of(src));
  AluOp op = random_op(integers);
  while (!may_reduce(op))
    op = random_op(integers);
  list_attribute(AttrKey::Axes, {1});
  deliver({.opcode = Opcode::TensorReduce, .op0 = code(op), .operands = {&src, 1}}, Kind::Column,
          random_dtype());
}

void RandomFunction::add_transpose() {
  const bool back = random_.one_in(2);
  const Operand src = operand(back ? Kind::Flipped : Kind::Matrix);
  list_attribute(AttrKey::Perm, {1, 0});
  deliver({.opcode = Opcode::Transpose, .operands = {&src, 1}}, back ? Kind::Matrix : Kind::Flipped,
          random_dtype());
}

void RandomFunction::add_reshape() {
  const bool back = random_.one_in(2);
  const Operand src = operand(back ? Kind::Cube : Kind::Wide);
  deliver({.opcode = Opcode::Reshape, .operands = {&src, 1}}, back ? Kind::Wide : Kind::Cube,
          dtype_of(src));
}

void RandomFunction::add_broadcast() {
  const bool to_cube = random_.one_in(3);
  const Operand src = operand(to_cube ? Kind::Matrix : Kind::Column);
  if (to_cube)
    list_attribute(AttrKey::Dims, {1, 2});
  else
    list_attribute(AttrKey::Dims, {0, 1});
  deliver({.opcode = Opcode::Broadcast, .operands = {&src, 1}},
          to_cube ? Kind::Cube : random_.pick({Kind::Matrix, Kind::Wide}), dtype_of(src));
}

void RandomFunction::add_slice() {
  const Operand src = operand(Kind::Wide);
  if (random_.one_in(2)) {
    list_attribute(AttrKey::Start, {0, random_.between(0, columns_)});
    list_attribute(AttrKey::Size, {rows_, columns_});
  } else {
    list_attribute(AttrKey::Start, {0, random_.between(0, 1)});
    list_attribute(AttrKey::Size, {rows_, columns_});
    list_attribute(AttrKey::Stride, {1, 2});
  }
  deliver({.opcode = Opcode::Slice, .operands = {&src, 1}}, Kind::Matrix, dtype_of(src));
}

void RandomFunction::add_concat() {
  const Operand first = operand(Kind::Matrix);
  const Operand operands[] = {first, operand_of(Kind::Matrix, dtype_of(first))};
  attribute(AttrKey::Dim, AttrValue::of_int(1));
  deliver({.opcode = Opcode::Concat, .operands = operands}, Kind::Wide, dtype_of(first));
}

void RandomFunction::add_matmul() {
  const Operand operands[] = {matmul_operand(Kind::Matrix), matmul_operand(Kind::Matrix)};
  if (random_.one_in(2)) {
    keep(define({.opcode = Opcode::Matmul, .operands = operands},
                type_of(Kind::Square, DType::Float32)),
         Kind::Square);
    return;
  }
  InstructionDesc desc{.opcode = Opcode::Matmul,
                       .operands = operands,
                       .dst = {product_, nullptr},
                       .flags = random_.one_in(2) ? inst_flag::Accumulate : std::uint16_t{0}};
  finish(desc);
  e_.add(e_.builder().create(desc));
  keep(e_.copy(Operand{product_, nullptr}, random_dtype()), Kind::Square);
}

// [2, rows, columns] twice, batched over the first dimension, then summed over it.
void RandomFunction::add_batch_matmul() {
  const Operand operands[] = {matmul_operand(Kind::Cube), matmul_operand(Kind::Cube)};
  list_attribute(AttrKey::LhsContract, {1});
  list_attribute(AttrKey::RhsContract, {1});
  list_attribute(AttrKey::LhsBatch, {0});
  list_attribute(AttrKey::RhsBatch, {0});
  Instruction *product = define({.opcode = Opcode::Matmul, .operands = operands},
                                e_.type(DType::Float32, {2, columns_, columns_}));
  const Operand product_operand{product, nullptr};
  list_attribute(AttrKey::Axes, {0});
  Instruction *sum = define(
      {.opcode = Opcode::TensorReduce, .op0 = code(AluOp::Add), .operands = {&product_operand, 1}},
      e_.type(DType::Float32, {1, columns_, columns_}));
  const Operand sum_operand{sum, nullptr};
  deliver({.opcode = Opcode::Reshape, .operands = {&sum_operand, 1}}, Kind::Square, DType::Float32);
}

// Data movement by DMA between whole tensors in dram, into a new one that later loads may read.
void RandomFunction::add_offloaded() {
  const TensorPlace from = random_.pick_from(tensors_);
  const DType dtype = from.tensor->dtype();
  if (from.tensor->space() != Space::Dram || dtype == DType::Float64)
    return;
  const std::span<const std::int64_t> shape = from.tensor->shape();
  const Opcode opcode =
      random_.pick({Opcode::OffloadedMemcpy, Opcode::OffloadedMemcast, Opcode::OffloadedMemcast,
                    Opcode::OffloadedMemcast, Opcode::OffloadedBitcast, Opcode::OffloadedTranspose,
                    Opcode::OffloadedBroadcast, Opcode::OffloadedSlice, Opcode::OffloadedConcat});
  std::vector<Operand> operands{{from.tensor, nullptr}};
  std::vector<std::int64_t> result(shape.begin(), shape.end());
  DType result_dtype = dtype;
  Kind kind = from.kind;
  switch (opcode) {
  case Opcode::OffloadedMemcast:
    result_dtype = dtype == DType::Bfloat16 ? DType::Float32 : DType::Bfloat16;
    break;
  case Opcode::OffloadedBitcast:
    result_dtype = dtype_of_size(sizeinbytes(dtype));
    break;
  case Opcode::OffloadedTranspose:
    if (kind == Kind::Column)
      return;
    std::swap(result[0], result[1]);
    kind = kind == Kind::Matrix ? Kind::Flipped : Kind::Matrix;
    list_attribute(AttrKey::Perm, {1, 0});
    break;
  case Opcode::OffloadedBroadcast:
    list_attribute(AttrKey::Dims, {0, 1});
    if (result[1] == 1)
      result[1] = columns_;
    kind = kind == Kind::Column ? Kind::Matrix : kind;
    break;
  case Opcode::OffloadedSlice:
    operands[0] = access(from, false);
    result.assign(shape_of(operands[0]).begin(), shape_of(operands[0]).end());
    break;
  case Opcode::OffloadedConcat:
    if (e_.small() && result[0] * 2 > max_small_extent)
      return;
    operands.push_back(operands[0]);
    result[0] *= 2;
    break;
  default:
    break;
  }
  Tensor *to = declare_type(e_.builder().type(result_dtype, result), Space::Dram, Role::Internal);
  tensors_.push_back({to, kind});
  InstructionDesc desc{.opcode = opcode, .operands = operands, .dst = {to, nullptr}};
  finish(desc);
  e_.add(e_.builder().create(desc));
}

// A tensor that is written, cast by DMA, and read: what cast-op-elimination looks for. Now and then
// either tensor gets further readers and writers.
void RandomFunction::add_memcast() {
  const Kind kind = random_.pick_from(tensor_kinds);
  const Space space = random_.pick({Space::Dram, Space::Sbuf});
  const DType from_dtype = random_dtype();
  const DType to_dtype = random_dtype();
  if (from_dtype == to_dtype)
    return;
  Tensor *from = declare_type(type_of(kind, from_dtype), space, Role::Internal);
  Tensor *to = declare_type(type_of(kind, to_dtype), space, Role::Internal);
  if (space == Space::Dram) {
    e_.store(value_of(kind, from_dtype), {from, nullptr});
  } else {
    const Operand src = operand(kind);
    e_.write({.opcode = Opcode::TensorCopy, .operands = {&src, 1}}, {from, nullptr});
  }
  if (random_.one_in(4))
    tensors_.push_back({from, kind});
  if (random_.one_in(4))
    step();
  const Operand source{from, nullptr};
  InstructionDesc desc{
      .opcode = Opcode::OffloadedMemcast, .operands = {&source, 1}, .dst = {to, nullptr}};
  finish(desc);
  e_.add(e_.builder().create(desc));
  if (space == Space::Dram)
    keep(e_.load({to, nullptr}), kind);
  else
    keep(e_.copy(Operand{to, nullptr}, random_dtype()), kind);
  if (random_.one_in(2))
    tensors_.push_back({to, kind});
}

// Runs one of the last functions on new tensors, as long as that does not take too long.
void RandomFunction::add_call() {
  if (callees_.empty())
    return;
  const std::size_t recent = std::min(callees_.size(), max_callees);
  const Callee &callee = callees_[callees_.size() - 1 - random_.below(recent)];
  if (callee.cost * instances() > max_call_cost)
    return;
  std::vector<Operand> operands;
  for (const Tensor *parameter : callee.function->interface())
    operands.push_back(
        {declare_type(parameter->type(), parameter->space(), Role::Internal), nullptr});
  attribute(AttrKey::Callee, AttrValue::of_function(callee.function));
  InstructionDesc desc{.opcode = Opcode::Call, .operands = operands};
  finish(desc);
  cost_ += callee.cost * instances();
  e_.add(e_.builder().create(desc));
}

// Code that nobody knows, with operands of any sort but float64.
void RandomFunction::add_opaque() {
  std::vector<Operand> operands;
  for (std::int64_t i = random_.between(0, 3); i > 0; --i) {
    const TensorPlace &place = random_.pick_from(tensors_);
    Operand candidate = random_.one_in(2) ? access(place, false)
                                          : Operand{value(random_.pick_from(computing_kinds))};
    if (dtype_of(candidate) != DType::Float64)
      operands.push_back(candidate);
  }
  attribute(AttrKey::OpaqueName, AttrValue::of_string("random \"code\""));
  if (random_.one_in(2)) {
    Attr attr;
    attr.custom_name = e_.module().intern("tile");
    attr.value = AttrValue::of_int(random_.between(-4, 4));
    attrs_.push_back(attr);
  }
  InstructionDesc desc{.opcode = Opcode::Opaque, .operands = operands};
  if (random_.one_in(2)) {
    const Kind kind = random_.pick_from(computing_kinds);
    keep(define(desc, type_of(kind, random_dtype())), kind);
    return;
  }
  finish(desc);
  e_.add(e_.builder().create(desc));
}

// x4 containers are moved, never computed on.
void RandomFunction::add_packed() {
  const DType dtype =
      random_.pick({DType::Float4E2m1fnX4, DType::Float8E4m3fnX4, DType::Float8E5m2X4});
  const Type *type = type_of(Kind::Matrix, dtype);
  Tensor *from = declare_type(type, Space::Dram, Role::Input);
  Tensor *to = declare_type(type_of(Kind::Wide, dtype), Space::Dram, Role::Output);
  Instruction *loaded = e_.load({from, nullptr});
  const Operand operands[] = {{loaded, nullptr}, {loaded, nullptr}};
  attribute(AttrKey::Dim, AttrValue::of_int(1));
  e_.store(define({.opcode = Opcode::Concat, .operands = operands}, type_of(Kind::Wide, dtype)),
           {to, nullptr});
}

// Scales are cast by copies, to and fro.
void RandomFunction::add_scale() {
  const Type *type = type_of(Kind::Matrix, DType::Float8E8m0fnu);
  Tensor *from = declare_type(type, Space::Dram, Role::Input);
  Tensor *to = declare_type(type, Space::Dram, Role::Output);
  keep(e_.copy(e_.load({from, nullptr}), random_dtype()), Kind::Matrix);
  e_.store(e_.copy(value(Kind::Matrix), DType::Float8E8m0fnu), {to, nullptr});
}

// So that not everything is dead.
void RandomFunction::store_outputs() {
  for (const TensorPlace &place : std::vector(tensors_)) {
    if (place.tensor->role() != Role::Output)
      continue;
    Value *result = value_of(place.kind, place.tensor->dtype());
    e_.store(result, access(place, false));
  }
}

void RandomFunction::break_legal_form() {
  const Operand operands[] = {operand_of(Kind::Matrix, DType::Float32),
                              operand_of(Kind::Matrix, DType::Bfloat16)};
  deliver({.opcode = Opcode::TensorTensor, .op0 = code(AluOp::Add), .operands = operands},
          Kind::Matrix, random_dtype());
}

void generate_random(Emitter &e) {
  std::vector<Callee> callees;
  while (e.wants_more()) {
    RandomFunction function(e, callees);
    if (callees.empty() && !e.legal())
      function.break_legal_form();
    const auto wanted = static_cast<std::uint64_t>(e.random().between(10, 300));
    function.fill(std::min(wanted, e.missing()));
    callees.push_back({&function.function(), function.cost()});
  }
}

} // namespace nir
