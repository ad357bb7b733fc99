// Removes a cast by letting its producer write the cast's dtype.
//
//   turn:  %n = activation exp %x : bfloat16[…]      into:  %n = activation exp %x : float32[…]
//          %w = tensor_copy %n : float32[…]                 (users of %w read %n)
//
// Requires: verified IR. Preserves: legal form, order, interfaces. One forward sweep; every change
// removes one cast, so it terminates. Rounding: the producer no longer rounds to the dtype between;
// that is exact, or undoes what passes inserted, or is permitted outside strict functions
// (passes, neuron-eliminate-casts).
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/numeric/cast_triple.h"
#include "ir/support/saturating.h"
#include "passes/cast/cast_removal.h"
#include "passes/cast/partition_budget.h"
#include "passes/core/common_options.h"
#include "passes/rewrite/bytes_moved.h"
#include "passes/rewrite/moved_read.h"
#include "passes/rewrite/mutate.h"
#include "passes/rewrite/rewrite_log.h"

namespace nir::passes {
namespace {

enum Statistic : unsigned { BytesEliminated, CastsEliminated };

constexpr PassStatistic statistics[] = {
    {"Number of bytes of casts eliminated", "bytes"},
    {"Number of casts eliminated", "casts"},
};

constexpr std::string_view src_match_choices[] = {"require", "forbid", "any"};
constexpr std::string_view ops_choices[] = {"whitelist", "engine"};
constexpr PassOption options[] = {
    {"src-match", PassOption::Choice, "require", src_match_choices,
     "whether the producer's source dtype must equal the wanted one, must not, or may"},
    {"ops", PassOption::Choice, "whitelist", ops_choices,
     "which producers may take a cast's dtype: the sources' three, or all that compute wide and "
     "round once"},
    {"excess-precision", PassOption::Choice, "on", on_off,
     "off: remove only what is exact or what passes inserted"},
    profit_option,
    {"only-autocast", PassOption::Flag, "false", {}, "look only at casts that passes inserted"},
};

enum class SrcMatch : std::uint8_t { Require, Forbid, Any };

struct Settings {
  SrcMatch src_match;
  bool engine_ops;
  bool excess_precision;
  bool profit;
  bool only_autocast;
};

Settings settings_of(const PassOptions &given) {
  const std::string_view match = given.get("src-match");
  return {match == "require"  ? SrcMatch::Require
          : match == "forbid" ? SrcMatch::Forbid
                              : SrcMatch::Any,
          given.get("ops") == "engine", given.flag("excess-precision"), given.flag("profit"),
          given.flag("only-autocast")};
}

// What rewriting the producers of one cast amounts to: the first obstacle, or how it counts.
struct Verdict {
  const char *obstacle = nullptr;
  RemovalKind kind{};
};

bool is_whitelisted(Opcode opcode) {
  return opcode == Opcode::Activation || opcode == Opcode::TensorScalar ||
         opcode == Opcode::TensorCopy;
}

// Whether the instruction computes wide, rounds once, and may write another dtype.
bool is_rounding_engine(const Instruction &inst) {
  return inst.has_trait(op_trait::Engine) && inst.has_trait(op_trait::MutableDst);
}

class CastEliminator {
public:
  CastEliminator(Function &function, PassContext &context, const Settings &settings)
      : function_(function), context_(context), settings_(settings), moved_reads_(function),
        budget_(function) {}

  bool run() {
    bool changed = false;
    for (Stmt &stmt : function_.statements()) {
      Instruction *inst = dyn_cast<Instruction>(&stmt);
      if (inst != nullptr && inst->opcode() == Opcode::TensorCopy && inst->defines_value())
        changed |= try_eliminate_cast(*inst);
    }
    return changed;
  }

private:
  bool try_eliminate_cast(Instruction &cast) {
    if (!is_cast(cast) || surely_stays(cast))
      return false;
    const Verdict verdict = judge(cast);
    if (verdict.obstacle != nullptr) {
      decline(cast, verdict.obstacle);
      return false;
    }
    if (settings_.profit)
      if (const BytesChange change = bytes_change(cast); change.grows()) {
        if (context_.wants_missed())
          decline(cast, to_string(change));
        return false;
      }
    if (context_.wants_applied())
      context_.remark(class_of_removal(cast, verdict.kind), cast, describe_removal(cast));
    eliminate(cast);
    return true;
  }

  // The cheapest gates, for when nobody wants to know which is the first that a cast fails.
  bool surely_stays(const Instruction &cast) {
    const Instruction *producer = cast.src()->defining_instruction();
    return producer != nullptr && !context_.wants_missed() &&
           why_src_does_not_match(*producer, cast.dst_dtype()) != nullptr;
  }

  void decline(const Instruction &cast, std::string_view obstacle) {
    if (context_.wants_missed())
      context_.remark(RemarkClass::Declined, cast, explain(cast, obstacle));
  }

  // The producers' result is retyped with all that read it; the cast goes, and its users read at
  // the same width from elsewhere.
  BytesChange bytes_change(const Instruction &cast) {
    const Value &object = *cast.src()->value();
    const DType wanted = cast.dst_dtype();
    const std::uint64_t read = bytes_moved(*cast.src(), wanted);
    return {saturating_add(bytes_through_(object, object.dtype()), bytes_written(cast, wanted)),
            bytes_through_(object, wanted) - read};
  }

  // All that must hold for the cast to go, in the order of the contract.
  Verdict judge(const Instruction &cast) {
    if (cast.is_fixed())
      return {"the cast is fixed"};
    if (settings_.only_autocast && cast.autocast().empty())
      return {"the cast carries no autocast mark"};
    Tensor *tensor = cast.src()->tensor();
    Verdict verdict = tensor == nullptr ? judge_producer(*cast.src()->defining_instruction(), cast)
                                        : judge_tensor(*tensor, cast);
    if (verdict.obstacle != nullptr)
      return verdict;
    return {why_rounding_stays(class_of_removal(cast, verdict.kind), function_,
                               settings_.excess_precision),
            verdict.kind};
  }

  // The four gates (should_mutate_inst_dst_type).
  const char *why_producer_stays(const Instruction &producer, const Instruction &cast,
                                 bool is_exact) {
    const DType wanted = cast.dst_dtype();
    if (const char *reason = mutability_.why_fixed(producer, wanted, cast))
      return reason;
    if (operands_disagree(producer))
      return "the producer's operands are not in legal form";
    if (const char *reason = why_src_does_not_match(producer, wanted))
      return reason;
    if (is_int_type(producer.dst_dtype()) != is_int_type(producer.src()->dtype()))
      return "the producer converts between integer and float";
    return why_clamp_stays(producer, cast, is_exact);
  }

  const char *why_src_does_not_match(const Instruction &producer, DType wanted) const {
    if (settings_.engine_ops && !is_rounding_engine(producer))
      return "the producer is no engine instruction that rounds";
    if (!settings_.engine_ops && !is_whitelisted(producer.opcode()))
      return "the producer is no activation, tensor_scalar or tensor_copy";
    const DType src = producer.src()->dtype();
    if (settings_.src_match == SrcMatch::Require && src != wanted)
      return "the producer's source dtype is not the wanted one";
    if (settings_.src_match == SrcMatch::Forbid && src == wanted)
      return "the producer's source dtype is the wanted one";
    return nullptr;
  }

  Verdict judge_producer(const Instruction &producer, const Instruction &cast) {
    const bool exact = absorbing_copy_is_exact(producer, cast);
    if (const char *reason = why_exact_ints_stay(producer, cast, exact))
      return {reason};
    return {why_producer_stays(producer, cast, exact), {exact, !producer.autocast().empty()}};
  }

  Verdict judge_tensor(Tensor &tensor, const Instruction &cast) {
    if (tensor.role() == Role::Input)
      return {"the tensor is an input or output"};
    if (tensor.space() == Space::Psum)
      return {"the tensor is in psum"};
    const Verdict verdict = judge_stores(tensor, cast);
    if (verdict.obstacle != nullptr)
      return verdict;
    if (const char *reason = moved_reads_.why_read_stays(tensor, cast))
      return {reason};
    if (budget_.overflows(tensor, cast.dst_dtype()))
      return {PartitionBudget::overflow};
    return verdict;
  }

  // All stores must pass before anything changes. Remembered per tensor, since many casts may read
  // one with many stores.
  const Verdict &judge_stores(const Tensor &tensor, const Instruction &cast) {
    auto &known = store_verdicts_[&tensor];
    for (const StoreVerdict &entry : known)
      if (entry.wanted == cast.dst_dtype() && entry.exact_ints == cast.exact_ints())
        return entry.verdict;
    known.push_back({cast.dst_dtype(), cast.exact_ints(), look_at_stores(tensor, cast)});
    return known.back().verdict;
  }

  Verdict look_at_stores(const Tensor &tensor, const Instruction &cast) {
    Verdict all;
    bool has_stores = false;
    for (const Use &use : tensor.uses()) {
      if (!writes(use))
        continue;
      has_stores = true;
      const Instruction &store = *use.user();
      if (!store.has_dst())
        return {"a call or opaque writes the tensor"};
      const Verdict one = judge_producer(store, cast);
      if (one.obstacle != nullptr)
        return one;
      all.kind &= one.kind;
    }
    if (!has_stores)
      return {"nothing stores the tensor"};
    return all;
  }

  void eliminate(Instruction &cast) {
    const Tensor *tensor = cast.src()->tensor();
    producers_.clear();
    if (tensor == nullptr) {
      Instruction &producer = *cast.src()->defining_instruction();
      producers_.emplace_back(&producer, mark_after_absorbing(producer, cast));
    } else {
      for (const Use &use : tensor->uses())
        if (writes(use))
          producers_.emplace_back(use.user(), mark_after_absorbing(*use.user(), cast));
    }
    if (RewriteLog *log = context_.rewrites())
      for (const auto &[producer, mark] : producers_)
        log->absorbed(*producer, cast, absorbing_copy_is_exact(*producer, cast));
    for (const auto &[producer, mark] : producers_) {
      eliminate_cast(cast, *producer, cast.dst_dtype());
      producer->set_autocast(mark);
    }
    context_.count(CastsEliminated);
    cast.erase();
  }

  void eliminate_cast(Instruction &cast, Instruction &producer, DType dtype) {
    const Value &object = retyped_object(producer);
    if (object.dtype() != dtype)
      retype(producer, object, dtype);
    context_.count(BytesEliminated, cast_bytes(cast));
    const Use &src = *cast.src();
    cast.replace_all_uses_with(src.value(), src.access());
    mutability_.forget(object);
    bytes_through_.forget(object);
  }

  void retype(Instruction &producer, const Value &object, DType dtype) {
    if (const Tensor *tensor = dyn_cast<Tensor>(&object))
      budget_.add(budget_.growth(*tensor, dtype));
    mutate_dst_ty(producer, dtype);
    forget_dependents(object);
  }

  // What was remembered of tensors and values whose gates looked at the object's dtype.
  void forget_dependents(const Value &object) {
    store_verdicts_.erase(&object);
    for (const Use &use : object.uses()) {
      const Instruction &user = *use.user();
      if (user.has_dst())
        store_verdicts_.erase(user.dst()->value());
      for (const Use &operand : user.matched_operands())
        mutability_.forget(*operand.value());
    }
  }

  std::string explain(const Instruction &cast, std::string_view obstacle) const {
    return fmt::format("{} -> {}: {}{}", dtype2str(cast.src()->dtype()),
                       dtype2str(cast.dst_dtype()), obstacle, name_producer(cast));
  }

  std::string describe_removal(const Instruction &cast) const {
    return fmt::format("{} -> {}: removed{}", dtype2str(cast.src()->dtype()),
                       dtype2str(cast.dst_dtype()), name_producer(cast));
  }

  std::string name_producer(const Instruction &cast) const {
    const NameTable &names = function_.module().names();
    if (const Tensor *tensor = cast.src()->tensor())
      return fmt::format(" (tensor '{}')", quoted_name(names, '$', tensor->name()));
    return fmt::format(" (producer: {})", describe(*cast.src()->defining_instruction()));
  }

  struct StoreVerdict {
    DType wanted;
    bool exact_ints;
    Verdict verdict;
  };

  Function &function_;
  PassContext &context_;
  const Settings &settings_;
  DstMutability mutability_;
  BytesMovedThrough bytes_through_;
  std::unordered_map<const Value *, std::vector<StoreVerdict>> store_verdicts_;
  MovedReads moved_reads_;
  PartitionBudget budget_;
  std::vector<std::pair<Instruction *, Name>> producers_; // of the cast that goes, and their marks
};

class NeuronEliminateCasts : public FunctionPass {
public:
  explicit NeuronEliminateCasts(const PassOptions &given) : settings_(settings_of(given)) {}
  bool run(Function &function, PassContext &context) override {
    return CastEliminator(function, context, settings_).run();
  }

private:
  Settings settings_;
};

} // namespace

extern const PassInfo pass_neuron_eliminate_casts{
    .name = "neuron-eliminate-casts",
    .description = "removes a cast by letting its producer write the cast's dtype",
    .options = options,
    .statistics = statistics,
    .create = [](const PassOptions &given) -> std::unique_ptr<Pass> {
      return std::make_unique<NeuronEliminateCasts>(given);
    }};

} // namespace nir::passes
