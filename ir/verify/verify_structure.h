#pragma once

#include <span>

#include "ir/name/name_orders.h"
#include "ir/support/large_memory.h"
#include "ir/support/scratch_map.h"
#include "ir/verify/verifier.h"

namespace nir {

// The invariants that the IR keeps by itself and that no text can break: what passes are held to.
// One object checks the functions of a module, one after the other, and keeps its memory between
// them. The later checks of a function count on check_links.
class StructureCheck {
public:
  StructureCheck(Module &module, DiagnosticEngine &diagnostics)
      : module_(module), diagnostics_(diagnostics) {}

  // Functions belong to the module, and their names are distinct.
  bool check_functions();

  // Links, parents and depths of the function's statements and tensors. Where they hold, gives the
  // statements their orders.
  bool check_links(Function &function);
  // The statements of that function by their orders, nullptr where an order has none.
  std::span<Stmt *const> statements() const { return statements_; }

  // Names, types and interface counts of its tensors.
  bool check_tensors(const Function &function);
  // The statement's bounds where it is a loop, its name and type, and whether all that it refers
  // to is there and visible. To be asked of all statements, in program order.
  bool check_statement(const Stmt &stmt);
  // The use-lists of the function's values and tensors, against the operands counted above.
  bool check_uses(const Function &function);

private:
  bool error(SourceOffset place, std::string message);
  bool error(const Stmt &stmt, std::string message) {
    return error(stmt.source(), std::move(message));
  }
  std::string value_name(const Stmt &stmt) const;

  bool check_tensor_links(const Function &function);
  bool check_statement_links(Function &function);
  void place(Stmt &stmt);
  void leave(const Loop &loop);
  void renumber(Function &function);
  bool check_place(const Stmt &stmt, const Stmt *previous, const Block &block);
  bool check_body(const Loop &loop, const Block &around);
  bool check_loop(const Loop &loop);
  bool check_name(const Stmt &stmt);
  bool is_visible(const Stmt &def, const Stmt &user) const;
  bool check_type(SourceOffset place, const Type *type);
  bool check_operand(const Instruction &user, const Use &use);
  bool check_value(const Instruction &user, const Instruction &def);
  bool check_number(const Instruction &user, const Immediate &number);
  bool check_access(const Instruction &user, const Use &use);
  bool check_terms(const Instruction &user, const AccessDim &dim);
  bool is_member(const Stmt &stmt) const;
  bool is_slot_of_function(const Use &use) const;
  const char *why_list_is_broken(const Value &value);
  bool check_use_list(const Value &value, SourceOffset place, char sigil);
  bool check_use_lists(const Function &function);
  bool check_all_listed(const Function &function);

  Module &module_;
  DiagnosticEngine &diagnostics_;
  LargeVector<Stmt *> statements_; // of the function at hand, by order
  NameOrders holders_;             // of the names of values, the latest of each
  ScratchMap<std::uint32_t, const Tensor *> tensor_names_;
  ScratchMap<const Type *, bool> types_;        // found interned
  ScratchMap<const Immediate *, bool> numbers_; // likewise
  std::uint32_t latest_order_ = 0;              // that the walk has met
  bool rising_ = true;                          // whether orders are as they must be, so far
  bool lists_hold_ = true;                      // whether no use-list was found broken, so far
  std::size_t max_slots_ = 0;                   // of operands
  std::size_t num_slots_ = 0;                   // of those, that use-lists must hold
  std::size_t num_listed_ = 0;                  // that they hold
};

} // namespace nir
