// enforce-alu-dt-acc: sums read float32 where the values were held in float32 before they were
// narrowed.
//
//   turn:  %n = activation exp %x : bfloat16[…]      into:  %n = activation exp %x : float32[…]
//          %t = transpose %n : bfloat16[…]                  %t = transpose %n : float32[…]
//          %s = tensor_reduce add %t : float32[…]           %s = tensor_reduce add %t : float32[…]
//
// Requires: verified IR. Preserves: legal form, order, interfaces; integers, matmuls and what is
// fixed. It only ever makes narrow floats float32, so it terminates, and a second run finds
// nothing. O(statements and uses), also where everything is declined: each object is looked at
// once.
//
// A sum is a tensor_reduce that rounds in every step: add and multiply. From what it reads the walk
// goes up through tensor_copy and transpose, by values and by tensors with all that write them, and
// gives a graph of the objects on the way. An object gains where a writer of it holds float32 and
// narrows it, or copies an object that gains. Those that gain become float32, all that a sum
// depends on or none: were the end to stay narrow, the copies above it would move more bytes for
// nothing. Objects that nothing wider reaches stay as they are: widening a bfloat16 input gains
// nothing.
//
// Rounding: the narrowings on the way go. Those that passes made are `inserted`, an author's are
// `permitted`.
#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/numeric/cast_triple.h"
#include "ir/support/saturating.h"
#include "ir/support/scratch_map.h"
#include "passes/cast/cast_removal.h"
#include "passes/cast/partition_budget.h"
#include "passes/core/common_options.h"
#include "passes/rewrite/bytes_moved.h"
#include "passes/rewrite/mutate.h"
#include "passes/rewrite/rewrite_log.h"

namespace nir::passes {
namespace {

enum Statistic : unsigned { SumsWidened, ProducersRetyped, CopiesRetyped, BytesAdded, Declined };
constexpr PassStatistic statistics[] = {
    {"Number of sums that read float32 now", "sums"},
    {"Number of producers retyped", "producers"},
    {"Number of copies between retyped", "copies"},
    {"Number of bytes a partition added", "bytes"},
    {"Number of sums declined", "sums"},
};

constexpr PassOption options[] = {
    {"excess-precision", PassOption::Choice, "on", on_off,
     "off: undo only narrowings that passes inserted"},
    profit_option,
};

struct Settings {
  bool excess_precision;
  bool profit;
};

constexpr DType wide_sum = DType::Float32;

bool is_narrow(DType dtype) { return is_float_type(dtype) && !holds(dtype, wide_sum); }

bool is_rounding_sum(const Instruction &inst) {
  return inst.opcode() == Opcode::TensorReduce &&
         (inst.op() == AluOp::Add || inst.op() == AluOp::Multiply) &&
         is_narrow(inst.src()->dtype());
}

bool is_walked_through(const Instruction &inst) {
  return inst.opcode() == Opcode::TensorCopy || inst.opcode() == Opcode::Transpose;
}

// Whether what the instruction writes was float32 before it was narrowed. The arms of a select that
// disagree are promoted first, so none of them tells.
bool narrows_float32(const Instruction &inst) {
  if (inst.opcode() == Opcode::Select && inst.operand(1).dtype() != inst.operand(2).dtype())
    return false;
  return wide_dtype(inst) == wide_sum && is_narrow(inst.dst_dtype());
}

// A value or tensor on the way to a sum.
struct Node {
  Value *object;
  unsigned first_source = 0;        // of those that its writers copy, in SumWidener::sources_
  unsigned first_reader = 0;        // of those that copy it, in SumWidener::readers_
  Instruction *narrowing = nullptr; // a writer that holds float32
  Instruction *copy = nullptr;      // a writer that copies a source
  bool gains = false;
  // Why it stays: a reason of its own, or of what it depends on, and then whose.
  const char *obstacle = nullptr;
  unsigned at_fault = 0;
  enum : std::uint8_t { Unvisited, Accepted, Refused } state = Unvisited;
};

struct Sum {
  const Instruction *inst;
  unsigned node; // of what it reads
  bool reinterprets;
};

class SumWidener {
public:
  SumWidener(Function &function, PassContext &context, const Settings &settings)
      : function_(function), context_(context), settings_(settings), budget_(function) {}

  bool run() {
    collect();
    link_readers();
    propagate_gain();
    find_obstacles();
    for (const Sum &sum : sums_)
      decide(sum);
    if (accepted_.empty())
      return false;
    apply();
    return true;
  }

private:
  // The graph: every object is expanded once.
  void collect() {
    for (Stmt &stmt : function_.statements()) {
      auto *inst = dyn_cast<Instruction>(&stmt);
      if (inst != nullptr && is_rounding_sum(*inst))
        sums_.push_back({inst, node_of(*inst->src()->value()), inst->src()->reinterprets()});
    }
    for (unsigned node = 0; node < nodes_.size(); ++node) {
      prefetch_ahead(node);
      nodes_[node].first_source = static_cast<unsigned>(sources_.size());
      for_each_writer(*nodes_[node].object, [&](Instruction &writer) { look_at(writer, node); });
    }
  }

  void prefetch_ahead(std::size_t node) const {
    if (node + prefetch_steps < nodes_.size())
      prefetch_object(nodes_[node + prefetch_steps].object);
  }

  // The edges the other way round, for each node in order of the readers.
  void link_readers() {
    readers_.resize(sources_.size());
    for (const unsigned source : sources_)
      ++nodes_[source].first_reader;
    unsigned end = 0;
    for (Node &node : nodes_)
      node.first_reader = end += node.first_reader;
    for (unsigned reader = static_cast<unsigned>(nodes_.size()); reader-- > 0;)
      for (const unsigned source : std::views::reverse(sources_of(reader)))
        readers_[--nodes_[source].first_reader] = reader;
  }

  std::span<const unsigned> sources_of(unsigned node) const {
    const std::size_t end =
        node + 1 < nodes_.size() ? nodes_[node + 1].first_source : sources_.size();
    return std::span(sources_).first(end).subspan(nodes_[node].first_source);
  }
  std::span<const unsigned> readers_of(unsigned node) const {
    const std::size_t end =
        node + 1 < nodes_.size() ? nodes_[node + 1].first_reader : readers_.size();
    return std::span(readers_).first(end).subspan(nodes_[node].first_reader);
  }

  template <class Visit> static void for_each_writer(Value &object, Visit visit) {
    if (auto *inst = dyn_cast<Instruction>(&object))
      return visit(*inst);
    for (Use &use : object.uses())
      if (writes(use) && use.user()->has_dst())
        visit(*use.user());
  }

  void look_at(Instruction &writer, unsigned node) {
    if (narrows_float32(writer)) {
      nodes_[node].narrowing = &writer;
      return;
    }
    const Use *src = writer.src();
    if (!is_walked_through(writer) || !is_narrow(src->dtype()) || src->reinterprets())
      return;
    const unsigned source = node_of(*writer.src()->value());
    nodes_[node].copy = &writer;
    sources_.push_back(source);
  }

  unsigned node_of(Value &object) {
    const auto [known, is_new] = index_.try_emplace(&object, static_cast<unsigned>(nodes_.size()));
    if (is_new)
      nodes_.push_back({.object = &object});
    return *known;
  }

  void propagate_gain() {
    std::vector<unsigned> worklist;
    for (unsigned i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].narrowing != nullptr)
        worklist.push_back(i);
    while (!worklist.empty()) {
      const unsigned node = worklist.back();
      worklist.pop_back();
      if (std::exchange(nodes_[node].gains, true))
        continue;
      const std::span<const unsigned> readers = readers_of(node);
      worklist.insert(worklist.end(), readers.begin(), readers.end());
    }
  }

  // Obstacles go where gain goes: whoever copies what stays, stays.
  void find_obstacles() {
    std::vector<unsigned> worklist;
    for (unsigned i = 0; i < nodes_.size(); ++i) {
      prefetch_ahead(i);
      Node &node = nodes_[i];
      node.obstacle = node.gains ? why_object_stays(i) : nullptr;
      node.at_fault = i;
      if (node.obstacle != nullptr)
        worklist.push_back(i);
    }
    for (std::size_t next = 0; next < worklist.size(); ++next) {
      const Node &node = nodes_[worklist[next]];
      for (const unsigned reader : readers_of(worklist[next])) {
        if (nodes_[reader].obstacle != nullptr)
          continue;
        nodes_[reader].obstacle = node.obstacle;
        nodes_[reader].at_fault = node.at_fault;
        worklist.push_back(reader);
      }
    }
  }

  const char *why_object_stays(unsigned index) {
    const Node &node = nodes_[index];
    const std::span<const unsigned> readers = readers_of(index);
    // A copy that alone reads it is retyped with it, so it need not go on passing bits through:
    // every sum comes here through the copy.
    const Instruction *copy = readers.size() == 1 ? nodes_[readers.front()].copy : nullptr;
    const bool reads_node = copy != nullptr && reads_alone(*copy, *node.object);
    const Instruction &writer = node.narrowing != nullptr ? *node.narrowing : *node.copy;
    if (const char *reason = why_dst_ty_is_fixed(writer, wide_sum, reads_node ? copy : nullptr))
      return reason;
    const char *reason = nullptr;
    for_each_writer(*node.object, [&](const Instruction &one) {
      if (reason == nullptr)
        reason = why_rounding_stays(class_of(one), function_, settings_.excess_precision);
    });
    return reason;
  }

  static bool reads_alone(const Instruction &copy, const Value &object) {
    return std::ranges::all_of(object.uses(),
                               [&](const Use &use) { return !reads(use) || use.user() == &copy; });
  }

  static RemarkClass class_of(const Instruction &writer) {
    if (holds(writer.dst_dtype(), wide_dtype(writer)))
      return RemarkClass::Exact;
    return writer.autocast().empty() ? RemarkClass::Permitted : RemarkClass::Inserted;
  }

  void decide(const Sum &sum) {
    const Node &node = nodes_[sum.node];
    if (sum.reinterprets)
      return decline(sum, "a reinterpreting access", sum.node);
    if (!node.gains)
      return decline(sum, "nothing wider to read", sum.node);
    if (node.obstacle != nullptr) {
      context_.count(Declined);
      return decline(sum, node.obstacle, node.at_fault);
    }
    if (!accept_all_below(sum.node)) {
      context_.count(Declined);
      return decline(sum, refusal_, sum.node);
    }
    context_.count(SumsWidened);
  }

  // All that the sum's operand depends on becomes float32, or nothing of it. What an earlier sum
  // has taken is taken, and what one could not have stays.
  bool accept_all_below(unsigned root) {
    std::vector<unsigned> group;
    bool refused = !enter(root, group);
    for (std::size_t next = 0; next < group.size(); ++next)
      for (const unsigned source : sources_of(group[next]))
        refused |= nodes_[source].gains && !enter(source, group);
    refused = refused || !can_afford(group);
    for (const unsigned node : group)
      nodes_[node].state = refused ? Node::Refused : Node::Accepted;
    if (!refused)
      accepted_.insert(accepted_.end(), group.begin(), group.end());
    return !refused;
  }

  // False where the node was refused before.
  bool enter(unsigned index, std::vector<unsigned> &group) {
    Node &node = nodes_[index];
    if (node.state == Node::Unvisited) {
      node.state = Node::Accepted;
      group.push_back(index);
    }
    return node.state != Node::Refused;
  }

  bool can_afford(const std::vector<unsigned> &group) {
    std::int64_t growth = 0;
    for (const unsigned index : group)
      if (const auto *tensor = dyn_cast<Tensor>(nodes_[index].object))
        growth = add(growth, budget_.growth(*tensor, wide_sum));
    if (budget_.overflows(growth))
      return refuse(PartitionBudget::overflow);
    if (settings_.profit && moves_more_bytes(group))
      return refuse(context_.wants_missed() ? to_string(bytes_change(group)) : std::string());
    budget_.add(growth);
    context_.count(BytesAdded, static_cast<std::uint64_t>(growth));
    return true;
  }

  // Every object is written at least, and none takes fewer bytes than before.
  bool moves_more_bytes(const std::vector<unsigned> &group) const {
    return std::ranges::any_of(group, [this](unsigned index) {
      return sizeinbytes(nodes_[index].object->dtype()) < sizeinbytes(wide_sum);
    });
  }

  BytesChange bytes_change(const std::vector<unsigned> &group) const {
    BytesChange change;
    for (const unsigned index : group) {
      const Value &object = *nodes_[index].object;
      change.before = saturating_add(change.before, bytes_moved_through(object, object.dtype()));
      change.after = saturating_add(change.after, bytes_moved_through(object, wide_sum));
    }
    return change;
  }

  // Both are not negative: no narrow float takes more bytes than float32.
  static std::int64_t add(std::int64_t a, std::int64_t b) {
    return a > INT64_MAX - b ? INT64_MAX : a + b;
  }

  bool refuse(std::string reason) {
    refusal_ = std::move(reason);
    return false;
  }

  // Claims and remarks speak of the module as it was.
  void apply() {
    LargeVector<Instruction *> writers;
    for (const unsigned node : accepted_)
      for_each_writer(*nodes_[node].object, [&](Instruction &writer) {
        writers.push_back(&writer);
        announce(writer);
      });
    for (Instruction *writer : Prefetched(writers))
      mutate_dst_ty(*writer, wide_sum);
    for (Instruction *writer : Prefetched(writers)) {
      const bool still_casts = is_cast(*writer);
      if (!still_casts)
        writer->set_autocast({});
    }
  }

  void announce(const Instruction &writer) {
    if (RewriteLog *log = context_.rewrites(); log != nullptr && reads_otherwise(writer))
      log->widened(writer, wide_sum);
    const bool between = !narrows_float32(writer);
    context_.count(between ? CopiesRetyped : ProducersRetyped);
    if (context_.wants_applied())
      context_.remark(class_of(writer), writer,
                      fmt::format("{} -> {}: {} widened for a sum", dtype2str(writer.dst_dtype()),
                                  dtype2str(wide_sum), describe(writer)));
  }

  // Whether it writes anything else than before: what it no longer rounds, or what somebody above
  // it no longer rounds.
  bool reads_otherwise(const Instruction &writer) const {
    if (class_of(writer) != RemarkClass::Exact)
      return true;
    const unsigned *source =
        is_walked_through(writer) ? index_.find(writer.src()->value()) : nullptr;
    return source != nullptr && nodes_[*source].state == Node::Accepted;
  }

  void decline(const Sum &sum, std::string_view obstacle, unsigned at_fault) {
    if (context_.wants_missed())
      context_.remark(RemarkClass::Declined, *sum.inst,
                      fmt::format("the sum reads {}: {} ({})", dtype2str(sum.inst->src()->dtype()),
                                  obstacle, name_of(*nodes_[at_fault].object)));
  }

  std::string name_of(const Value &object) const {
    if (const auto *inst = dyn_cast<Instruction>(&object))
      return "producer: " + describe(*inst);
    return fmt::format("tensor '{}'", quoted_name(function_.module().names(), '$', object.name()));
  }

  Function &function_;
  PassContext &context_;
  const Settings &settings_;
  PartitionBudget budget_;
  LargeVector<Sum> sums_;
  LargeVector<Node> nodes_;
  LargeVector<unsigned> sources_; // of all nodes, one after the other
  LargeVector<unsigned> readers_; // likewise
  ScratchMap<const Value *, unsigned> index_;
  LargeVector<unsigned> accepted_;
  std::string refusal_; // of the last group
};

class EnforceAluDtAcc final : public FunctionPass {
public:
  explicit EnforceAluDtAcc(const PassOptions &given)
      : settings_{given.flag("excess-precision"), given.flag("profit")} {}
  bool run(Function &function, PassContext &context) override {
    return SumWidener(function, context, settings_).run();
  }

private:
  Settings settings_;
};

} // namespace

extern const PassInfo pass_enforce_alu_dt_acc{
    .name = "enforce-alu-dt-acc",
    .description = "lets sums read float32 where their operand was narrowed from it",
    .options = options,
    .statistics = statistics,
    .create = [](const PassOptions &given) -> std::unique_ptr<Pass> {
      return std::make_unique<EnforceAluDtAcc>(given);
    }};

} // namespace nir::passes
