#include "ir/isa/attribute.h"

#include <algorithm>
#include <bit>
#include <memory>

namespace nir {

AttrValue AttrValue::of_bool(bool value) {
  AttrValue result;
  result.kind = AttrValueKind::Bool;
  result.boolean = value;
  return result;
}

AttrValue AttrValue::of_int(std::int64_t value) {
  AttrValue result;
  result.kind = AttrValueKind::Int;
  result.integer = value;
  return result;
}

AttrValue AttrValue::of_double(double value) {
  AttrValue result;
  result.kind = AttrValueKind::Double;
  result.real = value;
  return result;
}

AttrValue AttrValue::of_float32(std::uint32_t bits) {
  AttrValue result;
  result.kind = AttrValueKind::Float32;
  result.float32_bits = bits;
  return result;
}

AttrValue AttrValue::of_function(nir::Function *function) {
  AttrValue result;
  result.kind = AttrValueKind::Function;
  result.function = function;
  return result;
}

AttrValue AttrValue::of_word(std::string_view text) {
  AttrValue result = of_string(text);
  result.kind = AttrValueKind::Word;
  return result;
}

AttrValue AttrValue::of_string(std::string_view text) {
  AttrValue result;
  result.kind = AttrValueKind::String;
  result.size = static_cast<std::uint32_t>(text.size());
  result.chars = text.data();
  return result;
}

AttrValue AttrValue::of_ints(std::span<const std::int64_t> values) {
  AttrValue result;
  result.kind = AttrValueKind::IntList;
  result.size = static_cast<std::uint32_t>(values.size());
  result.integers = values.data();
  return result;
}

AttrValue AttrValue::of_list(std::span<const AttrValue> values) {
  AttrValue result;
  result.kind = AttrValueKind::List;
  result.size = static_cast<std::uint32_t>(values.size());
  result.items = values.data();
  return result;
}

bool operator==(const AttrValue &a, const AttrValue &b) {
  if (a.kind != b.kind)
    return false;
  switch (a.kind) {
  case AttrValueKind::Bool:
    return a.boolean == b.boolean;
  case AttrValueKind::Int:
    return a.integer == b.integer;
  case AttrValueKind::Double:
    return std::bit_cast<std::uint64_t>(a.real) == std::bit_cast<std::uint64_t>(b.real);
  case AttrValueKind::Float32:
    return a.float32_bits == b.float32_bits;
  case AttrValueKind::Word:
  case AttrValueKind::String:
    return a.text() == b.text();
  case AttrValueKind::IntList:
    return std::ranges::equal(a.ints(), b.ints());
  case AttrValueKind::List:
    return std::ranges::equal(a.list(), b.list());
  case AttrValueKind::Function:
    return a.function == b.function;
  }
  return false;
}

const AttrList *AttrList::create(Arena &arena, std::span<const Attr> attrs) {
  if (attrs.empty())
    return nullptr;
  void *memory = arena.allocate(sizeof(AttrList) + attrs.size_bytes());
  auto *list = new (memory) AttrList(static_cast<std::uint32_t>(attrs.size()));
  std::uninitialized_copy(attrs.begin(), attrs.end(), reinterpret_cast<Attr *>(list + 1));
  return list;
}

const AttrValue *AttrList::find(AttrKey key) const {
  for (const Attr &attr : items())
    if (attr.key == key)
      return &attr.value;
  return nullptr;
}

bool is_default(AttrKey key, const AttrValue &value) {
  if (key >= AttrKey::Callee)
    return false; // no attribute of the table
  const AttrInfo &row = info(key);
  if (row.default_kind != AttrDefault::Text)
    return false;
  switch (row.kind) {
  case AttrKind::Flag:
    return !value.boolean;
  case AttrKind::Float32:
    return std::bit_cast<float>(value.float32_bits) == 1.0f;
  case AttrKind::Int:
    return value.integer == 0;
  case AttrKind::String:
    return false;
  case AttrKind::IntList:
    break;
  }
  if (row.default_text == "ones")
    return std::ranges::all_of(value.ints(), [](std::int64_t i) { return i == 1; });
  if (row.default_text == "[0]")
    return value.size == 1 && value.integers[0] == 0;
  return value.size == 0;
}

} // namespace nir
