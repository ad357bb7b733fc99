#include "ir/print/printer.h"

#include <algorithm>
#include <vector>

#include "ir/name/name_text.h"
#include "ir/numeric/literal.h"
#include "ir/print/text_printer.h"

namespace nir {
namespace {

constexpr std::size_t chunk_size = std::size_t{1} << 20;
constexpr std::size_t snippet_size = 256; // for single statements and operands

} // namespace

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

namespace {

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
