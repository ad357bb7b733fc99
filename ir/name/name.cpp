#include "ir/name/name.h"

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
  const std::lock_guard lock(mutex_);
  if ((std::size_t{num_strings_} + 1) * 4 > slots_.size() * 3)
    grow();
  const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].name != 0; at = (at + 1) & mask)
    if (slots_[at].hash == hash && string(slots_[at].name - 1) == text)
      return Name::string(slots_[at].name - 1);
  add(stable ? text : arena_.copy(text));
  slots_[at] = {hash, num_strings_};
  return Name::string(slots_[at].name - 1);
}

void NameTable::add(std::string_view text) {
  const unsigned chunk = chunk_of(num_strings_);
  if (chunks_[chunk] == nullptr)
    chunks_[chunk] =
        std::make_unique<std::string_view[]>(std::size_t{1} << (chunk + first_chunk_bits));
  chunks_[chunk][num_strings_ - chunk_begin(chunk)] = text;
  ++num_strings_;
}

void NameTable::grow() {
  std::vector<Slot> slots(slots_.size() * 2);
  const std::size_t mask = slots.size() - 1;
  for (const Slot &slot : slots_) {
    if (slot.name == 0)
      continue;
    std::size_t at = slot.hash & mask;
    while (slots[at].name != 0)
      at = (at + 1) & mask;
    slots[at] = slot;
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
