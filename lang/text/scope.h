#pragma once

#include <cstdint>
#include <vector>

#include "ir/core/function.h"
#include "lang/text/name_map.h"

namespace nir::lang {

// What is known of a name where it stands.
enum class NameState : std::uint8_t {
  Unknown,  // not defined in this function
  Visible,  // defined, and may be used
  Hidden,   // defined in a block that has ended
  Poisoned, // its definition failed: nothing is known and nothing more is said
};

// The names of the function that is being read. Nothing is cleared when a block or a function ends:
// whether a definition is visible follows from the block that holds it, so ending costs nothing.
class Scope {
public:
  struct Value {
    NameState state;
    Stmt *stmt; // an instruction or, for its variable, a loop; only where Visible or Hidden
  };
  struct NamedTensor {
    NameState state;
    Tensor *tensor; // only where Visible
  };

  // For a text of so many bytes.
  explicit Scope(std::size_t text_size) : values_(text_size), tensors_(text_size) {}

  void begin_function(Function &function);
  void enter(Block &block) { blocks_.push_back(&block); }
  void leave() { blocks_.pop_back(); }
  // The blocks that are open: the function's body and the bodies of the loops around this place.
  unsigned num_open_blocks() const { return static_cast<unsigned>(blocks_.size()); }
  Block &block() const { return *blocks_.back(); }
  Function &function() const { return *function_; }

  Value find_value(Name name);
  void define_value(Name name, Stmt *stmt) { values_.slot(name) = Entry(stmt); }
  void poison_value(Name name) { values_.slot(name) = add_poison(); }

  NamedTensor find_tensor(Name name);
  void define_tensor(Name name, Tensor *tensor) { tensors_.slot(name) = Entry(tensor); }
  void poison_tensor(Name name) { tensors_.slot(name) = add_poison(); }

private:
  // A pointer, or the index of a poison with the lowest bit set, or 0 for nothing.
  class Entry {
  public:
    Entry() = default;
    explicit Entry(nir::Value *value) : bits_(reinterpret_cast<std::uintptr_t>(value)) {}
    static Entry poison(std::size_t index) {
      Entry entry;
      entry.bits_ = index * 2 + 1;
      return entry;
    }
    bool empty() const { return bits_ == 0; }
    bool is_poison() const { return (bits_ & 1) != 0; }
    std::size_t poison_index() const { return bits_ / 2; }
    nir::Value *value() const { return reinterpret_cast<nir::Value *>(bits_); }

  private:
    std::uintptr_t bits_ = 0;
  };

  // Where a definition failed.
  struct Poison {
    const Function *function;
    const Block *block;
  };

  Entry add_poison();
  bool is_open(const Block *block) const;

  Function *function_ = nullptr;
  std::vector<Block *> blocks_;
  NameMap<Entry> values_;
  NameMap<Entry> tensors_;
  std::vector<Poison> poisons_;
};

} // namespace nir::lang
