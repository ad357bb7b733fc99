// dtype-mutator: removes a cast by letting what produces its source write the cast's dtype.
//
//   turn:  %m = activation exp %x : float32[…]       into:  %m = activation exp %x : bfloat16[…]
//          %n = tensor_copy %m : bfloat16[…]                (users of %n read %m)
//
// Requires: verified IR. Preserves: legal form, order, interfaces. One forward sweep over the casts
// that there are when it begins, and from each up through the copies that become casts; every
// change removes one, so it terminates. It looks at as many casts as there are and as it removes,
// each in O(its users), and at a producer with many users once per dtype.
//
// Rounding: where the producer holds its result wider than it wrote, as where an activation writes
// float32, narrowing it is exact: the same rounding is done earlier. Where the cast made up for a
// rounding of the producer's, that one goes, and the classes of remarks decide
// (passes/cast/cast_removal.h). A const that a cast alone reads is cast at compile time, with the
// same engine (weight_caster.h), and so is one that a load narrows on its way.
//
// Gates 4 and 6 both speak of more than one reader. Gate 4 stands before mutate_load and speaks of
// what DMA delivers, a load's result: that one has one reader under every option. Gate 6 speaks of
// all other values, and mutate-multi-users lifts it. A tensor has one reader by gate 3 already.
#include <optional>

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/support/saturating.h"
#include "passes/cast/cast_removal.h"
#include "passes/cast/partition_budget.h"
#include "passes/cast/weight_caster.h"
#include "passes/core/common_options.h"
#include "passes/rewrite/bytes_moved.h"
#include "passes/rewrite/moved_read.h"
#include "passes/rewrite/mutate.h"
#include "passes/rewrite/rewrite_log.h"

namespace nir::passes {
namespace {

enum Statistic : unsigned {
  OperatorsRetyped,
  LoadsRetyped,
  WeightBytes,
  CastsFoldedIntoLoads,
  CastsRemoved,
  BytesRemoved
};
constexpr PassStatistic statistics[] = {
    {"Number of operators retyped", "operators"}, {"Number of loads retyped", "loads"},
    {"Number of bytes cast in weights", "bytes"}, {"Number of casts folded into loads", "casts"},
    {"Number of casts removed", "casts"},         {"Number of bytes of casts removed", "bytes"},
};

constexpr PassOption options[] = {
    {"mutate-multi-users",
     PassOption::Flag,
     "false",
     {},
     "retype also what more than one user reads, where none of them loses precision"},
    {"excess-precision", PassOption::Choice, "on", on_off,
     "off: remove only what is exact or what passes inserted"},
    profit_option,
};

struct Settings {
  bool multi_users;
  bool excess_precision;
  bool profit;
};

enum class DstMatch : std::uint8_t { Match, Mutated, Mismatch };

// What becomes of one offer of a dtype to an operand.
struct Plan {
  DstMatch match = DstMatch::Mismatch;
  std::string_view obstacle{};     // of a Mismatch; a constant
  Instruction *producer = nullptr; // that is retyped, if any
  Tensor *weight = nullptr;        // that is cast, if any
  RemovalKind kind{};

  static Plan mismatch(std::string_view obstacle) { return {DstMatch::Mismatch, obstacle}; }
};

// The only instruction that writes the tensor, where it has exactly one definition and one use.
Instruction *only_writer(const Tensor &tensor) {
  Instruction *writer = nullptr;
  unsigned num_readers = 0;
  for (const Use &use : tensor.uses()) {
    num_readers += reads(use) ? 1 : 0;
    if (num_readers > 1 || (writes(use) && writer != nullptr))
      return nullptr;
    if (writes(use))
      writer = use.user();
  }
  return num_readers == 1 ? writer : nullptr;
}

// Whether the instruction spreads one partition over several.
bool broadcasts_partitions(const Instruction &inst) {
  if (inst.opcode() != Opcode::Broadcast || inst.shape().empty())
    return false;
  const std::span<const std::int64_t> dims = inst.int_list(AttrKey::Dims);
  for (std::size_t k = 0; k < dims.size(); ++k)
    if (dims[k] == 0)
      return inst.operand(0).shape()[k] != inst.shape()[0];
  return inst.shape()[0] != 1;
}

// An index is held exactly only in a dtype that has it, and integers clamp it.
bool clamps_indices(const Instruction &iota, DType wanted) {
  constexpr std::int64_t held_by_all_integers = 128; // 0 … 127
  if (!is_int_type(iota.dst_dtype()) && !is_int_type(wanted))
    return false;
  const std::int64_t dim = iota.int_attr(AttrKey::Dim);
  return iota.dst_shape()[static_cast<std::size_t>(dim)] > held_by_all_integers;
}

// Beyond can_mutate_dst_ty: producers whose wide dtype their operands do not tell, and a scale that
// only a tensor_copy casts.
const char *why_producer_converts_otherwise(const Instruction &producer, DType wanted) {
  if (operands_disagree(producer))
    return "the producer's operands are not in legal form";
  const bool reads_scale =
      producer.has_trait(op_trait::WideIsSrc) && producer.src()->dtype() == DType::Float8E8m0fnu;
  if (reads_scale && producer.opcode() != Opcode::TensorCopy)
    return "only a tensor_copy may cast float8_e8m0fnu";
  if (producer.opcode() == Opcode::Iota && clamps_indices(producer, wanted))
    return "an integer dtype may not hold its indices";
  return nullptr;
}

// A cast that is about to go.
struct Removal {
  Instruction *cast;
  Tensor *weight; // that its users read then; nullptr: they read its source
};

class DTypeMutator {
public:
  DTypeMutator(Function &function, PassContext &context, const Settings &settings)
      : function_(function), context_(context), settings_(settings), moved_reads_(function),
        budget_(function), weights_(function, budget_) {}

  bool run() {
    std::vector<Instruction *> casts;
    for (Stmt &stmt : function_.statements()) {
      Instruction *inst = dyn_cast<Instruction>(&stmt);
      if (inst != nullptr && inst->defines_value() && is_cast(*inst))
        casts.push_back(inst);
    }
    bool changed = false;
    for (Instruction *cast : casts)
      changed |= try_remove_upwards(*cast);
    for (Stmt &stmt : function_.statements())
      if (Instruction *inst = dyn_cast<Instruction>(&stmt))
        changed |= try_cast_loaded_weight(*inst);
    weights_.finish();
    context_.count(WeightBytes, weights_.bytes_cast());
    return changed;
  }

private:
  // A copy that takes the dtype may itself have become a cast, which goes the same way: a chain of
  // copies would else be climbed by one a run. It stands before the cast, so the sweep is past it.
  // Users move once, from the cast straight to the top.
  bool try_remove_upwards(Instruction &cast) {
    bool changed = false;
    std::vector<Removal> climbed;
    for (Instruction *next = &cast; next != nullptr;) {
      const Use &src = *next->src();
      if (src.is_access() || src.defining_instruction()->opcode() == Opcode::Load)
        finish(climbed); // the gates look at all users
      const std::optional<Plan> plan = plan_removal(*next);
      if (!plan)
        break;
      changed = true;
      climbed.push_back({next, change_producer(*next, *plan)});
      Instruction *producer = plan->producer;
      const bool is_next = producer != nullptr && producer->defines_value() && is_cast(*producer);
      next = is_next ? producer : nullptr;
    }
    finish(climbed);
    return changed;
  }

  // How the cast can go; nothing where it stays, and then a remark has said why.
  std::optional<Plan> plan_removal(Instruction &cast) {
    if (cast.is_fixed()) {
      decline(cast, "the cast is fixed");
      return std::nullopt;
    }
    // Asked before anything changes, for then it is too late.
    const Plan plan = match(*cast.src(), cast.dst_dtype());
    if (plan.match == DstMatch::Mismatch) {
      decline(cast, plan.obstacle);
      return std::nullopt;
    }
    if (settings_.profit && plan.producer != nullptr)
      if (const BytesChange change = bytes_change(cast, plan); change.grows()) {
        if (context_.wants_missed())
          decline(cast, to_string(change));
        return std::nullopt;
      }
    if (context_.wants_applied())
      context_.remark(class_of_removal(cast, plan.kind), cast, describe_removal(cast, plan));
    return plan;
  }

  // A load that narrows a const on its way, as auto-cast leaves it: the const is cast at compile
  // time, and the load moves what is narrow already.
  bool try_cast_loaded_weight(Instruction &load) {
    if (load.opcode() != Opcode::Load || load.is_fixed())
      return false;
    Use &src = load.operand(0);
    Tensor &weight = *src.tensor();
    const DType wanted = load.dtype();
    if (weight.role() != Role::Const || src.reinterprets() ||
        sizeinbytes(wanted) >= sizeinbytes(weight.dtype()) ||
        is_no_load_dtype(wanted, weight.dtype()) ||
        weights_.why_stays(weight, wanted, false, weight.has_one_use()) != nullptr)
      return false;
    if (context_.wants_applied())
      context_.remark(RemarkClass::Exact, load,
                      fmt::format("{} -> {}: cast at compile time (tensor '{}')",
                                  dtype2str(weight.dtype()), dtype2str(wanted),
                                  quoted_name(function_.module().names(), '$', weight.name())));
    src.set(&weights_.cast(weight, wanted, false), src.access());
    load.set_autocast(Name()); // its rounding is in the const now
    return true;
  }

  static bool is_no_load_dtype(DType a, DType b) {
    return a == DType::Float8E5 || b == DType::Float8E5;
  }

  // match_or_mutate_dst_ty up to the change itself; the operand is the source of a copy to
  // `wanted`, whose users are to read it.
  Plan match(Use &operand, DType wanted) {
    const Instruction &cast = *operand.user();
    Plan plan = pass_gates(operand, wanted);
    if (plan.match == DstMatch::Mismatch)
      return plan;
    const RemarkClass remark_class = class_of_removal(cast, plan.kind);
    if (const char *reason =
            why_rounding_stays(remark_class, function_, settings_.excess_precision))
      return Plan::mismatch(reason);
    const Tensor *tensor = operand.tensor();
    if (tensor == nullptr)
      return plan;
    if (const char *reason = moved_reads_.why_read_stays(*tensor, cast))
      return Plan::mismatch(reason);
    if (plan.producer != nullptr && budget_.overflows(*tensor, wanted))
      return Plan::mismatch(PartitionBudget::overflow);
    return plan;
  }

  // The gates of the contract, in its order: the first failure wins.
  Plan pass_gates(Use &operand, DType wanted) {
    if (operand.dtype() == wanted)
      return {DstMatch::Match};
    if (operand.reinterprets())
      return Plan::mismatch("a reinterpreting access");
    const Instruction &cast = *operand.user();
    Tensor *tensor = operand.tensor();
    if (tensor != nullptr && tensor->role() == Role::Const)
      return cast_weight(*tensor, cast, tensor->has_one_use());
    Instruction *producer =
        tensor != nullptr ? only_writer(*tensor) : operand.defining_instruction();
    if (producer == nullptr)
      return Plan::mismatch("the tensor has not exactly one definition and one use");
    if (producer->opcode() == Opcode::Load)
      return operand.value()->has_one_use() ? mutate_load(*producer, cast)
                                            : Plan::mismatch("it has more than one reader");
    if (tensor == nullptr && !operand.value()->has_one_use() && !settings_.multi_users)
      return Plan::mismatch("it has more than one user, and mutate-multi-users is off");
    return mutate(*producer, cast);
  }

  // can_mutate_dst_ty, and what a removed rounding would amount to.
  Plan mutate(Instruction &producer, const Instruction &cast) {
    if (producer.has_trait(op_trait::NeverDead) && !producer.defines_value() && !producer.has_dst())
      return Plan::mismatch("a call or opaque writes the tensor");
    const DType wanted = cast.dst_dtype();
    if (const char *reason = mutability_.why_fixed(producer, wanted, cast))
      return Plan::mismatch(reason);
    if (const char *reason = why_producer_converts_otherwise(producer, wanted))
      return Plan::mismatch(reason);
    return absorb(producer, cast);
  }

  static Plan absorb(Instruction &producer, const Instruction &cast) {
    const bool exact = absorbing_copy_is_exact(producer, cast);
    if (const char *reason = why_exact_ints_stay(producer, cast, exact))
      return Plan::mismatch(reason);
    if (const char *reason = why_clamp_stays(producer, cast, exact))
      return Plan::mismatch(reason);
    return {DstMatch::Mutated, {}, &producer, nullptr, {exact, !producer.autocast().empty()}};
  }

  Plan mutate_load(Instruction &load, const Instruction &cast) {
    const DType wanted = cast.dst_dtype();
    if (load.dtype() == DType::Float16 &&
        (wanted == DType::Bfloat16 || wanted == DType::Float32r) && feeds_broadcast(cast))
      return Plan::mismatch("float16 goes through a partition broadcast");
    if (is_no_load_dtype(load.dtype(), wanted))
      return Plan::mismatch("a load takes no cast from or to float8e5");
    Tensor *weight = load.operand(0).tensor();
    if (weight->role() == Role::Const)
      return mutate_weight_load(load, *weight, cast);
    if (!function_.module().target().dma_cast)
      return Plan::mismatch("Can only cast weight: the target has no DMA cast");
    return mutate(load, cast);
  }

  static bool feeds_broadcast(const Instruction &cast) {
    for (const Use &use : cast.uses())
      if (broadcasts_partitions(*use.user()))
        return true;
    return false;
  }

  // The load then reads a const of its own new dtype, so that the target need not cast.
  Plan mutate_weight_load(Instruction &load, Tensor &weight, const Instruction &cast) {
    if (load.is_fixed())
      return Plan::mismatch("the producer is fixed");
    if (load.operand(0).reinterprets())
      return Plan::mismatch("a reinterpreting access");
    if (cast.dst_dtype() == DType::Float8E8m0fnu)
      return Plan::mismatch("only a tensor_copy may write float8_e8m0fnu");
    Plan plan = weight.dtype() == cast.dst_dtype()
                    ? Plan{DstMatch::Mutated}
                    : cast_weight(weight, cast, weight.has_one_use());
    if (plan.match == DstMatch::Mismatch)
      return plan;
    if (load.dtype() != weight.dtype()) {
      const Plan absorbed = absorb(load, cast);
      if (absorbed.match == DstMatch::Mismatch)
        return absorbed;
      plan.kind = absorbed.kind;
    }
    plan.producer = &load;
    return plan;
  }

  Plan cast_weight(Tensor &weight, const Instruction &cast, bool moves_last) {
    if (const char *reason =
            weights_.why_stays(weight, cast.dst_dtype(), cast.exact_ints(), moves_last))
      return Plan::mismatch(reason);
    return {DstMatch::Mutated, {}, nullptr, &weight};
  }

  // The producer's result is retyped with all that read it, and a const with the load that reads
  // it; the cast goes, and its users read at the same width from elsewhere.
  BytesChange bytes_change(const Instruction &cast, const Plan &plan) {
    const Value &object = *cast.src()->value();
    const DType wanted = cast.dst_dtype();
    BytesChange change{
        saturating_add(bytes_through_(object, object.dtype()), bytes_written(cast, wanted)),
        bytes_through_(object, wanted) - bytes_moved(*cast.src(), wanted)};
    if (plan.weight == nullptr)
      return change;
    const Use &read = plan.producer->operand(0);
    change.before = saturating_add(change.before, bytes_moved(read, read.dtype()));
    change.after = saturating_add(change.after, bytes_moved(read, wanted));
    return change;
  }

  // Returns the const that the cast's users are to read; nullptr where they read its source.
  Tensor *change_producer(const Instruction &cast, const Plan &plan) {
    log_removal(cast, plan);
    Tensor *weight = plan.weight == nullptr
                         ? nullptr
                         : &weights_.cast(*plan.weight, cast.dst_dtype(), cast.exact_ints());
    if (plan.producer != nullptr)
      retype(*plan.producer, cast, weight);
    return plan.producer == nullptr ? weight : nullptr;
  }

  // From the top of the chain down: then what a cast reads stays, and its users move once.
  void finish(std::vector<Removal> &climbed) {
    for (; !climbed.empty(); climbed.pop_back())
      remove(*climbed.back().cast, climbed.back().weight);
  }

  void remove(Instruction &cast, Tensor *weight) {
    const Use &src = *cast.src();
    cast.replace_all_uses_with(weight != nullptr ? weight : src.value(), src.access());
    mutability_.forget(*src.value());
    bytes_through_.forget(*src.value());
    context_.count(CastsRemoved);
    context_.count(BytesRemoved, cast_bytes(cast));
    // Its memory may come back as another object.
    mutability_.forget(cast);
    bytes_through_.forget(cast);
    cast.erase();
  }

  void log_removal(const Instruction &cast, const Plan &plan) {
    RewriteLog *log = context_.rewrites();
    if (log != nullptr && plan.producer != nullptr && moves_weight(*plan.producer))
      log->baked(*plan.producer, cast);
    else if (log != nullptr && plan.producer != nullptr)
      log->absorbed(*plan.producer, cast, plan.kind.exact);
    else if (log != nullptr && plan.match == DstMatch::Match)
      log->bypassed(cast, true);
  }

  // Whether it is a load that moves a const as it is.
  static bool moves_weight(const Instruction &producer) {
    if (producer.opcode() != Opcode::Load)
      return false;
    const Tensor &tensor = *producer.operand(0).tensor();
    return tensor.role() == Role::Const && tensor.dtype() == producer.dtype();
  }

  // `weight` is what a load of a const is to read.
  void retype(Instruction &producer, const Instruction &cast, Tensor *weight) {
    const bool is_load = producer.opcode() == Opcode::Load;
    const bool reads_const = is_load && producer.operand(0).tensor()->role() == Role::Const;
    // A const's load keeps its dtype, so no rounding of it is left to be marked.
    const Name mark = reads_const ? Name() : mark_after_absorbing(producer, cast);
    const Value &object = retyped_object(producer);
    if (const Tensor *tensor = dyn_cast<Tensor>(&object))
      budget_.add(budget_.growth(*tensor, cast.dst_dtype()));
    mutate_dst_ty(producer, cast.dst_dtype());
    if (weight != nullptr)
      producer.operand(0).set(weight, producer.operand(0).access());
    producer.set_autocast(mark);
    forget_dependents(producer, object);
    context_.count(is_load ? LoadsRetyped : OperatorsRetyped);
    if (is_load)
      context_.count(CastsFoldedIntoLoads);
  }

  // What was remembered of values whose gates looked at the dtype that the producer writes.
  void forget_dependents(const Instruction &producer, const Value &object) {
    // Only of what passes its operands on does the gate of an operand look at what is written.
    if (producer.has_trait(op_trait::CopiesBits))
      for (const Use &operand : producer.operands())
        if (operand.value() != nullptr)
          mutability_.forget(*operand.value());
    for (const Use &use : object.uses())
      for (const Use &operand : use.user()->matched_operands())
        mutability_.forget(*operand.value());
  }

  void decline(const Instruction &cast, std::string_view obstacle) {
    if (context_.wants_missed())
      context_.remark(RemarkClass::Declined, cast,
                      fmt::format("{}: {}{}", describe_dtypes(cast), obstacle, name_source(cast)));
  }

  static std::string describe_dtypes(const Instruction &cast) {
    return fmt::format("{} -> {}", dtype2str(cast.src()->dtype()), dtype2str(cast.dst_dtype()));
  }

  std::string describe_removal(const Instruction &cast, const Plan &plan) const {
    std::string_view what = "removed";
    if (plan.match == DstMatch::Match)
      what = "removed, its source has the dtype by now";
    else if (plan.weight != nullptr)
      what = "cast at compile time";
    return fmt::format("{}: {}{}", describe_dtypes(cast), what, name_source(cast));
  }

  std::string name_source(const Instruction &cast) const {
    const NameTable &names = function_.module().names();
    if (const Tensor *tensor = cast.src()->tensor())
      return fmt::format(" (tensor '{}')", quoted_name(names, '$', tensor->name()));
    return fmt::format(" (producer: {})", describe(*cast.src()->defining_instruction()));
  }

  Function &function_;
  PassContext &context_;
  const Settings &settings_;
  DstMutability mutability_;
  BytesMovedThrough bytes_through_;
  MovedReads moved_reads_;
  PartitionBudget budget_;
  WeightCaster weights_;
};

class DTypeMutatorPass final : public FunctionPass {
public:
  explicit DTypeMutatorPass(const PassOptions &given)
      : settings_{given.flag("mutate-multi-users"), given.flag("excess-precision"),
                  given.flag("profit")} {}
  bool run(Function &function, PassContext &context) override {
    return DTypeMutator(function, context, settings_).run();
  }

private:
  Settings settings_;
};

} // namespace

extern const PassInfo pass_dtype_mutator{
    .name = "dtype-mutator",
    .description =
        "lets producers, loads and weights take the dtype that the only cast of them asks",
    .options = options,
    .statistics = statistics,
    .create = [](const PassOptions &given) -> std::unique_ptr<Pass> {
      return std::make_unique<DTypeMutatorPass>(given);
    }};

} // namespace nir::passes
