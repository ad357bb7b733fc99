#include "ir/statement_memo.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/printer.h"
#include "ir/verify_rules.h"

namespace nir {
namespace {

std::uint64_t address(const void *object) { return reinterpret_cast<std::uintptr_t>(object); }

// A byte that says what an operand is; never 0.
std::uint64_t kind_of(const Value &value) {
  const auto kind = static_cast<std::uint64_t>(value.kind()) + 1;
  const Tensor *tensor = dyn_cast<Tensor>(&value);
  if (tensor == nullptr)
    return kind;
  return kind | static_cast<std::uint64_t>(tensor->space()) << 3 |
         static_cast<std::uint64_t>(tensor->role()) << 5;
}

// Numbers are told apart by themselves, everything else by its type.
std::uint64_t identity_of(const Value &value) {
  return address(isa<Immediate>(&value) ? static_cast<const void *>(&value) : value.type());
}

std::size_t slot_of(std::span<const std::uint64_t> key, std::size_t num_slots) {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : key)
    hash = (hash ^ word) * 0x9E37'79B9'7F4A'7C15u;
  return (hash >> 40) % num_slots;
}

bool is_same(std::span<const std::uint64_t> a, const std::uint64_t *b) {
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= a[i] ^ b[i];
  return difference == 0;
}

} // namespace

StatementMemo::Key *StatementMemo::find(const Instruction &inst) {
  const std::span<const Use> uses = inst.uses_of_operands();
  if (uses.size() > max_uses)
    return &scratch_;
  Key &key = key_;
  key[0] = static_cast<std::uint64_t>(inst.opcode()) | static_cast<std::uint64_t>(inst.op(0)) << 8 |
           static_cast<std::uint64_t>(inst.op(1)) << 16 | std::uint64_t{inst.flags()} << 24;
  key[1] = 0;
  key[2] = address(inst.type());
  key[3] = address(inst.attrs());
  std::size_t size = 4;
  for (const Use &use : uses) {
    key[1] = key[1] << 8 | kind_of(*use.value());
    key[size++] = identity_of(*use.value());
    key[size++] = address(use.access());
  }
  const auto used = std::span<const std::uint64_t>(key).first(size);
  Key &slot = slots_[slot_of(used, slots_.size())];
  // The kinds say how many operands there are, so that the words behind them need no look.
  return is_same(used, slot.data()) ? nullptr : &slot;
}

bool StatementMemo::check_slowly(const Instruction &inst, const StmtLocator &locator,
                                 DiagnosticEngine &diagnostics, Key &slot) {
  const unsigned said = diagnostics.num_errors() + diagnostics.num_warnings();
  if (!verify_statement(inst, locator, diagnostics))
    return false;
  warn_about_statement(inst, locator, diagnostics);
  if (diagnostics.num_errors() + diagnostics.num_warnings() == said)
    slot = key_;
  return true;
}

bool StatementMemo::check(const Instruction &inst, DiagnosticEngine &diagnostics) {
  Key *slot = find(inst);
  if (slot == nullptr)
    return true;
  said_.clear();
  const bool ok = check_slowly(inst, locator_, said_, *slot);
  for (const Diagnostic &item : said_.diagnostics()) {
    const bool shown = !diagnostics.at_limit();
    Diagnostic &reported = diagnostics.report(item.severity, item.range, item.message);
    reported.notes = item.notes;
    if (shown)
      reported.notes.push_back(
          {{},
           fmt::format("in function {}: {}", function_name(*inst.function()), to_string(inst))});
  }
  return ok;
}

} // namespace nir
