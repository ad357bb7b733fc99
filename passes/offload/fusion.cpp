#include "passes/offload/fusion.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/support/saturating.h"

namespace nir {
namespace {

std::string name_of(const FusionRefusal &refusal, const Function &function) {
  if (const Tensor *tensor = dyn_cast<Tensor>(refusal.about))
    return fmt::format("'{}'", quoted_name(function.module().names(), '$', tensor->name()));
  return describe(*cast<Instruction>(refusal.about));
}

std::string to_string(const FusionRefusal &refusal, const Function &function) {
  if (refusal.about == nullptr)
    return refusal.text;
  std::string text = fmt::format("{} {}", name_of(refusal, function), refusal.text);
  if (refusal.change.grows())
    text += fmt::format(": {}", to_string(refusal.change));
  return text;
}

} // namespace

std::string to_string(const DeclinedFusion &declined, const Function &function) {
  return fmt::format("fuse_src: {}; fuse_dst: {}", to_string(declined.src, function),
                     to_string(declined.dst, function));
}

FusionRefusal memcast_is_fixed(const FusionCandidate &c) {
  if (c.memcast.is_fixed())
    return refuse("is fixed", c.memcast);
  return {};
}

FusionRefusal memcast_reinterprets(const FusionCandidate &c) {
  if (c.memcast.operand(0).reinterprets())
    return refuse("is read as another dtype", c.x);
  if (c.memcast.dst()->reinterprets())
    return refuse("is written as another dtype", c.y);
  return {};
}

FusionRefusal is_not_internal(const Tensor &tensor) {
  switch (tensor.role()) {
  case Role::Internal:
    return {};
  case Role::Const:
    return refuse("is a const", tensor);
  case Role::Input:
    return refuse("is an input", tensor);
  case Role::Output:
    return refuse("is an output", tensor);
  }
  return {};
}

FusionRefusal is_reinterpreted(const Tensor &tensor) {
  for (const Use &use : tensor.uses())
    if (use.reinterprets())
      return refuse("has a reinterpreting access", tensor);
  return {};
}

FusionRefusal shapes_differ(const FusionCandidate &c) {
  if (std::ranges::equal(c.x.shape(), c.y.shape()))
    return {};
  return refuse("has another shape", c.y);
}

std::uint64_t bytes_of(const Tensor &tensor, bool (*role)(const Use &), DType dtype) {
  std::uint64_t sum = 0;
  for (const Use &use : tensor.uses())
    if (role(use))
      sum = saturating_add(sum, bytes_moved(use, dtype));
  return sum;
}

} // namespace nir
