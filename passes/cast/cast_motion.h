#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/core/pass.h"
#include "passes/rewrite/bytes_moved.h"

namespace nir {

enum class CastDirection : std::uint8_t {
  Hoist, // towards the producer: the cast of what a mover defines becomes casts of its operands
  Sink,  // towards the readers: casts that a mover reads become one cast of what it defines
};

// Moves casts past instructions that only move elements: the movers, and `transpose` and `select`
// where they keep the dtype. A cast moves where that makes the bytes moved strictly fewer, so the
// two directions never undo each other. Every element meets the same casts as before: exact.
//
// One sweep over the movers, in which a cast moves as far as it can. A mover is crossed a bounded
// number of times a run, so the cost is O(instructions + uses).
class CastMotion {
public:
  enum Statistic : unsigned { CastsMoved, BytesMovedSaved };

  CastMotion(Function &function, PassContext &context, CastDirection direction);
  // Returns whether anything has moved.
  bool run();

private:
  // What crossing one mover amounts to.
  struct Plan {
    const char *obstacle = nullptr;
    BytesChange bytes;
    bool pays() const { return obstacle == nullptr && bytes.after < bytes.before; }
  };

  bool cross(Instruction &mover);
  bool may_cross(const Instruction &mover) const;
  void count_crossing(const Instruction &mover);
  void report(const std::vector<Instruction *> &casts, const std::string &past,
              const BytesChange &bytes);

  Plan plan_hoist(const Instruction &mover) const;
  void hoist(Instruction &mover, const Plan &plan);

  Plan plan_sink(const Instruction &mover) const;
  Plan plan_sink_all(const Instruction &cast) const;
  bool sink_all(Instruction &cast);
  void sink(Instruction &mover);

  void explain_what_stays();
  const Instruction *mover_next_to(const Instruction &cast) const;
  std::string explain(const Instruction &cast, const Instruction &mover);

  Function &function_;
  PassContext &context_;
  const CastDirection direction_;
  // No mover is ever erased; casts are forgotten when they are. Never iterated.
  std::unordered_map<const Instruction *, unsigned> crossings_;
  std::unordered_set<const Instruction *>
      no_group_; // casts that do not sink to all readers at once
  std::unordered_map<const Instruction *, Plan> plans_; // while explaining
};

} // namespace nir
