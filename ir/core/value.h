#pragma once

#include <cassert>
#include <cstdint>
#include <iterator>
#include <span>

#include "ir/core/type.h"
#include "ir/name/name.h"
#include "ir/support/arena.h"
#include "ir/support/prefetch.h"

namespace nir {

class Access;
class Instruction;
class Tensor;
class Value;

enum class ValueKind : std::uint8_t { Instruction, Loop, Tensor, Immediate };

// One operand slot of an instruction: a value, a number, or an access to a tensor. It is also the
// link of the used object's use-list, so that replacing all uses costs O(uses) and erasing a user
// O(operands). It lies in memory right behind its user.
class Use {
public:
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;

  Value *value() const { return value_; }
  // The subscripts and view of a tensor operand; nullptr for a whole tensor and for values.
  const Access *access() const { return access_; }
  bool is_access() const; // of a tensor
  Tensor *tensor() const; // nullptr where the operand is a value or a number
  // The instruction that computes the value; nullptr for tensors and numbers.
  Instruction *defining_instruction() const;

  Instruction *user() const;
  unsigned index() const { return index_; } // among its user's uses, the destination last

  // What the user sees: of a reinterpreting access, the view's dtype.
  DType dtype() const;
  std::span<const std::int64_t> shape() const;
  bool reinterprets() const;

  // Whether the use-list that the slot should be in points here, for the verifier.
  bool is_linked() const { return link_ != nullptr && link_.get()->get() == this; }

  // Makes the slot refer to something else, or to nothing.
  void set(Value *value, const Access *access = nullptr);

private:
  friend class Instruction;
  friend class UseRange;
  friend class Value;
  explicit Use(std::uint32_t index) : index_(index) {}
  void link();
  void unlink();

  RelPtr<Value> value_;
  RelPtr<const Access> access_;
  RelPtr<Use> next_;
  RelPtr<RelPtr<Use>> link_; // the pointer that points here: the list's head or a next_
  std::uint32_t index_;
};

// The uses of one object, the newest first. Erasing or redirecting the use that the loop stands on
// is safe.
class UseRange {
public:
  class iterator {
  public:
    using value_type = Use;
    using difference_type = std::ptrdiff_t;
    explicit iterator(Use *use) : use_(use), next_(next_of(use)) {}
    Use &operator*() const { return *use_; }
    Use *operator->() const { return use_; }
    iterator &operator++() {
      use_ = next_;
      next_ = next_of(use_);
      if (next_ != nullptr)
        ahead_.look_below(next_);
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return use_ == nullptr; }

  private:
    static Use *next_of(Use *use) { return use == nullptr ? nullptr : use->next_.get(); }
    Use *use_;
    Use *next_;
    LookAhead ahead_; // users are mostly made in program order, so the list goes down in memory
  };
  explicit UseRange(Use *first) : first_(first) {}
  iterator begin() const { return iterator(first_); }
  std::default_sentinel_t end() const { return {}; }

private:
  Use *first_;
};

// What operands refer to: the result of an instruction, a tensor, or a number. A loop is one too
// because it defines its loop variable, which only subscripts name.
class Value {
public:
  Value(const Value &) = delete;
  Value &operator=(const Value &) = delete;

  ValueKind kind() const { return kind_; }
  // nullptr for loops, and for instructions that define no value.
  const Type *type() const { return type_; }
  DType dtype() const { return type_->dtype(); }
  std::span<const std::int64_t> shape() const { return type_->shape(); }
  Name name() const { return name_; }
  void set_name(Name name) { name_ = name; }

  // Numbers keep no list: they are shared by all functions and their users mean nothing.
  UseRange uses() const { return UseRange(uses_); }
  bool use_empty() const { return uses_ == nullptr; }
  bool has_one_use() const { return uses_ != nullptr && uses_->next_ == nullptr; }
  // O(n), whatever the number of uses.
  bool has_n_uses_or_more(unsigned n) const {
    unsigned found = 0;
    for (const Use *use = uses_; use != nullptr && found < n; use = use->next_)
      ++found;
    return found == n;
  }

  // Every use of this becomes one of `value` (through `access`, where that is a tensor), which must
  // have the same dtype and shape and be another object.
  void replace_all_uses_with(Value *value, const Access *access = nullptr);

protected:
  Value(ValueKind kind, const Type *type, Name name) : name_(name), kind_(kind) { type_ = type; }
  void set_type(const Type *type) { type_ = type; }

  RelPtr<Use> uses_;
  RelPtr<const Type> type_;
  Name name_;
  ValueKind kind_;
  std::uint8_t tag_[3] = {}; // of derived classes: what they are made of, without padding

private:
  friend class Use;
};

// A number operand. Interned in the module by dtype and bits.
class Immediate : public Value {
public:
  static bool classof(const Value *value) { return value->kind() == ValueKind::Immediate; }
  std::uint64_t bits() const { return bits_; } // the code in dtype()

private:
  friend class Module;
  friend class Arena;
  Immediate(const Type *type, std::uint64_t bits)
      : Value(ValueKind::Immediate, type, Name()), bits_(bits) {}
  std::uint64_t bits_;
};

// LLVM-style casts over Value::kind.
template <class T> bool isa(const Value *value) { return T::classof(value); }
template <class T> T *cast(Value *value) {
  assert(isa<T>(value));
  return static_cast<T *>(value);
}
template <class T> const T *cast(const Value *value) {
  assert(isa<T>(value));
  return static_cast<const T *>(value);
}
// nullptr where `value` is null or something else.
template <class T> T *dyn_cast(Value *value) {
  return value != nullptr && isa<T>(value) ? static_cast<T *>(value) : nullptr;
}
template <class T> const T *dyn_cast(const Value *value) {
  return value != nullptr && isa<T>(value) ? static_cast<const T *>(value) : nullptr;
}

// Here, because every operand of every statement goes through them.

inline void Use::link() {
  if (value() == nullptr || isa<Immediate>(value()))
    return;
  RelPtr<Use> &head = value()->uses_;
  next_ = head;
  if (head != nullptr)
    head->link_ = &next_;
  link_ = &head;
  head = this;
}

inline void Use::unlink() {
  if (link_ == nullptr)
    return;
  *link_.get() = next_;
  if (next_ != nullptr)
    next_->link_ = link_;
  link_ = nullptr;
  next_ = nullptr;
}

inline void Use::set(Value *value, const Access *access) {
  unlink();
  value_ = value;
  access_ = access;
  link();
}

} // namespace nir
