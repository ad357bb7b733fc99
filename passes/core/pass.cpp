#include "passes/core/pass.h"

#include <algorithm>
#include <cassert>
#include <charconv>

#include <fmt/format.h>

#include "ir/support/saturating.h"
#include "passes/core/decline_reasons.h"
#include "passes/core/remark_memory.h"

namespace nir {

namespace {

bool is_applied(RemarkClass remark_class) { return remark_class != RemarkClass::Declined; }

} // namespace

void PassOptions::set(std::string_view name, std::string value) {
  given_.emplace_back(name, std::move(value));
}

std::string_view PassOptions::get(std::string_view name) const {
  for (const auto &[given_name, value] : given_)
    if (given_name == name)
      return value.empty() ? std::string_view("true") : std::string_view(value);
  const auto row = std::ranges::find(table_, name, &PassOption::name);
  assert(row != table_.end() && "a pass asks for an option that its table does not have");
  return row->default_value;
}

std::uint64_t PassOptions::number(std::string_view name) const {
  const std::string_view text = get(name);
  std::uint64_t value = 0;
  [[maybe_unused]] const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  assert(error == std::errc() && end == text.data() + text.size());
  return value;
}

bool FunctionPass::run(Module &module, PassContext &context) {
  bool changed = false;
  for (std::size_t i = 0; i < module.functions().size(); ++i)
    changed |= run(*module.functions()[i], context);
  return changed;
}

std::string_view to_string(RemarkClass remark_class) {
  switch (remark_class) {
  case RemarkClass::Exact:
    return "exact";
  case RemarkClass::Inserted:
    return "inserted";
  case RemarkClass::Permitted:
    return "permitted";
  case RemarkClass::Declined:
    return "declined";
  }
  return {};
}

void PassContext::count(unsigned statistic, std::uint64_t amount) {
  assert(statistic < counters_.values.size() && "the pass's table has no such statistic");
  std::uint64_t &value = counters_.values[statistic];
  value = saturating_add(value, amount);
}

void PassContext::remark(RemarkClass remark_class, const Stmt &at, std::string message) {
  if (!is_applied(remark_class) && decline_reasons_ != nullptr)
    decline_reasons_->declined(pass_, at, message);
  if (is_applied(remark_class) ? !remarks_.applied : !remarks_.missed)
    return;
  std::string text = fmt::format("{}: {}: {}", pass_.name, to_string(remark_class), message);
  if (remark_memory_ != nullptr &&
      remark_memory_->is_repeated(fmt::format("{} {}", at.source(), text)))
    return;
  diagnostics_.remark(SourceRange::at(at.source()), std::move(text));
}

// xorshift64*: never zero, the same on every machine.
std::uint64_t PassContext::next_random() {
  shuffle_state_ ^= shuffle_state_ >> 12;
  shuffle_state_ ^= shuffle_state_ << 25;
  shuffle_state_ ^= shuffle_state_ >> 27;
  return shuffle_state_ * 0x2545'F491'4F6C'DD1Du;
}

} // namespace nir
