#include "passes/rewrite/bytes_moved.h"

#include <fmt/format.h>

#include "ir/support/saturating.h"

namespace nir {
namespace {

std::uint64_t bytes(std::span<const std::int64_t> shape, DType dtype, const Instruction &inst) {
  std::uint64_t product = sizeinbytes(dtype);
  for (const std::int64_t dim : shape)
    product = saturating_multiply(product, static_cast<std::uint64_t>(dim));
  return saturating_multiply(product, num_dynamic_instances(inst));
}

} // namespace

std::uint64_t bytes_moved(const Use &use, DType dtype) {
  if (use.value() == nullptr || isa<Immediate>(use.value()))
    return 0;
  const std::uint64_t once = bytes(use.shape(), dtype, *use.user());
  return reads(use) && writes(use) ? saturating_multiply(once, 2) : once;
}

std::uint64_t bytes_written(const Instruction &inst, DType dtype) {
  return bytes(inst.dst_shape(), dtype, inst);
}

std::uint64_t bytes_moved_through(const Value &object, DType dtype) {
  std::uint64_t sum = 0;
  if (const auto *inst = dyn_cast<Instruction>(&object))
    sum = bytes_written(*inst, dtype);
  for (const Use &use : object.uses())
    sum = saturating_add(sum, bytes_moved(use, dtype));
  return sum;
}

std::uint64_t BytesMovedThrough::operator()(const Value &object, DType dtype) {
  if (!object.has_n_uses_or_more(min_remembered_uses))
    return bytes_moved_through(object, dtype);
  const auto [known, is_new] = per_byte_.try_emplace(&object);
  if (is_new)
    known->second = bytes_moved_through(object, DType::Uint8);
  return saturating_multiply(known->second, sizeinbytes(dtype));
}

std::uint64_t bytes_moved(const Instruction &inst) {
  std::uint64_t sum = inst.defines_value() ? bytes_written(inst, inst.dtype()) : 0;
  for (const Use &use : inst.uses_of_operands())
    if (use.value() != nullptr)
      sum = saturating_add(sum, bytes_moved(use, use.dtype()));
  return sum;
}

std::uint64_t bytes_moved(const Function &function) {
  std::uint64_t sum = 0;
  for (const Stmt &stmt : function.statements())
    if (const auto *inst = dyn_cast<Instruction>(&stmt))
      sum = saturating_add(sum, bytes_moved(*inst));
  return sum;
}

std::uint64_t bytes_moved(const Module &module) {
  std::uint64_t sum = 0;
  for (const Function *function : module.functions())
    sum = saturating_add(sum, bytes_moved(*function));
  return sum;
}

std::string to_string(const BytesChange &change) {
  return fmt::format("bytes moved would grow from {} to {}", change.before, change.after);
}

} // namespace nir
