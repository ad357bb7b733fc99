// The attributes of a statement.

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "ir/name/name_text.h"
#include "ir/print/print_text.h"
#include "ir/verify/verify_rules.h"

namespace nir {
namespace {

constexpr AttrKey flag_keys[] = {AttrKey::Reverse0, AttrKey::Reverse1, AttrKey::ExactInts,
                                 AttrKey::Accumulate};

bool takes(const Instruction &inst, AttrKey key) {
  const OpcodeInfo &row = inst.opcode_info();
  switch (key) {
  case AttrKey::Callee:
    return row.opcode == Opcode::Call;
  case AttrKey::OpaqueName:
  case AttrKey::Custom:
    return row.opcode == Opcode::Opaque;
  case AttrKey::Loc:
    return true;
  default:
    return std::ranges::find(row.attributes, key) != row.attributes.end();
  }
}

bool is_spelled(AttrKey key) {
  return key != AttrKey::Callee && key != AttrKey::OpaqueName && key != AttrKey::Custom;
}

std::string name_of(const StmtCheck &check, const Attr &attr) {
  if (is_spelled(attr.key))
    return std::string(info(attr.key).name);
  if (attr.key == AttrKey::Custom)
    return check.module().names().str(attr.custom_name);
  return attr.key == AttrKey::Callee ? "callee" : "name";
}

std::string known_attributes(const OpcodeInfo &row) {
  std::string text;
  const auto add = [&text](AttrKey key) {
    text += text.empty() ? "" : ", ";
    text += info(key).name;
  };
  std::ranges::for_each(row.attributes, add);
  std::ranges::for_each(mark_attributes(), add);
  return text;
}

bool check_flags(StmtCheck &check) {
  bool ok = true;
  for (const AttrKey key : flag_keys)
    if (check.inst.has_flag(flag_bit(key)) && !takes(check.inst, key))
      ok = check.fail(attribute_part(key), "{} has no attribute '{}', it takes {}",
                      check.mnemonic(), info(key).name, known_attributes(check.inst.opcode_info()));
  return ok;
}

bool check_required(StmtCheck &check) {
  bool ok = true;
  for (const AttrKey key : check.inst.opcode_info().attributes)
    if (info(key).default_kind == AttrDefault::None && check.inst.attr(key) == nullptr)
      ok = check.fail({.kind = StmtPart::Mnemonic}, "{} needs the attribute '{}'", check.mnemonic(),
                      info(key).name);
  return ok;
}

bool has_kind(const AttrValue &value, AttrKind kind) {
  switch (kind) {
  case AttrKind::Flag:
    return value.kind == AttrValueKind::Bool;
  case AttrKind::Float32:
    return value.kind == AttrValueKind::Float32;
  case AttrKind::Int:
    return value.kind == AttrValueKind::Int;
  case AttrKind::IntList:
    return value.kind == AttrValueKind::IntList;
  case AttrKind::String:
    return value.kind == AttrValueKind::String;
  }
  return false;
}

std::string_view describe(AttrValueKind kind) {
  switch (kind) {
  case AttrValueKind::Bool:
    return "true or false";
  case AttrValueKind::Int:
    return "an integer";
  case AttrValueKind::Double:
  case AttrValueKind::Float32:
    return "a number";
  case AttrValueKind::Word:
    return "a word";
  case AttrValueKind::String:
    return "a string";
  case AttrValueKind::IntList:
    return "a list of integers";
  case AttrValueKind::List:
    return "a list";
  case AttrValueKind::Function:
    return "a function";
  }
  return {};
}

// Flags and `autocast` have fields of their own in an instruction, never a place in the list.
bool belongs_in_list(const Attr &attr) {
  return !is_spelled(attr.key) ||
         (info(attr.key).kind != AttrKind::Flag && attr.key != AttrKey::Autocast);
}

// A key of an opaque's own attribute is written without quotes, and marks stay marks.
bool check_custom_name(StmtCheck &check, const Attr &attr) {
  const std::string name = name_of(check, attr);
  const auto is_word_char = [](char c) { return c != '.'; };
  const bool word = is_bare_identifier(name) && (name[0] < '0' || name[0] > '9') &&
                    std::ranges::all_of(name, is_word_char);
  if (!word)
    return check.fail(attribute_part(attr.key), "attribute name '{}' is no word", name);
  for (const AttrKey mark : mark_attributes())
    if (info(mark).name == name)
      return check.fail(attribute_part(attr.key), "'{}' is a mark, not an attribute of its own",
                        name);
  return true;
}

// Of the values of an opaque's own attribute: how deep lists nest, and that the text has a form for
// each of them.
bool check_custom_value(StmtCheck &check, const Attr &attr) {
  std::vector<std::span<const AttrValue>> open{{&attr.value, 1}};
  while (!open.empty()) {
    if (open.back().empty()) {
      open.pop_back();
      continue;
    }
    const AttrValue &value = open.back().front();
    open.back() = open.back().subspan(1);
    if (value.kind == AttrValueKind::Function || value.kind == AttrValueKind::Float32)
      return check.fail(attribute_part(attr.key), "attribute '{}' holds {}, which has no text",
                        name_of(check, attr), describe(value.kind));
    const bool list = value.kind == AttrValueKind::List;
    if ((list || value.kind == AttrValueKind::IntList) && open.size() > max_attribute_depth)
      return check.fail(attribute_part(attr.key), "attribute '{}' nests lists more than {} deep",
                        name_of(check, attr), max_attribute_depth);
    if (list)
      open.push_back(value.list());
  }
  return true;
}

bool check_attribute(StmtCheck &check, const Attr &attr) {
  if (!takes(check.inst, attr.key) || !belongs_in_list(attr))
    return check.fail(attribute_part(attr.key), "{} has no attribute '{}', it takes {}",
                      check.mnemonic(), name_of(check, attr),
                      known_attributes(check.inst.opcode_info()));
  if (attr.key == AttrKey::Custom)
    return check_custom_name(check, attr) && check_custom_value(check, attr);
  if (is_spelled(attr.key) && !has_kind(attr.value, info(attr.key).kind))
    return check.fail(attribute_part(attr.key), "attribute '{}' must be {}, found {}",
                      info(attr.key).name, describe(info(attr.key).kind),
                      describe(attr.value.kind));
  return true;
}

// Keys and custom names share one set: a custom name is a Name's bits above all keys.
std::uint64_t identity(const Attr &attr) {
  constexpr std::uint64_t custom_bit = std::uint64_t{1} << 32;
  if (attr.key == AttrKey::Custom)
    return custom_bit | attr.custom_name.bits();
  return static_cast<std::uint64_t>(attr.key);
}

bool check_distinct(StmtCheck &check, std::span<const Attr> attrs) {
  if (attrs.size() < 2)
    return true;
  std::unordered_set<std::uint64_t> seen;
  bool ok = true;
  for (const Attr &attr : attrs)
    if (!seen.insert(identity(attr)).second)
      ok = check.fail(attribute_part(attr.key), "attribute '{}' is given twice",
                      name_of(check, attr));
  return ok;
}

} // namespace

bool check_attributes(StmtCheck &check) {
  bool ok = check_flags(check);
  if (const AttrList *attrs = check.inst.attrs()) {
    for (const Attr &attr : attrs->items())
      ok &= check_attribute(check, attr);
    ok &= check_distinct(check, attrs->items());
  }
  ok &= check_required(check);
  if (check.inst.accumulates() && check.inst.opcode() == Opcode::Matmul && !check.inst.has_dst())
    ok = check.fail(attribute_part(AttrKey::Accumulate),
                    "accumulate needs a tensor to add to: expected '->', found a value");
  return ok;
}

} // namespace nir
