#pragma once

#include <optional>
#include <vector>

#include "ir/binary/byte_reader.h"
#include "ir/core/module.h"

namespace nir::binary {

// A row of the table of attribute lists.
struct AttributesRow {
  const AttrList *list;
  std::uint32_t keys; // which keys it has, as key_bit says
};
constexpr std::uint32_t key_bit(AttrKey key) {
  return std::uint32_t{1} << static_cast<unsigned>(key);
}
static_assert(static_cast<unsigned>(AttrKey::Custom) < 32);

// The tables in front of the functions' bodies, as objects of the module.
class Tables {
public:
  // Reads them; what is wrong is said by `in`. The functions are added to the module, empty.
  Tables(ByteReader &in, Module &module, const Target *target);

  const std::vector<const Type *> &types() const { return types_; }
  const std::vector<Immediate *> &numbers() const { return numbers_; }
  const std::vector<AttributesRow> &attributes() const { return attributes_; }
  // The name that a word stands for; nothing where it stands for none. The empty name has the word
  // 0.
  std::optional<Name> name(std::uint32_t word) const {
    if (word == 0)
      return Name();
    if ((word & number_bit) != 0)
      return Name::number(word & ~number_bit);
    return word <= num_strings_ ? std::optional(Name::string(word - 1)) : std::nullopt;
  }
  // Reads a name that must not be empty, nor have no characters; the empty name where it failed.
  Name read_name(std::string_view what);

private:
  static constexpr std::uint32_t number_bit = 0x8000'0000u;

  void read_strings();
  void read_module(const Target *target);
  void read_types();
  void read_type();
  void read_numbers();
  void read_functions();
  void read_attribute_lists();
  void read_attribute_list();
  AttrValue read_attribute(AttrKey key);
  AttrValue read_ints();
  Name read_custom_name();
  AttrValue read_custom_value();
  bool read_list();
  AttrValue read_scalar(ValueTag tag, const char *place);

  ByteReader &in_;
  Module &module_;
  std::uint32_t num_strings_ = 0;
  std::vector<const Type *> types_;
  std::vector<Immediate *> numbers_;
  std::vector<AttributesRow> attributes_;
  std::vector<std::int64_t> ints_;
  std::vector<Attr> list_;

  // Values of an opaque's own attribute, and how deep the lists in each nest.
  struct Nested {
    AttrValue value;
    unsigned depth;
  };
  std::vector<Nested> stack_;
};

} // namespace nir::binary
