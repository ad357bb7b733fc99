#pragma once

#include <array>
#include <optional>
#include <vector>

#include "ir/core/module.h"
#include "lang/nir/parser/literals.h"
#include "lang/text/name_map.h"
#include "lang/text/statement_parts.h"

namespace nir::lang {

// Reads the attributes of one statement: values as they come, then each under its key. Equal
// attribute lists near each other share memory.
class AttributeReader {
public:
  AttributeReader(Literals &literals, Module &module, Errors &errors)
      : literals_(literals), module_(module), errors_(errors) {}

  void clear();
  void open() { is_open_ = true; }
  void close(const Token &brace) {
    is_open_ = false;
    end_ = brace.end;
  }
  // Whether the reader stands between the braces.
  bool is_open() const { return is_open_; }
  // Behind the closing brace; 0 where there are no attributes.
  SourceOffset end() const { return end_; }

  // One value, complete or to be collected by the list that is open.
  void push_number(const Token &token);
  void push_string(const Token &token);
  void push_word(const Token &token);
  void push_bool(const Token &token, bool value);
  bool open_list(const Token &bracket); // false where lists nest too deep, which is reported
  void close_list(const Token &bracket);

  // The value that was read last, where it must be a string; nothing, and a message, otherwise.
  struct StringValue {
    std::string_view text;
    SourceRange range;
  };
  std::optional<StringValue> take_string(const Token &key);
  void drop_value() { items_.pop_back(); }
  // Puts the value that was read last under `key`; a flag has none.
  void add(const Token &key, Opcode opcode, bool has_value);
  // What is no attribute but kept with them, a callee or an opaque's name: comes first.
  void add_identity(AttrKey key, AttrValue value);

  // Moves all into `desc`. `src_rank` is that of the first operand.
  void finish(InstructionDesc &desc, unsigned src_rank, StatementParts &parts);

private:
  // A value that was read. Numbers wait until their kind is known, lists of integers have their
  // items in integers_.
  struct Item {
    AttrValue value;
    Token token;
    bool is_number = false;
    std::size_t first_integer = 0;
    SourceRange range() const { return token.range(); }
  };
  struct Entry {
    Attr attr;
    SourceRange range; // of the key
    std::size_t first_integer = 0;
  };
  struct CustomSeen {
    std::uint32_t statement = 0;
    std::uint32_t entry = 0;
  };

  void push(const Token &token, AttrValue value) { items_.push_back({value, token, false, 0}); }
  Item take_item();
  std::optional<AttrValue> convert(const Item &item, AttrKind kind, std::string_view name);
  void resolve(Item &item);
  bool is_integer(const Item &item) const;
  void close_integers(std::size_t first, const Token &bracket);

  void add_known(const Token &key, AttrKey attr_key, const Item &item);
  void add_custom(const Token &key, Item item);
  void unknown(const Token &key, Opcode opcode);
  void twice(const Token &key, SourceRange first);
  bool is_dropped(const Entry &entry, unsigned src_rank) const;
  const AttrList *shared_list();

  Literals &literals_;
  Module &module_;
  Errors &errors_;
  bool is_open_ = false;
  SourceOffset end_ = 0;
  std::vector<Item> items_;
  std::vector<std::size_t> open_lists_; // the index in items_ of each one's first item
  std::vector<std::int64_t> integers_;
  std::vector<Entry> entries_;
  std::vector<Attr> attrs_;               // what finish makes of them
  std::array<std::uint32_t, 32> known_{}; // by key: 1 + index into entries_, 0 is not given
  NameMap<CustomSeen> customs_{0};        // keys begin with a letter
  std::uint32_t statement_ = 1;
  std::array<const AttrList *, 256> cache_{};
};

} // namespace nir::lang
