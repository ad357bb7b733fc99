// What moves elements, casting at most, and what makes them from nothing.

#include <algorithm>
#include <vector>

#include "ir/semantics/eval_ops.h"

namespace nir::eval {
namespace {

// Between integer dtypes only tensor_copy and DMA pass through fp32 (language reference,
// Arithmetic).
CastRule move_rule(const Instruction &inst) {
  const bool through_fp32 =
      inst.opcode() == Opcode::TensorCopy || inst.has_trait(op_trait::Dma | op_trait::Offloaded);
  return through_fp32 && !inst.exact_ints() ? CastRule::Device : CastRule::ExactInts;
}

void move(const Execution &run, const View &src, const View &dst) {
  copy_elements(run, Source(src), src.read_dtype(), dst, move_rule(run.inst));
}

void move_with(const Execution &run, const Box &box) {
  View src = run.operands[0];
  src.box = box;
  move(run, src, run.dst);
}

void run_concat(const Execution &run) {
  const auto dim = static_cast<std::size_t>(run.inst.int_attr(AttrKey::Dim));
  View part = run.dst;
  std::int64_t begin = 0;
  for (const View &src : run.operands) {
    part.box = run.dst.box;
    part.box.offset += begin * run.dst.box.stride[dim];
    part.box.size[dim] = src.box.size[dim];
    move(run, src, part);
    begin += src.box.size[dim];
  }
}

void run_iota(const Execution &run) {
  const auto dim = static_cast<unsigned>(run.inst.int_attr(AttrKey::Dim));
  const Box &box = run.dst.box;
  std::int64_t inner = 1;
  for (unsigned i = dim + 1; i < box.rank; ++i)
    inner *= box.size[i];
  const Sink sink(run.dst, DType::Int64, run.exact(), run.rounding);
  run.workers.run(box.num_elements(), 3,
                  [&](std::int64_t first, std::int64_t last, Workspace &workspace) {
                    auto *out = reinterpret_cast<std::int64_t *>(workspace.lane.data());
                    for (std::int64_t at = first; at < last; at += block_size) {
                      const std::int64_t count = std::min(block_size, last - at);
                      for (std::int64_t i = 0; i < count; ++i)
                        out[i] = (at + i) / inner % box.size[dim];
                      sink.write(at, count, workspace.lane.data(), workspace.result);
                    }
                  });
}

// Bytes keep their order; how many of them make an element may change.
void run_bitcast(const Execution &run) {
  const View &src = run.operands[0];
  const std::int64_t count = src.box.num_elements();
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * sizeinbytes(src.dtype));
  View raw{bytes.data(), src.dtype, src.dtype, src.dtype,
           dense_box(std::span(src.box.size).first(src.box.rank))};
  copy_elements(run, Source(src), src.read_dtype(), raw, CastRule::Device);
  raw.tensor_dtype = raw.held = raw.dtype = run.dst.dtype;
  raw.box = dense_box(run.inst.dst_shape());
  copy_elements(run, Source(raw), raw.dtype, run.dst, CastRule::Device);
}

} // namespace

void run_move(const Execution &run) {
  const Instruction &inst = run.inst;
  switch (inst.opcode()) {
  case Opcode::Transpose:
  case Opcode::OffloadedTranspose:
    return move_with(run, permuted(run.operands[0].box, inst.int_list(AttrKey::Perm)));
  case Opcode::Broadcast:
  case Opcode::OffloadedBroadcast:
    return move_with(
        run, broadcast(run.operands[0].box, inst.int_list(AttrKey::Dims), inst.dst_shape()));
  case Opcode::Slice:
    return move_with(run, sliced(run.operands[0].box, inst.int_list(AttrKey::Start),
                                 inst.int_list(AttrKey::Size), inst.int_list(AttrKey::Stride)));
  case Opcode::Memset:
    return move_with(run, splat_box(inst.dst_shape()));
  case Opcode::Concat:
  case Opcode::OffloadedConcat:
    return run_concat(run);
  case Opcode::Iota:
    return run_iota(run);
  case Opcode::OffloadedBitcast:
    return run_bitcast(run);
  default:
    return move(run, run.operands[0], run.dst);
  }
}

} // namespace nir::eval
