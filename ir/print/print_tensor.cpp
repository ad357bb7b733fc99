#include "ir/print/text_printer.h"

namespace nir {

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

} // namespace nir
