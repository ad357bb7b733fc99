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

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/support/saturating.h"
#include "passes/rewrite/rewrite_log.h"

namespace nir {
namespace {

constexpr std::uint32_t last_order = std::numeric_limits<std::uint32_t>::max();

std::string describe_fusion(const FusionCandidate &c, bool into_writers) {
  const NameTable &names = c.function.module().names();
  const std::string x = quoted_name(names, '$', c.x.name());
  const std::string y = quoted_name(names, '$', c.y.name());
  return into_writers ? fmt::format("fuse_src: what writes '{}' writes '{}'", x, y)
                      : fmt::format("fuse_dst: what reads '{}' reads '{}'", y, x);
}

} // namespace

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
  const std::uint64_t saved = saturating_add(bytes_moved(c.memcast), fewer);
  counts_.bytes = saturating_add(counts_.bytes, saved - std::min(saved, more));
}

} // namespace nir
