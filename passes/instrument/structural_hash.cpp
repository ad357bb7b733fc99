// Everything that prints goes into words, piece by piece, and each piece's words through XXH3.
// Nothing depends on addresses or on the order in which names and types were interned: values and
// loops are told apart by their place in the function, tensors by their names, which the language
// makes unique in a function, and types and names by their content.
#include "passes/instrument/structural_hash.h"

#include <bit>
#include <span>

#include <xxhash.h>

namespace nir {
namespace {

constexpr std::uint64_t odd_constant = 0x9E37'79B9'7F4A'7C15u;

std::uint64_t hash_text(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

// Chains one piece's hash to those before it: the high and low halves of a product.
std::uint64_t chain(std::uint64_t hash, std::uint64_t piece) {
  using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(hash ^ odd_constant) * (piece | 1);
  const auto folded =
      static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  return std::rotl(folded, 23) + piece;
}

// Where pieces go: into one hash, or into a list.
class HashSink {
public:
  void add(std::uint64_t piece) { hash_ = chain(hash_, piece); }
  std::uint64_t mark() const { return hash_; }
  void rewind(std::uint64_t mark) { hash_ = mark; }

private:
  std::uint64_t hash_ = 0;
};

class ListSink {
public:
  void add(std::uint64_t piece) { pieces_.push_back(piece); }
  std::size_t mark() const { return pieces_.size(); }
  void rewind(std::size_t mark) { pieces_.resize(mark); }
  std::vector<std::uint64_t> pieces() && { return std::move(pieces_); }

private:
  std::vector<std::uint64_t> pieces_;
};

// The numbers under which values without a name print (language reference, Structure).
class FreeNumbers {
public:
  explicit FreeNumbers(const Function &function) {
    std::vector<std::uint32_t> numbers;
    std::size_t unnamed = 0;
    for (const Stmt &stmt : function.statements()) {
      if (stmt.name().is_number())
        numbers.push_back(stmt.name().number());
      unnamed += stmt.name().empty() ? 1 : 0;
    }
    taken_.resize(numbers.size() + unnamed + 1);
    for (const std::uint32_t number : numbers)
      if (number < taken_.size())
        taken_[number] = true;
  }

  std::uint32_t take() {
    while (taken_[next_])
      ++next_;
    return next_++;
  }

private:
  std::vector<bool> taken_; // by number, as far as it can matter
  std::uint32_t next_ = 0;
};

// The first word of a piece, so that pieces of different kinds differ.
enum class PieceKind : std::uint8_t { Header = 1, Function, Tensor, Loop, Instruction };

class Hasher {
public:
  explicit Hasher(Module &module) : module_(module), name_hashes_(module.names().num_strings()) {}

  // Hands the hash of each piece to `sink`, in order. Where it turns out in the middle of a
  // function that orders are stale, that function's pieces are taken back and given again.
  template <class Sink> void run(Sink &sink) {
    add_header();
    sink.add(take());
    for (Function *function : module_.functions()) {
      const auto mark = sink.mark();
      if (add_pieces(*function, sink))
        continue;
      sink.rewind(mark);
      function->renumber();
      add_pieces(*function, sink);
    }
  }

private:
  // Returns whether the orders of the statements were current.
  template <class Sink> bool add_pieces(Function &function, Sink &sink) {
    free_numbers_.reset();
    add_function(function);
    sink.add(take());
    for (const Tensor *t = function.first_tensor(); t != nullptr; t = t->next()) {
      add_tensor(*t);
      sink.add(take());
    }
    std::uint32_t order = 0;
    for (const Stmt &stmt : function.statements()) {
      if (stmt.order() != ++order)
        return false;
      add_statement(stmt);
      sink.add(take());
    }
    return true;
  }

  std::uint64_t take() {
    const std::uint64_t hash = XXH3_64bits(words_.data(), words_.size() * sizeof(std::uint64_t));
    words_.clear();
    return hash;
  }

  void add(std::uint64_t word) { words_.push_back(word); }
  void add(std::int64_t word) { add(static_cast<std::uint64_t>(word)); }
  void add(PieceKind kind) { add(static_cast<std::uint64_t>(kind)); }

  // Numbers stand for themselves; strings, of which hashes below 2^31 are not to be expected, for
  // their hash.
  void add(Name name) {
    if (name.empty())
      return add(~std::uint64_t{0});
    if (name.is_number())
      return add(std::uint64_t{name.number()});
    if (name.index() >= name_hashes_.size())
      name_hashes_.resize(module_.names().num_strings());
    std::uint64_t &hash = name_hashes_[name.index()];
    if (hash == 0)
      hash = hash_text(module_.names().view(name));
    add(hash);
  }

  void add(const Type *type) {
    if (type == nullptr)
      return add(~std::uint64_t{0});
    add(static_cast<std::uint64_t>(type->dtype()) | std::uint64_t{type->rank()} << 8);
    for (const std::int64_t dim : type->shape())
      add(dim);
  }

  void add_header() {
    add(PieceKind::Header);
    add(std::uint64_t{module_.has_header()});
    if (!module_.has_header())
      return;
    add(module_.name());
    add(module_.prints_target() ? hash_text(module_.target().name) : 0);
  }

  void add_function(const Function &function) {
    add(PieceKind::Function);
    add(function.name());
    add(std::uint64_t{function.is_strict()});
  }

  void add_tensor(const Tensor &tensor) {
    add(PieceKind::Tensor);
    add(tensor.name());
    add(tensor.type());
    add(static_cast<std::uint64_t>(tensor.space()) | static_cast<std::uint64_t>(tensor.role())
                                                         << 8);
    const ConstData *init = tensor.init();
    if (init == nullptr)
      return;
    add(static_cast<std::uint64_t>(init->form));
    add(std::uint64_t{init->bytes.size()});
    add(XXH3_64bits(init->bytes.data(), init->bytes.size()));
  }

  void add_statement(const Stmt &stmt) {
    if (const Loop *loop = dyn_cast<Loop>(&stmt))
      return add_loop(*loop);
    add_instruction(*cast<Instruction>(&stmt));
  }

  // What a statement defines, and the loop that it stands in.
  void add_place(const Stmt &stmt, bool defines) {
    const Loop *loop = stmt.parent_loop();
    add(loop == nullptr ? std::uint64_t{0} : std::uint64_t{loop->order()});
    if (!defines || !stmt.name().empty())
      return add(stmt.name());
    if (!free_numbers_)
      free_numbers_.emplace(*stmt.function());
    add(std::uint64_t{free_numbers_->take()});
  }

  void add_loop(const Loop &loop) {
    add(PieceKind::Loop);
    add_place(loop, true);
    add(loop.lo());
    add(loop.hi());
    add(loop.step());
  }

  void add_instruction(const Instruction &inst) {
    const auto uses = inst.uses_of_operands();
    add(static_cast<std::uint64_t>(PieceKind::Instruction) |
        static_cast<std::uint64_t>(inst.opcode()) << 8 | operator_bits(inst) << 16 |
        flag_bits(inst) << 32);
    add(std::uint64_t{uses.size()});
    add_place(inst, inst.defines_value());
    add(inst.type());
    if (inst.autocast())
      add(inst.autocast());
    if (inst.attrs() != nullptr)
      add_attributes(*inst.attrs());
    for (const Use &use : uses)
      add_use(use);
  }

  // The function or operators, where the opcode shows them.
  static std::uint64_t operator_bits(const Instruction &inst) {
    switch (inst.opcode()) {
    case Opcode::Activation:
      return static_cast<std::uint64_t>(inst.fn());
    case Opcode::TensorScalar:
      return static_cast<std::uint64_t>(inst.op()) |
             (inst.num_operands() > 2 ? static_cast<std::uint64_t>(inst.op(1)) << 8 : 0);
    case Opcode::TensorTensor:
    case Opcode::TensorReduce:
      return static_cast<std::uint64_t>(inst.op());
    default:
      return 0;
    }
  }

  static std::uint64_t flag_bits(const Instruction &inst) {
    std::uint64_t bits = 0;
    for (const std::uint16_t flag : {inst_flag::HasDst, inst_flag::Reverse0, inst_flag::Reverse1,
                                     inst_flag::ExactInts, inst_flag::Accumulate, inst_flag::Fixed})
      bits |= inst.has_flag(flag) ? flag : 0u;
    constexpr std::uint64_t has_autocast = 1 << 16;
    return bits | (inst.autocast() ? has_autocast : 0);
  }

  void add_attributes(const AttrList &attrs) {
    for (const Attr &attr : attrs.items()) {
      const bool has_row = attr.key < AttrKey::Callee;
      if (has_row && is_default(attr.key, attr.value))
        continue;
      constexpr std::uint64_t attribute = 0xA77;
      add(attribute | static_cast<std::uint64_t>(attr.key) << 16);
      if (attr.key == AttrKey::Custom)
        add(attr.custom_name);
      add_value(attr.value);
    }
  }

  // Lists nest as deep as the language lets them, 16.
  void add_value(const AttrValue &value) {
    add(static_cast<std::uint64_t>(value.kind) | std::uint64_t{value.size} << 8);
    switch (value.kind) {
    case AttrValueKind::Bool:
      return add(std::uint64_t{value.boolean});
    case AttrValueKind::Int:
      return add(value.integer);
    case AttrValueKind::Double:
      return add(std::bit_cast<std::uint64_t>(value.real));
    case AttrValueKind::Float32:
      return add(std::uint64_t{value.float32_bits});
    case AttrValueKind::Word:
    case AttrValueKind::String:
      return add(hash_text(value.text()));
    case AttrValueKind::Function:
      return add(value.function->name());
    case AttrValueKind::IntList:
      for (const std::int64_t item : value.ints())
        add(item);
      return;
    case AttrValueKind::List:
      for (const AttrValue &item : value.list())
        add_value(item);
      return;
    }
  }

  void add_use(const Use &use) {
    const Value *value = use.value();
    if (value == nullptr)
      return add(~std::uint64_t{0});
    const auto kind = static_cast<std::uint64_t>(value->kind()) + 1;
    if (const Tensor *tensor = dyn_cast<Tensor>(value)) {
      add(kind);
      add(tensor->name());
      return add_access(use.access());
    }
    if (const Immediate *number = dyn_cast<Immediate>(value)) {
      add(kind | static_cast<std::uint64_t>(number->dtype()) << 8);
      return add(number->bits());
    }
    add(kind | std::uint64_t{static_cast<const Stmt *>(value)->order()} << 8);
  }

  void add_access(const Access *access) {
    // A whole access prints as the bare name, however it is kept.
    const bool whole = access == nullptr || access->is_whole();
    const bool reinterprets = access != nullptr && access->reinterprets();
    add(std::uint64_t{whole} | (reinterprets ? std::uint64_t{2} : 0) |
        (reinterprets ? static_cast<std::uint64_t>(access->view()) << 8 : 0) |
        (whole ? 0 : std::uint64_t{access->dims().size()} << 16));
    if (whole)
      return;
    for (const AccessDim &dim : access->dims()) {
      add(std::uint64_t{dim.terms.size()});
      for (const AffineTerm &term : dim.terms) {
        add(std::uint64_t{term.loop->order()});
        add(term.factor);
      }
      add(dim.constant);
      add(dim.size);
      add(dim.stride);
    }
  }

  Module &module_;
  std::vector<std::uint64_t> words_;        // of the piece at work
  std::vector<std::uint64_t> name_hashes_;  // by index of the string; 0: not asked for yet
  std::optional<FreeNumbers> free_numbers_; // of the function at work, once it is needed
};

} // namespace

std::uint64_t structural_hash(Module &module) {
  HashSink sink;
  Hasher(module).run(sink);
  return sink.mark();
}

std::vector<std::uint64_t> piece_hashes(Module &module) {
  ListSink sink;
  Hasher(module).run(sink);
  return std::move(sink).pieces();
}

Piece piece_at(Module &module, std::size_t index) {
  if (index-- == 0)
    return {};
  for (Function *function : module.functions()) {
    if (index-- == 0)
      return {};
    for (Tensor *tensor = function->first_tensor(); tensor != nullptr; tensor = tensor->next())
      if (index-- == 0)
        return {tensor, nullptr};
    for (Stmt &stmt : function->statements())
      if (index-- == 0)
        return {nullptr, &stmt};
  }
  return {};
}

} // namespace nir
