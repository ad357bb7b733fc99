// What the writer and the reader of the binary form share (docs/binary.md describes the form).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "ir/isa/opcode.h"

namespace nir::binary {

// The first byte begins no UTF-8 text and so no module's text; the line end shows what a copy as
// text would change.
constexpr std::string_view signature{"\xffNIRB", 5};
constexpr std::string_view magic{"\xffNIRB\r\n\0", 8};
constexpr std::uint32_t version = 1;

// Offsets in the header. The payload, on which the checksum is taken, follows it.
namespace header {
constexpr std::size_t Version = 8;      // u32
constexpr std::size_t Reserved = 12;    // u32, 0
constexpr std::size_t Fingerprint = 16; // u64, of the tables
constexpr std::size_t PayloadSize = 24; // u64
constexpr std::size_t Checksum = 32;    // u64, XXH3 of the payload
constexpr std::size_t Size = 40;
} // namespace header

// A hash of the tables whose rows the payload names by their numbers: opcodes, functions,
// operators, attributes, dtypes, targets, with what of them decides how something is encoded.
std::uint64_t table_fingerprint();
std::uint64_t checksum_of(std::string_view payload);

namespace module_flag {
constexpr std::uint8_t HasHeader = 1 << 0;
constexpr std::uint8_t PrintsTarget = 1 << 1;
constexpr std::uint8_t All = HasHeader | PrintsTarget;
} // namespace module_flag

namespace function_flag {
constexpr std::uint8_t Strict = 1 << 0;
constexpr std::uint8_t All = Strict;
} // namespace function_flag

// How a declaration is packed into one byte: its space, its role, and its init's form counted from
// 1, 0 where there is none.
namespace tensor_byte {
constexpr unsigned RoleShift = 2;
constexpr unsigned InitShift = 4;
constexpr unsigned Used = 6; // bits
} // namespace tensor_byte

namespace access_flag {
constexpr std::uint8_t Whole = 1 << 0;
constexpr std::uint8_t Reinterprets = 1 << 1;
constexpr std::uint8_t All = Whole | Reinterprets;
} // namespace access_flag

// A statement is a head word and what the head says follows it.
namespace head {
// The lowest byte.
constexpr std::uint32_t EndOfBlock = 0;
constexpr std::uint32_t Loop = 1;
constexpr std::uint32_t FirstOpcode = 2;
constexpr unsigned UsesShift = 8;       // a byte: operands, and the destination where there is one
constexpr std::uint32_t ManyUses = 255; // the number stands in a word of its own
constexpr unsigned FlagsShift = 16;     // inst_flag
constexpr std::uint32_t FlagsMask = 0x3f;
// Which words follow, in this order.
constexpr unsigned PartsShift = 24;
constexpr std::uint32_t HasName = 1u << 24;
constexpr std::uint32_t HasType = 1u << 25;
constexpr std::uint32_t HasAttributes = 1u << 26;
constexpr std::uint32_t HasAutocast = 1u << 27;
constexpr std::uint32_t HasOperators = 1u << 28;
constexpr std::uint32_t Parts = HasName | HasType | HasAttributes | HasAutocast | HasOperators;
constexpr std::uint32_t Used = Parts | 0xff'ffffu;
constexpr std::uint32_t LoopUsed = HasName | 0xffu;
} // namespace head

// An operand is a word: what it is in the two lowest bits, and a number above them.
namespace operand {
constexpr std::uint32_t Value = 0;  // how far back the value was defined, of those in scope
constexpr std::uint32_t Number = 1; // row of the table of numbers
constexpr std::uint32_t Tensor = 2; // place among the function's tensors
constexpr std::uint32_t Access = 3; // likewise; a word follows that says which access
constexpr unsigned TagBits = 2;
constexpr std::uint32_t TagMask = 3;
constexpr std::uint32_t MaxIndex = 0xffff'ffffu >> TagBits;
} // namespace operand

// A value of an opaque's own attribute, in postfix form: a list takes the values before it.
enum class ValueTag : std::uint8_t { End, False, True, Int, Double, Word, String, IntList, List };

// Numbers are little-endian, at any address.
template <class Unsigned> Unsigned little_endian(Unsigned value) {
  if constexpr (std::endian::native == std::endian::big) {
    if constexpr (sizeof(Unsigned) == 8)
      return __builtin_bswap64(value);
    else
      return __builtin_bswap32(value);
  }
  return value;
}
template <class Unsigned> Unsigned load(const char *at) {
  Unsigned value = 0;
  std::memcpy(&value, at, sizeof value);
  return little_endian(value);
}
template <class Unsigned> void store(char *at, Unsigned value) {
  value = little_endian(value);
  std::memcpy(at, &value, sizeof value);
}

// Signed numbers as unsigned ones that are small where the magnitude is.
constexpr std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t from_zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

// How many operators, or functions, an opcode's place for the first and the second one chooses
// from; 1 where there is nothing to choose.
struct OperatorCounts {
  std::size_t first = 1;
  std::size_t second = 1;
};
OperatorCounts operator_counts(Opcode opcode);

} // namespace nir::binary
