#include "passes/narrow/narrow_matmul_inputs.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/support/saturating.h"
#include "ir/support/scratch_map.h"
#include "passes/narrow/shrink_tensor.h"
#include "passes/rewrite/bytes_moved.h"
#include "passes/sweep/drop_dead_tensors.h"

namespace nir {
namespace {

// The matmul operands that read one value.
struct ValueOperands {
  Instruction *def;
  DType wanted;
  std::vector<Use *> uses{};
};

class MatmulInputs {
public:
  MatmulInputs(Function &function, PassContext &context, const MatmulInputOptions &options,
               NarrowingCounts &counts)
      : function_(function), context_(context), options_(options), counts_(counts),
        target_(function.module().target()), edit_(function, context, counts) {
    target_.matmul_mode = options.mode;
  }

  // What died may have been the other reader of something: then there is more to do. Every further
  // round is paid by a tensor that has gone.
  bool run() {
    do
      narrow();
    while (counts_.shrunk != 0 && drop_dead_tensors(function_, &context_).any());
    return counts_.any();
  }

private:
  void narrow() {
    collect();
    for (ValueOperands &operands : values_)
      cast_value(operands);
    for (Use *use : accesses_)
      cast_access(*use);
    edit_.set_marks();
  }

  // An integer is first multiplied as float32, which has a wanted dtype of its own.
  DType wanted(DType dtype) const {
    const DType first = target_.matmul_operand_dtype(dtype).value_or(dtype);
    return target_.matmul_operand_dtype(first).value_or(first);
  }

  void collect() {
    values_.clear();
    accesses_.clear();
    refused_.clear();
    ScratchMap<const Value *, std::uint32_t> place;
    for (Stmt &stmt : function_.statements()) {
      auto *inst = dyn_cast<Instruction>(&stmt);
      if (inst == nullptr || inst->opcode() != Opcode::Matmul)
        continue;
      for (Use &use : inst->operands()) {
        if (wanted(use.dtype()) == use.dtype())
          continue;
        if (use.is_access()) {
          accesses_.push_back(&use);
          continue;
        }
        const auto next = static_cast<std::uint32_t>(values_.size());
        const auto [at, is_new] = place.try_emplace(use.value(), next);
        if (is_new)
          values_.push_back({use.defining_instruction(), wanted(use.dtype())});
        values_[*at].uses.push_back(&use);
      }
    }
  }

  void cast_value(ValueOperands &operands) {
    Instruction &def = *operands.def;
    if (Value *source = narrow_source(def, operands.wanted))
      return edit_.bypass(def, *source, operands.uses);
    const bool only_matmuls = feeds_only(operands);
    if (only_matmuls && shrink_behind(def, operands.wanted))
      return;
    const bool in_place =
        options_.profit && only_matmuls && def.dtype() == DType::Float32 && may_write_narrow(def);
    const bool becomes_cast = !in_place || is_float32_copy(def);
    const bool is_free = only_matmuls && loads_weight(def);
    if (options_.profit && becomes_cast && !is_free && declines(operands))
      return;
    if (in_place)
      return edit_.retype(def, operands.wanted, false);
    Instruction &cast = edit_.cast_behind(def, operands.wanted);
    for (Use *use : operands.uses)
      use->set(&cast);
  }

  static bool feeds_only(const ValueOperands &operands) {
    const auto uses = operands.def->uses();
    return std::ranges::distance(uses.begin(), uses.end()) ==
           static_cast<std::ptrdiff_t>(operands.uses.size());
  }

  // dtype-mutator casts a weight in dram at compile time, on every target, where one cast alone
  // reads what is loaded: the cast costs no bytes in the end.
  static bool loads_weight(const Instruction &load) {
    if (load.opcode() != Opcode::Load || load.is_fixed())
      return false;
    const Use &src = load.operand(0);
    return src.tensor()->role() == Role::Const && src.tensor()->space() == Space::Dram &&
           !src.reinterprets() && load.dtype() == src.dtype();
  }

  // Whether the tensor that `load` reads was shrunk, and the load with it.
  bool shrink_behind(Instruction &load, DType dtype) {
    if (load.opcode() != Opcode::Load || load.is_fixed() || load.dtype() != DType::Float32)
      return false;
    if (!shrink(load.operand(0), dtype))
      return false;
    edit_.retype(load, dtype, false);
    return true;
  }

  // Whether the tensor of an access was shrunk, because the user of the access is its one loader.
  bool shrink(const Use &use, DType dtype) {
    if (!options_.shrink)
      return false;
    Tensor &tensor = *use.tensor();
    if (const char *reason = why_stays(tensor, *use.user(), dtype)) {
      if (context_.wants_missed() && tensor.role() == Role::Internal)
        context_.remark(RemarkClass::Declined, *use.user(),
                        fmt::format("'{}' is not shrunk: {}", name_of(tensor), reason));
      return false;
    }
    if (context_.wants_applied())
      context_.remark(RemarkClass::Inserted, *use.user(),
                      fmt::format("'{}' is shrunk to {}", name_of(tensor), dtype2str(dtype)));
    shrink_tensor(tensor, dtype, edit_, counts_);
    return true;
  }

  // why_not_shrunk, asked once for each tensor: what refuses one loader refuses every other.
  const char *why_stays(const Tensor &tensor, const Instruction &loader, DType dtype) {
    if (const auto *known = refused_.find(&tensor))
      return *known;
    const char *reason = why_not_shrunk(tensor, loader, dtype);
    if (reason != nullptr)
      refused_.try_emplace(&tensor, reason);
    return reason;
  }

  std::string name_of(const Tensor &tensor) const {
    return quoted_name(function_.module().names(), '$', tensor.name());
  }

  void cast_access(Use &use) {
    const DType dtype = wanted(use.dtype());
    if (use.dtype() == dtype || shrink(use, dtype)) // one that read the same tensor may have been
      return;
    const BytesChange bytes{bytes_moved(use, use.dtype()),
                            saturating_add(bytes_moved(use, use.dtype()),
                                           saturating_multiply(2, bytes_moved(use, dtype)))};
    if (options_.profit && bytes.grows())
      return decline(*use.user(), use.dtype(), dtype, bytes);
    edit_.cast_access(use, dtype);
  }

  bool declines(const ValueOperands &operands) {
    const Instruction &def = *operands.def;
    BytesChange bytes;
    for (const Use *use : operands.uses) {
      bytes.before = saturating_add(bytes.before, bytes_moved(*use, def.dtype()));
      bytes.after = saturating_add(bytes.after, bytes_moved(*use, operands.wanted));
    }
    bytes.after = saturating_add(bytes.after, bytes_written(def, def.dtype()));
    bytes.after = saturating_add(bytes.after, bytes_written(def, operands.wanted));
    if (!bytes.grows())
      return false;
    decline(def, def.dtype(), operands.wanted, bytes);
    return true;
  }

  void decline(const Instruction &at, DType from, DType to, const BytesChange &bytes) {
    if (context_.wants_missed())
      context_.remark(
          RemarkClass::Declined, at,
          fmt::format("{} -> {}: {}", dtype2str(from), dtype2str(to), to_string(bytes)));
  }

  Function &function_;
  PassContext &context_;
  MatmulInputOptions options_;
  NarrowingCounts &counts_;
  Target target_; // with the mode
  NarrowingEdit edit_;
  std::vector<ValueOperands> values_;
  std::vector<Use *> accesses_;
  ScratchMap<const Tensor *, const char *> refused_; // tensors that are not shrunk, and why
};

} // namespace

bool narrow_matmul_inputs(Function &function, PassContext &context,
                          const MatmulInputOptions &options, NarrowingCounts &counts) {
  return MatmulInputs(function, context, options, counts).run();
}

} // namespace nir
