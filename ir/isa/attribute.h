#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/isa/opcode.h"
#include "ir/name/name.h"

namespace nir {

class Function;

enum class AttrValueKind : std::uint8_t {
  Bool,
  Int,
  Double,
  Float32,
  Word,
  String,
  IntList,
  List,
  Function
};

// One value of an attribute. Immutable; what it points to lives in the module's arena.
struct AttrValue {
  AttrValueKind kind = AttrValueKind::Bool;
  std::uint32_t size = 0; // of Word, String, IntList and List
  union {
    bool boolean;
    std::int64_t integer;
    double real;
    std::uint32_t float32_bits;
    const char *chars;
    const std::int64_t *integers;
    const AttrValue *items;
    nir::Function *function;
  };

  AttrValue() : integer(0) {}
  static AttrValue of_bool(bool value);
  static AttrValue of_int(std::int64_t value);
  static AttrValue of_double(double value);
  static AttrValue of_float32(std::uint32_t bits);
  static AttrValue of_function(nir::Function *function);
  // The three below keep a reference to memory that must live in the module's arena.
  static AttrValue of_word(std::string_view text);
  static AttrValue of_string(std::string_view text);
  static AttrValue of_ints(std::span<const std::int64_t> values);
  static AttrValue of_list(std::span<const AttrValue> values);

  std::string_view text() const { return {chars, size}; }
  std::span<const std::int64_t> ints() const { return {integers, size}; }
  std::span<const AttrValue> list() const { return {items, size}; }
};

bool operator==(const AttrValue &a, const AttrValue &b);

struct Attr {
  AttrKey key = AttrKey::Custom;
  Name custom_name; // of an opaque's own attribute
  AttrValue value;
};

// The attributes of one instruction that are no flag, in printing order. Immutable and shareable;
// flags and the autocast mark are kept in the instruction itself.
class AttrList {
public:
  static const AttrList *create(Arena &arena, std::span<const Attr> attrs);

  std::span<const Attr> items() const { return {reinterpret_cast<const Attr *>(this + 1), size_}; }
  // nullptr where there is none.
  const AttrValue *find(AttrKey key) const;

private:
  explicit AttrList(std::uint32_t size) : size_(size) {}
  alignas(8) std::uint32_t size_;
};

// Whether leaving the attribute out means the same, so that it is neither kept nor printed.
bool is_default(AttrKey key, const AttrValue &value);

} // namespace nir
