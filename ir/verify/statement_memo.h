#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/verify/verifier.h"

namespace nir {

// Kinds of statements: two are of one kind where all is alike that the rules of a statement look
// at, which is the opcode with its functions, operators and flags, the attributes, the type of the
// result, and of each operand its kind, type and access, for a tensor its space and role. Good for
// one module, as long as nothing in it is retyped.
class StatementKinds {
public:
  // Whether a statement of this kind was remembered. It may be forgotten.
  bool knows(const Instruction &inst);
  // Remembers the kind of the statement that was asked for last.
  void remember();

private:
  static constexpr unsigned max_uses = 4; // those with more are of no kind
  static constexpr unsigned key_words = 4 + 2 * max_uses;
  static constexpr std::size_t num_slots = 512;
  using Key = std::array<std::uint64_t, key_words>;

  std::vector<Key> slots_ = std::vector<Key>(num_slots);
  Key key_{};            // of the statement asked for last
  std::size_t size_ = 0; // words of it that count; 0 where it is of no kind
};

// Checks statements as verify_statement and warn_about_statement do, but once a kind where nothing
// is said of it.
class StatementMemo {
public:
  // `diagnostics` gets what is said, where `locator` finds it. Returns whether the rules hold.
  bool check(const Instruction &inst, const StmtLocator &locator, DiagnosticEngine &diagnostics) {
    return kinds_.knows(inst) || check_slowly(inst, locator, diagnostics);
  }
  // For modules without a text: a note of each diagnostic shows the statement.
  bool check(const Instruction &inst, DiagnosticEngine &diagnostics);

private:
  static constexpr unsigned max_said = 100; // errors of one statement, which may have any size

  bool check_slowly(const Instruction &inst, const StmtLocator &locator,
                    DiagnosticEngine &diagnostics);

  StatementKinds kinds_;
  DiagnosticEngine said_{max_said};
  StmtLocator locator_;
};

} // namespace nir
