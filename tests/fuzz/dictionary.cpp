// Prints libFuzzer's dictionary: the words and the characters that the language and pipelines know,
// from the tables that the tools themselves read.

#include <iostream>
#include <string_view>

#include "ir/isa/opcode.h"
#include "ir/isa/target.h"
#include "ir/numeric/dtype.h"
#include "lang/nir/lexer/words.h"
#include "passes/core/pass.h"
#include "passes/pipeline/registry.h"

namespace {

void add(std::string_view token) {
  std::cout << '"';
  for (const char c : token) {
    if (c == '"' || c == '\\')
      std::cout << '\\';
    std::cout << c;
  }
  std::cout << "\"\n";
}

void add_language() {
  using namespace nir;
  for (const std::string_view word :
       {"module", "func", "strict", "tensor",    "for",   "in",     "step",  "as",  "dram",
        "sbuf",   "psum", "input",  "output",    "const", "splat",  "dense", "hex", "true",
        "false",  "inf",  "nan(0x", "target = ", " -> ",  " = ",    " : ",   "..",  "{",
        "}",      "[",    "]",      "(",         ")",     ", ",     "%0",    "$0",  "@0",
        "\"",     "\\x",  "//",     "0x",        "1e-5",  "0x1.8p3"})
    add(word);
  for (const OpcodeInfo &opcode : all_opcodes())
    add(opcode.mnemonic);
  for (const AttrInfo &attribute : all_attributes())
    add(attribute.name);
  for (const std::string_view name : all_activation_fns())
    add(name);
  for (const std::string_view name : all_alu_ops())
    add(name);
  for (const std::string_view name : lang::dtype_words())
    add(name);
  for (const Target &target : all_targets())
    add(target.name);
}

void add_pipelines() {
  using namespace nir;
  for (const std::string_view word : {"fixpoint", "fixpoint{max=", "=true", "=on"})
    add(word);
  for (const PassInfo *pass : all_passes()) {
    add(pass->name);
    for (const PassOption &option : pass->options) {
      add(option.name);
      for (const std::string_view choice : option.choices)
        add(choice);
    }
  }
}

} // namespace

int main() {
  add_language();
  add_pipelines();
  return 0;
}
