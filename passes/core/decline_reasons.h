#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/core/module.h"

namespace nir {

struct PassInfo;

// Why casts stay: of each pass that looked at a cast and declined, what it said the last time.
// Watches one module at a time. From start() on the caller holds a RecyclingPause of the module's
// arena, so that an erased statement is never taken for another.
class DeclineReasons {
public:
  struct Reason {
    const PassInfo *pass;
    std::string text;
  };

  // Forgets what was.
  void start() { reasons_.clear(); }
  // The pass has looked at the cast and lets it stay.
  void declined(const PassInfo &pass, const Stmt &cast, std::string reason);
  // In order of the passes' first words; empty where none looked at the cast.
  std::span<const Reason> of(const Stmt &cast) const;

private:
  std::unordered_map<const Stmt *, std::vector<Reason>> reasons_; // asked only, never walked
};

} // namespace nir
