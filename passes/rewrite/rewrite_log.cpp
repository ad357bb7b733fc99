#include "passes/rewrite/rewrite_log.h"

#include "passes/rewrite/mutate.h"

namespace nir {

RewriteLog::RewriteLog(Module &module) : module_(module), pause_(module.arena()) {
  std::uint32_t index = 0;
  for (Function *function : module.functions())
    for (Stmt &stmt : function->statements())
      if (const Instruction *inst = dyn_cast<Instruction>(&stmt))
        index_.emplace(inst, index++);
}

// An instruction that the pass has made itself had no rounding before.
RewriteLog::Roundings &RewriteLog::roundings_of(const Instruction &inst) {
  const auto [it, is_new] = roundings_.try_emplace(&inst);
  const auto known = index_.find(&inst);
  if (is_new && known != index_.end())
    it->second.made.push_back({known->second, wide_dtype(inst), inst.dst_dtype()});
  return it->second;
}

void RewriteLog::absorbed(const Instruction &producer, const Instruction &copy, bool exact) {
  const Sites of_copy = roundings_of(copy).made;
  Roundings &of_producer = roundings_of(producer);
  // Once one is gone, what it absorbed since takes part in what is written instead.
  if (!exact || !of_producer.removed.empty())
    remove(of_producer, of_producer.made.size(), copy.dst_dtype());
  of_producer.made.insert(of_producer.made.end(), of_copy.begin(), of_copy.end());
  if (!exact)
    widen_readers_of(retyped_object(producer), copy.dst_dtype());
}

void RewriteLog::baked(const Instruction &load, const Instruction &copy) {
  const Sites of_copy = roundings_of(copy).made;
  Sites &made = roundings_of(load).made;
  made.insert(made.end(), of_copy.begin(), of_copy.end());
}

void RewriteLog::bypassed(const Instruction &copy, bool exact) {
  if (exact)
    return;
  Roundings &roundings = roundings_of(copy);
  remove(roundings, roundings.made.size(), copy.src()->dtype());
  widen_readers_of(retyped_object(copy), copy.src()->dtype());
}

void RewriteLog::widened(const Instruction &producer, DType dtype) {
  Roundings &roundings = roundings_of(producer);
  remove(roundings, roundings.made.size(), dtype);
  widen_readers_of(retyped_object(producer), dtype);
}

void RewriteLog::added(const Instruction &inst, DType instead) {
  AddedRounding rounding{0, instead};
  if (inst.opcode() == Opcode::Memset)
    if (const auto *number = cast<Immediate>(inst.operand(0).value()); number->dtype() == instead)
      rounding.number = number->bits();
  added_.emplace(&inst, rounding);
}

std::vector<AddedRounding> RewriteLog::added() const {
  std::vector<AddedRounding> all;
  if (added_.empty())
    return all;
  std::uint32_t index = 0;
  for (const Function *function : std::as_const(module_).functions())
    for (const Stmt &stmt : function->statements())
      if (const auto *inst = dyn_cast<Instruction>(&stmt)) {
        if (const auto found = added_.find(inst); found != added_.end()) {
          all.push_back(found->second);
          all.back().instruction = index;
        }
        ++index;
      }
  return all;
}

// A reader that has absorbed copies exactly did so for the dtype that it read. Now that it is about
// to read what was not rounded to it, the roundings on its way to the last copy show, and are gone.
// One that writes the object itself is about to write its new dtype.
void RewriteLog::widen_readers_of(const Value &object, DType dtype) {
  for (const Use &use : object.uses()) {
    const Instruction &reader = *use.user();
    const auto known = roundings_.find(&reader);
    if (!reads(use) || known == roundings_.end() || known->second.made.size() < 2)
      continue;
    const bool writes_it = !reader.is_bare() && &retyped_object(reader) == &object;
    remove(known->second, known->second.made.size() - 1, writes_it ? dtype : reader.dst_dtype());
  }
}

// The first `count` of those that are made.
void RewriteLog::remove(Roundings &roundings, std::size_t count, DType instead) {
  const auto end = roundings.made.begin() + static_cast<std::ptrdiff_t>(count);
  for (auto site = roundings.made.begin(); site != end; ++site) {
    roundings.removed.push_back(removed_.size());
    removed_.push_back(*site);
  }
  roundings.made.erase(roundings.made.begin(), end);
  for (const std::size_t index : roundings.removed)
    removed_[index].instead = instead;
}

} // namespace nir
