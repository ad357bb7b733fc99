// nir-opt with passes that are wrong on purpose: --check must catch each of them.

#include <vector>

#include "driver/opt/opt_main.h"
#include "passes/core/pass.h"
#include "passes/pipeline/registry.h"
#include "passes/rewrite/mutate.h"
#include "passes/rewrite/rewrite_log.h"

namespace nir {
namespace {

std::vector<Instruction *> casts_of(Function &function) {
  std::vector<Instruction *> casts;
  for (Stmt &stmt : function.statements()) {
    auto *inst = dyn_cast<Instruction>(&stmt);
    if (inst != nullptr && inst->opcode() == Opcode::TensorCopy && inst->defines_value() &&
        is_cast(*inst))
      casts.push_back(inst);
  }
  return casts;
}

std::vector<Instruction *> stores_of(Tensor &tensor) {
  std::vector<Instruction *> stores;
  for (Use &use : tensor.uses())
    if (writes(use))
      stores.insert(stores.begin(), use.user());
  return stores;
}

// Removes a cast that reads an internal tensor: what writes the tensor writes the cast's dtype, and
// what reads the cast reads the tensor. Claims the roundings of `claimed` only.
void remove_cast(Instruction &cast, const std::vector<Instruction *> &claimed,
                 PassContext &context) {
  Tensor &tensor = *cast.src()->tensor();
  for (const Instruction *store : claimed)
    if (RewriteLog *log = context.rewrites())
      log->absorbed(*store, cast, absorbing_copy_is_exact(*store, cast));
  mutate_dst_ty(*stores_of(tensor).front(), cast.dtype());
  cast.replace_all_uses_with(&tensor, cast.src()->access());
  cast.erase();
}

// The casts of internal tensors that are stored `num_stores` times.
std::vector<Instruction *> casts_of_tensors(Function &function, std::size_t num_stores) {
  std::vector<Instruction *> casts = casts_of(function);
  std::erase_if(casts, [&](const Instruction *cast) {
    Tensor *tensor = cast->src()->tensor();
    return tensor == nullptr || tensor->role() != Role::Internal ||
           stores_of(*tensor).size() != num_stores;
  });
  return casts;
}

// Does not ask whether the tensor is written between the cast and what reads it.
class MovesReads : public FunctionPass {
public:
  bool run(Function &function, PassContext &context) override {
    const std::vector<Instruction *> casts = casts_of_tensors(function, 2);
    for (Instruction *cast : casts)
      remove_cast(*cast, stores_of(*cast->src()->tensor()), context);
    return !casts.empty();
  }
};

// Takes the first store into a tensor for the only one.
class ForgetsStore : public FunctionPass {
public:
  bool run(Function &function, PassContext &context) override {
    const std::vector<Instruction *> casts = casts_of_tensors(function, 2);
    for (Instruction *cast : casts)
      remove_cast(*cast, {stores_of(*cast->src()->tensor()).front()}, context);
    return !casts.empty();
  }
};

// Removes a narrowing and the cast back, and claims nothing.
class DropsNarrowing : public FunctionPass {
public:
  bool run(Function &function, PassContext &) override {
    bool changed = false;
    for (Instruction *widening : casts_of(function)) {
      const Instruction *narrowing = widening->src()->defining_instruction();
      if (narrowing == nullptr || narrowing->opcode() != Opcode::TensorCopy ||
          narrowing->src()->is_access() || narrowing->src()->dtype() != widening->dtype())
        continue;
      widening->replace_all_uses_with(narrowing->src()->value());
      widening->erase();
      changed = true;
    }
    return changed;
  }
};

template <class Wrong> std::unique_ptr<Pass> create(const PassOptions &) {
  return std::make_unique<Wrong>();
}

constexpr PassInfo wrong_passes[] = {
    {"wrong-moved-read",
     "removes a cast although its tensor is written behind it",
     {},
     {},
     create<MovesReads>},
    {"wrong-two-stores",
     "claims the rounding of one store where it removes two",
     {},
     {},
     create<ForgetsStore>},
    {"wrong-narrowing", "removes a rounding and claims nothing", {}, {}, create<DropsNarrowing>},
};

} // namespace
} // namespace nir

int main(int argc, char **argv) {
  for (const nir::PassInfo &pass : nir::wrong_passes)
    nir::register_pass(pass);
  return nir::opt_main(argc, argv);
}
