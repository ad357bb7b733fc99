#include "ir/semantics/eval_ops.h"

#include <algorithm>
#include <system_error>
#include <thread>

#include "ir/numeric/promotion.h"

namespace nir::eval {
namespace {

constexpr std::int64_t worthwhile_cost = 1'000'000; // nanoseconds that pay for starting a thread

// The dtype in which tensor_scalar computes where all its operands are integers: the one that holds
// them all; src's where none does, which its scalars are then cast to.
DType scalar_meeting_dtype(const Instruction &inst) {
  const DType src = inst.operand(0).dtype();
  DType common = src;
  for (const Use &use : inst.operands().subspan(1)) {
    const auto promoted = promote_type(common, use.dtype());
    if (!promoted || !is_int_type(*promoted))
      return src;
    common = *promoted;
  }
  return common;
}

} // namespace

Workers::Workers(unsigned threads) {
  for (unsigned i = 0; i < std::max(threads, 1u); ++i)
    workspaces_.push_back(std::make_unique<Workspace>());
}

void Workers::run(std::int64_t total, std::int64_t cost,
                  const std::function<void(std::int64_t, std::int64_t, Workspace &)> &work) {
  const std::int64_t wanted = std::max<std::int64_t>(total / (worthwhile_cost / cost + 1), 1);
  const auto parts = std::min({wanted, static_cast<std::int64_t>(workspaces_.size()), total});
  if (parts <= 1)
    return work(0, total, *workspaces_[0]);
  const auto begin_of = [&](std::int64_t part) {
    return total / parts * part + std::min(part, total % parts);
  };
  std::vector<std::jthread> threads;
  const auto run_part = [&](std::int64_t part) {
    work(begin_of(part), begin_of(part + 1), *workspaces_[static_cast<std::size_t>(part)]);
  };
  std::int64_t started = 1;
  try {
    for (; started < parts; ++started)
      threads.emplace_back(run_part, started);
  } catch (const std::system_error &) {
    // The system gives no more threads: what is left is done here.
  }
  run_part(0);
  for (; started < parts; ++started)
    run_part(started);
}

DType meeting_dtype(const Instruction &inst) {
  switch (inst.opcode()) {
  case Opcode::TensorTensor:
    return promote_type(inst.operand(0).dtype(), inst.operand(1).dtype()).value();
  case Opcode::Select:
    return promote_type(inst.operand(1).dtype(), inst.operand(2).dtype()).value();
  case Opcode::TensorScalar:
    if (std::ranges::all_of(inst.operands(),
                            [](const Use &use) { return is_int_type(use.dtype()); }))
      return scalar_meeting_dtype(inst);
    return DType::Float32;
  case Opcode::TensorReduce:
    return inst.operand(0).dtype();
  default:
    return DType::Float32;
  }
}

Source lane_source(const Execution &run, const View &view, DType common, Lane lane) {
  Source source(view);
  DType now = view.read_dtype();
  const CastRule rule = run.exact();
  const bool casts = view.dtype != common && !(run.rounding.reference && is_floating(common));
  if (casts) {
    source.then(now, common, rule);
    now = common;
  }
  source.then(now, lane_dtype(lane), rule);
  return source;
}

void copy_elements(const Execution &run, const Source &source, DType from, const View &dst,
                   CastRule rule) {
  const Sink sink(dst, from, run.rounding.reference ? CastRule::Reference : rule, run.rounding);
  run.workers.run(
      dst.box.num_elements(), 1, [&](std::int64_t first, std::int64_t last, Workspace &workspace) {
        for (std::int64_t at = first; at < last; at += block_size) {
          const std::int64_t count = std::min(block_size, last - at);
          sink.write(at, count, source.read(at, count, workspace.operands[0]), workspace.result);
        }
      });
}

bool is_elementwise(Opcode opcode) {
  switch (opcode) {
  case Opcode::Activation:
  case Opcode::TensorScalar:
  case Opcode::TensorCopy:
  case Opcode::TensorTensor:
  case Opcode::Select:
  case Opcode::Load:
  case Opcode::Store:
    return true;
  default:
    return false;
  }
}

} // namespace nir::eval
