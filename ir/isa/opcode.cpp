#include "ir/isa/opcode.h"

#include <array>
#include <unordered_map>

namespace nir {
namespace {

using namespace op_trait;

#define ATTRS(...) __VA_ARGS__

// A list of keys with its length: an opcode without attributes has none.
struct KeyList {
  std::array<AttrKey, 8> keys{};
  std::size_t size = 0;
};

template <class... Keys> constexpr KeyList key_list(Keys... keys) {
  KeyList list;
  ((list.keys[list.size++] = keys), ...);
  return list;
}

using enum AttrKey;
constexpr KeyList attribute_lists[] = {
#define OP(name, text, min, max, result, traits, attributes, doc) key_list(attributes),
#include "ir/isa/opcodes.def"
#undef OP
};
#undef ATTRS

constexpr std::span<const AttrKey> attributes_of(Opcode opcode) {
  const KeyList &list = attribute_lists[static_cast<unsigned>(opcode)];
  return {list.keys.data(), list.size};
}

// A default in the table is None, Optional or a text.
struct DefaultSpec {
  AttrDefault kind;
  std::string_view text;
  constexpr DefaultSpec(AttrDefault k) : kind(k) {}
  constexpr DefaultSpec(const char *t) : kind(AttrDefault::Text), text(t) {}
};
constexpr AttrDefault None = AttrDefault::None;
constexpr AttrDefault Optional = AttrDefault::Optional;

constexpr AttrInfo make_attr(AttrKey key, std::string_view name, AttrKind kind, DefaultSpec value,
                             std::string_view doc) {
  return {key, name, kind, value.kind, value.text, doc};
}

constexpr AttrInfo attribute_table[] = {
#define ATTR(key, name, kind, value, doc) make_attr(AttrKey::key, name, AttrKind::kind, value, doc),
#include "ir/isa/attributes.def"
#undef ATTR
};

constexpr std::string_view activation_fn_names[] = {
#define FN(name, text) text,
#include "ir/isa/functions.def"
#undef FN
};

constexpr std::string_view alu_op_names[] = {
#define ALU(name, text, ...) text,
#include "ir/isa/alu_ops.def"
#undef ALU
};

struct AluTraits {
  bool integer_only;
  bool may_reduce;
};
constexpr AluTraits alu_traits[] = {
#define ALU(name, text, integers, reduces) {integers, reduces},
#include "ir/isa/alu_ops.def"
#undef ALU
};

constexpr AttrKey marks[] = {AttrKey::Fixed, AttrKey::Autocast, AttrKey::Loc};

template <class Enum> using NameIndex = std::unordered_map<std::string_view, Enum>;

template <class Enum>
std::optional<Enum> find(const NameIndex<Enum> &index, std::string_view name) {
  const auto it = index.find(name);
  if (it == index.end())
    return std::nullopt;
  return it->second;
}

template <class Enum> NameIndex<Enum> index_of(std::span<const std::string_view> names) {
  NameIndex<Enum> index;
  for (std::size_t i = 0; i < names.size(); ++i)
    index.emplace(names[i], static_cast<Enum>(i));
  return index;
}

} // namespace

namespace detail {
constinit const OpcodeInfo opcode_table[num_opcodes] = {
#define OP(name, text, min, max, result, traits, attributes, doc)                                  \
  {Opcode::name, text, min, max, ResultForm::result, traits, attributes_of(Opcode::name), doc},
#include "ir/isa/opcodes.def"
#undef OP
};
} // namespace detail

const AttrInfo &info(AttrKey key) { return attribute_table[static_cast<unsigned>(key)]; }
std::string_view describe(AttrKind kind) {
  switch (kind) {
  case AttrKind::Flag:
    return "true or false";
  case AttrKind::Float32:
    return "a number";
  case AttrKind::Int:
    return "an integer";
  case AttrKind::IntList:
    return "a list of integers";
  case AttrKind::String:
    return "a string";
  }
  return {};
}

std::string_view to_string(ActivationFn fn) {
  return activation_fn_names[static_cast<unsigned>(fn)];
}
std::string_view to_string(AluOp op) { return alu_op_names[static_cast<unsigned>(op)]; }
bool is_integer_only(AluOp op) { return alu_traits[static_cast<unsigned>(op)].integer_only; }
bool may_reduce(AluOp op) { return alu_traits[static_cast<unsigned>(op)].may_reduce; }

std::span<const OpcodeInfo> all_opcodes() { return detail::opcode_table; }
std::span<const AttrInfo> all_attributes() { return attribute_table; }
std::span<const std::string_view> all_activation_fns() { return activation_fn_names; }
std::span<const std::string_view> all_alu_ops() { return alu_op_names; }
std::span<const AttrKey> mark_attributes() { return marks; }

std::optional<Opcode> find_opcode(std::string_view name) {
  static const auto index = [] {
    NameIndex<Opcode> result;
    for (const OpcodeInfo &row : all_opcodes())
      result.emplace(row.mnemonic, row.opcode);
    return result;
  }();
  return find(index, name);
}

std::optional<ActivationFn> find_activation_fn(std::string_view name) {
  static const auto index = index_of<ActivationFn>(activation_fn_names);
  return find(index, name);
}

std::optional<AluOp> find_alu_op(std::string_view name) {
  static const auto index = index_of<AluOp>(alu_op_names);
  return find(index, name);
}

std::optional<AttrKey> find_attribute(std::string_view name) {
  static const auto index = [] {
    NameIndex<AttrKey> result;
    for (const AttrInfo &row : attribute_table)
      result.emplace(row.name, row.key);
    return result;
  }();
  return find(index, name);
}

} // namespace nir
