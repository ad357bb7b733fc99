#include "passes/pipeline/registry.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

namespace nir {

namespace passes {
#define PASS(identifier) extern const PassInfo pass_##identifier;
#include "passes/pipeline/passes.def"
#undef PASS
} // namespace passes

namespace {

std::vector<const PassInfo *> &registry() {
  static std::vector<const PassInfo *> passes{
#define PASS(identifier) &passes::pass_##identifier,
#include "passes/pipeline/passes.def"
#undef PASS
  };
  return passes;
}

} // namespace

std::span<const PassInfo *const> all_passes() { return registry(); }

const PassInfo *find_pass(std::string_view name) {
  const auto it = std::ranges::find(registry(), name, &PassInfo::name);
  return it == registry().end() ? nullptr : *it;
}

void register_pass(const PassInfo &info) {
  // A name that pipelines cannot spell unambiguously is a mistake of the program, not of its user.
  if (info.name == "fixpoint" || find_pass(info.name) != nullptr) {
    fmt::print(stderr, "internal error: a pass named '{}' is already registered\n", info.name);
    std::abort();
  }
  registry().push_back(&info);
}

} // namespace nir
