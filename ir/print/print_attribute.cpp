#include "ir/print/text_printer.h"

#include <bit>
#include <utility>
#include <vector>

namespace nir {
namespace {

constexpr std::uint16_t printed_flags = inst_flag::Reverse0 | inst_flag::Reverse1 |
                                        inst_flag::ExactInts | inst_flag::Accumulate |
                                        inst_flag::Fixed;

} // namespace

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

} // namespace nir
