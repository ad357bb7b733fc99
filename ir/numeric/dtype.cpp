#include "ir/numeric/dtype.h"

namespace nir {
namespace {

struct NameSlot {
  std::string_view word; // empty: the slot is free
  DType dtype{};
};

// Far more slots than names, so that probes stay short.
constexpr unsigned name_slots = 256;

constexpr unsigned name_hash(std::string_view word) {
  unsigned hash = 2166136261u;
  for (char c : word)
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash ^ (hash >> 15);
}

using NameTable = std::array<NameSlot, name_slots>;

constexpr void add_name(NameTable &table, std::string_view word, DType dtype) {
  unsigned slot = name_hash(word) % name_slots;
  while (!table[slot].word.empty())
    slot = (slot + 1) % name_slots;
  table[slot] = {word, dtype};
}

constexpr NameTable make_name_table() {
  NameTable table{};
  for (DType dtype : all_dtypes()) {
    add_name(table, info(dtype).name, dtype);
    std::string_view rest = info(dtype).aliases;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(' '), rest.size());
      add_name(table, rest.substr(0, end), dtype);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return table;
}

constexpr NameTable known_names = make_name_table();

constexpr size_t longest_name() {
  size_t longest = 0;
  for (const NameSlot &slot : known_names)
    longest = std::max(longest, slot.word.size());
  return longest;
}

} // namespace

std::optional<DType> str2dtype(std::string_view word) {
  if (word.empty() || word.size() > longest_name())
    return std::nullopt;
  for (unsigned slot = name_hash(word) % name_slots; !known_names[slot].word.empty();
       slot = (slot + 1) % name_slots) {
    if (known_names[slot].word == word)
      return known_names[slot].dtype;
  }
  return std::nullopt;
}

} // namespace nir
