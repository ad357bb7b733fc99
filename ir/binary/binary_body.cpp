#include "ir/binary/binary_body.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "ir/name/name_text.h"
#include "ir/print/print_text.h"

namespace nir::binary {
// What an opcode takes, as far as the text's grammar says it (language reference, Structure): the
// rest is for the verifier.
struct BodyReader::Form {
  OperatorCounts operators;
  std::uint16_t flags = 0;         // that it takes
  std::uint32_t keys = 0;          // likewise
  std::uint32_t required_keys = 0; // what a call runs, how an opaque is named
  bool may_stand_bare = false;
  std::uint32_t numbers = 0;          // a bit for each operand that may be a number
  std::uint32_t required_numbers = 0; // that must be one
  std::size_t min_operands = 0;
  std::size_t max_operands = std::numeric_limits<std::size_t>::max();
};

std::vector<BodyReader::Form> BodyReader::make_forms() {
  std::vector<Form> forms(num_opcodes);
  for (const OpcodeInfo &row : all_opcodes()) {
    Form &form = forms[static_cast<unsigned>(row.opcode)];
    form.operators = operator_counts(row.opcode);
    form.flags = inst_flag::HasDst | inst_flag::Fixed;
    form.keys = key_bit(AttrKey::Loc);
    for (const AttrKey key : row.attributes) {
      if (info(key).kind == AttrKind::Flag)
        form.flags |= flag_bit(key);
      else
        form.keys |= key_bit(key);
    }
    if (row.opcode == Opcode::Call)
      form.required_keys = key_bit(AttrKey::Callee);
    if (row.opcode == Opcode::Opaque) {
      form.required_keys = key_bit(AttrKey::OpaqueName);
      form.keys |= key_bit(AttrKey::Custom);
    }
    form.keys |= form.required_keys;
    form.may_stand_bare = form.required_keys != 0;
    if (row.opcode == Opcode::Memset) {
      form.numbers = form.required_numbers = 1;
      form.min_operands = form.max_operands = 1;
    }
    if (row.opcode == Opcode::TensorScalar) {
      form.numbers = 0b110;
      form.min_operands = 2;
      form.max_operands = 3;
    }
  }
  return forms;
}

namespace {

constexpr std::array<std::uint8_t, 32> part_counts = [] {
  std::array<std::uint8_t, 32> counts{};
  for (unsigned parts = 0; parts < counts.size(); ++parts)
    counts[parts] = static_cast<std::uint8_t>(std::popcount(parts));
  return counts;
}();

constexpr std::size_t word_size = sizeof(std::uint32_t);

bool is_trivial(const AccessDim &dim) {
  return dim.terms.empty() && dim.constant == 0 && dim.stride == 1;
}

} // namespace

BodyReader::BodyReader(ByteReader &in, Module &module, Tables &tables,
                       DiagnosticEngine &diagnostics, bool verify)
    : in_(in), module_(module), tables_(tables), diagnostics_(diagnostics), verify_(verify),
      tensor_names_(module.names().num_strings(), in.remaining() / word_size),
      value_names_(module.names().num_strings(), in.remaining() / word_size), forms_(make_forms()) {
}

BodyReader::~BodyReader() = default;

bool BodyReader::read(Function &function) {
  ok_ = true;
  function_ = &function;
  block_ = &function.body();
  tensors_.clear();
  values_.clear();
  accesses_.clear();
  read_tensors();
  // Every statement takes two words: a head, and a type, an operand, attributes or bounds.
  const std::size_t num_statements = in_.count("statements", 2 * word_size);
  values_.reserve(num_statements);
  value_names_.start(num_statements);
  if (!in_.failed())
    read_statements();
  return ok_ && !in_.failed();
}

bool BodyReader::declare(ScopedNames &names, Name name, char sigil, const char *place) {
  return names.declare(name) ||
         in_.fail_at(place, fmt::format("{} is defined where an earlier one is visible",
                                        quoted_name(module_.names(), sigil, name)));
}

// --- Tensors ---

void BodyReader::read_tensors() {
  const std::size_t count = in_.count("tensors", 6);
  tensors_.reserve(count);
  tensor_names_.start(count);
  for (std::size_t i = 0; i < count && !in_.failed(); ++i)
    read_tensor();
}

void BodyReader::read_tensor() {
  const char *place = in_.position();
  const Name name = tables_.read_name("a tensor");
  const std::size_t type = in_.index("type", tables_.types().size());
  const char *byte_place = in_.position();
  const unsigned packed = in_.byte();
  if (in_.failed() || !declare(tensor_names_, name, '$', place))
    return;
  const unsigned space = packed & 3;
  const unsigned role = packed >> tensor_byte::RoleShift & 3;
  const unsigned form = packed >> tensor_byte::InitShift;
  if (packed >> tensor_byte::Used != 0 || space > static_cast<unsigned>(Space::Psum)) {
    in_.fail_at(byte_place, fmt::format("the space, role and init of a tensor are {:#x}, which "
                                        "mean nothing",
                                        packed));
    return;
  }
  const Type *tensor_type = tables_.types()[type];
  ConstData *init = form == 0 ? nullptr : read_init(tensor_type->dtype(), form - 1, byte_place);
  if (in_.failed())
    return;
  Tensor *tensor = function_->add_tensor(name, tensor_type, static_cast<Space>(space),
                                         static_cast<Role>(role), init);
  tensors_.push_back(tensor);
  if (verify_)
    ok_ &= verify_tensor(*tensor, {}, diagnostics_);
}

ConstData *BodyReader::read_init(DType dtype, unsigned form, const char *place) {
  const std::string_view bytes = in_.text();
  if (in_.failed())
    return nullptr;
  ConstData data;
  data.form = static_cast<InitForm>(form);
  if (is_x4_dtype(dtype) && data.form != InitForm::Hex) {
    in_.fail_at(place, fmt::format("a tensor of {} is initialised by numbers, which it has not",
                                   dtype2str(dtype)));
    return nullptr;
  }
  data.bytes.assign(bytes.begin(), bytes.end());
  return module_.add_const_data(std::move(data));
}

// --- Statements ---

// What every instruction goes through is inlined into one function.

[[gnu::always_inline]] inline void BodyReader::push_value(const Instruction *inst) {
  const auto bytes = reinterpret_cast<const char *>(inst) - reinterpret_cast<char *>(function_);
  values_.push_back(static_cast<std::uint32_t>(bytes / static_cast<std::ptrdiff_t>(word_size)));
}

[[gnu::always_inline]] inline Instruction *BodyReader::value_at(std::size_t index) const {
  return reinterpret_cast<Instruction *>(reinterpret_cast<char *>(function_) +
                                         values_[index] * word_size);
}

// The words between the head and the operands, which are there.
[[gnu::always_inline]] inline bool BodyReader::read_parts(std::uint32_t head, const char *at) {
  const auto next = [&at] {
    const auto word = load<std::uint32_t>(at);
    at += word_size;
    return word;
  };
  desc_.name = {};
  desc_.type = nullptr;
  desc_.attrs = nullptr;
  desc_.autocast = {};
  desc_.op0 = desc_.op1 = desc_.fn = 0;
  keys_ = 0;
  if ((head & head::HasName) != 0) {
    const std::uint32_t word = next();
    const auto name = tables_.name(word);
    if (!name)
      return in_.fail_index(at - word_size, "string", word - 1, module_.names().num_strings());
    if (name->empty() || (!name->is_number() && module_.names().view(*name).empty()))
      return in_.fail_at(at - word_size, "a value has no name");
    if (!declare(value_names_, *name, '%', at - word_size))
      return false;
    desc_.name = *name;
  }
  if ((head & head::HasType) != 0) {
    const std::uint32_t index = next();
    if (index >= tables_.types().size())
      return in_.fail_index(at - word_size, "type", index, tables_.types().size());
    desc_.type = tables_.types()[index];
  }
  if ((head & head::HasAttributes) != 0) {
    const std::uint32_t index = next();
    if (index >= tables_.attributes().size())
      return in_.fail_index(at - word_size, "attribute list", index, tables_.attributes().size());
    desc_.attrs = tables_.attributes()[index].list;
    keys_ = tables_.attributes()[index].keys;
  }
  if ((head & head::HasAutocast) != 0) {
    const std::uint32_t word = next();
    const auto name = tables_.name(word);
    if (!name || name->empty())
      return in_.fail_index(at - word_size, "string", word - 1, module_.names().num_strings());
    desc_.autocast = *name;
  }
  if ((head & head::HasOperators) != 0) {
    const std::uint32_t word = next();
    const OperatorCounts &counts = forms_[static_cast<unsigned>(desc_.opcode)].operators;
    if ((word & 0xff) >= counts.first || word >> 8 >= counts.second)
      return in_.fail_at(at - word_size,
                         fmt::format("{} has the functions or operators {} and {}, expected some "
                                     "below {} and {}",
                                     mnemonic(desc_.opcode), word & 0xff, word >> 8, counts.first,
                                     counts.second));
    desc_.fn = desc_.op0 = static_cast<std::uint8_t>(word);
    desc_.op1 = static_cast<std::uint8_t>(word >> 8);
  }
  return true;
}

// The words of all operands are there, but those that accesses bring with them may not be.
[[gnu::always_inline]] inline bool BodyReader::read_operands(std::size_t count) {
  if (operands_.size() < count)
    operands_.resize(count);
  numbers_ = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const char *place = in_.position();
    const std::uint32_t word = in_.word();
    const std::size_t index = word >> operand::TagBits;
    Operand &operand = operands_[i];
    operand.access = nullptr;
    switch (word & operand::TagMask) {
    case operand::Value:
      if (index - 1 >= values_.size())
        return in_.fail_at(
            place, fmt::format("a value is {} back, expected from 1 to {}", index, values_.size()));
      operand.value = value_at(values_.size() - index);
      break;
    case operand::Number:
      if (index >= tables_.numbers().size())
        return in_.fail_index(place, "number", index, tables_.numbers().size());
      operand.value = tables_.numbers()[index];
      numbers_ |= std::uint32_t{1} << std::min<std::size_t>(i, 31);
      break;
    case operand::Tensor:
    case operand::Access:
      if (index >= tensors_.size())
        return in_.fail_index(place, "tensor", index, tensors_.size());
      operand.value = tensors_[index];
      if ((word & operand::TagMask) == operand::Access && !read_access(*tensors_[index], operand))
        return false;
      break;
    }
  }
  return !in_.failed();
}

// Whether the statement is one that the grammar has.
[[gnu::always_inline]] inline bool BodyReader::has_form() const {
  const Form &form = forms_[static_cast<unsigned>(desc_.opcode)];
  const bool has_dst = desc_.dst.value != nullptr;
  const bool defines_value = desc_.type != nullptr;
  const bool result = has_dst ? !defines_value && isa<Tensor>(desc_.dst.value)
                              : defines_value || form.may_stand_bare;
  const bool attributes = (desc_.flags & ~form.flags) == 0 && (keys_ & ~form.keys) == 0 &&
                          (keys_ & form.required_keys) == form.required_keys;
  const bool operands = (numbers_ & ~form.numbers) == 0 &&
                        (numbers_ & form.required_numbers) == form.required_numbers &&
                        desc_.operands.size() >= form.min_operands &&
                        desc_.operands.size() <= form.max_operands;
  return result && attributes && operands && (defines_value || desc_.name.empty());
}

bool BodyReader::read_instruction(std::uint32_t head) {
  const char *place = in_.position();
  const std::uint32_t opcode = (head & 0xff) - head::FirstOpcode;
  if (opcode >= num_opcodes)
    return in_.fail_index(place, "opcode", opcode, num_opcodes);
  if ((head & ~head::Used) != 0 || (head >> head::FlagsShift & 0xff) > head::FlagsMask)
    return in_.fail_at(place, "a head word has bits that mean nothing");
  std::size_t num_uses = head >> head::UsesShift & 0xff;
  std::size_t num_words = 1 + std::size_t{part_counts[head >> head::PartsShift & 31]};
  if (num_uses == head::ManyUses) {
    if (in_.remaining() < (num_words + 1) * word_size)
      return in_.fail_at_end();
    num_uses = load<std::uint32_t>(place + num_words * word_size);
    ++num_words;
  }
  if (in_.remaining() < (num_words + num_uses) * word_size)
    return in_.fail_at_end();
  desc_.opcode = static_cast<Opcode>(opcode);
  desc_.flags = static_cast<std::uint16_t>(head >> head::FlagsShift & head::FlagsMask);
  const bool has_dst = (desc_.flags & inst_flag::HasDst) != 0;
  if (has_dst && num_uses == 0)
    return in_.fail_at(place, "an instruction has a destination but no operand");
  const char *at = place + word_size;
  if (!read_parts(head, at))
    return false;
  in_.skip(num_words * word_size);
  if (!read_operands(num_uses))
    return false;
  desc_.dst = has_dst ? operands_[num_uses - 1] : Operand();
  desc_.operands = std::span(operands_).first(has_dst ? num_uses - 1 : num_uses);
  if (!has_form())
    return fail_form(place);
  Instruction *inst = block_->insert_instruction(desc_);
  if (desc_.type != nullptr)
    push_value(inst);
  if (verify_)
    ok_ &= memo_.check(*inst, diagnostics_);
  if (desc_.opcode == Opcode::Call)
    calls_.push_back(inst);
  return true;
}

void BodyReader::read_statements() {
  while (true) {
    if (in_.remaining() < word_size) {
      in_.fail_at_end();
      return;
    }
    const auto head = load<std::uint32_t>(in_.position());
    const std::uint32_t code = head & 0xff;
    if (code >= head::FirstOpcode) {
      if (!read_instruction(head))
        return;
    } else if (code == head::Loop) {
      if (!read_loop(head))
        return;
    } else {
      if (head != head::EndOfBlock) {
        in_.fail_at(in_.position(), "a head word has bits that mean nothing");
        return;
      }
      in_.skip(word_size);
      if (!end_block())
        return;
    }
  }
}

// Returns whether another block is open.
bool BodyReader::end_block() {
  if (loops_.empty())
    return false;
  block_ = loops_.back()->parent();
  loops_.pop_back();
  const Scope &scope = scopes_.back();
  values_.resize(scope.num_values);
  accesses_.resize(scope.num_accesses);
  value_names_.leave_block();
  scopes_.pop_back();
  return true;
}

bool BodyReader::read_loop(std::uint32_t head) {
  const char *place = in_.position();
  if ((head & ~head::LoopUsed) != 0)
    return in_.fail_at(place, "a head word has bits that mean nothing");
  if (loops_.size() == max_loop_depth)
    return in_.fail_at(place, fmt::format("loops nest deeper than {}", max_loop_depth));
  in_.skip(word_size);
  const Name name = (head & head::HasName) != 0 ? tables_.read_name("a loop variable") : Name();
  const auto lo = static_cast<std::int64_t>(in_.wide());
  const auto hi = static_cast<std::int64_t>(in_.wide());
  const auto step = static_cast<std::int64_t>(in_.wide());
  if (in_.failed())
    return false;
  if (const std::string error = loop_bounds_error(lo, hi, step); !error.empty())
    return in_.fail_at(place, error);
  scopes_.push_back({values_.size(), accesses_.size()});
  value_names_.enter_block();
  if (!name.empty() && !declare(value_names_, name, '%', place))
    return false;
  Loop *loop = block_->insert_loop(name, lo, hi, step);
  loops_.push_back(loop);
  block_ = &loop->body();
  return true;
}

// Says what of the above does not hold.
bool BodyReader::fail_form(const char *place) {
  const Form &form = forms_[static_cast<unsigned>(desc_.opcode)];
  const auto broken = [&](std::string_view what) {
    return in_.fail_at(place, fmt::format("{} {}", mnemonic(desc_.opcode), what));
  };
  const bool has_dst = desc_.dst.value != nullptr;
  if (has_dst && !isa<Tensor>(desc_.dst.value))
    return broken("writes what is no tensor");
  if (has_dst && desc_.type != nullptr)
    return broken("defines a value and writes a tensor, expected one of the two");
  if (desc_.type == nullptr && !desc_.name.empty())
    return broken("has a name but defines no value");
  if (!has_dst && desc_.type == nullptr && !form.may_stand_bare)
    return broken("defines no value and writes no tensor, expected one of the two");
  if ((desc_.flags & ~form.flags) != 0)
    return broken("has a flag that it does not take");
  if ((keys_ & ~form.keys) != 0)
    return broken("has an attribute that it does not take");
  if ((keys_ & form.required_keys) != form.required_keys)
    return broken("does not say what it runs");
  if (desc_.operands.size() < form.min_operands || desc_.operands.size() > form.max_operands)
    return broken(fmt::format("has {} operands", desc_.operands.size()));
  return broken("has a number where it takes none, or none where it takes one");
}

// --- Accesses ---

bool BodyReader::read_access(const Tensor &tensor, Operand &operand) {
  const char *place = in_.position();
  const std::size_t index = in_.word();
  if (in_.failed())
    return false;
  if (index > accesses_.size())
    return in_.fail_index(place, "access", index, accesses_.size() + 1);
  if (index == accesses_.size()) {
    const Access *access = define_access();
    if (access == nullptr)
      return false;
    accesses_.push_back(access);
  }
  operand.access = accesses_[index];
  return check_access(tensor, *operand.access, place);
}

const Access *BodyReader::define_access() {
  const std::size_t index = in_.index("type", tables_.types().size());
  const char *place = in_.position();
  const std::uint8_t flags = in_.byte();
  if (in_.failed())
    return nullptr;
  if ((flags & ~access_flag::All) != 0) {
    in_.fail_at(place, fmt::format("the flags of an access are {:#x}, which mean nothing", flags));
    return nullptr;
  }
  const Type *box = tables_.types()[index];
  dims_.clear();
  for (unsigned i = 0; i < box->rank(); ++i) {
    AccessDim dim;
    dim.size = box->dim(i);
    if (!read_dim(dim, terms_[i]))
      return nullptr;
    dims_.push_back(dim);
  }
  return Access::create(module_.arena(), box, dims_, (flags & access_flag::Whole) != 0,
                        (flags & access_flag::Reinterprets) != 0);
}

// Terms name open loops by their depth, from the outermost.
bool BodyReader::read_dim(AccessDim &dim, std::vector<AffineTerm> &terms) {
  const char *place = in_.position();
  const std::size_t count = in_.count("terms of a subscript", 2);
  terms.clear();
  std::uint64_t outer = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t depth = in_.varint();
    const std::int64_t factor = in_.signed_varint();
    if (in_.failed())
      return false;
    if (depth <= outer || depth > loops_.size() || factor == 0)
      return in_.fail_at(place, fmt::format("the terms of a subscript name loop {} with factor {}",
                                            depth, factor));
    terms.push_back({loops_[depth - 1], factor});
    outer = depth;
  }
  dim.terms = terms;
  dim.constant = in_.signed_varint();
  place = in_.position();
  dim.stride = static_cast<std::int64_t>(in_.varint());
  if (!in_.failed() && dim.stride < 1)
    in_.fail_at(place,
                fmt::format("the stride of a subscript is {}, expected at least 1", dim.stride));
  return !in_.failed();
}

// That the access knows whether it is the whole tensor, and that it is not one that a text leaves
// out (StructureCheck says the same).
bool BodyReader::check_access(const Tensor &tensor, const Access &access, const char *place) {
  if (access.reinterprets() && access.view() == tensor.dtype())
    return in_.fail_at(place, "an access views a tensor as the dtype that it has");
  const bool is_whole = std::ranges::equal(access.shape(), tensor.shape()) &&
                        std::ranges::all_of(access.dims(), is_trivial);
  if (is_whole != access.is_whole())
    return in_.fail_at(place, "an access does not know whether it is whole");
  if (is_whole && !access.reinterprets())
    return in_.fail_at(place, "an access of a whole tensor is kept as a pattern");
  return true;
}

} // namespace nir::binary
