#include "bench/generator/naming.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace nir {
namespace {

constexpr std::string_view words[] = {"numbers", "short", "hlo"};

// What XLA calls the operation; the mnemonic where it has none of the kind.
std::string_view hlo_stem(const Stmt &stmt) {
  const auto *inst = dyn_cast<Instruction>(&stmt);
  if (inst == nullptr)
    return "while";
  switch (inst->opcode()) {
  case Opcode::TensorCopy:
    return "convert";
  case Opcode::Activation:
    return to_string(inst->fn());
  case Opcode::TensorScalar:
  case Opcode::TensorTensor:
    return to_string(inst->op());
  case Opcode::TensorReduce:
    return "reduce";
  case Opcode::Matmul:
    return "dot";
  case Opcode::Memset:
    return "constant";
  case Opcode::Load:
    return "copy-start";
  case Opcode::Opaque:
    return "custom-call";
  default:
    return inst->opcode_info().mnemonic;
  }
}

class Renamer {
public:
  Renamer(Module &module, Naming naming, RenameScope scope)
      : module_(module), naming_(naming), scope_(scope) {}

  void run() {
    std::uint32_t next_function = 0;
    for (Function *function : module_.functions()) {
      if (renames(function->name()))
        function->set_name(other_name("f", "computation.", next_function));
      ++next_function;
      std::uint32_t next_tensor = 0;
      for (Tensor *t = function->first_tensor(); t != nullptr; t = t->next())
        if (renames(t->name()))
          t->set_name(other_name("t", "param_0.", next_tensor++));
      std::uint32_t next_value = 0;
      for (Stmt &stmt : function->statements())
        if (isa<Loop>(&stmt) || cast<Instruction>(&stmt)->defines_value())
          stmt.set_name(value_name(stmt, next_value++));
    }
  }

private:
  bool renames(Name name) const {
    return scope_ == RenameScope::Everything || name.is_number() || name.empty();
  }

  Name with_number(std::string_view stem, std::uint32_t number) {
    text_ = stem;
    text_ += std::to_string(number);
    return module_.intern(text_);
  }

  Name other_name(std::string_view short_stem, std::string_view hlo, std::uint32_t index) {
    switch (naming_) {
    case Naming::Short:
      return with_number(short_stem, index);
    case Naming::Hlo:
      return with_number(hlo, next_hlo_++);
    case Naming::Numbers:
      break;
    }
    return Name::number(index);
  }

  Name value_name(const Stmt &stmt, std::uint32_t index) {
    constexpr std::string_view stems[] = {"a", "b", "c"};
    switch (naming_) {
    case Naming::Short:
      return isa<Loop>(&stmt) ? with_number("i", index)
                              : with_number(stems[index % std::size(stems)],
                                            index / static_cast<std::uint32_t>(std::size(stems)));
    case Naming::Hlo:
      return hlo_name(stmt);
    case Naming::Numbers:
      break;
    }
    return Name::number(index);
  }

  // Most are a stem, a dot and a number; some are fused operations, some say where in the source
  // program they come from and so need quotes, and some are clones, which end in a word.
  Name hlo_name(const Stmt &stmt) {
    constexpr std::uint32_t period = 32;
    constexpr std::uint32_t clone = 9;
    const std::uint32_t number = next_hlo_++;
    const std::string_view stem = hlo_stem(stmt);
    if (number % period == clone) {
      with_dot(stem);
      text_ += std::to_string(number);
      text_ += ".clone";
      return module_.intern(text_);
    }
    if (number % 8 == 3)
      with_dot(std::string(stem) + "_add_fusion");
    else if (number % 16 == 4)
      with_dot("jit(f)/" + std::string(stem));
    else
      with_dot(stem);
    text_ += std::to_string(number);
    return module_.intern(text_);
  }

  void with_dot(std::string_view stem) {
    text_ = stem;
    text_ += '.';
  }

  Module &module_;
  Naming naming_;
  RenameScope scope_;
  std::uint32_t next_hlo_ = 0; // in the module, as in XLA
  std::string text_;
};

} // namespace

std::span<const std::string_view> naming_words() { return words; }

std::optional<Naming> find_naming(std::string_view word) {
  const auto found = std::ranges::find(words, word);
  if (found == std::end(words))
    return std::nullopt;
  return static_cast<Naming>(found - std::begin(words));
}

void rename(Module &module, Naming naming, RenameScope scope) {
  Renamer(module, naming, scope).run();
}

} // namespace nir
