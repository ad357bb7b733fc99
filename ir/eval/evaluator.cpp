#include "ir/eval/evaluator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "ir/eval/eval_nans.h"
#include "ir/eval/eval_opaque.h"
#include "ir/eval/eval_plan.h"
#include "ir/name/name_text.h"
#include "ir/support/saturating.h"

namespace nir {
namespace eval {
namespace {

struct Free {
  void operator()(std::byte *memory) const { std::free(memory); }
};

// Where the elements of a value or tensor are. Empty until it comes to life.
struct Buffer {
  std::byte *data = nullptr;
  DType held{};
  bool splat = false; // one element stands for all
  std::unique_ptr<std::byte, Free> own;
};

struct OutOfMemory {
  std::uint64_t bytes;
};

std::unique_ptr<std::byte, Free> allocate(std::size_t bytes) {
  std::unique_ptr<std::byte, Free> memory(
      static_cast<std::byte *>(std::calloc(std::max<std::size_t>(bytes, 1), 1)));
  if (memory == nullptr)
    throw OutOfMemory{bytes};
  return memory;
}

std::size_t bytes_of(const Value &value, DType held) {
  return static_cast<std::size_t>(value.type()->num_elements()) * sizeinbytes(held);
}

// What a callee saw under another dtype than the caller holds: a copy, to be written back.
struct CopiedOutput {
  std::uint32_t callee_slot;
  std::uint32_t operand; // of the call
};

// One run of a function.
struct Frame {
  const FunctionPlan *plan = nullptr;
  std::vector<Buffer> buffers;           // of each slot
  std::vector<std::int64_t> loop_values; // of the loops entered, the outermost first
  std::size_t step = 0;
  std::vector<CopiedOutput> copied;
};

class Machine {
public:
  Machine(const Plans &plans, const EvalOptions &options)
      : plans_(plans), options_(options), workers_(options.threads) {}

  tl::expected<std::vector<HostTensor>, EvalError> run(const Function &function,
                                                       std::span<const HostTensor> inputs) {
    push_frame(plans_.of(function));
    bind_interface(frames_.back(), inputs);
    while (!frames_.empty()) {
      if (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed))
        return tl::unexpected(EvalError{no_source, "the evaluation was interrupted"});
      Frame &frame = frames_.back();
      if (frame.step < frame.plan->steps.size())
        run_step(frame, frame.plan->steps[frame.step]);
      else if (frames_.size() == 1)
        break;
      else
        return_to_caller();
    }
    return outputs();
  }

private:
  void push_frame(const FunctionPlan &plan) {
    Frame frame;
    frame.plan = &plan;
    frame.buffers.resize(plan.slots.size());
    for (std::size_t i = 0; i < plan.slots.size(); ++i)
      frame.buffers[i].held = plan.slots[i].held;
    frames_.push_back(std::move(frame));
  }

  void bind_interface(Frame &frame, std::span<const HostTensor> inputs) {
    const FunctionPlan &plan = *frame.plan;
    for (std::size_t i = 0; i < plan.interface.size(); ++i) {
      Buffer &buffer = frame.buffers[plan.interface[i]];
      if (i < inputs.size()) // inputs are only read
        buffer.data = const_cast<std::byte *>(inputs[i].bytes.data());
      else
        take(frame, plan.interface[i]);
    }
  }

  // Memory for a slot, zeroed. A const's is where the module keeps it.
  void take(Frame &frame, std::uint32_t slot) const {
    const Value &value = *frame.plan->slots[slot].value;
    Buffer &buffer = frame.buffers[slot];
    const auto *tensor = dyn_cast<Tensor>(&value);
    if (tensor != nullptr && tensor->init() != nullptr) {
      const ConstData &init = *tensor->init();
      buffer.data = const_cast<std::byte *>(reinterpret_cast<const std::byte *>(init.bytes.data()));
      buffer.splat = init.form == InitForm::Splat;
      if (options_.canonical_nans)
        canonicalize_const(buffer, init);
      return;
    }
    buffer.own = allocate(bytes_of(value, buffer.held));
    buffer.data = buffer.own.get();
  }

  static void canonicalize_const(Buffer &buffer, const ConstData &init) {
    auto copy = allocate(init.bytes.size());
    std::memcpy(copy.get(), init.bytes.data(), init.bytes.size());
    if (!canonicalize_nans(buffer.held, copy.get(), init.bytes.size() / sizeinbytes(buffer.held)))
      return;
    buffer.own = std::move(copy);
    buffer.data = buffer.own.get();
  }

  void run_step(Frame &frame, const Step &step) {
    const FunctionPlan &plan = *frame.plan;
    for (std::uint32_t i = 0; i < step.takes.size; ++i)
      take(frame, plan.takes[step.takes.begin + i]);
    switch (step.kind) {
    case Step::Kind::EnterLoop:
      frame.loop_values.push_back(cast<Loop>(step.stmt)->lo());
      break;
    case Step::Kind::EndLoop:
      if (next_trip(frame, step))
        return;
      break;
    case Step::Kind::Run:
      const auto &inst = *cast<Instruction>(step.stmt);
      if (inst.opcode() == Opcode::Call)
        return call(inst); // the step ends when the callee returns
      run_instruction(frame, step, inst);
      break;
    }
    finish_step(frame, step);
  }

  static bool next_trip(Frame &frame, const Step &end) {
    const auto &loop = *cast<Loop>(end.stmt);
    if (frame.loop_values.back() == loop.last_value()) {
      frame.loop_values.pop_back();
      return false;
    }
    frame.loop_values.back() += loop.step();
    frame.step = end.body;
    return true;
  }

  static void finish_step(Frame &frame, const Step &step) {
    for (std::uint32_t i = 0; i < step.gives.size; ++i) {
      Buffer &buffer = frame.buffers[frame.plan->gives[step.gives.begin + i]];
      buffer.own.reset();
      buffer.data = nullptr;
    }
    ++frame.step;
  }

  View view_of(const Frame &frame, const Step &step, const Use &use) {
    if (const auto *number = dyn_cast<Immediate>(use.value()))
      return number_view(*use.user(), *number);
    const Buffer &buffer = frame.buffers[frame.plan->use_slots[step.first_use + use.index()]];
    const auto shape = use.value()->shape();
    View view{buffer.data, use.value()->dtype(), buffer.held, use.dtype(),
              buffer.splat ? splat_box(shape) : dense_box(shape)};
    if (use.access() != nullptr)
      view.box = access_box(view.box, *use.access(), frame.loop_values);
    return view;
  }

  // Its bits are little-endian, as everything here.
  View number_view(const Instruction &inst, const Immediate &number) {
    std::uint64_t &bits = numbers_[num_numbers_++];
    bits = number.bits();
    DType dtype = number.dtype();
    if (const auto *omitted = options_.omitted; omitted != nullptr && !omitted->numbers.empty())
      if (const auto found = omitted->numbers.find(&inst); found != omitted->numbers.end()) {
        bits = found->second;
        dtype = omitted->instead.at(&inst);
      }
    return {reinterpret_cast<std::byte *>(&bits), dtype, dtype, dtype, Box{}};
  }

  void run_instruction(Frame &frame, const Step &step, const Instruction &inst) {
    num_numbers_ = 0;
    operands_.clear();
    for (const Use &use : inst.operands())
      operands_.push_back(view_of(frame, step, use));
    View dst;
    if (step.result != no_slot) {
      take(frame, step.result);
      const Buffer &buffer = frame.buffers[step.result];
      dst = {buffer.data, inst.dtype(), buffer.held, inst.dtype(), dense_box(inst.shape())};
    } else if (inst.has_dst()) {
      dst = view_of(frame, step, *inst.dst());
    }
    const Rounding rounding{step.omits_rounding, options_.reference};
    const Target &target = inst.function()->module().target();
    Execution run{inst, operands_, dst, rounding, target, workers_};
    if (inst.opcode() == Opcode::Opaque)
      run_opaque(run, options_.opaque);
    else if (overlaps(run))
      run_beside(run);
    else
      dispatch(run);
    if (options_.canonical_nans)
      canonicalize_written(run);
  }

  static void canonicalize_written(const Execution &run) {
    if (!run.inst.is_bare())
      canonicalize_nans(run.dst);
    for (const Use &use : run.inst.operands())
      if (writes(use))
        canonicalize_nans(run.operands[use.index()]);
  }

  // Whether writing an element may change one that is still to be read. Two tensors never share
  // memory.
  static bool overlaps(const Execution &run) {
    if (!run.inst.has_dst())
      return false;
    const Box dst = collapsed(run.dst.box);
    return std::ranges::any_of(run.operands, [&](const View &operand) {
      if (operand.data != run.dst.data)
        return false;
      const bool in_place = is_elementwise(run.inst.opcode()) && collapsed(operand.box) == dst;
      return !in_place;
    });
  }

  // Into memory of its own first, and from there to the destination.
  void run_beside(const Execution &run) {
    View dst = run.dst;
    const unsigned item = sizeinbytes(dst.held);
    const auto size = static_cast<std::size_t>(dst.box.num_elements());
    const auto memory = allocate(size * item);
    dst.data = memory.get();
    dst.box = dense_box(std::span(dst.box.size).first(dst.box.rank));
    const Box from = collapsed(run.dst.box);
    const auto count = static_cast<std::int64_t>(size);
    if (run.inst.accumulates())
      gather(run.dst.data, item, from, 0, count, dst.data);
    dispatch({run.inst, run.operands, dst, run.rounding, run.target, run.workers});
    scatter(dst.data, item, from, 0, count, run.dst.data);
  }

  static void dispatch(const Execution &run) {
    switch (run.inst.opcode()) {
    case Opcode::Activation:
    case Opcode::TensorScalar:
    case Opcode::TensorTensor:
      return run_arithmetic(run);
    case Opcode::Select:
      return run_select(run);
    case Opcode::TensorReduce:
      return run_reduce(run);
    case Opcode::Matmul:
      return run_matmul(run);
    default:
      return run_move(run);
    }
  }

  // The callee works on the caller's memory. Its outputs start as zero bytes.
  void call(const Instruction &inst) {
    const FunctionPlan &plan = plans_.of(*inst.callee());
    push_frame(plan);
    Frame &caller = frames_[frames_.size() - 2];
    Frame &callee = frames_.back();
    const Step &step = caller.plan->steps[caller.step];
    for (const Use &use : inst.operands()) {
      const View view = view_of(caller, step, use);
      const std::uint32_t slot = plan.interface[use.index()];
      const bool output = use.index() >= plan.function->num_inputs();
      Buffer &buffer = callee.buffers[slot];
      if (use.reinterprets() && view.held != view.tensor_dtype) {
        bind_copy(inst, view, callee, slot, output, use.index());
        continue;
      }
      buffer.data = view.data;
      buffer.held = view.read_dtype();
      buffer.splat = caller.buffers[caller.plan->use_slots[step.first_use + use.index()]].splat;
      if (output)
        std::memset(buffer.data, 0, bytes_of(*use.value(), buffer.held));
    }
  }

  void bind_copy(const Instruction &inst, const View &view, Frame &callee, std::uint32_t slot,
                 bool output, std::uint32_t operand) {
    Buffer &buffer = callee.buffers[slot];
    buffer.held = view.dtype;
    take(callee, slot);
    if (output) {
      callee.copied.push_back({slot, operand});
      return;
    }
    const View copy{buffer.data, view.dtype, view.dtype, view.dtype,
                    dense_box(inst.operand(operand).shape())};
    copy_view(inst, view, copy);
  }

  void copy_view(const Instruction &inst, const View &from, const View &to) {
    const Execution run{
        inst, {}, to, {false, options_.reference}, inst.function()->module().target(), workers_};
    copy_elements(run, Source(from), from.read_dtype(), to, CastRule::ExactInts);
  }

  void return_to_caller() {
    const Frame callee = std::move(frames_.back());
    frames_.pop_back();
    Frame &caller = frames_.back();
    const Step &step = caller.plan->steps[caller.step];
    const auto &inst = *cast<Instruction>(step.stmt);
    for (const CopiedOutput &output : callee.copied) {
      const Use &use = inst.operand(output.operand);
      const DType dtype = use.dtype();
      const View copy{callee.buffers[output.callee_slot].data, dtype, dtype, dtype,
                      dense_box(use.shape())};
      copy_view(inst, copy, view_of(caller, step, use));
    }
    finish_step(caller, step);
  }

  // The outputs of the function as their types have them, or as float64.
  std::vector<HostTensor> outputs() {
    Frame &frame = frames_.back();
    const Function &function = *frame.plan->function;
    std::vector<HostTensor> tensors;
    for (std::size_t i = function.num_inputs(); i < frame.plan->interface.size(); ++i) {
      const std::uint32_t slot = frame.plan->interface[i];
      const Value &value = *frame.plan->slots[slot].value;
      Buffer &buffer = frame.buffers[slot];
      const DType dtype = options_.reference ? buffer.held : value.dtype();
      TypeTable &types = function.module().types();
      HostTensor tensor{types.with_dtype(value.type(), dtype),
                        std::vector<std::byte>(bytes_of(value, dtype))};
      cast_codes(buffer.held, dtype, buffer.data, tensor.bytes.data(),
                 static_cast<std::size_t>(value.type()->num_elements()), CastRule::Device);
      buffer.own.reset();
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  const Plans &plans_;
  const EvalOptions &options_;
  Workers workers_;
  std::vector<Frame> frames_; // of the functions that are running, the innermost last
  std::vector<View> operands_;
  std::array<std::uint64_t, 2> numbers_{}; // that operands_ refers to: no opcode has more
  std::size_t num_numbers_ = 0;
};

// Inputs, outputs (twice: as held and as returned), and what the function takes itself.
std::uint64_t total_bytes(const FunctionPlan &plan, const EvalOptions &options) {
  std::uint64_t total = plan.peak;
  for (std::size_t i = 0; i < plan.interface.size(); ++i) {
    const Slot &slot = plan.slots[plan.interface[i]];
    const auto bytes = static_cast<std::uint64_t>(slot.value->type()->size_in_bytes());
    total = saturating_add(total, bytes);
    if (i < plan.function->num_inputs())
      continue;
    const unsigned bytes_of_element = sizeinbytes(slot.value->dtype());
    for (unsigned done = 0; done < sizeinbytes(slot.held); done += bytes_of_element)
      total = saturating_add(total, bytes);
    if (options.reference) // returned as held
      for (unsigned done = 0; done < sizeinbytes(slot.held); done += bytes_of_element)
        total = saturating_add(total, bytes);
  }
  return total;
}

std::string interface_error(const Function &function, std::span<const HostTensor> inputs) {
  if (inputs.size() != function.num_inputs())
    return fmt::format("found {} inputs, expected {}", inputs.size(), function.num_inputs());
  std::size_t i = 0;
  for (const Tensor *tensor = function.first_tensor(); tensor; tensor = tensor->next()) {
    if (tensor->role() != Role::Input)
      continue;
    const HostTensor &input = inputs[i++];
    const std::string name = quoted_name(function.module().names(), '$', tensor->name());
    if (input.type == nullptr || input.type->dtype() != tensor->dtype() ||
        !std::ranges::equal(input.type->shape(), tensor->shape()))
      return fmt::format("input {} is {}, expected {}", name,
                         input.type == nullptr ? "without a type" : to_string(*input.type),
                         to_string(*tensor->type()));
    if (input.bytes.size() != static_cast<std::size_t>(tensor->type()->size_in_bytes()))
      return fmt::format("input {} has {} bytes, expected {}", name, input.bytes.size(),
                         tensor->type()->size_in_bytes());
  }
  return {};
}

} // namespace
} // namespace eval

std::string memory_refusal(const Function &function, std::uint64_t needed,
                           const EvalOptions &options) {
  if (needed <= options.memory_limit)
    return {};
  return fmt::format("{} needs up to {} bytes of memory, the limit is {}",
                     quoted_name(function.module().names(), '@', function.name()), needed,
                     options.memory_limit);
}

tl::expected<std::uint64_t, EvalError> required_memory(const Function &function,
                                                       const EvalOptions &options) {
  eval::Plans plans;
  if (auto built = plans.build(function, options); !built)
    return tl::unexpected(built.error());
  return eval::total_bytes(plans.of(function), options);
}

tl::expected<std::vector<HostTensor>, EvalError>
evaluate(const Function &function, std::span<const HostTensor> inputs, const EvalOptions &options) {
  if (std::string message = eval::interface_error(function, inputs); !message.empty())
    return tl::unexpected(EvalError{function.source(), std::move(message)});
  eval::Plans plans;
  if (auto built = plans.build(function, options); !built)
    return tl::unexpected(built.error());
  const std::uint64_t needed = eval::total_bytes(plans.of(function), options);
  if (std::string message = memory_refusal(function, needed, options); !message.empty())
    return tl::unexpected(EvalError{function.source(), std::move(message)});
  try {
    return eval::Machine(plans, options).run(function, inputs);
  } catch (const eval::OutOfMemory &error) {
    return tl::unexpected(
        EvalError{function.source(), fmt::format("the system gave no {} bytes", error.bytes)});
  } catch (const std::bad_alloc &) {
    return tl::unexpected(EvalError{function.source(), "the system gave no more memory"});
  }
}

} // namespace nir
