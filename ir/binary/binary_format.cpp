#include "ir/binary/binary_format.h"

#include <string>

#include <fmt/format.h>
#include <xxhash.h>

#include "ir/isa/target.h"
#include "ir/numeric/dtype.h"

namespace nir::binary {

std::uint64_t checksum_of(std::string_view payload) {
  return XXH3_64bits(payload.data(), payload.size());
}

std::uint64_t table_fingerprint() {
  std::string text;
  const auto add_names = [&text](std::string_view table, const auto &names) {
    text += table;
    for (const std::string_view name : names)
      text += fmt::format(" {}", name);
    text += '\n';
  };
  text += "opcodes";
  for (const OpcodeInfo &row : all_opcodes())
    text += fmt::format(" {}", row.mnemonic);
  text += "\nattributes";
  for (const AttrInfo &row : all_attributes())
    text += fmt::format(" {}:{}", row.name, static_cast<int>(row.kind));
  text += "\ndtypes";
  for (const DType dtype : all_dtypes())
    text += fmt::format(" {}:{}", dtype2str(dtype), sizeinbytes(dtype));
  text += '\n';
  add_names("functions", all_activation_fns());
  add_names("operators", all_alu_ops());
  add_names("targets", target_names());
  return checksum_of(text);
}

OperatorCounts operator_counts(Opcode opcode) {
  switch (opcode) {
  case Opcode::Activation:
    return {all_activation_fns().size(), 1};
  case Opcode::TensorTensor:
  case Opcode::TensorReduce:
    return {all_alu_ops().size(), 1};
  case Opcode::TensorScalar:
    return {all_alu_ops().size(), all_alu_ops().size()};
  default:
    return {};
  }
}

} // namespace nir::binary
