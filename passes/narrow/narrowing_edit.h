#pragma once

#include <cstdint>
#include <vector>

#include "passes/core/pass.h"

namespace nir {

// What an inserting pass has done to one function.
struct NarrowingCounts {
  std::uint64_t casts = 0; // inserted
  std::uint64_t cast_bytes = 0;
  std::uint64_t values = 0;  // retyped in place
  std::uint64_t tensors = 0; // likewise
  std::uint64_t folded = 0;  // widening casts whose readers read the source instead
  std::uint64_t shrunk = 0;  // tensors
  std::uint64_t bytes_saved = 0;

  bool any() const { return casts + values + tensors + folded + shrunk != 0; }
};

// Whether the instruction may write another float dtype than float32, as far as it decides: not
// whether its destination and those that read it agree (passes, can_mutate_dst_ty).
bool may_write_narrow(const Instruction &inst);

// Whether the instruction is a copy of a value that keeps float32. fold-noop-casts would remove it,
// so that it costs nothing; narrowed, it is a cast.
bool is_float32_copy(const Instruction &inst);

// Whether every code of `narrow` comes back from float32 as it was. It does not where a cast clamps
// infinities or drops bits (8-bit formats, float32r): then a copy through float32 rounds.
bool survives_float32(DType narrow);

// The value that a reader of `inst` may read in its place where it wants `narrow`: the source of a
// widening cast from that dtype. nullptr where `inst` is no such cast, or is fixed, or where the
// way through float32 rounds.
Value *narrow_source(const Instruction &inst, DType narrow);

// The edits of the inserting passes, with what each owes: the autocast mark, the claim, the count.
class NarrowingEdit {
public:
  NarrowingEdit(Function &function, PassContext &context, NarrowingCounts &counts);

  // The cast of a value for all its readers: right behind the definition, so that it dominates
  // them.
  Instruction &cast_behind(Instruction &def, DType dtype);
  // The operand, an access, becomes a value: its cast, right before the user.
  void cast_access(Use &use, DType dtype);

  // Retypes a float32 value or tensor in place, with the numbers of the memsets that write it.
  // `authored`: a rounding of the author's goes into what is written, so no mark is due.
  void retype(Value &object, DType dtype, bool authored);

  // The readers of a widening cast read its source, `source`; the cast goes when nobody reads it.
  void bypass(Instruction &cast, Value &source, std::span<Use *const> readers);
  // All readers of it, and the cast goes.
  void fold(Instruction &cast, Value &source);

  // Marks what was retyped and now rounds. To be called once, when every dtype is final.
  void set_marks();

private:
  struct Retyped {
    Instruction *writer;
    bool authored;
    bool number_rounds; // of a memset
  };
  Instruction &insert_cast(const Operand &src, const Type *type, const Instruction &origin,
                           Block &block, Stmt *before);
  void retype_writer(Instruction &writer, DType dtype, bool authored);
  void remark_fold(const Instruction &cast);

  Module &module_;
  PassContext &context_;
  NarrowingCounts &counts_;
  Name mark_;
  std::vector<Retyped> retyped_;
};

} // namespace nir
