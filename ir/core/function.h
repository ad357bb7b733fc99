#pragma once

#include <string>
#include <vector>

#include "ir/core/instruction.h"

namespace nir {

enum class Space : std::uint8_t { Dram, Sbuf, Psum };
enum class Role : std::uint8_t { Internal, Input, Output, Const };
std::string_view to_string(Space space);
std::string_view to_string(Role role); // empty for Internal

enum class InitForm : std::uint8_t { Splat, Dense, Hex };

// The content of a const tensor: one element for a splat, else all of them in row-major order, each
// little-endian.
struct ConstData {
  InitForm form = InitForm::Splat;
  std::vector<std::uint8_t> bytes;
};

// Statements in order. Belongs to a function or to a loop.
class Block {
public:
  Stmt *first() const { return first_; }
  Stmt *last() const { return last_; }
  bool empty() const { return first_ == nullptr; }
  Loop *loop() const { return loop_; } // whose body it is; nullptr for a function's
  Function *function() const { return function_; }

  // Creates an instruction before `before`, or at the end where that is nullptr. It checks nothing:
  // the verifier does.
  Instruction *insert_instruction(const InstructionDesc &desc, Stmt *before = nullptr);
  // The bounds must give at least one trip and step must be at least 1.
  Loop *insert_loop(Name variable, std::int64_t lo, std::int64_t hi, std::int64_t step,
                    Stmt *before = nullptr, SourceOffset source = no_source);
  void unlink(Stmt *stmt);

private:
  friend class Function;
  friend class Loop;
  void link(Stmt *stmt, Stmt *before);

  RelPtr<Stmt> first_;
  RelPtr<Stmt> last_;
  RelPtr<Loop> loop_;
  RelPtr<Function> function_;
};

// A counted loop: its variable takes lo, lo + step, … below hi.
class Loop : public Stmt {
public:
  static bool classof(const Value *value) { return value->kind() == ValueKind::Loop; }
  Block &body() { return body_; }
  const Block &body() const { return body_; }
  std::int64_t lo() const { return lo_; }
  std::int64_t hi() const { return hi_; }
  std::int64_t step() const { return step_; }
  std::int64_t trips() const { return trips_; }
  // Computed without signs: what lies between may not fit where the sum does.
  std::int64_t last_value() const {
    const auto way = static_cast<std::uint64_t>(trips_ - 1) * static_cast<std::uint64_t>(step_);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(lo_) + way);
  }
  // The product of the trips of this loop and those around it; saturates at 2^64 - 1.
  std::uint64_t dynamic_instances() const { return instances_; }
  unsigned depth() const { return depth_; } // 1 for an outermost loop
  // The order of the last statement inside, as Function::renumber left it; its own where empty.
  std::uint32_t end_order() const { return end_order_; }

  // Takes an empty loop out of its block.
  void erase();

private:
  friend class Arena;
  friend class Block;
  friend class Function;
  friend Stmt *ancestor_in_block(Stmt *stmt, const Block *block);
  void nest_in(Loop &outer);
  Loop(Name variable, std::int64_t lo, std::int64_t hi, std::int64_t step);

  Block body_;
  // An ancestor some way up, by which any ancestor is reached in O(log depth) steps.
  RelPtr<Loop> jump_;
  std::uint32_t depth_ = 1;
  std::uint32_t end_order_ = 0;
  std::int64_t lo_;
  std::int64_t hi_;
  std::int64_t step_;
  std::int64_t trips_;
  std::uint64_t instances_ = 1;
};

// Named memory of a function.
class Tensor : public Value {
public:
  static bool classof(const Value *value) { return value->kind() == ValueKind::Tensor; }
  Space space() const { return static_cast<Space>(tag_[0]); }
  Role role() const { return static_cast<Role>(tag_[1]); }
  bool is_interface() const { return role() == Role::Input || role() == Role::Output; }
  const ConstData *init() const { return init_; } // of a const
  ConstData *init() { return init_; }
  Function *function() const { return function_; }
  Tensor *prev() const { return prev_; }
  Tensor *next() const { return next_; }
  SourceOffset source() const { return source_; }

  // Retypes the tensor, and with it every access that does not reinterpret. The shape must be the
  // same. A const's data is the caller's to convert.
  void retype(const Type *type) { set_type(type); }

  // Takes it out of its function and frees its data. It must have no users.
  void erase();

private:
  friend class Arena;
  friend class Function;
  Tensor(Name name, const Type *type, Space space, Role role, SourceOffset source);

  RelPtr<Function> function_;
  RelPtr<Tensor> prev_;
  RelPtr<Tensor> next_;
  SourceOffset source_;
  ConstData *init_ = nullptr; // owned by the module
};

// Statements of a block and of all blocks inside, in program order, without recursion. Erasing the
// statement the walk stands on is safe where it is an instruction.
class StmtRange {
public:
  class iterator {
  public:
    using value_type = Stmt;
    using difference_type = std::ptrdiff_t;
    // An instruction may be erased while the walk stands on it, so its successor is taken before; a
    // loop's body may still change, so its first statement is taken after.
    iterator(Stmt *stmt, const Block *root) : root_(root) { stand_on(stmt); }
    Stmt &operator*() const { return *stmt_; }
    Stmt *operator->() const { return stmt_; }
    iterator &operator++() {
      stand_on(isa<Loop>(stmt_) ? behind_head(stmt_, root_) : next_);
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return stmt_ == nullptr; }

  private:
    void stand_on(Stmt *stmt) {
      stmt_ = stmt;
      next_ = stmt == nullptr || isa<Loop>(stmt) ? nullptr : successor(stmt, root_);
      ahead_.look_above(stmt);
    }
    static Stmt *successor(Stmt *stmt, const Block *root) {
      Stmt *next = stmt->next();
      return next != nullptr ? next : behind_block(stmt, root);
    }
    static Stmt *behind_block(Stmt *stmt, const Block *root); // what follows a last statement
    static Stmt *behind_head(Stmt *loop, const Block *root);  // what follows the head of a loop
    Stmt *stmt_;
    Stmt *next_; // nullptr while it stands on a loop
    const Block *root_;
    LookAhead ahead_;
  };
  explicit StmtRange(const Block &root) : root_(&root) {}
  iterator begin() const { return {root_->first(), root_}; }
  std::default_sentinel_t end() const { return {}; }

private:
  const Block *root_;
};

class Function {
public:
  Function(const Function &) = delete;
  Function &operator=(const Function &) = delete;

  Name name() const { return name_; }
  // Before anyone has looked for a function of the module by its name.
  void set_name(Name name) { name_ = name; }
  Module &module() const { return *module_; }
  bool is_strict() const { return strict_; }
  void set_strict(bool strict) { strict_ = strict; }
  Block &body() { return body_; }
  const Block &body() const { return body_; }
  StmtRange statements() const { return StmtRange(body_); }
  SourceOffset source() const { return source_; }
  void set_source(SourceOffset source) { source_ = source; }

  Tensor *first_tensor() const { return first_tensor_; } // in order of declaration
  Tensor *last_tensor() const { return last_tensor_; }
  // `init` is for consts only.
  Tensor *add_tensor(Name name, const Type *type, Space space, Role role, ConstData *init = nullptr,
                     SourceOffset source = no_source);
  std::uint32_t num_inputs() const { return num_inputs_; }
  std::uint32_t num_outputs() const { return num_outputs_; }
  // The inputs, then the outputs, each in order of declaration: what a call passes.
  std::vector<Tensor *> interface() const;

  // Gives every statement its order, from 1 without gaps. O(statements).
  void renumber();
  // Sees to it that orders rise in program order; erasing leaves gaps. O(1) where nothing was
  // inserted since they were given.
  void ensure_orders() {
    if (!ordered_)
      renumber();
  }
  // The largest order that was given.
  std::uint32_t last_order() const { return last_order_; }

  // Kept as statements come and go, so that nobody needs a walk to find that there is nothing to
  // do. An opcode that was inserted once counts even where all of its instructions are gone.
  bool may_have(Opcode opcode) const { return (opcodes_ & opcode_bit(opcode)) != 0; }
  bool may_have_trait(std::uint16_t trait) const;
  std::uint32_t num_empty_loops() const { return num_empty_loops_; }

private:
  friend class Arena;
  friend class Block;
  friend class Loop;
  friend class Module;
  friend class Tensor;
  Function(Module &module, Name name, SourceOffset source);
  static constexpr std::uint64_t opcode_bit(Opcode opcode) {
    static_assert(num_opcodes <= 64);
    return std::uint64_t{1} << (static_cast<unsigned>(opcode) & 63);
  }

  Module *module_;
  Block body_;
  Name name_;
  SourceOffset source_;
  RelPtr<Tensor> first_tensor_;
  RelPtr<Tensor> last_tensor_;
  std::uint32_t num_inputs_ = 0;
  std::uint32_t num_outputs_ = 0;
  std::uint64_t opcodes_ = 0; // opcode_bit of each that was inserted
  std::uint32_t last_order_ = 0;
  std::uint32_t num_empty_loops_ = 0;
  bool ordered_ = true; // an empty function is
  bool strict_ = false;
};

// For walks over the functions of a module that look at little of each: asks for the memory of
// those that come soon, which begin anywhere. (Always inlined, see prefetch.h.)
[[gnu::always_inline]] inline void prefetch_functions(std::span<Function *const> functions,
                                                      std::size_t i) {
  constexpr std::size_t steps = 8;
  if (i + 2 * steps < functions.size())
    __builtin_prefetch(functions[i + 2 * steps]);
  if (i + steps >= functions.size())
    return;
  // Tensors lie one behind the other, mostly.
  const Tensor *tensor = functions[i + steps]->first_tensor();
  __builtin_prefetch(tensor);
  __builtin_prefetch(tensor + 2);
}

// For walks over the functions of a module with all that they hold: the same for the statements of
// those that come soon, where these are few. In a large body a walk looks ahead for itself.
[[gnu::always_inline]] inline void prefetch_bodies(std::span<Function *const> functions,
                                                   std::size_t i) {
  prefetch_functions(functions, i);
  constexpr std::size_t steps = 3;
  if (i + steps >= functions.size())
    return;
  constexpr std::ptrdiff_t line = 64;
  constexpr std::ptrdiff_t max_lines = 24;
  const Block &body = functions[i + steps]->body();
  const auto *first = reinterpret_cast<const char *>(body.first());
  const auto *last = reinterpret_cast<const char *>(body.last());
  const std::ptrdiff_t lines = std::min((last - first) / line + 1, max_lines);
  for (std::ptrdiff_t n = 0; n < lines; ++n)
    __builtin_prefetch(first + n * line);
}

// How many times the statement runs in one run of its function: the product of the trips of the
// loops around it, saturating (passes, Vocabulary).
std::uint64_t num_dynamic_instances(const Stmt &stmt);

// Whether a value defined by `def` is visible at `user`: defined before it in the same block or one
// around it. Needs current orders.
bool dominates(const Stmt &def, const Stmt &user);

// The statement of `block` that is `stmt` or holds it. O(log depth). nullptr where it is elsewhere.
Stmt *ancestor_in_block(Stmt *stmt, const Block *block);

inline Loop *Stmt::parent_loop() const { return parent_->loop(); }
inline Function *Stmt::function() const { return parent_->function(); }
inline bool Use::is_access() const { return isa<Tensor>(value()); }
inline Tensor *Use::tensor() const { return dyn_cast<Tensor>(value()); }

} // namespace nir
