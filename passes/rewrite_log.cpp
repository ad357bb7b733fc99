#include "passes/rewrite_log.h"

#include "passes/mutate.h"

namespace nir {

RewriteLog::RewriteLog(Module &module) : module_(module) {
  module_.arena().set_recycling(false);
  std::uint32_t index = 0;
  for (Function *function : module.functions())
    for (Stmt &stmt : function->statements())
      if (const Instruction *inst = dyn_cast<Instruction>(&stmt)) index_.emplace(inst, index++);
}

RewriteLog::~RewriteLog() { module_.arena().set_recycling(true); }

// An instruction that the pass has made itself had no rounding before.
RewriteLog::Sites &RewriteLog::sites_of(const Instruction &inst) {
  const auto [it, is_new] = sites_.try_emplace(&inst);
  const auto known = index_.find(&inst);
  if (is_new && known != index_.end())
    it->second.push_back({known->second, wide_dtype(inst), inst.dst_dtype()});
  return it->second;
}

void RewriteLog::absorbed(const Instruction &producer, const Instruction &copy, bool exact) {
  const Sites of_copy = sites_of(copy);
  Sites &of_producer = sites_of(producer);
  if (!exact) {
    remove(of_producer);
    of_producer.clear();
  }
  of_producer.insert(of_producer.end(), of_copy.begin(), of_copy.end());
}

void RewriteLog::bypassed(const Instruction &copy, bool exact) {
  if (!exact) remove(sites_of(copy));
}

void RewriteLog::remove(const Sites &sites) {
  removed_.insert(removed_.end(), sites.begin(), sites.end());
}

} // namespace nir
