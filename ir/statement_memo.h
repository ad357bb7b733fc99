#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/verifier.h"

namespace nir {

// Checks statements as verify_statement and warn_about_statement do, and remembers what about those
// of which nothing was said they looked at: the next one that is alike in all of it needs no check.
// What they look at is the opcode with its functions, operators and flags, the attributes, the type
// of the result, and of each operand its kind, type and access, for a tensor its space and role.
// Good for one module, as long as nothing in it is retyped.
class StatementMemo {
public:
  // `diagnostics` gets what is said, where `locator` finds it. Returns whether the rules hold.
  bool check(const Instruction &inst, const StmtLocator &locator, DiagnosticEngine &diagnostics) {
    Key *slot = find(inst);
    return slot == nullptr || check_slowly(inst, locator, diagnostics, *slot);
  }
  // For modules without a text: a note of each diagnostic shows the statement.
  bool check(const Instruction &inst, DiagnosticEngine &diagnostics);

private:
  static constexpr unsigned max_uses = 4; // those with more are always checked
  static constexpr unsigned key_words = 4 + 2 * max_uses;
  static constexpr std::size_t num_slots = 512;
  static constexpr unsigned max_said = 100; // errors of one statement, which may have any size
  using Key = std::array<std::uint64_t, key_words>;

  // The place of a statement that is unlike those that are remembered, for `key_`; nullptr of one
  // that needs no check.
  Key *find(const Instruction &inst);
  bool check_slowly(const Instruction &inst, const StmtLocator &locator,
                    DiagnosticEngine &diagnostics, Key &slot);

  std::vector<Key> slots_ = std::vector<Key>(num_slots);
  Key key_{};     // of the statement that find could not find
  Key scratch_{}; // the place of those that are always checked
  DiagnosticEngine said_{max_said};
  StmtLocator locator_;
};

} // namespace nir
