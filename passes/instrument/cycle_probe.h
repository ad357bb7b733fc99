#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/instrument/instrumentation.h"
#include "passes/instrument/structural_hash.h"

namespace nir {

// Explains why a fixpoint does not end. Its state came back, so that running the rounds of the
// cycle once more shows who changes what: after each pass the module's pieces are compared with
// those at the start. Costs memory for hashes only, and nothing before there is a cycle.
class CycleProbe {
public:
  explicit CycleProbe(Module &module);

  void after_pass(const PassInfo &pass, bool says_changed, Module &module);
  // When the cycle is through and the module is as it was at the start. `where` says which rounds.
  PassFailure explain(std::string_view where, Module &module) const;

private:
  using Names = std::vector<std::string_view>;
  void find_flip(Module &module);
  std::string describe_flip(const std::string &at_start) const;

  std::vector<std::uint64_t> start_;
  std::vector<std::uint64_t> last_;
  Names changers_; // each once, in order of first appearance
  Names claimers_;
  // The first piece that the first change touched.
  std::optional<std::size_t> flip_;
  std::string flipped_; // its text then; empty where it was gone
  bool was_inserted_ = false;
  bool was_erased_ = false;
  SourceRange range_;
};

} // namespace nir
