// Shapes that look like what a kernel author writes.

#include "bench/generator/generator_emitter.h"

namespace nir {
namespace {

constexpr std::int64_t tile = 128; // partitions
constexpr std::int64_t head_dim = 64;
constexpr std::int64_t num_heads = 12;
constexpr std::int64_t hidden = 512;
constexpr std::int64_t num_layers = 32;

// The tensors of one function of attention heads.
struct AttentionTensors {
  Tensor *q, *k, *v, *out;
  Tensor *max, *sum, *acc; // running, in sbuf
  Tensor *scores, *update; // psum
};

AttentionTensors declare_attention(Emitter &e, std::int64_t rows) {
  const Type *matrix = e.type(DType::Bfloat16, {num_heads * rows, head_dim});
  const Type *column = e.type(DType::Float32, {tile, 1});
  const Type *head = e.type(DType::Float32, {tile, head_dim});
  return {
      .q = e.tensor(matrix, Space::Dram, Role::Input, "q"),
      .k = e.tensor(matrix, Space::Dram, Role::Input, "k"),
      .v = e.tensor(matrix, Space::Dram, Role::Input, "v"),
      .out = e.tensor(matrix, Space::Dram, Role::Output, "out"),
      .max = e.tensor(column, Space::Sbuf, Role::Internal, "max"),
      .sum = e.tensor(column, Space::Sbuf, Role::Internal, "sum"),
      .acc = e.tensor(head, Space::Sbuf, Role::Internal, "acc"),
      .scores = e.tensor(e.type(DType::Float32, {tile, tile}), Space::Psum, Role::Internal, "s"),
      .update = e.tensor(head, Space::Psum, Role::Internal, "pv"),
  };
}

// One tile of keys: scores, the running maximum and sum, and the output so far.
void emit_key_tile(Emitter &e, const AttentionTensors &t, Value *qt, const Loop *keys,
                   std::int64_t first) {
  Builder &b = e.builder();
  Instruction *kt = e.transpose(e.load(e.rows(t.k, keys, first)));
  e.matmul(qt, kt, t.scores, false);
  // The framework types the product as bfloat16 and softmax as float32.
  Instruction *narrow = e.copy(Operand{t.scores, nullptr}, DType::Bfloat16);
  Instruction *scores = e.copy(narrow, DType::Float32);
  Instruction *tile_max = e.reduce(AluOp::Max, scores, DType::Float32);
  Instruction *new_max =
      e.binary(AluOp::Max, {t.max, nullptr}, {tile_max, nullptr}, DType::Float32);
  Instruction *negative = e.scalar(new_max, AluOp::Multiply, -1.0f, DType::Float32);
  Instruction *p = e.activation_bias(ActivationFn::Exp, scores, negative, DType::Bfloat16);
  Instruction *wide = e.copy(p, DType::Float32);
  Instruction *tile_sum = e.reduce(AluOp::Add, wide, DType::Float32);
  Instruction *pt = e.transpose(p);
  Instruction *drop =
      e.binary(AluOp::Subtract, {t.max, nullptr}, {new_max, nullptr}, DType::Float32);
  Instruction *factor = e.activation(ActivationFn::Exp, drop, DType::Float32);
  e.add(b.tensor_copy_to({new_max, nullptr}, {t.max, nullptr}));
  Instruction *sum = e.scalar({t.sum, nullptr}, AluOp::Multiply, {factor, nullptr}, DType::Float32);
  Instruction *new_sum = e.binary(AluOp::Add, sum, tile_sum, DType::Float32);
  e.add(b.tensor_copy_to({new_sum, nullptr}, {t.sum, nullptr}));
  Instruction *acc = e.scalar({t.acc, nullptr}, AluOp::Multiply, {factor, nullptr}, DType::Float32);
  Instruction *v = e.load(e.rows(t.v, keys, first));
  e.matmul(pt, v, t.update, false);
  Instruction *new_acc = e.binary(AluOp::Add, {acc, nullptr}, {t.update, nullptr}, DType::Float32);
  e.add(b.tensor_copy_to({new_acc, nullptr}, {t.acc, nullptr}));
}

void emit_head(Emitter &e, const AttentionTensors &t, std::int64_t tiles, std::int64_t first) {
  const Loop *queries = e.begin_loop(tiles);
  Instruction *q = e.load(e.rows(t.q, queries, first));
  Instruction *scaled = e.scalar(q, AluOp::Multiply, 0.125f, DType::Bfloat16);
  Instruction *qt = e.transpose(scaled);
  e.fill(-30000.0f, {t.max, nullptr});
  e.fill(0.0f, {t.sum, nullptr});
  e.fill(0.0f, {t.acc, nullptr});
  const Loop *keys = e.begin_loop(tiles);
  emit_key_tile(e, t, qt, keys, first);
  e.end_loop();
  Instruction *inverse = e.add(
      e.builder().activation(ActivationFn::Reciprocal, Operand{t.sum, nullptr}, DType::Float32));
  Instruction *out =
      e.scalar({t.acc, nullptr}, AluOp::Multiply, {inverse, nullptr}, DType::Bfloat16);
  e.store(out, e.rows(t.out, queries, first));
  e.end_loop();
}

// One layer: y = norm(act(x w + b)), by tiles of rows, the product summed up in psum.
void emit_layer(Emitter &e, Tensor *x, Tensor *y, Tensor *product) {
  Tensor *w = e.tensor(e.type(DType::Bfloat16, {hidden, hidden}), Space::Dram, Role::Input);
  Tensor *bias = e.tensor(e.type(DType::Float32, {tile, 1}), Space::Dram, Role::Input);
  const ActivationFn fn =
      e.random().pick({ActivationFn::Gelu, ActivationFn::Silu, ActivationFn::Relu});
  Instruction *b = e.load({bias, nullptr});
  const Loop *tiles = e.begin_loop(x->shape()[0] / tile);
  e.fill(0.0f, {product, nullptr});
  const Loop *parts = e.begin_loop(hidden / tile);
  Instruction *part = e.load(e.box(x, {e.dim(tiles, tile, 0, tile), e.dim(parts, tile, 0, tile)}));
  Instruction *weights = e.load(e.rows(w, parts, 0, tile));
  e.matmul(e.transpose(part), weights, product, true);
  e.end_loop();
  Instruction *narrow = e.copy(Operand{product, nullptr}, DType::Bfloat16);
  Instruction *wide = e.copy(narrow, DType::Float32);
  Instruction *act = e.activation_bias(fn, wide, b, DType::Bfloat16);
  Instruction *back = e.copy(act, DType::Float32);
  Instruction *square = e.activation(ActivationFn::Square, back, DType::Float32);
  Instruction *sum = e.reduce(AluOp::Add, square, DType::Float32);
  Instruction *mean = e.scalar(sum, AluOp::Multiply, 1.0f / hidden, DType::Float32);
  Instruction *scale = e.activation(ActivationFn::Rsqrt, mean, DType::Float32);
  Instruction *out = e.scalar({back, nullptr}, AluOp::Multiply, {scale, nullptr}, DType::Bfloat16);
  e.store(out, e.rows(y, tiles, 0));
  e.end_loop();
}

} // namespace

void generate_attention(Emitter &e) {
  while (e.wants_more()) {
    const std::int64_t tiles = e.random().between(2, 16);
    e.begin_function();
    const AttentionTensors tensors = declare_attention(e, tiles * tile);
    for (std::int64_t head = 0; head < num_heads && e.wants_more(); ++head)
      emit_head(e, tensors, tiles, head * tiles * tile);
  }
}

void generate_mlp(Emitter &e) {
  while (e.wants_more()) {
    const std::int64_t rows = e.random().between(1, 8) * tile;
    e.begin_function();
    const Type *activations = e.type(DType::Bfloat16, {rows, hidden});
    Tensor *x = e.tensor(activations, Space::Dram, Role::Input, "x");
    Tensor *product =
        e.tensor(e.type(DType::Float32, {tile, hidden}), Space::Psum, Role::Internal, "product");
    for (std::int64_t layer = 0; layer < num_layers && e.wants_more(); ++layer) {
      Tensor *y = e.tensor(activations, Space::Dram, Role::Output);
      emit_layer(e, x, y, product);
      x = y;
    }
  }
}

} // namespace nir
