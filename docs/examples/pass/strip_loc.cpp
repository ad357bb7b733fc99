#include <vector>

#include "passes/core/pass.h"

// Removes `loc` marks, so that modules from different sources can be compared as text.
class StripLoc final : public nir::FunctionPass {
public:
  bool run(nir::Function &function, nir::PassContext &) override {
    bool changed = false;
    for (nir::Stmt &stmt : function.statements()) {
      auto *inst = nir::dyn_cast<nir::Instruction>(&stmt);
      if (inst == nullptr || inst->attr(nir::AttrKey::Loc) == nullptr)
        continue;
      std::vector<nir::Attr> kept(inst->attrs()->items().begin(), inst->attrs()->items().end());
      std::erase_if(kept, [](const nir::Attr &attr) { return attr.key == nir::AttrKey::Loc; });
      inst->set_attrs(nir::AttrList::create(function.module().arena(), kept));
      changed = true;
    }
    return changed;
  }
};

extern const nir::PassInfo strip_loc{
    .name = "strip-loc",
    .description = "removes loc marks",
    .options = {},
    .statistics = {},
    .create = [](const nir::PassOptions &) -> std::unique_ptr<nir::Pass> {
      return std::make_unique<StripLoc>();
    }};
