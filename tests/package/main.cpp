// nir-opt with a pass of somebody else's.

#include <array>

#include "driver/opt/opt_main.h"
#include "passes/core/pass.h"
#include "passes/pipeline/registry.h"

namespace {

// Retypes every activation that may take bfloat16 to it.
class ToBfloat16 : public nir::FunctionPass {
public:
  bool run(nir::Function &function, nir::PassContext &context) override {
    bool changed = false;
    for (nir::Stmt &stmt : function.statements()) {
      auto *inst = nir::dyn_cast<nir::Instruction>(&stmt);
      if (inst == nullptr || inst->opcode() != nir::Opcode::Activation || !inst->defines_value() ||
          inst->dtype() == nir::DType::Bfloat16)
        continue;
      nir::TypeTable &types = function.module().types();
      inst->set_result_type(types.with_dtype(inst->type(), nir::DType::Bfloat16));
      context.count(0);
      changed = true;
    }
    return changed;
  }
};

constexpr std::array<nir::PassStatistic, 1> statistics{{{"Number of activations", "activations"}}};

const nir::PassInfo to_bfloat16{"to-bfloat16",
                                "lets activations write bfloat16",
                                {},
                                statistics,
                                [](const nir::PassOptions &) -> std::unique_ptr<nir::Pass> {
                                  return std::make_unique<ToBfloat16>();
                                }};

} // namespace

int main(int argc, char **argv) {
  nir::register_pass(to_bfloat16);
  return nir::opt_main(argc, argv);
}
