#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/module.h"

namespace nir {

// A rounding that a pass no longer makes.
struct RemovedRounding {
  std::uint32_t instruction; // its place in program order among all instructions of the module, as
                             // the module was before the pass
  DType from;                // the dtype in which it holds its result
  DType to;                  // the dtype that it wrote
  // What those that read its result find now, without another rounding: codes of the dtype of the
  // last copy that it has absorbed, or of the source that they read in its place.
  DType instead = DType::Float32;
};

// What the rewrites of one run of a pass claim about numbers: which roundings of the module before
// it are gone. All else claims to be the same, bit for bit.
//
// A rounding belongs to the instruction that made it before the pass. When an instruction absorbs a
// copy it rounds where the copy did, so a later rewrite that drops this rounding drops the copy's.
class RewriteLog {
public:
  // Numbers the module's instructions. Until the log goes, the arena recycles no memory, so that an
  // erased instruction is never taken for another.
  explicit RewriteLog(Module &module);
  ~RewriteLog();
  RewriteLog(const RewriteLog &) = delete;
  RewriteLog &operator=(const RewriteLog &) = delete;

  // `producer` is about to write what `copy` writes, and `copy` to go. Where that is not exact, the
  // producer's own rounding is gone.
  void absorbed(const Instruction &producer, const Instruction &copy, bool exact);
  // What reads the result of `copy` is about to read its source instead.
  void bypassed(const Instruction &copy, bool exact);

  const std::vector<RemovedRounding> &removed() const { return removed_; }

private:
  using Sites = std::vector<RemovedRounding>;
  // What the result of an instruction has in it.
  struct Roundings {
    Sites made;                       // still made
    std::vector<std::size_t> removed; // no longer: indices into removed_
  };
  Roundings &roundings_of(const Instruction &inst);
  void remove(Roundings &roundings, std::size_t count, DType instead);
  void widen_readers_of(const Value &object, DType dtype);

  Module &module_;
  std::unordered_map<const Instruction *, std::uint32_t> index_; // never iterated, as roundings_
  std::unordered_map<const Instruction *, Roundings> roundings_;
  std::vector<RemovedRounding> removed_;
};

} // namespace nir
