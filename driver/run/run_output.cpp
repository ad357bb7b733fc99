#include "driver/run/run_output.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

#include "ir/eval/ulp_error.h"
#include "ir/numeric/literal.h"

namespace nir {
namespace {

void append_element(std::string &out, const HostTensor &tensor, std::size_t i) {
  const DType dtype = tensor.type->dtype();
  const unsigned bytes = sizeinbytes(dtype);
  std::uint64_t code = 0;
  std::memcpy(&code, tensor.bytes.data() + i * bytes, bytes);
  if (is_x4_dtype(dtype))
    out += fmt::format("{:#0{}x}", code, 2 * bytes + 2);
  else
    append_code_text(out, dtype, code);
}

// `[2, 0, :]` of the row with that number.
std::string row_label(std::span<const std::int64_t> shape, std::int64_t row) {
  std::vector<std::int64_t> index(shape.size() - 1);
  for (std::size_t i = index.size(); i-- > 0;) {
    index[i] = row % shape[i];
    row /= shape[i];
  }
  std::string text = "[";
  for (const std::int64_t i : index)
    text += fmt::format("{}, ", i);
  return text + ":] ";
}

// Columns as wide as their widest text, the first to the left and the others to the right.
std::string aligned(const std::vector<std::vector<std::string>> &rows) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto &row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto &row : rows) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i)
      text += fmt::format("  {:>{}}", row[i], widths[i]);
    text += '\n';
  }
  return text;
}

void append_error(std::vector<std::string> &row, const HostTensor &result,
                  const HostTensor &reference) {
  if (is_x4_dtype(result.type->dtype())) { // only moved: nothing was rounded
    row.insert(row.end(), {"-", "-"});
    return;
  }
  const UlpError error = ulp_error(result, reference);
  row.push_back(fmt::format("{:.4g}", error.max));
  row.push_back(fmt::format("{:.4g}", error.mean));
}

} // namespace

std::string digest_text(std::string_view name, const HostTensor &tensor) {
  const std::string type = to_string(*tensor.type);
  std::uint64_t hash = XXH64(name.data(), name.size(), 0);
  hash = XXH64(type.data(), type.size(), hash);
  return fmt::format("{:016x}", XXH64(tensor.bytes.data(), tensor.bytes.size(), hash));
}

std::string values_text(std::string_view name, const HostTensor &tensor) {
  const auto shape = tensor.type->shape();
  const std::int64_t row_size = shape.empty() ? 1 : shape.back();
  std::string text = fmt::format("{} {}\n", name, to_string(*tensor.type));
  for (std::int64_t row = 0; row < tensor.type->num_elements() / row_size; ++row) {
    text += "  ";
    if (shape.size() > 1)
      text += row_label(shape, row);
    for (std::int64_t i = 0; i < row_size; ++i) {
      if (i != 0)
        text += ' ';
      append_element(text, tensor, static_cast<std::size_t>(row * row_size + i));
    }
    text += '\n';
  }
  return text;
}

std::string comparison_text(std::span<const ComparedOutput> outputs) {
  std::vector<std::vector<std::string>> rows = {{"output", "type", "elements", "identical",
                                                 "A max ulp", "A mean ulp", "B max ulp",
                                                 "B mean ulp"}};
  for (const ComparedOutput &output : outputs) {
    std::vector<std::string> row = {output.name, to_string(*output.a.type),
                                    std::to_string(output.a.type->num_elements()),
                                    std::to_string(identical_elements(output.a, output.b))};
    append_error(row, output.a, output.reference);
    append_error(row, output.b, output.reference);
    rows.push_back(std::move(row));
  }
  return aligned(rows);
}

} // namespace nir
