#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/arena.h"

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

// All names and strings of a module. Threads that hold lanes of the arena may intern and look at
// the same time.
class NameTable {
public:
  explicit NameTable(Arena &arena);

  // Interns a copy of `text`.
  Name intern(std::string_view text);
  // Interns without a copy: `text` must live as long as the module (its source buffer).
  Name intern_stable(std::string_view text);

  // The characters of a string name. Not for numbers, which have none: see append.
  std::string_view view(Name name) const { return string(name.index()); }
  std::string str(Name name) const;
  void append(Name name, std::string &out) const;

  std::size_t num_strings() const { return num_strings_; }

private:
  // A place in the table: most looks at a name that is another one end at its hash.
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t name = 0; // index + 1 into strings_, 0 is free
  };
  Name find_or_add(std::string_view text, bool stable);
  void grow();
  void add(std::string_view text);

  // Strings never move, so that looking at one needs no lock: chunk k holds the 2^k * 64 strings
  // behind those of the chunks before it.
  static constexpr unsigned first_chunk_bits = 6;
  static constexpr unsigned num_chunks = 26; // 2^31 names and more
  static unsigned chunk_of(std::uint32_t index) {
    return static_cast<unsigned>(std::bit_width((index >> first_chunk_bits) + 1)) - 1;
  }
  static std::uint32_t chunk_begin(unsigned chunk) {
    return ((std::uint32_t{1} << chunk) - 1) << first_chunk_bits;
  }
  std::string_view string(std::uint32_t index) const {
    const unsigned chunk = chunk_of(index);
    return chunks_[chunk][index - chunk_begin(chunk)];
  }

  Arena &arena_;
  std::mutex mutex_; // of whoever interns
  std::array<std::unique_ptr<std::string_view[]>, num_chunks> chunks_;
  std::uint32_t num_strings_ = 0;
  std::vector<Slot> slots_; // open addressing, a power of two
};

} // namespace nir
