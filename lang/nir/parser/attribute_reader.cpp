#include "lang/nir/parser/attribute_reader.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nir::lang {
namespace {

bool is_mark(AttrKey key) {
  return std::ranges::find(mark_attributes(), key) != mark_attributes().end();
}

bool takes(Opcode opcode, AttrKey key) {
  const auto own = info(opcode).attributes;
  return is_mark(key) || std::ranges::find(own, key) != own.end();
}

bool is_identity(AttrKey key) { return key == AttrKey::Callee || key == AttrKey::OpaqueName; }

// Where an attribute stands in the list: what names a call's or an opaque's code, the opcode's own
// in the order of its row, then the marks. Keys are declared in that order.
unsigned rank_of(const Attr &attr) {
  if (is_identity(attr.key))
    return 0;
  if (attr.key == AttrKey::Custom)
    return 1;
  return 2 + static_cast<unsigned>(attr.key);
}

std::size_t hash_of(std::span<const Attr> attrs) {
  std::uint64_t hash = attrs.size();
  const auto add = [&hash](std::uint64_t value) {
    hash = (hash ^ value) * 0x9e37'79b9'7f4a'7c15u;
    hash ^= hash >> 29;
  };
  for (const Attr &attr : attrs) {
    add(static_cast<std::uint64_t>(attr.key) << 32 | attr.value.size);
    if (attr.value.kind == AttrValueKind::IntList) {
      for (const std::int64_t item : attr.value.ints())
        add(static_cast<std::uint64_t>(item));
    } else {
      add(static_cast<std::uint64_t>(attr.value.integer)); // some bits of any other kind
    }
  }
  return hash >> 20;
}

bool same(const Attr &a, const Attr &b) {
  return a.key == b.key && a.custom_name == b.custom_name && a.value == b.value;
}

} // namespace

void AttributeReader::clear() {
  is_open_ = false;
  end_ = 0;
  items_.clear();
  open_lists_.clear();
  integers_.clear();
  if (!entries_.empty())
    known_ = {};
  entries_.clear();
  ++statement_;
}

void AttributeReader::push_number(const Token &token) { items_.push_back({{}, token, true, 0}); }

void AttributeReader::push_string(const Token &token) {
  push(token, AttrValue::of_string(literals_.string(token)));
}

void AttributeReader::push_word(const Token &token) {
  push(token, AttrValue::of_word(literals_.text(token.range())));
}

void AttributeReader::push_bool(const Token &token, bool value) {
  push(token, AttrValue::of_bool(value));
}

bool AttributeReader::open_list(const Token &bracket) {
  if (open_lists_.size() == max_attribute_depth) {
    errors_.error(bracket.range(),
                  fmt::format("attribute lists nest deeper than {}", max_attribute_depth));
    return false;
  }
  open_lists_.push_back(items_.size());
  push(bracket, {}); // becomes the list
  return true;
}

bool AttributeReader::is_integer(const Item &item) const {
  if (!item.is_number)
    return false;
  const NumberToken::Kind kind = item.token.number().kind;
  return kind == NumberToken::Kind::Integer || kind == NumberToken::Kind::HexInteger;
}

// A list of integers only keeps them in integers_ until it is known where they go.
void AttributeReader::close_integers(std::size_t first, const Token &bracket) {
  Item &list = items_[first - 1];
  list.first_integer = integers_.size();
  for (std::size_t i = first; i < items_.size(); ++i)
    integers_.push_back(literals_.integer(items_[i].token).value_or(0));
  list.value = AttrValue::of_ints({});
  list.value.size = static_cast<std::uint32_t>(items_.size() - first);
  list.token.end = bracket.end;
  items_.resize(first);
}

// Makes a value that needs nothing of the reader any more.
void AttributeReader::resolve(Item &item) {
  if (item.value.kind == AttrValueKind::IntList && !item.is_number) {
    const std::span<const std::int64_t> items(integers_.data() + item.first_integer,
                                              item.value.size);
    item.value = AttrValue::of_ints(module_.arena().copy(items));
  }
  if (!item.is_number)
    return;
  if (is_integer(item)) {
    item.value = AttrValue::of_int(literals_.integer(item.token).value_or(0));
  } else {
    item.value = AttrValue::of_double(
        std::bit_cast<double>(literals_.code(item.token, DType::Float64).value_or(0)));
  }
}

void AttributeReader::close_list(const Token &bracket) {
  const std::size_t first = open_lists_.back() + 1;
  open_lists_.pop_back();
  const std::span<Item> items(items_.data() + first, items_.size() - first);
  if (std::ranges::all_of(items, [this](const Item &item) { return is_integer(item); }))
    return close_integers(first, bracket);
  std::vector<AttrValue> values;
  values.reserve(items.size());
  for (Item &item : items) {
    resolve(item);
    values.push_back(item.value);
  }
  Item &list = items_[first - 1];
  list.value = AttrValue::of_list(module_.arena().copy(std::span<const AttrValue>(values)));
  list.token.end = bracket.end;
  items_.resize(first);
}

AttributeReader::Item AttributeReader::take_item() {
  Item item = items_.back();
  items_.pop_back();
  return item;
}

std::optional<AttributeReader::StringValue> AttributeReader::take_string(const Token &key) {
  const Item item = take_item();
  const auto value = convert(item, AttrKind::String, literals_.text(key.range()));
  if (!value)
    return std::nullopt;
  return StringValue{value->text(), item.range()};
}

// The value as the attribute's kind asks for it; reports where it is of another kind.
std::optional<AttrValue> AttributeReader::convert(const Item &item, AttrKind kind,
                                                  std::string_view name) {
  switch (kind) {
  case AttrKind::Flag:
    if (!item.is_number && item.value.kind == AttrValueKind::Bool)
      return item.value;
    break;
  case AttrKind::Float32:
    if (!item.is_number)
      break;
    if (const auto code = literals_.code(item.token, DType::Float32))
      return AttrValue::of_float32(static_cast<std::uint32_t>(*code));
    return std::nullopt;
  case AttrKind::Int:
    if (!is_integer(item))
      break;
    if (const auto value = literals_.integer(item.token))
      return AttrValue::of_int(*value);
    return std::nullopt;
  case AttrKind::IntList:
    if (!item.is_number && item.value.kind == AttrValueKind::IntList)
      return item.value;
    break;
  case AttrKind::String:
    if (!item.is_number && item.value.kind == AttrValueKind::String)
      return item.value;
    break;
  }
  errors_.error(item.range(), fmt::format("attribute '{}' is {}, found {}", name, describe(kind),
                                          literals_.shown(item.range())));
  return std::nullopt;
}

void AttributeReader::add(const Token &key, Opcode opcode, bool has_value) {
  Item item{AttrValue::of_bool(true), key, false, 0};
  if (has_value)
    item = take_item();
  const auto known = key.word != nullptr ? key.word->attribute : std::nullopt;
  if (known && takes(opcode, *known))
    return add_known(key, *known, item);
  if (opcode == Opcode::Opaque)
    return add_custom(key, item);
  unknown(key, opcode);
}

void AttributeReader::unknown(const Token &key, Opcode opcode) {
  std::vector<std::string_view> names;
  for (const AttrKey own : info(opcode).attributes)
    names.push_back(info(own).name);
  for (const AttrKey mark : mark_attributes())
    names.push_back(info(mark).name);
  errors_.error(key.range(), fmt::format("{} has no attribute {}{}, it takes {}", mnemonic(opcode),
                                         literals_.shown(key.range()),
                                         did_you_mean(literals_.text(key.range()), names),
                                         fmt::join(names, ", ")));
}

void AttributeReader::twice(const Token &key, SourceRange first) {
  errors_
      .error(key.range(), fmt::format("attribute {} is given twice", literals_.shown(key.range())))
      .notes.push_back({first, "first given here"});
}

void AttributeReader::add_known(const Token &key, AttrKey attr_key, const Item &item) {
  static_assert(static_cast<std::size_t>(AttrKey::Custom) < std::tuple_size_v<decltype(known_)>);
  std::uint32_t &given = known_[static_cast<std::size_t>(attr_key)];
  if (given != 0)
    return twice(key, entries_[given - 1].range);
  const auto value = convert(item, info(attr_key).kind, info(attr_key).name);
  entries_.push_back(
      {{attr_key, Name(), value.value_or(AttrValue())}, key.range(), item.first_integer});
  given = static_cast<std::uint32_t>(entries_.size());
}

void AttributeReader::add_custom(const Token &key, Item item) {
  const Name name = module_.names().intern_stable(literals_.text(key.range()));
  CustomSeen &seen = customs_.slot(name);
  if (seen.statement == statement_)
    return twice(key, entries_[seen.entry].range);
  seen = {statement_, static_cast<std::uint32_t>(entries_.size())};
  if (item.is_number)
    resolve(item);
  entries_.push_back({{AttrKey::Custom, name, item.value}, key.range(), item.first_integer});
}

void AttributeReader::add_identity(AttrKey key, AttrValue value) {
  entries_.push_back({{key, Name(), value}, {}, 0});
}

// A default is not kept. A list of ones is the default of `stride` only in the right length: a
// wrong one is an error that the verifier must still see.
bool AttributeReader::is_dropped(const Entry &entry, unsigned src_rank) const {
  const Attr &attr = entry.attr;
  if (is_identity(attr.key) || attr.key == AttrKey::Custom || !is_default(attr.key, attr.value))
    return false;
  return attr.key != AttrKey::Stride || attr.value.size == src_rank;
}

void AttributeReader::finish(InstructionDesc &desc, unsigned src_rank, StatementParts &parts) {
  attrs_.clear();
  for (Entry &entry : entries_) {
    Attr &attr = entry.attr;
    if (!is_identity(attr.key))
      parts.add_attribute(attr.key, entry.range);
    if (attr.value.kind == AttrValueKind::IntList)
      attr.value.integers = integers_.data() + entry.first_integer;
    if (is_dropped(entry, src_rank))
      continue;
    const bool spelled = !is_identity(attr.key) && attr.key != AttrKey::Custom;
    if (spelled && info(attr.key).kind == AttrKind::Flag) {
      desc.flags |= flag_bit(attr.key);
    } else if (attr.key == AttrKey::Autocast) {
      desc.autocast = module_.names().intern_stable(attr.value.text());
    } else {
      attrs_.push_back(attr);
    }
  }
  std::ranges::stable_sort(attrs_, {}, rank_of);
  desc.attrs = shared_list();
}

const AttrList *AttributeReader::shared_list() {
  if (attrs_.empty())
    return nullptr;
  const AttrList *&slot = cache_[hash_of(attrs_) % cache_.size()];
  if (slot != nullptr && std::ranges::equal(slot->items(), attrs_, same))
    return slot;
  for (Attr &attr : attrs_)
    if (attr.value.kind == AttrValueKind::IntList)
      attr.value.integers = module_.arena().copy(attr.value.ints()).data();
  slot = AttrList::create(module_.arena(), attrs_);
  return slot;
}

} // namespace nir::lang
