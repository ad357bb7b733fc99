// The seeds of the fuzzers on bytes (tests/corpus).

#include <set>

#include <gtest/gtest.h>

#include "tests/unit/support/module_text.h"

namespace nir::test {
namespace {

TEST(SeedCorpus, HasEveryOpcode) {
  std::set<Opcode> found;
  for (const auto &path :
       module_files(std::filesystem::path(NIR_SOURCE_DIR) / "tests/corpus/modules")) {
    const TextModule seed(read_text(path), path.filename());
    if (seed.module == nullptr)
      continue; // seeds of errors
    for (const Function *function : seed.module->functions())
      for (const Stmt &stmt : function->statements())
        if (const auto *inst = dyn_cast<Instruction>(&stmt))
          found.insert(inst->opcode());
  }
  for (const OpcodeInfo &opcode : all_opcodes())
    EXPECT_TRUE(found.contains(opcode.opcode))
        << opcode.mnemonic << ": tests/corpus/modules/" << opcode.mnemonic << ".nir is missing";
}

} // namespace
} // namespace nir::test
