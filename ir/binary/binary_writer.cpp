#include "ir/binary/binary_writer.h"

#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include <xxhash.h>

#include "ir/binary/binary_format.h"
#include "ir/support/scratch_map.h"

namespace nir {
namespace {

using namespace binary;

// Every index fits in an operand word: what it counts takes more memory than an arena has.
static_assert(Arena::reservation / sizeof(Instruction) < operand::MaxIndex);
static_assert(Arena::reservation / sizeof(Tensor) < operand::MaxIndex);

constexpr std::size_t piece_size = std::size_t{1} << 20;

class ByteWriter {
public:
  void byte(std::uint8_t value) { bytes_ += static_cast<char>(value); }
  void word(std::uint32_t value) { fixed(value); }
  void wide(std::uint64_t value) { fixed(value); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  void signed_varint(std::int64_t value) { varint(zigzag(value)); }
  void name(Name name) { word(name.bits()); }
  void raw(std::string_view bytes) { bytes_ += bytes; }
  void text(std::string_view text) {
    varint(text.size());
    raw(text);
  }
  void words(std::span<const std::uint32_t> values) {
    const std::size_t size = bytes_.size();
    bytes_.resize(size + values.size_bytes());
    char *at = bytes_.data() + size;
    for (const std::uint32_t value : values) {
      store(at, value);
      at += sizeof value;
    }
  }
  void clear() { bytes_.clear(); }
  std::string_view bytes() const { return bytes_; }
  std::string take() { return std::exchange(bytes_, {}); }

private:
  template <class Unsigned> void fixed(Unsigned value) {
    char buffer[sizeof value];
    store(buffer, value);
    bytes_.append(buffer, sizeof buffer);
  }
  std::string bytes_;
};

// A table that grows by what the functions refer to.
struct Table {
  ByteWriter rows;
  std::uint32_t size = 0;

  void append_to(ByteWriter &out) const {
    out.varint(size);
    out.raw(rows.bytes());
  }
};

class Writer {
public:
  explicit Writer(const Module &module) : module_(module) {}
  void write(const TextSink &sink);

private:
  void add_module();
  void add_function_names();
  void add_function(Function &function);
  void add_tensors(const Function &function);
  void add_num_statements(Function &function);
  void add_body(const Block &body);
  void open_loop(const Loop &loop);
  void close_loop();
  void add_instruction(const Instruction &inst);
  void add_operand(const Use &use);
  void add_access(const Access &access);
  void define_access(const Access &access);

  Name name(Name name);
  std::uint32_t type(const Type *type);
  std::uint32_t number(const Immediate &number);
  std::uint32_t attributes(const AttrList &attrs);
  void encode(const AttrList &attrs);
  void encode(const Attr &attr);
  void encode_ints(std::span<const std::int64_t> ints);
  void encode_custom(const AttrValue &value);
  void encode_scalar(const AttrValue &value);
  void flush_words() {
    bodies_.words(words_);
    words_.clear();
  }

  const Module &module_;
  ByteWriter head_; // of the module: its header
  Table strings_;
  Table types_;
  Table numbers_;
  Table functions_;
  Table attributes_;
  ByteWriter bodies_;
  std::vector<std::string> full_bodies_; // pieces of them, so that what is written is not moved

  std::vector<std::uint32_t> string_index_; // by the module's index, counted from 1
  ScratchMap<const Type *, std::uint32_t> type_index_;
  ScratchMap<const Immediate *, std::uint32_t> number_index_;
  ScratchMap<const Function *, std::uint32_t> function_index_;
  ScratchMap<const AttrList *, std::uint32_t> attributes_index_;
  // Lists that say the same are one row. By content, which is found again in the table.
  std::unordered_map<std::string, std::uint32_t> attributes_by_content_;
  ByteWriter scratch_;

  // Of the function at hand.
  struct Scope {
    std::uint32_t num_values = 0;
    std::size_t num_accesses = 0;
  };
  ScratchMap<const Tensor *, std::uint32_t> tensor_index_;
  std::vector<std::uint32_t> value_index_;                 // by order, among those in scope
  ScratchMap<const Access *, std::uint32_t> access_index_; // where it was, if it still is there
  std::vector<const Access *> accesses_;                   // in scope
  std::vector<Scope> scopes_;                              // around the open loops
  std::uint32_t num_values_ = 0;                           // in scope
  std::vector<std::uint32_t> words_;                       // of the statement at hand
};

[[noreturn]] void broken(const char *what) {
  throw std::logic_error(std::string("the module cannot be written: ") + what);
}

void Writer::write(const TextSink &sink) {
  add_module();
  add_function_names();
  for (Function *function : module_.functions())
    add_function(*function);

  ByteWriter tables;
  strings_.append_to(tables);
  tables.raw(head_.bytes());
  for (const Table *table : {&types_, &numbers_, &functions_, &attributes_})
    table->append_to(tables);

  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  std::uint64_t size = 0;
  const auto add = [&](std::string_view part) {
    XXH3_64bits_update(&state, part.data(), part.size());
    size += part.size();
  };
  full_bodies_.push_back(bodies_.take());
  add(tables.bytes());
  for (const std::string &piece : full_bodies_)
    add(piece);
  ByteWriter header;
  header.raw(magic);
  header.word(version);
  header.word(0);
  header.wide(table_fingerprint());
  header.wide(size);
  header.wide(XXH3_64bits_digest(&state));
  sink(header.bytes());
  sink(tables.bytes());
  for (const std::string &piece : full_bodies_)
    sink(piece);
}

void Writer::add_module() {
  std::uint8_t flags = 0;
  if (module_.has_header())
    flags |= module_flag::HasHeader;
  const bool prints_target = module_.has_header() && module_.prints_target();
  if (prints_target)
    flags |= module_flag::PrintsTarget;
  head_.byte(flags);
  if (module_.has_header())
    head_.name(name(module_.name()));
  if (!prints_target)
    return;
  std::uint8_t index = 0;
  for (const std::string_view known : target_names()) {
    if (known == module_.target().name)
      return head_.byte(index);
    ++index;
  }
  broken("its target is unknown");
}

void Writer::add_function_names() {
  for (const Function *function : module_.functions()) {
    function_index_.try_emplace(function, functions_.size++);
    functions_.rows.name(name(function->name()));
    functions_.rows.byte(function->is_strict() ? function_flag::Strict : 0);
  }
}

// --- Tables ---

Name Writer::name(Name name) {
  if (name.empty() || name.is_number())
    return name;
  if (string_index_.size() <= name.index())
    string_index_.resize(module_.names().num_strings());
  std::uint32_t &index = string_index_[name.index()];
  if (index == 0) {
    strings_.rows.text(module_.names().view(name));
    index = ++strings_.size;
  }
  return Name::string(index - 1);
}

std::uint32_t Writer::type(const Type *type) {
  const auto [index, is_new] = type_index_.try_emplace(type, types_.size);
  if (!is_new)
    return *index;
  types_.rows.byte(static_cast<std::uint8_t>(type->dtype()));
  types_.rows.byte(static_cast<std::uint8_t>(type->rank()));
  for (const std::int64_t dim : type->shape())
    types_.rows.varint(static_cast<std::uint64_t>(dim));
  return types_.size++;
}

std::uint32_t Writer::number(const Immediate &number) {
  const auto [index, is_new] = number_index_.try_emplace(&number, numbers_.size);
  if (!is_new)
    return *index;
  numbers_.rows.byte(static_cast<std::uint8_t>(number.dtype()));
  for (unsigned i = 0; i < sizeinbytes(number.dtype()); ++i)
    numbers_.rows.byte(static_cast<std::uint8_t>(number.bits() >> (8 * i)));
  return numbers_.size++;
}

std::uint32_t Writer::attributes(const AttrList &attrs) {
  if (const std::uint32_t *index = attributes_index_.find(&attrs))
    return *index;
  scratch_.clear();
  encode(attrs);
  const auto [row, is_new] =
      attributes_by_content_.try_emplace(std::string(scratch_.bytes()), attributes_.size);
  if (is_new) {
    attributes_.rows.raw(scratch_.bytes());
    ++attributes_.size;
  }
  attributes_index_.try_emplace(&attrs, row->second);
  return row->second;
}

void Writer::encode(const AttrList &attrs) {
  scratch_.varint(attrs.items().size());
  for (const Attr &attr : attrs.items()) {
    scratch_.byte(static_cast<std::uint8_t>(attr.key));
    encode(attr);
  }
}

void Writer::encode(const Attr &attr) {
  switch (attr.key) {
  case AttrKey::Callee: {
    const std::uint32_t *index = function_index_.find(attr.value.function);
    return index != nullptr ? scratch_.varint(*index) : broken("it calls an unknown function");
  }
  case AttrKey::OpaqueName:
    return scratch_.text(attr.value.text());
  case AttrKey::Custom:
    scratch_.name(name(attr.custom_name));
    return encode_custom(attr.value);
  default:
    break;
  }
  switch (info(attr.key).kind) {
  case AttrKind::Float32:
    return scratch_.word(attr.value.float32_bits);
  case AttrKind::Int:
    return scratch_.signed_varint(attr.value.integer);
  case AttrKind::IntList:
    return encode_ints(attr.value.ints());
  case AttrKind::String:
    return scratch_.text(attr.value.text());
  case AttrKind::Flag:
    broken("a flag stands in a list of attributes");
  }
}

void Writer::encode_ints(std::span<const std::int64_t> ints) {
  scratch_.varint(ints.size());
  for (const std::int64_t item : ints)
    scratch_.signed_varint(item);
}

// A list comes behind its items; those that are left at each level wait on a stack.
void Writer::encode_custom(const AttrValue &value) {
  struct Open {
    std::span<const AttrValue> rest;
    std::size_t size;
  };
  std::vector<Open> open{{{&value, 1}, 1}};
  while (true) {
    if (!open.back().rest.empty()) {
      const AttrValue &item = open.back().rest.front();
      open.back().rest = open.back().rest.subspan(1);
      if (item.kind == AttrValueKind::List)
        open.push_back({item.list(), item.list().size()});
      else
        encode_scalar(item);
      continue;
    }
    const std::size_t size = open.back().size;
    open.pop_back();
    if (open.empty())
      break;
    scratch_.byte(static_cast<std::uint8_t>(ValueTag::List));
    scratch_.varint(size);
  }
  scratch_.byte(static_cast<std::uint8_t>(ValueTag::End));
}

void Writer::encode_scalar(const AttrValue &value) {
  const auto tag = [this](ValueTag value_tag) {
    scratch_.byte(static_cast<std::uint8_t>(value_tag));
  };
  switch (value.kind) {
  case AttrValueKind::Bool:
    return tag(value.boolean ? ValueTag::True : ValueTag::False);
  case AttrValueKind::Int:
    tag(ValueTag::Int);
    return scratch_.signed_varint(value.integer);
  case AttrValueKind::Double:
    tag(ValueTag::Double);
    return scratch_.wide(std::bit_cast<std::uint64_t>(value.real));
  case AttrValueKind::Word:
    tag(ValueTag::Word);
    return scratch_.text(value.text());
  case AttrValueKind::String:
    tag(ValueTag::String);
    return scratch_.text(value.text());
  case AttrValueKind::IntList:
    tag(ValueTag::IntList);
    return encode_ints(value.ints());
  case AttrValueKind::Float32:
  case AttrValueKind::List:
  case AttrValueKind::Function:
    broken("an attribute holds what has no text");
  }
}

// --- Functions ---

void Writer::add_function(Function &function) {
  tensor_index_.clear();
  access_index_.clear();
  accesses_.clear();
  num_values_ = 0;
  add_tensors(function);
  add_num_statements(function);
  add_body(function.body());
}

void Writer::add_tensors(const Function &function) {
  std::uint32_t count = 0;
  for (const Tensor *t = function.first_tensor(); t != nullptr; t = t->next())
    tensor_index_.try_emplace(t, count++);
  bodies_.varint(count);
  for (const Tensor *t = function.first_tensor(); t != nullptr; t = t->next()) {
    const ConstData *init = t->init();
    const unsigned form = init == nullptr ? 0 : static_cast<unsigned>(init->form) + 1;
    bodies_.name(name(t->name()));
    bodies_.varint(type(t->type()));
    bodies_.byte(
        static_cast<std::uint8_t>(static_cast<unsigned>(t->space()) |
                                  static_cast<unsigned>(t->role()) << tensor_byte::RoleShift |
                                  form << tensor_byte::InitShift));
    if (init != nullptr)
      bodies_.text({reinterpret_cast<const char *>(init->bytes.data()), init->bytes.size()});
  }
}

// So that a reader knows how much to prepare for. Also gives the statements their orders.
void Writer::add_num_statements(Function &function) {
  function.renumber();
  const Stmt *last = function.body().last();
  const Loop *loop = dyn_cast<Loop>(last);
  const std::uint32_t count = last == nullptr   ? 0
                              : loop != nullptr ? loop->end_order()
                                                : last->order();
  bodies_.varint(count);
  // Until they are written values are not visible.
  value_index_.assign(std::size_t{count} + 1, ~std::uint32_t{0});
}

void Writer::add_body(const Block &body) {
  const Stmt *stmt = body.first();
  const Loop *open = nullptr;
  while (true) {
    if (stmt == nullptr) {
      bodies_.word(head::EndOfBlock);
      if (open == nullptr)
        return;
      close_loop();
      stmt = open->next();
      open = open->parent_loop();
    } else if (const Loop *loop = dyn_cast<Loop>(stmt)) {
      open_loop(*loop);
      open = loop;
      stmt = loop->body().first();
    } else {
      add_instruction(*cast<Instruction>(stmt));
      stmt = stmt->next();
    }
  }
}

void Writer::open_loop(const Loop &loop) {
  scopes_.push_back({num_values_, accesses_.size()});
  bodies_.word(head::Loop | (loop.name().empty() ? 0 : head::HasName));
  if (!loop.name().empty())
    bodies_.name(name(loop.name()));
  for (const std::int64_t bound : {loop.lo(), loop.hi(), loop.step()})
    bodies_.wide(static_cast<std::uint64_t>(bound));
}

// What a loop defined is out of scope, and its places are free again.
void Writer::close_loop() {
  num_values_ = scopes_.back().num_values;
  accesses_.resize(scopes_.back().num_accesses);
  scopes_.pop_back();
}

void Writer::add_instruction(const Instruction &inst) {
  const std::span<const Use> uses = inst.uses_of_operands();
  std::uint32_t word = head::FirstOpcode + static_cast<std::uint32_t>(inst.opcode());
  for (const AttrKey key : {AttrKey::Reverse0, AttrKey::Reverse1, AttrKey::ExactInts,
                            AttrKey::Accumulate, AttrKey::Fixed})
    word |= inst.has_flag(flag_bit(key)) ? std::uint32_t{flag_bit(key)} << head::FlagsShift : 0;
  if (inst.has_dst())
    word |= std::uint32_t{inst_flag::HasDst} << head::FlagsShift;
  const bool many = uses.size() >= head::ManyUses;
  word |= (many ? head::ManyUses : static_cast<std::uint32_t>(uses.size())) << head::UsesShift;
  words_.push_back(0);
  const auto part = [&](std::uint32_t bit, std::uint32_t value) {
    word |= bit;
    words_.push_back(value);
  };
  if (!inst.name().empty())
    part(head::HasName, name(inst.name()).bits());
  if (inst.defines_value())
    part(head::HasType, type(inst.type()));
  if (inst.attrs() != nullptr)
    part(head::HasAttributes, attributes(*inst.attrs()));
  if (!inst.autocast().empty())
    part(head::HasAutocast, name(inst.autocast()).bits());
  const OperatorCounts counts = operator_counts(inst.opcode());
  const auto first = counts.first > 1 ? static_cast<std::uint32_t>(inst.op(0)) : 0;
  const auto second = counts.second > 1 ? static_cast<std::uint32_t>(inst.op(1)) : 0;
  if (first != 0 || second != 0)
    part(head::HasOperators, first | second << 8);
  if (many)
    words_.push_back(static_cast<std::uint32_t>(uses.size()));
  words_.front() = word;
  for (const Use &use : uses)
    add_operand(use);
  flush_words();
  if (bodies_.bytes().size() >= piece_size)
    full_bodies_.push_back(bodies_.take());
  if (inst.defines_value())
    value_index_[inst.order()] = num_values_++;
}

void Writer::add_operand(const Use &use) {
  const auto add = [this](std::uint32_t tag, std::uint32_t index) {
    words_.push_back(tag | index << operand::TagBits);
  };
  const Value *value = use.value();
  if (const Tensor *tensor = dyn_cast<Tensor>(value)) {
    const std::uint32_t *index = tensor_index_.find(tensor);
    if (index == nullptr)
      broken("an operand is a tensor of another function");
    add(use.access() != nullptr ? operand::Access : operand::Tensor, *index);
    if (use.access() != nullptr)
      add_access(*use.access());
  } else if (const Immediate *immediate = dyn_cast<Immediate>(value)) {
    add(operand::Number, number(*immediate));
  } else {
    const Instruction *def = dyn_cast<Instruction>(value);
    if (def == nullptr || def->order() >= value_index_.size())
      broken("an operand is no value of the function");
    const std::uint32_t index = value_index_[def->order()];
    if (index >= num_values_)
      broken("an operand is a value that is not visible");
    add(operand::Value, num_values_ - index);
  }
}

// The number of an access is its place among those in scope. A new one is defined on the spot.
void Writer::add_access(const Access &access) {
  const auto next = static_cast<std::uint32_t>(accesses_.size());
  std::uint32_t &index = *access_index_.try_emplace(&access, next).first;
  if (index < next && accesses_[index] == &access) {
    words_.push_back(index);
    return;
  }
  index = next;
  words_.push_back(next);
  flush_words();
  define_access(access);
  accesses_.push_back(&access);
}

void Writer::define_access(const Access &access) {
  bodies_.varint(type(access.box()));
  bodies_.byte(static_cast<std::uint8_t>((access.is_whole() ? access_flag::Whole : 0) |
                                         (access.reinterprets() ? access_flag::Reinterprets : 0)));
  for (const AccessDim &dim : access.dims()) {
    bodies_.varint(dim.terms.size());
    for (const AffineTerm &term : dim.terms) {
      bodies_.varint(term.loop->depth());
      bodies_.signed_varint(term.factor);
    }
    bodies_.signed_varint(dim.constant);
    bodies_.varint(static_cast<std::uint64_t>(dim.stride));
  }
}

} // namespace

void write_binary(Module &module, const TextSink &sink) { Writer(module).write(sink); }

std::string to_binary(Module &module) {
  std::string bytes;
  write_binary(module, [&bytes](std::string_view part) { bytes += part; });
  return bytes;
}

} // namespace nir
