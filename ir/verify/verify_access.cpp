// Access patterns, and where what they name may lie.

#include "ir/verify/verify_rules.h"

namespace nir {
namespace {

bool check_rank(StmtCheck &check, const Use &use) {
  const std::size_t expected = use.tensor()->type()->rank();
  const std::size_t found = use.access()->dims().size();
  if (found == expected)
    return true;
  return check.fail(part_of(check, use), "access to {} has {} subscript{}, expected {}: it is {}",
                    tensor_name(*use.tensor()), found, found == 1 ? "" : "s", expected,
                    to_string(*use.tensor()->type()));
}

bool check_view(StmtCheck &check, const Use &use) {
  if (!use.reinterprets())
    return true;
  const DType stored = use.tensor()->dtype();
  const DType seen = use.access()->view();
  if (sizeinbytes(stored) == sizeinbytes(seen))
    return true;
  return check.fail(part_of(check, use),
                    "{} cannot be read as {}: its items have {} bytes, expected {} as in {}",
                    tensor_name(*use.tensor()), dtype2str(seen), sizeinbytes(seen),
                    sizeinbytes(stored), dtype2str(stored));
}

// The last index that a dimension reaches from `start`; nothing where it does not fit in 64 bits.
std::optional<std::int64_t> last_index(std::int64_t start, const AccessDim &dim) {
  std::int64_t span = 0;
  std::int64_t last = 0;
  if (__builtin_mul_overflow(dim.size - 1, dim.stride, &span) ||
      __builtin_add_overflow(start, span, &last))
    return std::nullopt;
  return last;
}

std::string describe_dim(const Use &use, unsigned dim) {
  return fmt::format("dimension {} of {}", dim, tensor_name(*use.tensor()));
}

bool check_bounds(StmtCheck &check, const Use &use, unsigned i) {
  const AccessDim &dim = use.access()->dims()[i];
  const std::int64_t extent = use.tensor()->type()->dim(i);
  const StmtPart part{.kind = StmtPart::Subscript, .index = use.index(), .sub = i};
  if (dim.size < 1 || dim.stride < 1)
    return check.fail(part, "{} has size {} and stride {}, expected at least 1",
                      describe_dim(use, i), dim.size, dim.stride);
  const auto offsets = affine_range(dim.terms, dim.constant);
  const auto last = offsets ? last_index(offsets->max, dim) : std::nullopt;
  if (!last)
    return check.fail(part, "the index in {} does not fit in 64 bits", describe_dim(use, i));
  const std::string_view when = dim.terms.empty() ? "" : " at some trip of its loops";
  if (offsets->min < 0)
    return check.fail(part, "{} is accessed from index {}{}, expected at least 0",
                      describe_dim(use, i), offsets->min, when);
  if (*last >= extent)
    return check.fail(part, "{} is accessed up to index {}{}, expected below its size {}",
                      describe_dim(use, i), *last, when, extent);
  return true;
}

bool check_access(StmtCheck &check, const Use &use) {
  if (use.access() == nullptr)
    return true;
  if (!check_rank(check, use))
    return false;
  bool ok = check_view(check, use);
  for (unsigned i = 0; i < use.access()->dims().size(); ++i)
    ok &= check_bounds(check, use, i);
  return ok;
}

bool is_whole(const Use &use) { return use.access() == nullptr || use.access()->is_whole(); }

bool check_whole(StmtCheck &check, const Use &use) {
  const Opcode opcode = check.inst.opcode();
  const bool whole_only = check.inst.has_trait(op_trait::Offloaded) || opcode == Opcode::Call;
  const bool source_of_slice = opcode == Opcode::OffloadedSlice && &use != check.inst.dst();
  if (!whole_only || source_of_slice || is_whole(use))
    return true;
  return check.fail(part_of(check, use), "{} takes whole tensors, found a part of {}",
                    check.mnemonic(), tensor_name(*use.tensor()));
}

bool check_space(StmtCheck &check, const Use &use) {
  constexpr std::uint16_t on_chip = op_trait::Engine | op_trait::Mover | op_trait::Generator;
  if (!check.inst.has_trait(on_chip) || use.tensor()->space() != Space::Dram)
    return true;
  return check.fail(part_of(check, use), "{} addresses sbuf and psum, found {} in dram",
                    check.mnemonic(), tensor_name(*use.tensor()));
}

bool check_written(StmtCheck &check, const Use &dst) {
  const Role role = dst.tensor()->role();
  if (role == Role::Input || role == Role::Const)
    return check.fail(part_of(check, dst), "{} tensor {} is never written", to_string(role),
                      tensor_name(*dst.tensor()));
  const bool psum_only = check.inst.opcode() == Opcode::Matmul;
  if (psum_only && dst.tensor()->space() != Space::Psum)
    return check.fail(part_of(check, dst), "matmul writes psum, found {} in {}",
                      tensor_name(*dst.tensor()), to_string(dst.tensor()->space()));
  return true;
}

} // namespace

bool check_accesses(StmtCheck &check) {
  bool ok = true;
  for (const Use &use : check.inst.uses_of_operands())
    if (use.is_access())
      ok &= check_access(check, use);
  return ok;
}

bool check_places(StmtCheck &check) {
  bool ok = true;
  for (const Use &use : check.inst.uses_of_operands()) {
    if (!use.is_access())
      continue;
    // A matmul into dram breaks one rule, not two: its destination is asked for psum below.
    const bool matmul_dst = check.inst.opcode() == Opcode::Matmul && &use == check.inst.dst();
    ok &= (matmul_dst || check_space(check, use)) && check_whole(check, use);
  }
  if (const Use *dst = check.inst.dst())
    ok &= check_written(check, *dst);
  return ok;
}

} // namespace nir
