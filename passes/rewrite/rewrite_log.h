#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/core/module.h"

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

// A rounding that a pass has added.
struct AddedRounding {
  std::uint32_t instruction; // its place in program order in the module as it is after the pass
  DType instead;             // what it wrote before, or, for a new cast, what it reads
  // The code of `instead` that a memset had as its number before that was rounded with its dtype.
  std::optional<std::uint64_t> number = std::nullopt;
};

// What the rewrites of one run of a pass claim about numbers: which roundings of the module before
// it are gone, and which of the module after it are new. All else claims to be the same, bit for
// bit: the module before, without the former, computes what the module after computes without the
// latter.
//
// A removed rounding belongs to the instruction that made it before the pass. When an instruction
// absorbs a copy it rounds where the copy did, so a later rewrite that drops this rounding drops
// the copy's.
class RewriteLog {
public:
  // Numbers the module's instructions. Until the log goes, the arena recycles no memory, so that an
  // erased instruction is never taken for another.
  explicit RewriteLog(Module &module);

  // `producer` is about to write what `copy` writes, and `copy` to go. Where that is not exact, the
  // producer's own rounding is gone.
  void absorbed(const Instruction &producer, const Instruction &copy, bool exact);
  // What `load` moves of a const is about to be cast at compile time as `copy` casts it, and `copy`
  // to go: the same rounding, made earlier.
  void baked(const Instruction &load, const Instruction &copy);
  // What reads the result of `copy` is about to read its source instead.
  void bypassed(const Instruction &copy, bool exact);
  // `producer` is about to write `dtype`, which holds what it wrote, and all that read its result
  // to read that.
  void widened(const Instruction &producer, DType dtype);
  // `inst` is, or is about to be, a new cast, or an instruction that writes less than before; what
  // reads its result found codes of `instead` there. Forgotten where `inst` is erased later on. Of
  // a memset it must be said before its number changes.
  void added(const Instruction &inst, DType instead);

  const std::vector<RemovedRounding> &removed() const { return removed_; }
  // To be asked after the pass: looks its instructions up in the module as it is.
  std::vector<AddedRounding> added() const;

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
  RecyclingPause pause_;
  std::unordered_map<const Instruction *, std::uint32_t> index_; // never iterated, as roundings_
  std::unordered_map<const Instruction *, Roundings> roundings_;
  std::vector<RemovedRounding> removed_;
  std::unordered_map<const Instruction *, AddedRounding> added_; // asked only, never walked
};

} // namespace nir
