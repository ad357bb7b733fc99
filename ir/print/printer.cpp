#include "ir/print/printer.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "ir/numeric/literal.h"
#include "ir/print/print_text.h"
#include "ir/support/scratch_map.h"

namespace nir {
namespace {

constexpr std::size_t chunk_size = std::size_t{1} << 20;
constexpr std::size_t snippet_size = 256; // for single statements and operands

constexpr std::uint16_t printed_flags = inst_flag::Reverse0 | inst_flag::Reverse1 |
                                        inst_flag::ExactInts | inst_flag::Accumulate |
                                        inst_flag::Fixed;

class Printer {
public:
  Printer(const NameTable &names, TextBuffer &out) : names_(names), out_(out) {}

  void print_module(const Module &module);
  void print_header(const Module &module);
  void print_function(const Function &function);
  void print_stmt(const Stmt &stmt);
  void print_operand(const Use &use);

private:
  void number_unnamed(const Function &function);
  void print_body(const Block &body);
  void print_loop_header(const Loop &loop);
  void print_instruction(const Instruction &inst);
  void print_instruction_body(const Instruction &inst);
  void print_operands(const Instruction &inst);
  void print_operands_with_operators(const Instruction &inst);

  void print_tensor(const Tensor &tensor);
  void print_init(const Tensor &tensor);
  void print_hex(const ConstData &data);
  void print_access(const Tensor &tensor, const Access *access);
  void print_dim(const AccessDim &dim);
  void print_affine(const AccessDim &dim);

  void print_attributes(const Instruction &inst);
  void print_marks(const Instruction &inst);
  void print_opaque_attributes(const AttrList &attrs);
  void print_attribute(const Instruction &inst, AttrKey key);
  void start_attribute();
  void print_attr_value(const AttrValue &value);
  void print_attr_scalar(const AttrValue &value);
  void print_int_list(std::span<const std::int64_t> ints);

  void print_string(std::string_view text);
  void print_code(DType dtype, std::uint64_t code);
  void print_type(const Type &type);
  void print_name(char sigil, Name name);
  void print_value_name(const Stmt &stmt);
  void print_indent(unsigned depth);

  const NameTable &names_;
  TextBuffer &out_;
  TextCache<Type> types_;
  TextCache<Immediate> numbers_;
  ScratchMap<const Stmt *, std::uint32_t> unnamed_; // the numbers of values without a name
  std::string scratch_;
  bool any_attribute_ = false; // of the instruction at hand
};

void Printer::print_module(const Module &module) {
  if (module.has_header())
    print_header(module);
  bool is_first = !module.has_header();
  for (const Function *function : module.functions()) {
    if (!is_first)
      out_.push_back('\n');
    is_first = false;
    print_function(*function);
  }
}

void Printer::print_header(const Module &module) {
  out_.append("module ");
  print_name('@', module.name());
  if (module.prints_target()) {
    out_.append(" {target = ");
    print_string(module.target().name);
    out_.push_back('}');
  }
  out_.push_back('\n');
}

void Printer::print_function(const Function &function) {
  number_unnamed(function);
  out_.append("func ");
  print_name('@', function.name());
  out_.append(function.is_strict() ? " strict {\n" : " {\n");
  for (const Tensor *t = function.first_tensor(); t != nullptr; t = t->next())
    print_tensor(*t);
  if (function.first_tensor() != nullptr && !function.body().empty())
    out_.push_back('\n');
  print_body(function.body());
  out_.append("}\n");
}

// Gives each unnamed value the smallest number that no name has, counting up in program order.
void Printer::number_unnamed(const Function &function) {
  unnamed_.clear();
  std::vector<const Stmt *> nameless;
  std::size_t num_values = 0;
  for (const Stmt &stmt : function.statements()) {
    if (stmt.type() == nullptr && !isa<Loop>(&stmt))
      continue;
    ++num_values;
    if (stmt.name().empty())
      nameless.push_back(&stmt);
  }
  if (nameless.empty())
    return;
  // No number above the count of values is ever given.
  std::vector<bool> taken(num_values + 1);
  for (const Stmt &stmt : function.statements())
    if (stmt.name().is_number() && stmt.name().number() <= num_values)
      taken[stmt.name().number()] = true;
  std::uint32_t number = 0;
  for (const Stmt *stmt : nameless) {
    while (taken[number])
      ++number;
    unnamed_.try_emplace(stmt, number++);
  }
}

void Printer::print_body(const Block &body) {
  const Stmt *stmt = body.first();
  unsigned depth = 1;
  LookAhead ahead;
  while (stmt != nullptr) {
    print_indent(depth);
    ahead.look_above(stmt);
    print_stmt(*stmt);
    out_.push_back('\n');
    const Stmt *following = stmt->next();
    const Loop *open = stmt->parent_loop();
    if (const Loop *loop = dyn_cast<Loop>(stmt)) {
      ++depth;
      following = loop->body().first();
      open = loop;
    }
    // The end of a block closes its loop, and perhaps those around it.
    while (following == nullptr && open != nullptr) {
      print_indent(--depth);
      out_.append("}\n");
      following = open->next();
      open = open->parent_loop();
    }
    stmt = following;
  }
}

void Printer::print_stmt(const Stmt &stmt) {
  if (const Loop *loop = dyn_cast<Loop>(&stmt))
    print_loop_header(*loop);
  else
    print_instruction(*cast<Instruction>(&stmt));
}

void Printer::print_loop_header(const Loop &loop) {
  out_.append("for ");
  print_value_name(loop);
  out_.append(" in ");
  out_.append_int(loop.lo());
  out_.append("..");
  out_.append_int(loop.hi());
  if (loop.step() != 1) {
    out_.append(" step ");
    out_.append_int(loop.step());
  }
  out_.append(" {");
}

void Printer::print_instruction(const Instruction &inst) {
  if (inst.defines_value()) {
    print_value_name(inst);
    out_.append(" = ");
  }
  print_instruction_body(inst);
  print_attributes(inst);
  if (const Use *dst = inst.dst()) {
    out_.append(" -> ");
    print_operand(*dst);
  } else if (inst.defines_value()) {
    out_.append(" : ");
    print_type(*inst.type());
  }
}

void Printer::print_instruction_body(const Instruction &inst) {
  out_.append(inst.opcode_info().mnemonic);
  if (inst.num_operands() != 0 && inst.opcode() != Opcode::Opaque)
    out_.push_back(' ');
  switch (inst.opcode()) {
  case Opcode::Activation:
    out_.append(to_string(inst.fn()));
    out_.push_back(' ');
    print_operands(inst);
    return;
  case Opcode::TensorTensor:
  case Opcode::TensorReduce:
    out_.append(to_string(inst.op()));
    out_.push_back(' ');
    print_operands(inst);
    return;
  case Opcode::TensorScalar:
    print_operands_with_operators(inst);
    return;
  case Opcode::Call:
    if (inst.num_operands() == 0)
      out_.push_back(' ');
    print_name('@', inst.callee()->name());
    break;
  case Opcode::Opaque:
    out_.push_back(' ');
    print_string(inst.opaque_name());
    break;
  default:
    print_operands(inst);
    return;
  }
  out_.push_back('(');
  print_operands(inst);
  out_.push_back(')');
}

void Printer::print_operands(const Instruction &inst) {
  bool first = true;
  for (const Use &use : inst.operands()) {
    if (!first)
      out_.append(", ");
    first = false;
    print_operand(use);
  }
}

void Printer::print_operands_with_operators(const Instruction &inst) {
  print_operand(inst.operand(0));
  for (unsigned i = 1; i < inst.num_operands(); ++i) {
    out_.append(", ");
    out_.append(to_string(inst.op(i - 1)));
    out_.push_back(' ');
    print_operand(inst.operand(i));
  }
}

void Printer::print_operand(const Use &use) {
  const Value *value = use.value();
  if (value == nullptr) {
    out_.append("%?");
  } else if (const Tensor *tensor = dyn_cast<Tensor>(value)) {
    print_access(*tensor, use.access());
  } else if (const Immediate *number = dyn_cast<Immediate>(value)) {
    out_.append(numbers_.get(number, [number](std::string &text) {
      append_code_text(text, number->dtype(), number->bits());
    }));
  } else {
    print_value_name(*cast<Stmt>(value));
  }
}

void Printer::print_tensor(const Tensor &tensor) {
  out_.append("  tensor ");
  print_name('$', tensor.name());
  out_.append(" : ");
  print_type(*tensor.type());
  out_.push_back(' ');
  out_.append(to_string(tensor.space()));
  if (tensor.role() != Role::Internal) {
    out_.push_back(' ');
    out_.append(to_string(tensor.role()));
  }
  if (tensor.init() != nullptr)
    print_init(tensor);
  out_.push_back('\n');
}

void Printer::print_init(const Tensor &tensor) {
  const ConstData &data = *tensor.init();
  if (data.form == InitForm::Hex) {
    print_hex(data);
    return;
  }
  out_.append(data.form == InitForm::Splat ? " = splat(" : " = dense(");
  const unsigned size = sizeinbytes(tensor.dtype());
  for (std::size_t at = 0; at + size <= data.bytes.size(); at += size) {
    if (at != 0)
      out_.append(", ");
    print_code(tensor.dtype(), code_at(data, at, size));
  }
  out_.push_back(')');
}

void Printer::print_hex(const ConstData &data) {
  constexpr std::string_view digits = "0123456789abcdef";
  out_.append(" = hex(\"");
  for (const std::uint8_t byte : data.bytes) {
    out_.push_back(digits[byte >> 4]);
    out_.push_back(digits[byte & 15]);
  }
  out_.append("\")");
}

void Printer::print_access(const Tensor &tensor, const Access *access) {
  print_name('$', tensor.name());
  if (access == nullptr)
    return;
  if (!access->is_whole()) {
    out_.push_back('[');
    bool first = true;
    for (const AccessDim &dim : access->dims()) {
      if (!first)
        out_.append(", ");
      first = false;
      print_dim(dim);
    }
    out_.push_back(']');
  }
  if (access->reinterprets()) {
    out_.append(" as ");
    out_.append(dtype2str(access->view()));
  }
}

void Printer::print_dim(const AccessDim &dim) {
  print_affine(dim);
  out_.append(" : ");
  out_.append_int(dim.size);
  if (dim.stride != 1) {
    out_.append(" : ");
    out_.append_int(dim.stride);
  }
}

void Printer::print_affine(const AccessDim &dim) {
  if (dim.terms.empty()) {
    out_.append_int(dim.constant);
    return;
  }
  bool first = true;
  for (const AffineTerm &term : dim.terms) {
    if (!first)
      out_.append(" + ");
    first = false;
    print_value_name(*term.loop);
    if (term.factor != 1) {
      out_.append(" * ");
      out_.append_int(term.factor);
    }
  }
  if (dim.constant == 0)
    return;
  out_.append(dim.constant < 0 ? " - " : " + ");
  // Negated as unsigned: the smallest integer has no positive twin.
  const auto bits = static_cast<std::uint64_t>(dim.constant);
  out_.append_int(dim.constant < 0 ? ~bits + 1 : bits);
}

void Printer::print_attributes(const Instruction &inst) {
  const bool none =
      inst.attrs() == nullptr && !inst.has_flag(printed_flags) && inst.autocast().empty();
  if (none)
    return;
  any_attribute_ = false;
  if (inst.opcode() == Opcode::Opaque && inst.attrs() != nullptr)
    print_opaque_attributes(*inst.attrs());
  for (const AttrKey key : inst.opcode_info().attributes)
    print_attribute(inst, key);
  print_marks(inst);
  if (any_attribute_)
    out_.push_back('}');
}

void Printer::start_attribute() {
  out_.append(any_attribute_ ? ", " : " {");
  any_attribute_ = true;
}

void Printer::print_attribute(const Instruction &inst, AttrKey key) {
  if (info(key).kind == AttrKind::Flag) {
    if (!inst.has_flag(flag_bit(key)))
      return;
    start_attribute();
    out_.append(info(key).name);
    return;
  }
  const AttrValue *value = inst.attr(key);
  if (value == nullptr || is_default(key, *value))
    return;
  start_attribute();
  out_.append(info(key).name);
  out_.append(" = ");
  print_attr_value(*value);
}

void Printer::print_marks(const Instruction &inst) {
  print_attribute(inst, AttrKey::Fixed);
  if (!inst.autocast().empty()) {
    start_attribute();
    out_.append("autocast = ");
    print_string(names_.str(inst.autocast()));
  }
  print_attribute(inst, AttrKey::Loc);
}

void Printer::print_opaque_attributes(const AttrList &attrs) {
  for (const Attr &attr : attrs.items()) {
    if (attr.key != AttrKey::Custom)
      continue;
    start_attribute();
    out_.append(names_.str(attr.custom_name));
    if (attr.value.kind == AttrValueKind::Bool && attr.value.boolean)
      continue;
    out_.append(" = ");
    print_attr_value(attr.value);
  }
}

// Lists nest; the items that are left at each level wait on a stack.
void Printer::print_attr_value(const AttrValue &value) {
  std::vector<std::span<const AttrValue>> open;
  const AttrValue *item = &value;
  while (true) {
    bool first = item->kind == AttrValueKind::List; // of its list
    if (first) {
      out_.push_back('[');
      open.push_back(item->list());
    } else {
      print_attr_scalar(*item);
    }
    while (!open.empty() && open.back().empty()) {
      out_.push_back(']');
      open.pop_back();
      first = false;
    }
    if (open.empty())
      return;
    if (!first)
      out_.append(", ");
    item = &open.back().front();
    open.back() = open.back().subspan(1);
  }
}

void Printer::print_attr_scalar(const AttrValue &value) {
  switch (value.kind) {
  case AttrValueKind::Bool:
    out_.append(value.boolean ? "true" : "false");
    return;
  case AttrValueKind::Int:
    out_.append_int(value.integer);
    return;
  case AttrValueKind::Double:
    print_code(DType::Float64, std::bit_cast<std::uint64_t>(value.real));
    return;
  case AttrValueKind::Float32:
    print_code(DType::Float32, value.float32_bits);
    return;
  case AttrValueKind::Word:
    out_.append(value.text());
    return;
  case AttrValueKind::String:
    print_string(value.text());
    return;
  case AttrValueKind::IntList:
    print_int_list(value.ints());
    return;
  case AttrValueKind::List:
  case AttrValueKind::Function:
    return;
  }
}

void Printer::print_int_list(std::span<const std::int64_t> ints) {
  out_.push_back('[');
  for (std::size_t i = 0; i < ints.size(); ++i) {
    if (i != 0)
      out_.append(", ");
    out_.append_int(ints[i]);
  }
  out_.push_back(']');
}

void Printer::print_string(std::string_view text) {
  scratch_.clear();
  append_string_literal(scratch_, text);
  out_.append(scratch_);
}

void Printer::print_code(DType dtype, std::uint64_t code) {
  scratch_.clear();
  append_code_text(scratch_, dtype, code);
  out_.append(scratch_);
}

void Printer::print_type(const Type &type) {
  out_.append(types_.get(&type, [&type](std::string &text) { append_type(type, text); }));
}

void Printer::print_name(char sigil, Name name) {
  out_.push_back(sigil);
  if (name.empty())
    out_.push_back('?');
  else
    append_identifier(out_, names_, name);
}

void Printer::print_value_name(const Stmt &stmt) {
  if (stmt.name().empty()) {
    if (const std::uint32_t *number = unnamed_.find(&stmt)) {
      out_.push_back('%');
      out_.append_int(*number);
      return;
    }
  }
  print_name('%', stmt.name());
}

void Printer::print_indent(unsigned depth) {
  constexpr std::string_view blanks =
      "                                                                ";
  for (std::size_t left = std::size_t{depth} * 2; left != 0;) {
    const std::size_t count = std::min(left, blanks.size());
    out_.append(blanks.substr(0, count));
    left -= count;
  }
}

// Everything that `print` prints, as one string.
template <class Print>
std::string printed(const NameTable &names, std::size_t capacity, Print print) {
  std::string text;
  const TextSink sink = [&text](std::string_view piece) { text += piece; };
  {
    TextBuffer out(sink, capacity);
    Printer printer(names, out);
    print(printer);
  }
  return text;
}

const NameTable &names_of(const Function &function) { return function.module().names(); }

} // namespace

void print(const Module &module, const TextSink &sink) {
  TextBuffer out(sink, chunk_size);
  Printer(module.names(), out).print_module(module);
}

std::string to_string(const Module &module) {
  return printed(module.names(), chunk_size, [&](Printer &p) { p.print_module(module); });
}

std::string to_string(const Function &function) {
  return printed(names_of(function), chunk_size, [&](Printer &p) { p.print_function(function); });
}

std::string to_string(const Stmt &stmt) {
  return printed(names_of(*stmt.function()), snippet_size, [&](Printer &p) { p.print_stmt(stmt); });
}

std::string to_string(const Use &use) {
  return printed(names_of(*use.user()->function()), snippet_size,
                 [&](Printer &p) { p.print_operand(use); });
}

} // namespace nir
