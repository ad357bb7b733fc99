#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>

#include "ir/core/module.h"

namespace nir {

// One way to make a module smaller. It names an object of the module that it was made for.
struct Edit {
  enum Kind : std::uint8_t {
    DropFunction,   // Function, and the calls of it
    DropTensor,     // Tensor, and what writes it; what reads it reads a value instead
    DropStmt,       // Stmt; what uses its value uses another one of its type
    UnwrapLoop,     // Loop: its body once, at the first trip
    ShrinkLoop,     // Loop: only the first trip
    BecomeMemset,   // Instruction that defines a value: zeros of its type
    ForwardOperand, // Instruction, index of the operand: the first value of its type
    DropOperand,    // Instruction, index of an operand that may be left out
    PlainAccess,    // Instruction, index of the use: the first elements, side by side
    MakeInternal,   // Tensor of another role
    SplatInit,      // Tensor, const: the same element everywhere
    DropFlag,       // Instruction, inst_flag bit
    DropAttribute,  // Instruction, place in its attribute list
    DropAutocast,   // Instruction
    DropName,       // Stmt: named by the printer, with the smallest free number
    DropStrict,     // Function
    DropHeader,     // Module
    ShrinkExtent,   // Module, extent: 1 wherever it stands
    HalveExtent,    // Module, extent
  };
  Kind kind{};
  const void *object = nullptr;
  std::uint64_t index = 0;

  friend bool operator==(const Edit &, const Edit &) = default;
};

// The edits of one candidate, to be asked.
class EditSet {
public:
  explicit EditSet(std::span<const Edit> edits) : edits_(edits.begin(), edits.end()) {}
  bool has(Edit::Kind kind, const void *object, std::uint64_t index = 0) const {
    return edits_.contains({kind, object, index});
  }

private:
  struct Hash {
    std::size_t operator()(const Edit &edit) const;
  };
  std::unordered_set<Edit, Hash> edits_;
};

// A copy of the module with the edits made. What an edit takes away from others is replaced where
// it can be: an operand by a value of its type, a value by zeros or a load. The copy need not be
// well-formed: edits may contradict rules of the language, which is the verifier's to find out.
// nullptr where an edit leaves a type that does not exist.
std::unique_ptr<Module> rebuild(const Module &module, const EditSet &edits);

} // namespace nir
