// Shapes that drive one thing to the extreme.

#include "bench/generator/generator_emitter.h"

namespace nir {
namespace {

constexpr std::int64_t tile = 128;
constexpr std::int64_t columns = 512;
constexpr unsigned max_loop_depth = 1000; // language reference, Structure

// Functions that keep a long chain of them within the range of numbers.
constexpr ActivationFn tame_functions[] = {ActivationFn::Sigmoid, ActivationFn::Tanh,
                                           ActivationFn::Abs,     ActivationFn::Relu,
                                           ActivationFn::Sin,     ActivationFn::Identity};

// An instruction that computes in float32 and writes `dtype`.
Instruction *emit_producer(Emitter &e, Value *src, DType dtype) {
  if (e.random().one_in(2))
    return e.activation(e.random().pick_from(tame_functions), src, dtype);
  const AluOp op = e.random().pick({AluOp::Multiply, AluOp::Add, AluOp::Max});
  return e.scalar(src, op, static_cast<float>(e.random().between(1, 7)) / 8, dtype);
}

DType narrow_dtype(Emitter &e) {
  return e.random().pick({DType::Bfloat16, DType::Bfloat16, DType::Float16});
}

// Three or six instructions from a float32 value to a float32 value, two thirds of them casts that
// go: those that widen what a producer narrowed, and those that become copies without a cast.
Instruction *emit_cast_group(Emitter &e, Value *src) {
  const DType narrow = narrow_dtype(e);
  if (e.random().one_in(2)) {
    Instruction *wide = emit_producer(e, src, DType::Float32);
    return e.copy(e.copy(wide, narrow), DType::Float32);
  }
  Instruction *first = emit_producer(e, src, narrow);
  Instruction *wide = e.copy(first, DType::Float32);
  Instruction *again = e.copy(e.copy(wide, narrow), DType::Float32);
  return e.copy(emit_producer(e, again, narrow), DType::Float32);
}

// Reads a row block of $in and writes one of $out, with `body` between.
template <class Body> void emit_tile(Emitter &e, Tensor *in, Tensor *out, Body body) {
  Value *value = e.load(e.rows(in, nullptr, 0));
  value = body(value);
  e.store(value, e.rows(out, nullptr, 0));
}

struct InOut {
  Tensor *in;
  Tensor *out;
};

InOut declare_in_out(Emitter &e, std::int64_t width) {
  const Type *type = e.type(DType::Float32, {tile, width});
  Tensor *in = e.tensor(type, Space::Dram, Role::Input, "in");
  return {in, e.tensor(type, Space::Dram, Role::Output, "out")};
}

} // namespace

void generate_roundtrip(Emitter &e) {
  e.begin_function("roundtrip");
  const InOut tensors = declare_in_out(e, columns);
  emit_tile(e, tensors.in, tensors.out, [&e](Value *value) {
    while (e.wants_more())
      value = emit_cast_group(e, value);
    return value;
  });
}

void generate_fanout(Emitter &e) {
  e.begin_function("fanout");
  const InOut tensors = declare_in_out(e, columns);
  Tensor *column =
      e.tensor(e.type(DType::Float32, {tile, 1}), Space::Sbuf, Role::Internal, "column");
  Instruction *in = e.load(e.rows(tensors.in, nullptr, 0));
  Instruction *shared = e.activation(ActivationFn::Tanh, in, DType::Bfloat16);
  while (e.wants_more()) {
    // Half of the users read it through a cast each, to a dtype that goes or to one that stays.
    const DType dtype = e.random().pick({DType::Float32, DType::Float16});
    Value *operand = e.random().one_in(2) ? e.copy(shared, dtype) : shared;
    const Operand operands[] = {{operand, nullptr}};
    e.write({.opcode = Opcode::TensorReduce,
             .op0 = static_cast<std::uint8_t>(e.random().pick({AluOp::Max, AluOp::Add})),
             .operands = operands,
             .attrs = e.builder().ints(AttrKey::Axes, {1})},
            {column, nullptr});
  }
  Instruction *sum = e.scalar({in, nullptr}, AluOp::Multiply, {column, nullptr}, DType::Float32);
  e.store(sum, e.rows(tensors.out, nullptr, 0));
}

// Each round writes a tensor of its own narrow, reads it back wide, and adds to a part of $hub,
// which so gets most of the accesses.
void generate_tensors(Emitter &e) {
  constexpr std::int64_t width = 8;
  constexpr std::int64_t hub_parts = 64;
  e.begin_function("tensors");
  const InOut tensors = declare_in_out(e, width);
  Tensor *hub = e.tensor(e.type(DType::Float32, {tile, width * hub_parts}), Space::Sbuf,
                         Role::Internal, "hub");
  const Type *narrow_type = e.type(DType::Bfloat16, {tile, width});
  Instruction *value = e.load(e.rows(tensors.in, nullptr, 0));
  e.fill(0.0f, {hub, nullptr});
  const auto part = [&] {
    const auto first = static_cast<std::int64_t>(e.random().below(hub_parts)) * width;
    return e.box(hub, {{.size = tile}, e.dim(nullptr, 0, first, width)});
  };
  while (e.wants_more()) {
    Tensor *buffer = e.tensor(narrow_type, Space::Sbuf);
    const Operand operands[] = {{value, nullptr}};
    e.write({.opcode = Opcode::Activation,
             .fn = static_cast<std::uint8_t>(e.random().pick_from(tame_functions)),
             .operands = operands},
            {buffer, nullptr});
    Instruction *wide = e.copy(Operand{buffer, nullptr}, DType::Float32);
    Instruction *sum = e.binary(AluOp::Add, part(), {wide, nullptr}, DType::Float32);
    e.add(e.builder().tensor_copy_to({sum, nullptr}, part()));
    value = e.copy(part(), DType::Float32);
  }
  e.store(value, e.rows(tensors.out, nullptr, 0));
}

void generate_functions(Emitter &e) {
  Function *before = nullptr;
  while (e.wants_more()) {
    Function *function = e.begin_function();
    const InOut tensors = declare_in_out(e, columns);
    Tensor *between = e.tensor(tensors.in->type(), Space::Dram);
    const bool calls = before != nullptr && e.random().one_in(4);
    if (calls) {
      Attr callee;
      callee.key = AttrKey::Callee;
      callee.value = AttrValue::of_function(before);
      const Operand operands[] = {{tensors.in, nullptr}, {between, nullptr}};
      e.add(e.builder().create({.opcode = Opcode::Call,
                                .operands = operands,
                                .attrs = AttrList::create(e.module().arena(), {&callee, 1})}));
    } else {
      e.store(e.load(e.rows(tensors.in, nullptr, 0)), e.rows(between, nullptr, 0));
    }
    emit_tile(e, between, tensors.out,
              [&e](Value *value) { return emit_cast_group(e, emit_cast_group(e, value)); });
    // Calls chain no further than this: what runs must end some day.
    before = calls ? nullptr : function;
  }
}

// A hundred or so trips in all, wherever in the nest they are.
void generate_nest(Emitter &e) {
  constexpr std::int64_t width = 8;
  constexpr std::int64_t max_doublings = 6;
  // The text of the deepest is mostly indentation: all of them would not fit in 4 GiB.
  constexpr std::uint64_t deepest_every = 128;
  e.begin_function("nest");
  const InOut tensors = declare_in_out(e, width);
  Tensor *sum =
      e.tensor(e.type(DType::Float32, {tile, 2 * width}), Space::Sbuf, Role::Internal, "sum");
  e.fill(0.0f, {sum, nullptr});
  Instruction *value = e.load(e.rows(tensors.in, nullptr, 0));
  const Operand first_half = e.box(sum, {{.size = tile}, e.dim(nullptr, 0, 0, width)});
  for (std::uint64_t nest = 0; e.wants_more(); ++nest) {
    const auto shallow = static_cast<unsigned>(e.random().between(4, 64));
    const unsigned depth = nest % deepest_every == 0 ? max_loop_depth : shallow;
    std::int64_t doublings = 0;
    while (e.loop_depth() < depth && e.wants_more()) {
      const bool doubles = doublings < max_doublings && e.random().one_in(16);
      doublings += doubles ? 1 : 0;
      const Loop *loop = e.begin_loop(doubles ? 2 : 1);
      const Operand half = e.box(sum, {{.size = tile}, e.dim(loop, width, 0, width)});
      if (e.random().one_in(4)) {
        Instruction *wide = e.copy(emit_producer(e, value, DType::Bfloat16), DType::Float32);
        e.add(e.builder().tensor_copy_to({wide, nullptr}, half));
      } else if (e.random().one_in(2)) {
        e.copy(half, DType::Float32);
      }
    }
    while (e.loop_depth() != 0)
      e.end_loop();
  }
  Instruction *total = e.binary(AluOp::Add, {value, nullptr}, first_half, DType::Float32);
  e.store(total, e.rows(tensors.out, nullptr, 0));
}

} // namespace nir
