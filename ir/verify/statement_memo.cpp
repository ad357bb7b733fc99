#include "ir/verify/statement_memo.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/numeric/literal.h"
#include "ir/print/printer.h"
#include "ir/verify/verify_rules.h"

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

// Of numbers the rules ask for their type and for one thing more; those that fail are told apart by
// themselves, everything else by its type.
std::uint64_t identity_of(const Value &value) {
  const Immediate *number = dyn_cast<Immediate>(&value);
  if (number != nullptr && !text_reads_back(number->dtype(), number->bits()))
    return address(number);
  return address(value.type());
}

// A product for each word, none of which waits for another. Their factors are odd, and far apart.
std::size_t slot_of(std::span<const std::uint64_t> key, std::size_t num_slots) {
  std::uint64_t hash = 0;
  std::uint64_t factor = 0x9E37'79B9'7F4A'7C15u;
  for (const std::uint64_t word : key) {
    hash ^= word * factor;
    factor += 0x3C6E'F372'FE94'F82Au;
  }
  return (hash >> 40) % num_slots;
}

bool is_same(std::span<const std::uint64_t> a, const std::uint64_t *b) {
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= a[i] ^ b[i];
  return difference == 0;
}

} // namespace

bool StatementKinds::knows(const Instruction &inst) {
  size_ = 0;
  const std::span<const Use> uses = inst.uses_of_operands();
  if (uses.size() > max_uses)
    return false;
  key_[0] = static_cast<std::uint64_t>(inst.opcode()) |
            static_cast<std::uint64_t>(inst.op(0)) << 8 |
            static_cast<std::uint64_t>(inst.op(1)) << 16 | std::uint64_t{inst.flags()} << 24;
  key_[1] = 0;
  key_[2] = address(inst.type());
  key_[3] = address(inst.attrs());
  std::size_t size = 4;
  for (const Use &use : uses) {
    if (use.value() == nullptr)
      return false;
    key_[1] = key_[1] << 8 | kind_of(*use.value());
    key_[size++] = identity_of(*use.value());
    key_[size++] = address(use.access());
  }
  size_ = size;
  const auto used = std::span<const std::uint64_t>(key_).first(size);
  // The kinds say how many operands there are, so that the words behind them need no look.
  return is_same(used, slots_[slot_of(used, slots_.size())].data());
}

void StatementKinds::remember() {
  const auto used = std::span<const std::uint64_t>(key_).first(size_);
  if (!used.empty())
    std::ranges::copy(used, slots_[slot_of(used, slots_.size())].begin());
}

bool StatementMemo::check_slowly(const Instruction &inst, const StmtLocator &locator,
                                 DiagnosticEngine &diagnostics) {
  const unsigned said = diagnostics.num_errors() + diagnostics.num_warnings();
  if (!verify_statement(inst, locator, diagnostics))
    return false;
  warn_about_statement(inst, locator, diagnostics);
  if (diagnostics.num_errors() + diagnostics.num_warnings() == said)
    kinds_.remember();
  return true;
}

bool StatementMemo::check(const Instruction &inst, DiagnosticEngine &diagnostics) {
  if (kinds_.knows(inst))
    return true;
  said_.clear();
  const bool ok = check_slowly(inst, locator_, said_);
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
