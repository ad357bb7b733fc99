#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/arena.h"

namespace nir {

// The identity of a name within its module: comparing two names is comparing two integers. A name
// that is a number without leading zeros and below 2^31 keeps the number and takes no memory.
class Name {
public:
  constexpr Name() = default;
  static constexpr Name number(std::uint32_t value) { return Name(value | number_bit); }
  static constexpr Name string(std::uint32_t index) { return Name(index + 1); }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr explicit operator bool() const { return bits_ != 0; }
  constexpr bool is_number() const { return (bits_ & number_bit) != 0; }
  constexpr std::uint32_t number() const { return bits_ & ~number_bit; }
  constexpr std::uint32_t index() const { return bits_ - 1; } // of a string name
  constexpr std::uint32_t bits() const { return bits_; }
  friend constexpr bool operator==(Name, Name) = default;

private:
  static constexpr std::uint32_t number_bit = 0x8000'0000u;
  constexpr explicit Name(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = 0; // 0: no name
};

// The number that `text` spells, if a Name may keep it as one.
std::optional<std::uint32_t> name_number(std::string_view text);

// All names and strings of a module.
class NameTable {
public:
  explicit NameTable(Arena &arena);

  // Interns a copy of `text`.
  Name intern(std::string_view text);
  // Interns without a copy: `text` must live as long as the module (its source buffer).
  Name intern_stable(std::string_view text);

  // The characters of a string name. Not for numbers, which have none: see append.
  std::string_view view(Name name) const { return strings_[name.index()]; }
  std::string str(Name name) const;
  void append(Name name, std::string &out) const;

  std::size_t num_strings() const { return strings_.size(); }

private:
  // A place in the table: most looks at a name that is another one end at its hash.
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t name = 0; // index + 1 into strings_, 0 is free
  };
  Name find_or_add(std::string_view text, bool stable);
  void grow();

  Arena &arena_;
  std::vector<std::string_view> strings_;
  std::vector<Slot> slots_; // open addressing, a power of two
};

} // namespace nir
