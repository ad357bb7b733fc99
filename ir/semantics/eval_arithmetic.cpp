// activation, tensor_scalar, tensor_tensor and select.

#include <algorithm>
#include <bit>
#include <cstring>

#include "ir/semantics/eval_ops.h"

namespace nir::eval {
namespace {

bool is_bitwise(AluOp op) { return is_integer_only(op); }

AluContext context_of(Lane lane, DType common) {
  return {lane, is_int_lane(lane) ? 8 * sizeinbytes(common) : 64};
}

// Calls `compute(at, count, out, workspace)` for every block, which leaves results of the lane in
// `out`, and writes them.
template <class Compute>
void for_each_block(const Execution &run, Lane lane, std::int64_t cost, Compute compute) {
  const Sink sink(run.dst, lane_dtype(lane), run.exact(), run.rounding);
  run.workers.run(run.dst.box.num_elements(), cost,
                  [&](std::int64_t first, std::int64_t last, Workspace &workspace) {
                    for (std::int64_t at = first; at < last; at += block_size) {
                      const std::int64_t count = std::min(block_size, last - at);
                      std::byte *direct = sink.in_place(at);
                      std::byte *out = direct != nullptr ? direct : workspace.lane.data();
                      compute(at, count, out, workspace);
                      make_nans_canonical(lane, out, static_cast<std::size_t>(count));
                      if (direct == nullptr)
                        sink.write(at, count, out, workspace.result);
                    }
                  });
}

template <class T> void fill(std::byte *out, T value) {
  T *first = reinterpret_cast<T *>(out);
  std::fill(first, first + block_size, value);
}

void run_activation(const Execution &run) {
  const Lane lane = run.float_lane();
  const AttrValue *scale_attr = run.inst.attr(AttrKey::Scale);
  const float scale = scale_attr == nullptr ? 1.0F : std::bit_cast<float>(scale_attr->float32_bits);
  const Source src = lane_source(run, run.operands[0], DType::Float32, lane);
  const bool has_bias = run.operands.size() > 1;
  Source bias;
  if (has_bias) {
    View column_view = run.operands[1];
    column_view.box = column(column_view.box, run.inst.dst_shape());
    bias = lane_source(run, column_view, DType::Float32, lane);
  }
  const auto compute = [&](std::int64_t at, std::int64_t count, std::byte *out,
                           Workspace &workspace) {
    const auto size = static_cast<std::size_t>(count);
    const void *x = src.read(at, count, workspace.operands[0]);
    if (scale_attr != nullptr) {
      std::byte *factor = workspace.constant[0].data();
      lane == Lane::Float ? fill(factor, scale) : fill(factor, double{scale});
      // Not yet in `out`, which may be where the bias is read.
      std::byte *product = has_bias ? workspace.constant[1].data() : out;
      apply_op(AluOp::Multiply, {lane}, x, factor, product, size);
      x = product;
    }
    if (has_bias) {
      apply_op(AluOp::Add, {lane}, x, bias.read(at, count, workspace.operands[1]), out, size);
      x = out;
    }
    if (x != out)
      std::memcpy(out, x, size * sizeinbytes(lane_dtype(lane)));
    apply_function(run.inst.fn(), lane, out, size);
  };
  constexpr std::int64_t function_cost = 10;
  for_each_block(run, lane, function_cost, compute);
}

void run_tensor_tensor(const Execution &run) {
  const DType common = meeting_dtype(run.inst);
  const AluOp op = run.inst.op();
  const bool in_integers = is_int_type(common) && op != AluOp::Pow;
  const Lane lane = in_integers ? int_lane(common) : run.float_lane();
  const Source a = lane_source(run, run.operands[0], common, lane);
  const Source b = lane_source(run, run.operands[1], common, lane);
  for_each_block(run, lane, op == AluOp::Pow ? 20 : 1,
                 [&](std::int64_t at, std::int64_t count, std::byte *out, Workspace &workspace) {
                   const std::byte *x = a.read(at, count, workspace.operands[0]);
                   const std::byte *y = b.read(at, count, workspace.operands[1]);
                   apply_op(op, context_of(lane, common), x, y, out,
                            static_cast<std::size_t>(count));
                 });
}

// One of the operators of tensor_scalar: where it computes, and its scalar there.
struct ScalarStep {
  AluOp op;
  bool reversed;
  Lane lane;
  Source scalar;
};

// In integers where all operands are; but pow, and what follows it, computes in fp32, except that a
// bitwise operator has its operand cast back.
Lane step_lane(const Execution &run, DType common, AluOp op, Lane before) {
  if (!is_int_type(common) || op == AluOp::Pow)
    return run.float_lane();
  return is_int_lane(before) || is_bitwise(op) ? int_lane(common) : run.float_lane();
}

ScalarStep make_step(const Execution &run, DType common, unsigned i, Lane before) {
  const AluOp op = run.inst.op(i);
  const Lane lane = step_lane(run, common, op, before);
  View scalar = run.operands[1 + i];
  scalar.box = column(scalar.box, run.inst.dst_shape());
  const auto flag = i == 0 ? inst_flag::Reverse0 : inst_flag::Reverse1;
  return {op, run.inst.has_flag(flag), lane, lane_source(run, scalar, common, lane)};
}

void apply_step(const ScalarStep &step, DType common, const void *x, const void *scalar, void *out,
                std::size_t count) {
  const AluContext context = context_of(step.lane, common);
  if (step.reversed)
    apply_op(step.op, context, scalar, x, out, count);
  else
    apply_op(step.op, context, x, scalar, out, count);
}

void run_tensor_scalar(const Execution &run) {
  const DType common = meeting_dtype(run.inst);
  const Lane start = is_int_type(common) ? int_lane(common) : run.float_lane();
  const bool two = run.operands.size() == 3;
  const ScalarStep first = make_step(run, common, 0, start);
  const ScalarStep second = two ? make_step(run, common, 1, first.lane) : first;
  const Source src = lane_source(run, run.operands[0], common, first.lane);
  // From the lane of the first operator to that of the second.
  CastChain crossing;
  if (first.lane != second.lane) {
    const bool to_int = is_int_lane(second.lane);
    crossing.add(lane_dtype(first.lane), to_int ? common : lane_dtype(second.lane), run.exact());
    if (to_int)
      crossing.add(common, lane_dtype(second.lane), run.exact());
  }
  const auto compute = [&](std::int64_t at, std::int64_t count, std::byte *out,
                           Workspace &workspace) {
    const auto size = static_cast<std::size_t>(count);
    const std::byte *x = src.read(at, count, workspace.operands[0]);
    // Not yet in `out`, which may be where the second scalar is read.
    std::byte *between = two ? workspace.constant[0].data() : out;
    apply_step(first, common, x, first.scalar.read(at, count, workspace.operands[1]), between,
               size);
    if (!two)
      return;
    const std::byte *y = between;
    if (!crossing.empty()) {
      make_nans_canonical(first.lane, between, size);
      y = crossing.run(between, size, workspace.operands[3]);
    }
    apply_step(second, common, y, second.scalar.read(at, count, workspace.operands[2]), out, size);
  };
  for_each_block(run, second.lane, 2, compute);
}

template <class T>
void blend(const std::byte *pred, const std::byte *a, const std::byte *b, std::byte *out,
           std::int64_t count) {
  const T *x = reinterpret_cast<const T *>(a);
  const T *y = reinterpret_cast<const T *>(b);
  T *z = reinterpret_cast<T *>(out);
  for (std::int64_t i = 0; i < count; ++i)
    z[i] = pred[i] != std::byte{0} ? x[i] : y[i];
}

void blend(unsigned item, const std::byte *pred, const std::byte *a, const std::byte *b,
           std::byte *out, std::int64_t count) {
  switch (item) {
  case 1:
    return blend<std::uint8_t>(pred, a, b, out, count);
  case 2:
    return blend<std::uint16_t>(pred, a, b, out, count);
  case 4:
    return blend<std::uint32_t>(pred, a, b, out, count);
  default:
    return blend<std::uint64_t>(pred, a, b, out, count);
  }
}

// The dtype of the codes between which select chooses: that of the arms, so that they keep their
// bits, unless one is held wider.
DType select_carrier(const Execution &run, DType common) {
  const auto is_narrow = [&](const View &arm) {
    const bool is_cast = arm.dtype != common;
    return is_cast ? !run.rounding.reference || !is_floating(common) : arm.read_dtype() == common;
  };
  if (is_narrow(run.operands[1]) && is_narrow(run.operands[2]))
    return common;
  return run.rounding.reference ? DType::Float64 : DType::Float32;
}

Source arm_source(const Execution &run, const View &arm, DType common, DType carrier) {
  Source source(arm);
  DType now = arm.read_dtype();
  const bool casts = arm.dtype != common && !(run.rounding.reference && is_floating(common));
  if (casts) {
    source.then(now, common, run.exact());
    now = common;
  }
  source.then(now, carrier, run.exact());
  return source;
}

} // namespace

void run_select(const Execution &run) {
  const DType common = meeting_dtype(run.inst);
  const DType carrier = select_carrier(run, common);
  const Source pred(run.operands[0]);
  const Source a = arm_source(run, run.operands[1], common, carrier);
  const Source b = arm_source(run, run.operands[2], common, carrier);
  const Sink sink(run.dst, carrier, run.exact(), run.rounding);
  run.workers.run(run.dst.box.num_elements(), 1,
                  [&](std::int64_t first, std::int64_t last, Workspace &workspace) {
                    for (std::int64_t at = first; at < last; at += block_size) {
                      const std::int64_t count = std::min(block_size, last - at);
                      blend(sizeinbytes(carrier), pred.read(at, count, workspace.operands[0]),
                            a.read(at, count, workspace.operands[1]),
                            b.read(at, count, workspace.operands[2]), workspace.lane.data(), count);
                      sink.write(at, count, workspace.lane.data(), workspace.result);
                    }
                  });
}

void run_arithmetic(const Execution &run) {
  switch (run.inst.opcode()) {
  case Opcode::Activation:
    return run_activation(run);
  case Opcode::TensorScalar:
    return run_tensor_scalar(run);
  default:
    return run_tensor_tensor(run);
  }
}

} // namespace nir::eval
