#include "ir/binary/binary_tables.h"

#include <algorithm>
#include <bit>

#include "ir/name/name_text.h"
#include "ir/print/print_text.h"
#include "ir/verify/verifier.h"

namespace nir::binary {

Tables::Tables(ByteReader &in, Module &module, const Target *target) : in_(in), module_(module) {
  read_strings();
  read_module(target);
  read_types();
  read_numbers();
  read_functions();
  read_attribute_lists();
}

// A string's place in the file is its place in the module's table.
void Tables::read_strings() {
  const std::size_t count = in_.count("strings", 1);
  for (; num_strings_ < count; ++num_strings_) {
    const char *place = in_.position();
    const std::string_view text = in_.text();
    if (in_.failed())
      return;
    const Name name = module_.names().intern_stable(text);
    if (name == Name::string(num_strings_))
      continue;
    in_.fail_at(place, name.is_number() ? "a string is a number, which takes no string"
                                        : "a string is there twice");
    return;
  }
}

Name Tables::read_name(std::string_view what) {
  const char *place = in_.position();
  const std::uint32_t word = in_.word();
  if (in_.failed())
    return {};
  const std::optional<Name> found = name(word);
  if (!found) {
    in_.fail_index(place, "string", word - 1, num_strings_);
    return {};
  }
  if (!found->empty() && (found->is_number() || !module_.names().view(*found).empty()))
    return *found;
  in_.fail_at(place, fmt::format("{} has no name", what));
  return {};
}

void Tables::read_module(const Target *target) {
  const char *place = in_.position();
  const std::uint8_t flags = in_.byte();
  if (in_.failed())
    return;
  const bool prints_target = (flags & module_flag::PrintsTarget) != 0;
  if ((flags & ~module_flag::All) != 0 || flags == module_flag::PrintsTarget) {
    in_.fail_at(place, fmt::format("the flags of the module are {:#x}, which mean nothing", flags));
    return;
  }
  if ((flags & module_flag::HasHeader) != 0)
    module_.set_header(read_name("the module"));
  if (prints_target) {
    const std::size_t index = in_.index("target", all_targets().size());
    module_.set_prints_target(true);
    module_.set_target(all_targets()[index]);
  }
  if (target != nullptr)
    module_.set_target(*target);
}

void Tables::read_types() {
  const std::size_t count = in_.count("types", 2);
  types_.reserve(count);
  for (std::size_t i = 0; i < count && !in_.failed(); ++i)
    read_type();
}

void Tables::read_type() {
  const char *place = in_.position();
  const std::uint8_t dtype = in_.byte();
  const std::uint8_t rank = in_.byte();
  if (in_.failed())
    return;
  if (dtype >= num_dtypes) {
    in_.fail_index(place, "dtype", dtype, num_dtypes);
    return;
  }
  ints_.clear();
  for (unsigned i = 0; i < rank && !in_.failed(); ++i)
    ints_.push_back(static_cast<std::int64_t>(in_.varint()));
  if (in_.failed())
    return;
  const auto type = module_.types().get(static_cast<DType>(dtype), ints_);
  if (type)
    types_.push_back(*type);
  else
    in_.fail_at(place, type.error());
}

void Tables::read_numbers() {
  const std::size_t count = in_.count("numbers", 2);
  numbers_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const char *place = in_.position();
    const std::size_t index = in_.byte();
    const auto dtype = static_cast<DType>(index);
    const std::string_view bytes = in_.raw(info(dtype).bytes);
    if (in_.failed())
      return;
    if (index >= num_dtypes || is_x4_dtype(dtype)) {
      in_.fail_at(place, fmt::format("a number is of dtype {} ({}), which has none", index,
                                     dtype2str(dtype)));
      return;
    }
    std::uint64_t code = 0;
    for (std::size_t k = bytes.size(); k-- > 0;)
      code = code << 8 | static_cast<std::uint8_t>(bytes[k]);
    numbers_.push_back(module_.immediate(dtype, code));
  }
}

void Tables::read_functions() {
  const std::size_t count = in_.count("functions", 5);
  for (std::size_t i = 0; i < count; ++i) {
    const char *place = in_.position();
    const Name name = read_name("a function");
    const std::uint8_t flags = in_.byte();
    if (in_.failed())
      return;
    if ((flags & ~function_flag::All) != 0) {
      in_.fail_at(place,
                  fmt::format("the flags of a function are {:#x}, which mean nothing", flags));
      return;
    }
    if (module_.find_function(name) != nullptr) {
      in_.fail_at(place, fmt::format("function {} is there twice",
                                     quoted_name(module_.names(), '@', name)));
      return;
    }
    module_.add_function(name)->set_strict((flags & function_flag::Strict) != 0);
  }
}

// --- Attributes ---

void Tables::read_attribute_lists() {
  const std::size_t count = in_.count("attribute lists", 3);
  attributes_.reserve(count);
  for (std::size_t i = 0; i < count && !in_.failed(); ++i)
    read_attribute_list();
}

void Tables::read_attribute_list() {
  const char *place = in_.position();
  const std::size_t count = in_.count("attributes", 2);
  if (count == 0) {
    in_.fail_at(place, "a list of attributes is empty");
    return;
  }
  list_.clear();
  std::uint32_t keys = 0;
  for (std::size_t i = 0; i < count; ++i) {
    place = in_.position();
    const std::uint8_t number = in_.byte();
    const auto key = static_cast<AttrKey>(number);
    const bool known = key <= AttrKey::Custom && key != AttrKey::Autocast &&
                       (key >= AttrKey::Callee || info(key).kind != AttrKind::Flag);
    if (in_.failed())
      return;
    if (!known) {
      in_.fail_at(place, fmt::format("attribute key {} is none that a list has", number));
      return;
    }
    if ((keys & key_bit(key)) != 0 && key != AttrKey::Custom) {
      in_.fail_at(place, fmt::format("attribute key {} is there twice in one list", number));
      return;
    }
    keys |= key_bit(key);
    Attr attr;
    attr.key = key;
    if (key == AttrKey::Custom)
      attr.custom_name = read_custom_name();
    attr.value = read_attribute(key);
    if (in_.failed())
      return;
    list_.push_back(attr);
  }
  attributes_.push_back({AttrList::create(module_.arena(), list_), keys});
}

AttrValue Tables::read_attribute(AttrKey key) {
  switch (key) {
  case AttrKey::Callee: {
    const std::size_t index = in_.index("function", module_.functions().size());
    return in_.failed() ? AttrValue() : AttrValue::of_function(module_.functions()[index]);
  }
  case AttrKey::OpaqueName:
    return AttrValue::of_string(in_.text());
  case AttrKey::Custom:
    return read_custom_value();
  default:
    break;
  }
  switch (info(key).kind) {
  case AttrKind::Float32:
    return AttrValue::of_float32(in_.word());
  case AttrKind::Int:
    return AttrValue::of_int(in_.signed_varint());
  case AttrKind::IntList:
    return read_ints();
  case AttrKind::String:
    return AttrValue::of_string(in_.text());
  case AttrKind::Flag:
    break;
  }
  return {};
}

AttrValue Tables::read_ints() {
  const std::size_t count = in_.count("integers", 1);
  ints_.clear();
  for (std::size_t i = 0; i < count; ++i)
    ints_.push_back(in_.signed_varint());
  return AttrValue::of_ints(module_.arena().copy(std::span<const std::int64_t>(ints_)));
}

// What no text can say must not be read: it could not be printed.
Name Tables::read_custom_name() {
  const char *place = in_.position();
  const Name name = read_name("an attribute");
  if (in_.failed())
    return {};
  const std::string text = module_.names().str(name);
  const bool is_mark = std::ranges::any_of(
      mark_attributes(), [&text](AttrKey mark) { return info(mark).name == text; });
  if (is_free_word(text) && !is_mark)
    return name;
  in_.fail_at(place, fmt::format("the name of an attribute is {}, which is no word for one",
                                 quoted_name(module_.names(), '%', name).substr(1)));
  return {};
}

AttrValue Tables::read_custom_value() {
  stack_.clear();
  while (true) {
    const char *place = in_.position();
    const auto tag = static_cast<ValueTag>(in_.byte());
    if (in_.failed())
      return {};
    if (tag == ValueTag::End) {
      if (stack_.size() == 1)
        return stack_.front().value;
      in_.fail_at(place, fmt::format("an attribute has {} values, expected 1", stack_.size()));
      return {};
    }
    if (tag == ValueTag::List) {
      if (!read_list())
        return {};
      continue;
    }
    const AttrValue value = read_scalar(tag, place);
    stack_.push_back({value, value.kind == AttrValueKind::IntList ? 1u : 0u});
  }
}

// Takes the items off the stack, and puts the list on it.
bool Tables::read_list() {
  const char *place = in_.position();
  const std::uint64_t size = in_.varint();
  if (in_.failed())
    return false;
  if (size > stack_.size())
    return in_.fail_at(
        place, fmt::format("a list takes {} values, but there are {}", size, stack_.size()));
  std::vector<AttrValue> items;
  unsigned depth = 0;
  for (const Nested &item : std::span(stack_).last(static_cast<std::size_t>(size))) {
    items.push_back(item.value);
    depth = std::max(depth, item.depth);
  }
  if (++depth > max_attribute_depth)
    return in_.fail_at(place,
                       fmt::format("attribute lists nest deeper than {}", max_attribute_depth));
  stack_.resize(stack_.size() - items.size());
  const auto values = module_.arena().copy(std::span<const AttrValue>(items));
  stack_.push_back({AttrValue::of_list(values), depth});
  return true;
}

AttrValue Tables::read_scalar(ValueTag tag, const char *place) {
  switch (tag) {
  case ValueTag::False:
  case ValueTag::True:
    return AttrValue::of_bool(tag == ValueTag::True);
  case ValueTag::Int:
    return AttrValue::of_int(in_.signed_varint());
  case ValueTag::Double:
    return AttrValue::of_double(std::bit_cast<double>(in_.wide()));
  case ValueTag::Word: {
    const std::string_view text = in_.text();
    if (!in_.failed() && !is_free_word(text))
      in_.fail_at(place, "the word that an attribute holds is none");
    return AttrValue::of_word(text);
  }
  case ValueTag::String:
    return AttrValue::of_string(in_.text());
  case ValueTag::IntList:
    return read_ints();
  case ValueTag::End:
  case ValueTag::List:
    break;
  }
  in_.fail_at(place, fmt::format("value tag {} is unknown", static_cast<int>(tag)));
  return {};
}

} // namespace nir::binary
