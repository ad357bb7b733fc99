// absorb-widening: drops a widening cast by letting its readers read the narrow dtype themselves.
//
//   turn:  %w = tensor_copy %n : float32[…]          into:  %r = reshape %n : bfloat16[…]
//          %r = reshape %w : float32[…]                     %e = activation exp %r : float32[…]
//          %e = activation exp %r : float32[…]
//
// Requires: verified IR. Preserves: legal form, order, interfaces. Rounding: none goes and none
// comes. Every reader converts what it reads to fp32 itself, and the wide dtype holds the narrow
// one; for readers that only copy, the triple narrow, wide, written must be exact.
//
// Each reader of a cast is decided by itself: one that cannot read the narrow dtype keeps the cast,
// the others read its source. A mover is retyped where all its operands become narrow and all its
// readers can read that: movers start as narrow, and what turns out to stay wide takes its
// neighbours along. Casts to the widest dtypes come first, so that a cast of a cast goes before the
// cast that it reads. Each round looks at each of its values and uses a constant number of times,
// and there is one round a dtype: O(instructions + uses).
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "ir/core/stmt_map.h"
#include "ir/numeric/cast_triple.h"
#include "passes/core/common_options.h"
#include "passes/core/pass.h"
#include "passes/rewrite/bytes_moved.h"
#include "passes/rewrite/moved_read.h"
#include "passes/rewrite/mutate.h"
#include "passes/rewrite/rewrite_log.h"

namespace nir::passes {
namespace {

enum Statistic : unsigned { CastsAbsorbed, BytesAbsorbed, ReadersNarrowed, BytesMovedSaved };

constexpr PassStatistic statistics[] = {
    {"Number of casts absorbed", "casts"},
    {"Number of bytes of casts absorbed", "bytes"},
    {"Number of operands that read the narrow dtype", "operands"},
    {"Number of bytes moved saved", "bytes"},
};

constexpr PassOption options[] = {
    profit_option,
};

// Why something cannot become narrow, and the instruction that is to blame.
struct Obstacle {
  const char *reason = nullptr;
  const Instruction *at = nullptr;
  explicit operator bool() const { return reason != nullptr; }
};

// A cast whose source its readers may read, or a mover of what such casts define, with the dtype
// that it would have.
struct Narrowed {
  DType narrow;
  Obstacle obstacle;
};

// What is to become of the uses of a cast.
struct Choice {
  std::uint32_t num_narrowed = 0; // that will read its source
  std::uint32_t num_uses = 0;
};

// What keeps a cast from being looked at; nullptr where it is a candidate.
const char *why_no_candidate(const Instruction &cast) {
  const DType narrow = cast.src()->dtype();
  const DType wide = cast.dst_dtype();
  if (cast.is_fixed())
    return "the cast is fixed";
  if (!is_float_type(narrow) || !is_float_type(wide))
    return "the cast is not between floats";
  if (!holds(wide, narrow))
    return "the cast does not widen";
  if (cast.src()->reinterprets())
    return "it reads a reinterpreting access";
  if (cast.use_empty())
    return "nothing reads it";
  return nullptr;
}

// Dtypes in an order in which none follows another that it holds.
std::array<DType, num_dtypes> widest_first() {
  std::array<DType, num_dtypes> order{};
  std::ranges::copy(all_dtypes(), order.begin());
  const auto held = [](DType dtype) {
    return std::ranges::count_if(all_dtypes(), [&](DType other) {
      return is_float_type(dtype) && is_float_type(other) && holds(dtype, other);
    });
  };
  std::ranges::stable_sort(order, std::ranges::greater(), held);
  return order;
}

// One round: the casts of a function to one dtype.
class Round {
public:
  // `values` is memory that rounds share.
  Round(Function &function, PassContext &context, MovedReads &moved_read, StmtMap<Narrowed> &values,
        DType wide)
      : target_(function.module().target()), types_(function.module().types()), context_(context),
        moved_read_(moved_read), wide_(wide), values_(values) {
    values_.clear();
  }

  bool run(const LargeVector<Instruction *> &casts) {
    casts_.reserve(casts.size());
    values_.reserve(casts.size());
    for (Instruction *cast : Prefetched(casts)) {
      if (!is_cast(*cast))
        continue; // an earlier round has given it the source of the cast that it undoes
      if (const char *reason = why_cast_stays(*cast))
        decline(*cast, {reason, nullptr});
      else
        add(*cast);
    }
    for (std::size_t i = 0; i < movers_.size(); ++i)
      add_movers_of(*movers_[i]);
    keep_wide_movers();
    choose_uses();
    return rewrite();
  }

private:
  const char *why_cast_stays(const Instruction &cast) {
    if (const char *reason = why_no_candidate(cast))
      return reason;
    const Tensor *tensor = cast.src()->tensor();
    return tensor == nullptr ? nullptr : moved_read_.why_read_stays(*tensor, cast);
  }

  void add(Instruction &cast) {
    casts_.push_back(&cast);
    values_.try_emplace(cast, {cast.src()->dtype(), {}});
    add_movers_of(cast);
  }

  // What a cast or mover leads to.
  void add_movers_of(const Instruction &value) {
    const DType narrow = values_.find(&value)->narrow;
    for (const Use &use : value.uses()) {
      Instruction &user = *use.user();
      const bool moves = user.has_trait(op_trait::Mover) && user.defines_value();
      if (moves && values_.try_emplace(user, {narrow, {}}))
        movers_.push_back(&user);
    }
  }

  // Finds the movers that must stay wide, and with each what cannot be narrow without it.
  void keep_wide_movers() {
    std::vector<const Instruction *> queue;
    for (Instruction *mover : movers_)
      if (const Obstacle obstacle = why_mover_stays(*mover))
        keep_wide(*mover, obstacle, queue);
    for (std::size_t i = 0; i < queue.size(); ++i)
      keep_wide_neighbours(*queue[i], queue);
  }

  void keep_wide(const Instruction &inst, Obstacle obstacle,
                 std::vector<const Instruction *> &queue) {
    Narrowed *found = values_.find(&inst);
    if (found == nullptr || found->obstacle || !inst.has_trait(op_trait::Mover))
      return;
    found->obstacle = obstacle;
    queue.push_back(&inst);
  }

  void keep_wide_neighbours(const Instruction &mover, std::vector<const Instruction *> &queue) {
    for (const Use &operand : mover.operands())
      if (const Instruction *def = operand.defining_instruction())
        keep_wide(*def, values_.find(&mover)->obstacle, queue);
    for (const Use &use : mover.uses()) {
      const Instruction &user = *use.user();
      keep_wide(user, {"another operand of a mover stays wide", &user}, queue);
      for (const Use &operand : user.matched_operands())
        if (const Instruction *def = operand.defining_instruction())
          keep_wide(*def, {"an operation would not be in legal form", &user}, queue);
    }
  }

  Obstacle why_mover_stays(const Instruction &mover) const {
    if (mover.is_fixed())
      return {"a mover is fixed", &mover};
    const DType narrow = values_.find(&mover)->narrow;
    for (const Use &operand : mover.operands())
      if (!becomes(operand, narrow))
        return {"another operand of a mover stays wide", &mover};
    for (const Use &use : mover.uses())
      if (const Obstacle obstacle = why_use_stays(use, narrow))
        return obstacle;
    return {};
  }

  // Whether the operand will be of the narrow dtype.
  bool becomes(const Use &operand, DType narrow) const {
    const Narrowed *found = values_.find(operand.defining_instruction());
    return found != nullptr && found->narrow == narrow && !found->obstacle;
  }

  // Why the reader of a wide value cannot read it in the narrow dtype.
  Obstacle why_use_stays(const Use &use, DType narrow) const {
    const Instruction &user = *use.user();
    if (user.has_trait(op_trait::Mover)) {
      const Narrowed *found = values_.find(&user);
      return found == nullptr ? Obstacle{"a mover writes a tensor", &user} : found->obstacle;
    }
    return {why_reader_refuses(use, narrow), &user};
  }

  const char *why_reader_refuses(const Use &use, DType narrow) const {
    const Instruction &user = *use.user();
    if (user.has_trait(op_trait::NeverDead))
      return "a call or opaque was given its value";
    if (user.has_trait(op_trait::Dma) && !target_.dma_cast)
      return "its store would need a DMA cast, which the target lacks";
    if (user.has_trait(op_trait::CopiesBits) && !triple_is_exact(narrow, wide_, user.dst_dtype()))
      return "a copy would not pass the narrow dtype as it passes the wide one";
    if (user.opcode() == Opcode::Matmul &&
        !(target_.multiplies(narrow) && target_.multiplies(wide_)))
      return "the target would multiply another dtype";
    for (const Use &operand : user.matched_operands())
      if (!becomes(operand, narrow))
        return "an operation would not be in legal form";
    return nullptr;
  }

  // The uses of each cast that can read its source; all are chosen before any is changed.
  void choose_uses() {
    choices_.reserve(casts_.size());
    narrowed_uses_.reserve(casts_.size());
    for (const Instruction *cast : Prefetched(casts_)) {
      Choice &choice = choices_.emplace_back();
      const DType narrow = values_.find(cast)->narrow;
      for (Use &use : cast->uses()) {
        ++choice.num_uses;
        if (why_use_stays(use, narrow))
          continue;
        narrowed_uses_.push_back(&use);
        ++choice.num_narrowed;
      }
      if (context_.wants_missed())
        obstacles_.push_back(first_obstacle(*cast, narrow));
    }
  }

  // Of the use that comes first in program order.
  Obstacle first_obstacle(const Instruction &cast, DType narrow) const {
    Obstacle first;
    std::uint32_t first_order = 0;
    for (const Use &use : cast.uses()) {
      const std::uint32_t order = use.user()->order();
      if (first && first_order <= order)
        continue;
      if (const Obstacle obstacle = why_use_stays(use, narrow)) {
        first = obstacle;
        first_order = order;
      }
    }
    return first;
  }

  bool rewrite() {
    std::span<Use *const> narrowed = narrowed_uses_;
    std::size_t i = 0;
    for (Instruction *cast : Prefetched(casts_)) {
      const std::size_t num_narrowed = choices_[i].num_narrowed;
      rewrite_uses(*cast, i, narrowed.first(num_narrowed));
      narrowed = narrowed.subspan(num_narrowed);
      ++i;
    }
    for (Instruction *mover : movers_)
      if (const Narrowed &value = *values_.find(mover); !value.obstacle)
        retype(*mover, value.narrow);
    return !narrowed_uses_.empty();
  }

  // Of cast number `i`.
  void rewrite_uses(Instruction &cast, std::size_t i, std::span<Use *const> narrowed) {
    const Choice &choice = choices_[i];
    if (!narrowed.empty()) {
      if (context_.wants_applied())
        context_.remark(RemarkClass::Exact, cast, describe_change(cast, choice));
      const Use &src = *cast.src();
      for (Use *use : narrowed) {
        count_saved(bytes_moved(*use, wide_), bytes_moved(*use, src.dtype()));
        use->set(src.value(), src.access());
      }
      context_.count(ReadersNarrowed, choice.num_narrowed);
    }
    if (choice.num_narrowed == choice.num_uses)
      erase(cast);
    else if (context_.wants_missed())
      decline(cast, obstacles_[i]);
  }

  void erase(Instruction &cast) {
    if (RewriteLog *log = context_.rewrites())
      log->bypassed(cast, true);
    context_.count(CastsAbsorbed);
    context_.count(BytesAbsorbed, cast_bytes(cast));
    count_saved(bytes_moved(cast), 0);
    cast.erase();
  }

  void retype(Instruction &mover, DType narrow) {
    count_saved(bytes_moved_through(mover, wide_), bytes_moved_through(mover, narrow));
    mover.set_result_type(types_.with_dtype(mover.type(), narrow));
    const auto num_uses = std::ranges::distance(mover.uses().begin(), mover.uses().end());
    context_.count(ReadersNarrowed, static_cast<std::uint64_t>(num_uses));
  }

  void count_saved(std::uint64_t before, std::uint64_t after) {
    context_.count(BytesMovedSaved, before - std::min(before, after));
  }

  void decline(const Instruction &cast, const Obstacle &obstacle) {
    if (context_.wants_missed())
      context_.remark(RemarkClass::Declined, cast, name_dtypes(cast) + explain(obstacle));
  }

  static std::string name_dtypes(const Instruction &cast) {
    return fmt::format("{} -> {}: ", dtype2str(cast.src()->dtype()), dtype2str(cast.dst_dtype()));
  }

  static std::string explain(const Obstacle &obstacle) {
    if (obstacle.at == nullptr)
      return obstacle.reason;
    return fmt::format("{} (reader: {})", obstacle.reason, describe(*obstacle.at));
  }

  static std::string describe_change(const Instruction &cast, const Choice &choice) {
    const std::string_view narrow = dtype2str(cast.src()->dtype());
    if (choice.num_narrowed == choice.num_uses)
      return fmt::format("{}removed, {} operand{} read{} {}", name_dtypes(cast), choice.num_uses,
                         choice.num_uses == 1 ? "" : "s", choice.num_uses == 1 ? "s" : "", narrow);
    return fmt::format("{}{} of {} operands read {}", name_dtypes(cast), choice.num_narrowed,
                       choice.num_uses, narrow);
  }

  const Target &target_;
  TypeTable &types_;
  PassContext &context_;
  MovedReads &moved_read_;
  const DType wide_;
  LargeVector<Instruction *> casts_;
  LargeVector<Choice> choices_;      // of casts_
  LargeVector<Use *> narrowed_uses_; // of the casts, one after the other
  std::vector<Obstacle> obstacles_;  // of casts_, where somebody wants to know
  std::vector<Instruction *> movers_;
  StmtMap<Narrowed> &values_; // casts_ and movers_
};

class AbsorbWidening : public FunctionPass {
public:
  bool run(Function &function, PassContext &context) override {
    std::array<LargeVector<Instruction *>, num_dtypes> casts_to;
    bool any = false;
    for (Stmt &stmt : function.statements())
      if (Instruction *inst = dyn_cast<Instruction>(&stmt);
          inst != nullptr && inst->defines_value() && is_cast(*inst)) {
        casts_to[dtype_index(inst->dtype())].push_back(inst);
        any = true;
      }
    if (!any)
      return false;

    static const std::array<DType, num_dtypes> order = widest_first();
    function.ensure_orders();
    MovedReads moved_read(function);
    StmtMap<Narrowed> values(function);
    bool changed = false;
    for (const DType wide : order)
      if (const auto &casts = casts_to[dtype_index(wide)]; !casts.empty())
        changed |= Round(function, context, moved_read, values, wide).run(casts);
    return changed;
  }
};

} // namespace

extern const PassInfo pass_absorb_widening{
    .name = "absorb-widening",
    .description = "drops a widening cast whose readers can read the narrow dtype themselves",
    .options = options,
    .statistics = statistics,
    .create = [](const PassOptions &) -> std::unique_ptr<Pass> {
      return std::make_unique<AbsorbWidening>();
    }};

} // namespace nir::passes
