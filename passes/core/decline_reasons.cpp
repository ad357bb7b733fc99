#include "passes/core/decline_reasons.h"

#include <algorithm>

namespace nir {

void DeclineReasons::declined(const PassInfo &pass, const Stmt &cast, std::string reason) {
  std::vector<Reason> &reasons = reasons_[&cast];
  const auto known = std::ranges::find(reasons, &pass, &Reason::pass);
  if (known == reasons.end())
    reasons.push_back({&pass, std::move(reason)});
  else
    known->text = std::move(reason);
}

std::span<const DeclineReasons::Reason> DeclineReasons::of(const Stmt &cast) const {
  const auto known = reasons_.find(&cast);
  return known == reasons_.end() ? std::span<const Reason>() : known->second;
}

} // namespace nir
