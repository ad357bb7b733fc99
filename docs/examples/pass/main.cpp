// my-opt: nir-opt with the passes of this folder beside nir's.
#include "driver/opt/opt_main.h"
#include "passes/core/pass.h"
#include "passes/pipeline/registry.h"

extern const nir::PassInfo fold_transposes;
extern const nir::PassInfo strip_loc;

int main(int argc, char **argv) {
  nir::register_pass(fold_transposes);
  nir::register_pass(strip_loc);
  return nir::opt_main(argc, argv);
}
