#include "passes/rewrite_log.h"

#include "passes/mutate.h"

namespace nir {

RewriteLog::RewriteLog(Module &module) : module_(module) {
  module_.arena().set_recycling(false);
  std::uint32_t index = 0;
  for (Function *function : module.functions())
    for (Stmt &stmt : function->statements())
      if (const Instruction *inst = dyn_cast<Instruction>(&stmt))
        index_.emplace(inst, index++);
}

RewriteLog::~RewriteLog() { module_.arena().set_recycling(true); }

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
    remove_all(of_producer, copy.dst_dtype());
  of_producer.made.insert(of_producer.made.end(), of_copy.begin(), of_copy.end());
}

void RewriteLog::bypassed(const Instruction &copy, bool exact) {
  if (!exact)
    remove_all(roundings_of(copy), copy.src()->dtype());
}

void RewriteLog::remove_all(Roundings &roundings, DType instead) {
  for (const RemovedRounding &site : roundings.made) {
    roundings.removed.push_back(removed_.size());
    removed_.push_back(site);
  }
  roundings.made.clear();
  for (const std::size_t index : roundings.removed)
    removed_[index].instead = instead;
}

} // namespace nir
