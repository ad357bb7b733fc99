#include <fmt/format.h>

#include "ir/numeric/cast_triple.h"
#include "ir/verify/verifier.h"

namespace nir {
namespace {

// tensor_copy and DMA convert through fp32; everything else between integers is exact.
bool converts_through_fp32(const Instruction &inst) {
  return inst.opcode() == Opcode::TensorCopy || inst.opcode() == Opcode::OffloadedMemcast ||
         inst.has_trait(op_trait::Dma);
}

bool may_exceed_fp32(DType dtype) { return is_int_type(dtype) && !holds(DType::Float32, dtype); }

} // namespace

void warn_about_statement(const Instruction &inst, const StmtLocator &locator,
                          DiagnosticEngine &diagnostics) {
  if (!converts_through_fp32(inst) || inst.exact_ints())
    return;
  const DType from = inst.src()->dtype();
  const DType to = inst.dst_dtype();
  if (from == to || !may_exceed_fp32(from) || !may_exceed_fp32(to))
    return;
  const std::string_view remedy =
      inst.opcode() == Opcode::TensorCopy ? "; exact_ints keeps them" : "";
  diagnostics.warning(
      locator.locate(inst, {}),
      fmt::format("{} from {} to {} passes through float32 and loses low bits above 2^24{}",
                  mnemonic(inst.opcode()), dtype2str(from), dtype2str(to), remedy));
}

} // namespace nir
