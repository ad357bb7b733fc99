#include "ir/name.h"

#include <charconv>
#include <functional>

namespace nir {

std::optional<std::uint32_t> name_number(std::string_view text) {
  constexpr std::size_t max_digits = 10;
  if (text.empty() || text.size() > max_digits || (text[0] == '0' && text.size() > 1))
    return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9')
      return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (value >= 0x8000'0000u)
    return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

NameTable::NameTable(Arena &arena) : arena_(arena), slots_(64) {}

Name NameTable::intern(std::string_view text) {
  if (const auto number = name_number(text))
    return Name::number(*number);
  return find_or_add(text, false);
}

Name NameTable::intern_stable(std::string_view text) {
  if (const auto number = name_number(text))
    return Name::number(*number);
  return find_or_add(text, true);
}

Name NameTable::find_or_add(std::string_view text, bool stable) {
  if ((strings_.size() + 1) * 4 > slots_.size() * 3)
    grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>{}(text)&mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask)
    if (strings_[slots_[slot] - 1] == text)
      return Name::string(slots_[slot] - 1);
  strings_.push_back(stable ? text : arena_.copy(text));
  slots_[slot] = static_cast<std::uint32_t>(strings_.size());
  return Name::string(slots_[slot] - 1);
}

void NameTable::grow() {
  std::vector<std::uint32_t> slots(slots_.size() * 2);
  const std::size_t mask = slots.size() - 1;
  for (std::uint32_t index = 0; index < strings_.size(); ++index) {
    std::size_t slot = std::hash<std::string_view>{}(strings_[index]) & mask;
    while (slots[slot] != 0)
      slot = (slot + 1) & mask;
    slots[slot] = index + 1;
  }
  slots_ = std::move(slots);
}

std::string NameTable::str(Name name) const {
  std::string out;
  append(name, out);
  return out;
}

void NameTable::append(Name name, std::string &out) const {
  if (!name.is_number()) {
    out += view(name);
    return;
  }
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, name.number()).ptr;
  out.append(digits, end);
}

} // namespace nir
