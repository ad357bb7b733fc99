#include "driver/check/checked_evaluation.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/name/name_text.h"
#include "ir/numeric/float_format.h"
#include "ir/numeric/literal.h"
#include "ir/support/saturating.h"
#include "passes/core/pass.h"

namespace nir {
namespace {

std::uint64_t elements_of(std::span<const std::int64_t> shape) {
  std::uint64_t count = 1;
  for (const std::int64_t dim : shape)
    count = saturating_multiply(count, static_cast<std::uint64_t>(dim));
  return count;
}

// One run of an instruction, the callee of a call left out: what it reads and what it writes.
std::uint64_t work_of(const Instruction &inst) {
  if (inst.opcode() == Opcode::Matmul) {
    std::uint64_t products = elements_of(inst.dst_shape());
    for (const std::int64_t dim : inst.int_list(AttrKey::LhsContract))
      products = saturating_multiply(
          products,
          static_cast<std::uint64_t>(inst.operand(0).shape()[static_cast<std::size_t>(dim)]));
    return products;
  }
  std::uint64_t work = inst.is_bare() ? 0 : elements_of(inst.dst_shape());
  for (const Use &use : inst.operands())
    work = saturating_add(work, elements_of(use.shape()));
  return work;
}

// Functions and what they call, each after its callees.
class WorkEstimate {
public:
  std::uint64_t of(const Function &root) {
    pending_.push_back(&root);
    while (!pending_.empty()) {
      const Function &function = *pending_.back();
      const std::size_t depth = pending_.size();
      const std::uint64_t work = sum(function);
      if (pending_.size() != depth)
        continue; // its callees come first
      known_[&function] = work;
      pending_.pop_back();
    }
    return known_.at(&root);
  }

private:
  std::uint64_t sum(const Function &function) {
    std::uint64_t total = 0;
    for (const Stmt &stmt : function.statements()) {
      const auto *inst = dyn_cast<Instruction>(&stmt);
      if (inst == nullptr)
        continue;
      std::uint64_t work = work_of(*inst);
      if (inst->opcode() == Opcode::Call)
        work = saturating_add(work, of_callee(*inst->callee()));
      total = saturating_add(total, saturating_multiply(work, num_dynamic_instances(*inst)));
    }
    return total;
  }

  std::uint64_t of_callee(const Function &callee) {
    const auto found = known_.find(&callee);
    if (found != known_.end())
      return found->second;
    pending_.push_back(&callee);
    return 0;
  }

  std::unordered_map<const Function *, std::uint64_t> known_; // for look-up only
  std::vector<const Function *> pending_;
};

std::uint64_t code_at(const HostTensor &tensor, std::size_t element) {
  const unsigned item = sizeinbytes(tensor.type->dtype());
  std::uint64_t code = 0;
  std::memcpy(&code, tensor.bytes.data() + element * item, item);
  return code;
}

bool same_code(DType dtype, std::uint64_t a, std::uint64_t b) {
  if (a == b)
    return true;
  const FloatFormat *format = float_format(dtype);
  return format != nullptr && is_nan_code(*format, a) && is_nan_code(*format, b) &&
         (a & format->sign_mask()) == (b & format->sign_mask());
}

std::optional<std::size_t> first_difference(const HostTensor &before, const HostTensor &after) {
  const DType dtype = before.type->dtype();
  if (before.bytes == after.bytes)
    return std::nullopt;
  const std::size_t count = before.bytes.size() / sizeinbytes(dtype);
  for (std::size_t i = 0; i < count; ++i)
    if (!same_code(dtype, code_at(before, i), code_at(after, i)))
      return i;
  return std::nullopt;
}

const Tensor &output_of(const Function &function, std::size_t output) {
  return *function.interface()[function.num_inputs() + output];
}

} // namespace

CheckInput check_input(unsigned number) {
  return {number, number % 2 == 0 ? InputKind::Random : InputKind::Edges};
}

std::string to_string(CheckInput input) {
  return fmt::format("{} inputs of seed {}",
                     input.kind == InputKind::Random ? "random" : "edge-case", input.seed);
}

std::vector<HostTensor> make_inputs(const Function &function, CheckInput input) {
  std::vector<HostTensor> inputs;
  const NameTable &names = function.module().names();
  for (const Tensor *tensor = function.first_tensor(); tensor != nullptr; tensor = tensor->next())
    if (tensor->role() == Role::Input)
      inputs.push_back(
          make_input(tensor->type(), names.str(tensor->name()), input.seed, input.kind));
  return inputs;
}

EvalOptions check_options(const CheckLimits &limits) {
  EvalOptions options;
  options.opaque = OpaqueMode::Hash;
  options.canonical_nans = true;
  options.memory_limit = limits.memory;
  return options;
}

std::uint64_t evaluation_work(const Function &function) { return WorkEstimate().of(function); }

std::optional<EvalError> why_not_evaluated(const Function &function, const CheckLimits &limits,
                                           const EvalOptions &options) {
  const auto memory = required_memory(function, options);
  if (!memory)
    return memory.error();
  if (std::string refusal = memory_refusal(function, *memory, options); !refusal.empty())
    return EvalError{no_source, std::move(refusal)};
  const std::uint64_t work = evaluation_work(function);
  if (work > limits.work)
    return EvalError{no_source, fmt::format("it computes about {} elements, the limit is {}", work,
                                            limits.work)};
  return std::nullopt;
}

tl::expected<std::vector<Outputs>, EvalError> evaluate_all(const Function &function, unsigned count,
                                                           const EvalOptions &options) {
  std::vector<Outputs> all;
  for (unsigned i = 0; i < count; ++i) {
    auto outputs = evaluate(function, make_inputs(function, check_input(i)), options);
    if (!outputs)
      return tl::unexpected(outputs.error());
    all.push_back(std::move(*outputs));
  }
  return all;
}

std::optional<Difference> first_difference(const Outputs &before, const Outputs &after) {
  for (std::size_t i = 0; i < before.size(); ++i)
    if (const auto element = first_difference(before[i], after[i]))
      return Difference{i, *element};
  return std::nullopt;
}

std::string name_element(const Function &function, const Difference &difference) {
  const Tensor &tensor = output_of(function, difference.output);
  const std::span<const std::int64_t> shape = tensor.shape();
  std::vector<std::int64_t> index(shape.size());
  auto rest = static_cast<std::int64_t>(difference.element);
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = rest % shape[i];
    rest /= shape[i];
  }
  return fmt::format("{}[{}]", quoted_name(function.module().names(), '$', tensor.name()),
                     fmt::join(index, ", "));
}

std::string value_text(const Outputs &outputs, const Difference &difference) {
  const HostTensor &tensor = outputs[difference.output];
  const DType dtype = tensor.type->dtype();
  const std::uint64_t code = code_at(tensor, difference.element);
  const std::string bits = fmt::format("0x{:0{}x}", code, 2 * sizeinbytes(dtype));
  return is_x4_dtype(dtype) ? bits : fmt::format("{} ({})", code_to_text(dtype, code), bits);
}

} // namespace nir
