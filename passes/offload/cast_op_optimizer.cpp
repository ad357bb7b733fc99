// How it is known that a fusion changes no result. Y = memcast(X) stands in block B.
//
// fuse_src. All writers of X stand in B before the memcast, or in loops inside B, so every run of B
// runs all of them and then the memcast. Nothing reads Y from the statement of B that holds the
// first writer up to the memcast, and nobody but the memcast writes Y. So whenever Y is read, each
// of its elements is the cast of what was last written to that element of X, in this trip or in an
// earlier one: what the writers would have left in Y themselves. Elements that no writer ever wrote
// are undefined in both.
//   The window begins at the statement of B and not at the writer itself: a read in front of the
// writer, but in the same inner loop, comes behind the writer of the trip before.
//
// fuse_dst. All readers of Y run in B after the memcast of the same trip, and until the end of the
// last statement that holds one nothing writes X. So X is still what the memcast read.
#include "passes/offload/cast_op_optimizer.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "ir/numeric/cast_triple.h"
#include "ir/support/saturating.h"
#include "passes/rewrite/mutate.h"
#include "passes/rewrite/rewrite_log.h"

namespace nir {

struct FusionCandidate {
  explicit FusionCandidate(Instruction &inst)
      : memcast(inst), x(*inst.operand(0).tensor()), y(*inst.dst()->tensor()),
        function(*inst.function()), target(function.module().target()) {}

  Instruction &memcast;
  Tensor &x;
  Tensor &y;
  Function &function;
  const Target &target;
};

namespace {

constexpr std::uint32_t last_order = std::numeric_limits<std::uint32_t>::max();

FusionRefusal refuse(const char *text, const Value &about) { return {text, &about}; }

bool is_on_chip(const Tensor &tensor) { return tensor.space() != Space::Dram; }

bool is_inserted(const Instruction &inst) { return !inst.autocast().empty(); }

// A pair of casts that is not exact: both made by passes, or not.
RemarkClass class_of_rounding(const Instruction &memcast, const Instruction &other) {
  return is_inserted(memcast) && is_inserted(other) ? RemarkClass::Inserted
                                                    : RemarkClass::Permitted;
}

// What the first of the conditions that refuses says. They are asked in order, and no further.
template <class... Conditions> FusionRefusal first_refusal(Conditions... conditions) {
  FusionRefusal refusal;
  static_cast<void>((static_cast<bool>(refusal = conditions()) || ...));
  return refusal;
}

// Conditions of both directions.

FusionRefusal memcast_is_fixed(const FusionCandidate &c) {
  if (c.memcast.is_fixed())
    return refuse("is fixed", c.memcast);
  return {};
}

FusionRefusal memcast_reinterprets(const FusionCandidate &c) {
  if (c.memcast.operand(0).reinterprets())
    return refuse("is read as another dtype", c.x);
  if (c.memcast.dst()->reinterprets())
    return refuse("is written as another dtype", c.y);
  return {};
}

FusionRefusal is_not_internal(const Tensor &tensor) {
  switch (tensor.role()) {
  case Role::Internal:
    return {};
  case Role::Const:
    return refuse("is a const", tensor);
  case Role::Input:
    return refuse("is an input", tensor);
  case Role::Output:
    return refuse("is an output", tensor);
  }
  return {};
}

FusionRefusal is_reinterpreted(const Tensor &tensor) {
  for (const Use &use : tensor.uses())
    if (use.reinterprets())
      return refuse("has a reinterpreting access", tensor);
  return {};
}

FusionRefusal shapes_differ(const FusionCandidate &c) {
  if (std::ranges::equal(c.x.shape(), c.y.shape()))
    return {};
  return refuse("has another shape", c.y);
}

// Whether the statement stands in the memcast's block or in a loop inside it, on the given side.
FusionRefusal stands_before(const FusionCandidate &c, Instruction &store) {
  const Stmt *scope = ancestor_in_block(&store, c.memcast.parent());
  if (scope == nullptr)
    return refuse("writes it outside the memcast's block", store);
  if (scope->order() > c.memcast.order())
    return refuse("writes it after the memcast", store);
  return {};
}

FusionRefusal stands_after(const FusionCandidate &c, Instruction &reader) {
  const Stmt *scope = ancestor_in_block(&reader, c.memcast.parent());
  if (scope == nullptr)
    return refuse("reads it outside the memcast's block", reader);
  if (scope->order() < c.memcast.order())
    return refuse("reads it before the memcast", reader);
  return {};
}

// Conditions of fuse_src on one writer of X.

FusionRefusal store_takes_no_cast(const FusionCandidate &c, const Instruction &store) {
  switch (store.opcode()) {
  case Opcode::Activation:
  case Opcode::TensorScalar:
  case Opcode::TensorCopy:
  case Opcode::TensorTensor:
  case Opcode::Select:
  case Opcode::TensorReduce:
  case Opcode::Transpose:
    return {};
  case Opcode::Store:
    if (c.target.dma_cast)
      return {};
    return refuse("would need a DMA cast, which the target lacks", store);
  default:
    return refuse("writes it and cannot take the cast", store);
  }
}

FusionRefusal store_is_marked(const FusionCandidate &, const Instruction &store) {
  if (store.is_fixed())
    return refuse("writes it and is fixed", store);
  if (store.exact_ints())
    return refuse("writes it with exact_ints", store);
  return {};
}

// Operands that differ are promoted before anything is computed, so that no operand tells in which
// dtype the result is held.
FusionRefusal store_is_not_legal(const FusionCandidate &, const Instruction &store) {
  const std::span<const Use> operands = store.matched_operands();
  const bool differ = std::ranges::any_of(
      operands, [&](const Use &use) { return use.dtype() != operands.front().dtype(); });
  return differ ? refuse("writes it and is not in legal form", store) : FusionRefusal();
}

FusionRefusal store_cannot_reach_y(const FusionCandidate &c, const Instruction &store) {
  if (store.opcode() == Opcode::Store || is_on_chip(c.x) == is_on_chip(c.y))
    return {};
  return refuse("lies in another space than its writers reach", c.y);
}

FusionRefusal store_cannot_write_dtype(const FusionCandidate &c, const Instruction &store) {
  const DType src = store.src()->dtype();
  const DType y = c.y.dtype();
  if (is_x4_dtype(y))
    return refuse("holds packed containers", c.y);
  if (y == DType::Float8E8m0fnu && store.opcode() != Opcode::TensorCopy)
    return refuse("may not write float8_e8m0fnu", store);
  if (store.opcode() == Opcode::Store && src != y && src == DType::Float8E8m0fnu)
    return refuse("may not cast float8_e8m0fnu", store);
  return {};
}

// Gate 4 of neuron-eliminate-casts: no clamp or wrap is lost, at any setting.
FusionRefusal store_loses_integers(const FusionCandidate &c, const Instruction &store) {
  const DType src = store.src()->dtype();
  if (is_int_type(src) != is_int_type(c.x.dtype()))
    return refuse("writes it, converting between integer and float", store);
  const bool exact_only =
      is_int_or_scale(src) || is_int_or_scale(c.x.dtype()) || is_int_or_scale(c.y.dtype());
  if (exact_only && !absorbing_copy_is_exact(store, c.memcast))
    return refuse("writes it, and a clamp or wrap would be lost", store);
  return {};
}

using StoreCondition = FusionRefusal (*)(const FusionCandidate &, const Instruction &);
constexpr StoreCondition store_conditions[] = {
    store_takes_no_cast,  store_is_marked,          store_is_not_legal,
    store_cannot_reach_y, store_cannot_write_dtype, store_loses_integers,
};

FusionVerdict judge_store(const FusionCandidate &c, Instruction &store) {
  for (const StoreCondition condition : store_conditions)
    if (const FusionRefusal refusal = condition(c, store))
      return {refusal};
  if (const FusionRefusal refusal = stands_before(c, store))
    return {refusal};
  if (absorbing_copy_is_exact(store, c.memcast))
    return {};
  return {{}, class_of_rounding(c.memcast, store)};
}

// Of all writers of X, call and opaque included.
FusionVerdict judge_stores(const FusionCandidate &c) {
  FusionVerdict all;
  bool any = false;
  for (Use &use : c.x.uses()) {
    if (!writes(use))
      continue;
    any = true;
    const FusionVerdict one = judge_store(c, *use.user());
    if (one.refusal)
      return one;
    all.remark_class = std::max(all.remark_class, one.remark_class);
  }
  if (!any)
    return {refuse("is never written", c.x)};
  return all;
}

// The writers of X must have been judged: they stand in the memcast's block.
FusionRefusal y_is_read_before_memcast(const FusionCandidate &c) {
  std::uint32_t first = c.memcast.order();
  for (Use &use : c.x.uses())
    if (writes(use))
      first = std::min(first, ancestor_in_block(use.user(), c.memcast.parent())->order());
  for (Use &use : c.y.uses()) {
    const std::uint32_t order = use.user()->order();
    if (reads(use) && order >= first && order < c.memcast.order())
      return refuse("is read between the writers and the memcast", c.y);
  }
  return {};
}

// Conditions of fuse_dst on one reader of Y.

FusionVerdict judge_load(const FusionCandidate &c, const Instruction &load) {
  const DType x = c.x.dtype();
  const DType result = load.dtype();
  if (!c.target.dma_cast)
    return {refuse("would need a DMA cast, which the target lacks", load)};
  if (x == DType::Float8E8m0fnu || result == DType::Float8E8m0fnu)
    return {refuse("may not cast float8_e8m0fnu", load)};
  if (is_x4_dtype(x) || is_x4_dtype(result))
    return {refuse("may not cast packed containers", load)};
  if (triple_is_exact(x, c.y.dtype(), result))
    return {};
  if (is_int_type(x) || is_int_or_scale(c.y.dtype()) || is_int_type(result))
    return {refuse("reads it, and a clamp or wrap would be lost", load)};
  return {{}, class_of_rounding(c.memcast, load)};
}

FusionRefusal reader_takes_no_cast(const Instruction &reader) {
  switch (reader.opcode()) {
  case Opcode::Activation:
  case Opcode::TensorScalar:
  case Opcode::TensorCopy:
  case Opcode::TensorTensor:
  case Opcode::Select:
  case Opcode::TensorReduce:
  case Opcode::Transpose:
  case Opcode::Matmul:
    return {};
  default:
    return refuse("reads it and cannot take the cast", reader);
  }
}

FusionRefusal matmul_refuses_dtype(const FusionCandidate &c, const Instruction &reader) {
  if (reader.opcode() != Opcode::Matmul)
    return {};
  for (const DType dtype : {c.x.dtype(), c.y.dtype()})
    if (c.target.matmul_operand_dtype(dtype) != dtype)
      return refuse("does not multiply the dtype", reader);
  return {};
}

FusionRefusal reader_leaves_legal_form(const FusionCandidate &c, const Instruction &reader) {
  for (const Use &use : reader.matched_operands())
    if (use.value() != &c.y)
      return refuse("would not be in legal form", reader);
  return {};
}

FusionVerdict judge_engine_reader(const FusionCandidate &c, const Instruction &reader) {
  const DType x = c.x.dtype();
  const DType y = c.y.dtype();
  if (const FusionRefusal refusal = reader_takes_no_cast(reader))
    return {refusal};
  if (!is_float_type(x) || !is_float_type(y))
    return {refuse("reads it, and only floats convert on an engine", reader)};
  if (!holds(y, x))
    return {refuse("would read what the memcast had not rounded yet", reader)};
  if (!is_on_chip(c.x))
    return {refuse("is in dram, which its readers do not reach", c.x)};
  if (const FusionRefusal refusal = matmul_refuses_dtype(c, reader))
    return {refusal};
  if (const FusionRefusal refusal = reader_leaves_legal_form(c, reader))
    return {refusal};
  // A copy back to X's dtype passes bits through where the way over Y would have clamped
  // infinities.
  if (!reader.has_trait(op_trait::CopiesBits) || triple_is_exact(x, y, reader.dst_dtype()))
    return {};
  return {{}, class_of_rounding(c.memcast, reader)};
}

FusionVerdict judge_reader(const FusionCandidate &c, Instruction &reader) {
  const FusionVerdict verdict =
      reader.opcode() == Opcode::Load ? judge_load(c, reader) : judge_engine_reader(c, reader);
  if (verdict.refusal)
    return verdict;
  if (reader.is_fixed() && verdict.remark_class != RemarkClass::Exact)
    return {refuse("reads it and is fixed", reader)};
  if (const FusionRefusal refusal = stands_after(c, reader))
    return {refusal};
  return verdict;
}

FusionVerdict judge_readers(const FusionCandidate &c) {
  FusionVerdict all;
  bool any = false;
  for (Use &use : c.y.uses()) {
    if (!reads(use))
      continue;
    any = true;
    const FusionVerdict one = judge_reader(c, *use.user());
    if (one.refusal)
      return one;
    all.remark_class = std::max(all.remark_class, one.remark_class);
  }
  if (!any)
    return {refuse("is never read", c.y)};
  return all;
}

std::uint64_t bytes_of_memcast(const FusionCandidate &c) { return bytes_moved(c.memcast); }

// What the readers, or the writers, of a tensor move, if they found `dtype` there.
std::uint64_t bytes_of(const Tensor &tensor, bool (*role)(const Use &), DType dtype) {
  std::uint64_t sum = 0;
  for (const Use &use : tensor.uses())
    if (role(use))
      sum = saturating_add(sum, bytes_moved(use, dtype));
  return sum;
}

FusionRefusal readers_would_move_more(const FusionCandidate &c) {
  const BytesChange change{saturating_add(bytes_of_memcast(c), bytes_of(c.y, reads, c.y.dtype())),
                           bytes_of(c.y, reads, c.x.dtype())};
  if (!change.grows())
    return {};
  return {"would be read with more bytes than now", &c.x, change};
}

// Where X is written more often than the memcast runs, in a wider dtype.
FusionRefusal writers_would_move_more(const FusionCandidate &c) {
  const BytesChange change{saturating_add(bytes_of_memcast(c), bytes_of(c.x, writes, c.x.dtype())),
                           bytes_of(c.x, writes, c.y.dtype())};
  if (!change.grows())
    return {};
  return {"would be written with more bytes than now", &c.y, change};
}

// The mark of a reader that takes the memcast in: kept or taken only where no author's rounding is
// in what it then does (passes, Marks).
Name mark_after_reading_x(const FusionCandidate &c, const Instruction &reader) {
  if (!is_inserted(c.memcast))
    return {};
  const DType result = reader.dst_dtype();
  if (!is_inserted(reader) && !holds(result, c.y.dtype()))
    return {};
  const bool rounds = !holds(result, c.x.dtype());
  const bool stays_inserted_cast = is_inserted(reader) && result != c.x.dtype();
  return rounds || stays_inserted_cast ? c.memcast.autocast() : Name();
}

std::string name_of(const FusionRefusal &refusal, const Function &function) {
  if (const Tensor *tensor = dyn_cast<Tensor>(refusal.about))
    return fmt::format("'{}'", quoted_name(function.module().names(), '$', tensor->name()));
  return describe(*cast<Instruction>(refusal.about));
}

std::string to_string(const FusionRefusal &refusal, const Function &function) {
  if (refusal.about == nullptr)
    return refusal.text;
  std::string text = fmt::format("{} {}", name_of(refusal, function), refusal.text);
  if (refusal.change.grows())
    text += fmt::format(": {}", to_string(refusal.change));
  return text;
}

std::string describe_fusion(const FusionCandidate &c, bool into_writers) {
  const NameTable &names = c.function.module().names();
  const std::string x = quoted_name(names, '$', c.x.name());
  const std::string y = quoted_name(names, '$', c.y.name());
  return into_writers ? fmt::format("fuse_src: what writes '{}' writes '{}'", x, y)
                      : fmt::format("fuse_dst: what reads '{}' reads '{}'", y, x);
}

} // namespace

std::string to_string(const DeclinedFusion &declined, const Function &function) {
  return fmt::format("fuse_src: {}; fuse_dst: {}", to_string(declined.src, function),
                     to_string(declined.dst, function));
}

std::optional<DeclinedFusion> CastOpOptimizer::fuse(Instruction &memcast) {
  const FusionCandidate candidate(memcast);
  if (const FusionRefusal refusal = first_refusal([&] { return memcast_is_fixed(candidate); },
                                                  [&] { return memcast_reinterprets(candidate); }))
    return DeclinedFusion{refusal, refusal};

  const FusionVerdict src = permit(candidate, judge_src(candidate));
  const bool src_is_exact = !src.refusal && src.remark_class == RemarkClass::Exact;
  const FusionVerdict dst =
      src_is_exact ? FusionVerdict() : permit(candidate, judge_dst(candidate));
  if (src.refusal && dst.refusal)
    return DeclinedFusion{src.refusal, dst.refusal};

  const bool dst_is_exact = !dst.refusal && dst.remark_class == RemarkClass::Exact;
  const bool into_writers = src_is_exact || (!src.refusal && !dst_is_exact);
  if (context_.wants_applied())
    context_.remark((into_writers ? src : dst).remark_class, memcast,
                    describe_fusion(candidate, into_writers));
  count(candidate, into_writers);
  if (into_writers)
    fuse_src(candidate);
  else
    fuse_dst(candidate, dst_is_exact);
  memcast.erase();
  return std::nullopt;
}

FusionVerdict CastOpOptimizer::judge_src(const FusionCandidate &c) {
  if (const FusionRefusal refusal = first_refusal(
          [&] { return is_not_internal(c.x); }, [&] { return x_has_another_reader(c); },
          [&] { return is_reinterpreted(c.x); }, [&] { return shapes_differ(c); },
          [&] { return y_has_another_writer(c); }))
    return {refusal};
  FusionVerdict verdict = judge_stores(c);
  if (!verdict.refusal)
    verdict.refusal = first_refusal(
        [&] { return y_is_read_before_memcast(c); },
        [&] { return settings_.profit ? writers_would_move_more(c) : FusionRefusal(); });
  return verdict;
}

FusionVerdict CastOpOptimizer::judge_dst(const FusionCandidate &c) {
  if (const FusionRefusal refusal = first_refusal(
          [&] { return is_not_internal(c.y); }, [&] { return y_has_another_writer(c); },
          [&] { return is_reinterpreted(c.y); }, [&] { return shapes_differ(c); }))
    return {refusal};
  FusionVerdict verdict = judge_readers(c);
  if (!verdict.refusal)
    verdict.refusal = first_refusal([&] { return x_is_overwritten(c); },
                                    [&] { return readers_would_move_more(c); });
  return verdict;
}

// Strict functions and excess-precision=off keep every rounding that an author wrote.
FusionVerdict CastOpOptimizer::permit(const FusionCandidate &c, FusionVerdict verdict) const {
  if (verdict.refusal || verdict.remark_class != RemarkClass::Permitted)
    return verdict;
  if (c.function.is_strict())
    return {{"a rounding would go, and the function is strict"}};
  if (!settings_.excess_precision)
    return {{"a rounding would go, and excess precision is off"}};
  return verdict;
}

// That a tensor has two readers stays true: fuse_dst puts at least one in the place of a memcast.
// So a tensor that many memcasts read is looked at once.
FusionRefusal CastOpOptimizer::x_has_another_reader(const FusionCandidate &c) {
  const FusionRefusal refusal = refuse("has another reader", c.x);
  if (shared_.contains(&c.x))
    return refusal;
  for (const Use &use : c.x.uses()) {
    if (!reads(use) || use.user() == &c.memcast)
      continue;
    shared_.insert(&c.x);
    return refusal;
  }
  return {};
}

FusionRefusal CastOpOptimizer::y_has_another_writer(const FusionCandidate &c) {
  const std::uint32_t order = c.memcast.order();
  const Instruction *other = order_.writer_between(c.y, 0, order - 1);
  if (other == nullptr)
    other = order_.writer_between(c.y, order + 1, last_order);
  return other == nullptr ? FusionRefusal() : refuse("has another writer", c.y);
}

// The readers of Y must have been judged: they stand in the memcast's block.
FusionRefusal CastOpOptimizer::x_is_overwritten(const FusionCandidate &c) {
  std::uint32_t end = c.memcast.order();
  for (Use &use : c.y.uses()) {
    if (!reads(use))
      continue;
    const Stmt *scope = ancestor_in_block(use.user(), c.memcast.parent());
    const Loop *loop = dyn_cast<Loop>(scope);
    end = std::max(end, loop != nullptr ? loop->end_order() : scope->order());
  }
  if (order_.writer_between(c.x, c.memcast.order() + 1, end) == nullptr)
    return {};
  return refuse("is written before the last reader is done", c.x);
}

void CastOpOptimizer::fuse_src(const FusionCandidate &c) {
  ++counts_.src;
  for (Use &use : c.x.uses()) {
    if (!writes(use))
      continue;
    Instruction &store = *use.user();
    const Name mark = mark_after_absorbing(store, c.memcast);
    if (RewriteLog *log = context_.rewrites())
      log->absorbed(store, c.memcast, absorbing_copy_is_exact(store, c.memcast));
    use.set(&c.y, use.access());
    store.set_autocast(mark);
  }
  order_.forget(c.x);
  order_.forget(c.y);
}

void CastOpOptimizer::fuse_dst(const FusionCandidate &c, bool exact) {
  ++counts_.dst;
  if (RewriteLog *log = context_.rewrites())
    log->bypassed(c.memcast, exact);
  for (Use &use : c.y.uses()) {
    if (!reads(use))
      continue;
    Instruction &reader = *use.user();
    // What an instruction that computes does with its destination has nothing to do with the
    // memcast.
    if (reader.has_trait(op_trait::CopiesBits) && !reader.is_fixed())
      reader.set_autocast(mark_after_reading_x(c, reader));
    use.set(&c.x, use.access());
  }
  order_.forget(c.y);
}

// What the memcast moved, and what DMA next to it moves fewer or more in the dtype that stays.
void CastOpOptimizer::count(const FusionCandidate &c, bool into_writers) {
  const Tensor &gone = into_writers ? c.x : c.y;
  const unsigned gone_size = sizeinbytes(gone.dtype());
  const unsigned stays_size = sizeinbytes((into_writers ? c.y : c.x).dtype());
  std::uint64_t elements = 0;
  for (const Use &use : gone.uses())
    if (use.user()->has_trait(op_trait::Dma) && (into_writers ? writes(use) : reads(use)))
      elements = saturating_add(elements, bytes_moved(use, DType::Uint8));
  const std::uint64_t fewer =
      gone_size > stays_size ? saturating_multiply(elements, gone_size - stays_size) : 0;
  const std::uint64_t more =
      stays_size > gone_size ? saturating_multiply(elements, stays_size - gone_size) : 0;
  const std::uint64_t saved = saturating_add(bytes_of_memcast(c), fewer);
  counts_.bytes = saturating_add(counts_.bytes, saved - std::min(saved, more));
}

} // namespace nir
