// Declarations of tensors (language reference, Structure and Types).

#include "ir/numeric/literal.h"
#include "ir/print/print_text.h"
#include "ir/verify/verify_rules.h"

namespace nir {
namespace {

constexpr unsigned psum_item_size = 4;

// A declaration under check.
struct TensorCheck {
  const Tensor &tensor;
  SourceRange range;
  DiagnosticEngine &diagnostics;

  template <class... Args> bool fail(fmt::format_string<Args...> format, Args &&...args) {
    diagnostics.error(range, fmt::format(format, std::forward<Args>(args)...));
    return false;
  }
  std::string name() const { return tensor_name(tensor); }
};

bool check_dtype(TensorCheck &check) {
  const DType dtype = check.tensor.dtype();
  if (dtype == DType::Float4E2m1fn)
    return check.fail("tensor {} has dtype {}, which is never stored", check.name(),
                      dtype2str(dtype));
  if (check.tensor.space() == Space::Psum && sizeinbytes(dtype) != psum_item_size)
    return check.fail("tensor {} in psum has dtype {}, expected one of 4 bytes", check.name(),
                      dtype2str(dtype));
  return true;
}

std::string_view to_string(InitForm form) {
  switch (form) {
  case InitForm::Splat:
    return "splat";
  case InitForm::Dense:
    return "dense";
  case InitForm::Hex:
    return "hex";
  }
  return {};
}

bool check_init_size(TensorCheck &check, const ConstData &data) {
  const Type &type = *check.tensor.type();
  const unsigned item = sizeinbytes(type.dtype());
  const auto found = data.bytes.size();
  const auto expected =
      static_cast<std::size_t>(data.form == InitForm::Splat ? item : type.size_in_bytes());
  if (found == expected)
    return true;
  if (data.form == InitForm::Hex)
    return check.fail("hex of {} has {} bytes, expected {} for {}", check.name(), found, expected,
                      nir::to_string(type));
  return check.fail("{} of {} has {} elements, expected {} for {}", to_string(data.form),
                    check.name(), found / item, expected / item, nir::to_string(type));
}

// Only 8-bit floats and float32r have codes that no number gives.
bool has_unspellable_codes(DType dtype) {
  return is_float_type(dtype) && (sizeinbytes(dtype) == 1 || dtype == DType::Float32r);
}

// What is printed as numbers must be read back as the same bytes.
bool check_numbers(TensorCheck &check, const ConstData &data) {
  const DType dtype = check.tensor.dtype();
  if (data.form == InitForm::Hex || !has_unspellable_codes(dtype))
    return true;
  const unsigned item = sizeinbytes(dtype);
  for (std::size_t at = 0; at < data.bytes.size(); at += item) {
    const std::uint64_t code = code_at(data, at, item);
    if (!text_reads_back(dtype, code))
      return check.fail("{} of {} holds the {} code {:#x}, which no number gives, expected hex",
                        to_string(data.form), check.name(), dtype2str(dtype), code);
  }
  return true;
}

bool check_init(TensorCheck &check) {
  const ConstData *data = check.tensor.init();
  const bool is_const = check.tensor.role() == Role::Const;
  if (data == nullptr)
    return !is_const || check.fail("const tensor {} has no init", check.name());
  if (!is_const)
    return check.fail("tensor {} has an init but is no const", check.name());
  if (data->form != InitForm::Hex && is_x4_dtype(check.tensor.dtype()))
    return check.fail("tensor {} of {} is initialised by {}, expected hex: a container has no "
                      "number",
                      check.name(), dtype2str(check.tensor.dtype()), to_string(data->form));
  return check_init_size(check, *data) && check_numbers(check, *data);
}

} // namespace

bool verify_tensor(const Tensor &tensor, SourceRange range, DiagnosticEngine &diagnostics) {
  TensorCheck check{tensor, range, diagnostics};
  const bool dtype = check_dtype(check);
  return check_init(check) && dtype;
}

} // namespace nir
