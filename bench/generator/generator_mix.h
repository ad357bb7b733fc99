#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "bench/generator/generator_emitter.h"

namespace nir {

// The shapes of one random function: all follow from two extents, so that operands that fit
// together are easy to find.
enum class Kind : std::uint8_t {
  Matrix,  // [rows, columns]
  Column,  // [rows, 1]
  Flipped, // [columns, rows]
  Wide,    // [rows, 2 * columns]
  Square,  // [columns, columns]
  Cube,    // [2, rows, columns]
  Scalar,  // rank 0
};
constexpr unsigned num_kinds = 7;

// The kinds that tensors have, which are made larger than the box that an access names.
constexpr Kind tensor_kinds[] = {Kind::Matrix, Kind::Matrix, Kind::Matrix, Kind::Column,
                                 Kind::Flipped};

// A function that has already been made, for calls.
struct Callee {
  Function *function;
  std::uint64_t cost; // instructions that one run executes
};

// One function of a random module: what there is to use at the place where the next statement
// goes. The choices of statements are in generator_random.cpp.
class RandomFunction {
public:
  RandomFunction(Emitter &emitter, const std::vector<Callee> &callees);

  // Fills the function with about `size` statements.
  void fill(std::uint64_t size);
  // Adds a statement that is not in legal form.
  void break_legal_form();
  std::uint64_t cost() const { return cost_; }
  Function &function() const { return e_.builder().function(); }

private:
  struct Step;
  static const Step steps[];

  // A tensor whose parts have the shape of a kind.
  struct TensorPlace {
    Tensor *tensor;
    Kind kind;
  };
  using TensorTest = std::function<bool(const Tensor &)>;

  // Surroundings (generator_mix.cpp).
  void declare_tensors();
  Tensor *declare(Kind kind, Space space, Role role);
  Tensor *declare_type(const Type *type, Space space, Role role, ConstData *init = nullptr);
  ConstData *random_init(const Type *type);
  void open_loop();
  void close_loop();
  std::uint64_t instances() const;

  std::vector<std::int64_t> shape_of(Kind kind) const;
  const Type *type_of(Kind kind, DType dtype);
  DType random_dtype();
  DType dtype_of_size(unsigned bytes);
  std::uint64_t random_code(DType dtype);
  bool may_view(const Tensor &tensor) const;

  // A value or tensor of the kind to read; what `fresh` makes where there is none.
  Value *value(Kind kind);
  Value *value_of(Kind kind, DType dtype);
  Operand operand(Kind kind);
  Operand operand_of(Kind kind, DType dtype);
  Operand matmul_operand(Kind kind);
  Value *fresh(Kind kind, DType dtype);
  std::optional<TensorPlace> find_tensor(Kind kind, const TensorTest &test);
  Operand access(const TensorPlace &place, bool may_reinterpret);
  AccessDim random_dim(std::int64_t extent, std::int64_t size);
  static DType dtype_of(const Operand &operand);
  static std::span<const std::int64_t> shape_of(const Operand &operand);

  // Attributes of the instruction at hand.
  void attribute(AttrKey key, AttrValue value);
  void list_attribute(AttrKey key, std::initializer_list<std::int64_t> values);

  // Makes the instruction, as a value of the kind or, now and then, as a write into a tensor.
  void deliver(InstructionDesc desc, Kind kind, DType dtype);
  Instruction *define(InstructionDesc desc, const Type *type);
  bool deliver_into_tensor(InstructionDesc &desc, Kind kind, DType dtype);
  void finish(InstructionDesc &desc);
  void keep(Value *value, Kind kind) { pool(kind).push_back(value); }
  std::vector<Value *> &pool(Kind kind) { return pools_[static_cast<unsigned>(kind)]; }

  // Statements (generator_random.cpp).
  void step();
  void add_load();
  void add_generator();
  void add_activation();
  void add_scalar();
  void add_copy();
  void add_binary();
  void add_select();
  void add_reduce();
  void add_transpose();
  void add_reshape();
  void add_broadcast();
  void add_slice();
  void add_concat();
  void add_matmul();
  void add_batch_matmul();
  void add_store();
  void add_offloaded();
  void add_memcast();
  void add_call();
  void add_opaque();
  void add_packed();
  void add_scale();
  void store_outputs();
  Operand scalar_operand(DType src);
  AluOp random_op(bool integers);
  void match_dtypes(Operand &a, Operand &b, Kind kind);

  Emitter &e_;
  Random &random_;
  const std::vector<Callee> &callees_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::array<std::vector<Value *>, num_kinds> pools_;
  std::vector<std::array<std::size_t, num_kinds>> scopes_; // sizes of the pools outside each loop
  std::vector<TensorPlace> tensors_;
  Tensor *product_ = nullptr; // psum, for matmul
  std::vector<Attr> attrs_;
  std::uint64_t cost_ = 0;
};

} // namespace nir
