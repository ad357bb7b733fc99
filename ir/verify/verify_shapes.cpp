// Shapes, and the attributes that speak of dimensions (language reference, Instructions).

#include <algorithm>
#include <array>

#include "ir/verify/verify_rules.h"

namespace nir {
namespace {

using Dims = std::span<const std::int64_t>;

// A shape under construction. A matmul's may get longer than any type's.
class ShapeBuilder {
public:
  ShapeBuilder() = default;
  explicit ShapeBuilder(Dims dims) {
    for (const std::int64_t dim : dims)
      push(dim);
  }
  void push(std::int64_t dim) { dims_[rank_++] = dim; }
  std::int64_t &operator[](std::int64_t i) { return dims_[static_cast<std::size_t>(i)]; }
  Dims dims() const { return {dims_.data(), rank_}; }

private:
  std::array<std::int64_t, 2 * max_rank> dims_{};
  std::size_t rank_ = 0;
};

std::int64_t at(Dims dims, std::int64_t i) { return dims[static_cast<std::size_t>(i)]; }

std::int64_t num_elements(Dims shape) {
  std::int64_t count = 1;
  for (const std::int64_t dim : shape)
    count *= dim; // the shape is a type's, so this fits
  return count;
}

std::string type_text(const Use &use) {
  return fmt::format("{}{}", dtype2str(use.dtype()), shape_to_string(use.shape()));
}

bool expect_result(StmtCheck &check, Dims expected) {
  if (std::ranges::equal(check.inst.dst_shape(), expected))
    return true;
  return check.fail(result_part(check), "{} gives the shape {}, found {}", check.mnemonic(),
                    shape_to_string(expected), shape_to_string(check.inst.dst_shape()));
}

// The rules of attributes that list dimensions.

// Each of a list within 0..rank-1 and none twice, `taken` included, in which they are marked.
bool check_dims(StmtCheck &check, AttrKey key, std::size_t rank, std::uint32_t &taken) {
  for (const std::int64_t dim : check.inst.int_list(key)) {
    if (dim < 0 || dim >= static_cast<std::int64_t>(rank))
      return check.fail(attribute_part(key),
                        "{} names dimension {}, expected one below the rank {}", info(key).name,
                        dim, rank);
    const std::uint32_t bit = 1u << dim;
    if ((taken & bit) != 0)
      return check.fail(attribute_part(key), "{} names dimension {} a second time", info(key).name,
                        dim);
    taken |= bit;
  }
  return true;
}

bool check_dims(StmtCheck &check, AttrKey key, std::size_t rank) {
  std::uint32_t taken = 0;
  return check_dims(check, key, rank, taken);
}

bool check_length(StmtCheck &check, AttrKey key, std::size_t expected) {
  const std::size_t found = check.inst.int_list(key).size();
  if (found == expected)
    return true;
  return check.fail(attribute_part(key), "{} has {} entries, expected {}: one for each dimension",
                    info(key).name, found, expected);
}

// One function an opcode.

bool check_same_shape(StmtCheck &check) {
  const Dims first = check.inst.operand(0).shape();
  for (const Use &use : check.inst.operands().subspan(1))
    if (!std::ranges::equal(use.shape(), first))
      return check.fail(part_of(check, use), "operands of {} have the same shape, found {} and {}",
                        check.mnemonic(), shape_to_string(first), shape_to_string(use.shape()));
  return expect_result(check, first);
}

// A bias or a scalar: one for each partition, or one for all.
bool check_column(StmtCheck &check, const Use &use, std::string_view what,
                  std::int64_t partitions) {
  const Dims shape = use.shape();
  const bool column =
      shape.empty() ||
      (shape[0] == partitions &&
       std::ranges::all_of(shape.subspan(1), [](std::int64_t dim) { return dim == 1; }));
  if (column)
    return true;
  return check.fail(part_of(check, use),
                    "the {} of {} has the shape [{}, 1, ..., 1] or rank 0, found {}", what,
                    check.mnemonic(), partitions, shape_to_string(shape));
}

bool check_columns(StmtCheck &check, std::string_view what) {
  const Dims src = check.inst.operand(0).shape();
  const std::int64_t partitions = src.empty() ? 1 : src[0];
  bool ok = true;
  for (const Use &use : check.inst.operands().subspan(1))
    if (!isa<Immediate>(use.value()))
      ok &= check_column(check, use, what, partitions);
  return expect_result(check, src) && ok;
}

bool check_reduce(StmtCheck &check) {
  const Dims src = check.inst.operand(0).shape();
  if (!check_dims(check, AttrKey::Axes, src.size()))
    return false;
  ShapeBuilder expected(src);
  for (const std::int64_t axis : check.inst.int_list(AttrKey::Axes))
    expected[axis] = 1;
  return expect_result(check, expected.dims());
}

bool check_transpose(StmtCheck &check) {
  const Dims src = check.inst.operand(0).shape();
  if (!check_length(check, AttrKey::Perm, src.size()) ||
      !check_dims(check, AttrKey::Perm, src.size()))
    return false;
  ShapeBuilder expected;
  for (const std::int64_t dim : check.inst.int_list(AttrKey::Perm))
    expected.push(at(src, dim));
  return expect_result(check, expected.dims());
}

bool check_same_count(StmtCheck &check) {
  const Dims src = check.inst.operand(0).shape();
  const Dims dst = check.inst.dst_shape();
  if (num_elements(src) == num_elements(dst))
    return true;
  return check.fail(result_part(check),
                    "{} keeps the number of elements, found {} with {} and {} with {}",
                    check.mnemonic(), shape_to_string(src), num_elements(src), shape_to_string(dst),
                    num_elements(dst));
}

bool check_same_bytes(StmtCheck &check) {
  const Use &src = check.inst.operand(0);
  const std::int64_t from = num_elements(src.shape()) * sizeinbytes(src.dtype());
  const std::int64_t to =
      num_elements(check.inst.dst_shape()) * sizeinbytes(check.inst.dst_dtype());
  if (from == to)
    return true;
  return check.fail(result_part(check), "{} keeps the bytes, found {} of them and {}",
                    check.mnemonic(), from, to);
}

bool check_broadcast(StmtCheck &check) {
  const Dims src = check.inst.operand(0).shape();
  const Dims dst = check.inst.dst_shape();
  if (!check_length(check, AttrKey::Dims, src.size()) ||
      !check_dims(check, AttrKey::Dims, dst.size()))
    return false;
  const Dims dims = check.inst.int_list(AttrKey::Dims);
  for (std::size_t k = 0; k < src.size(); ++k)
    if (src[k] != 1 && src[k] != at(dst, dims[k]))
      return check.fail(result_part(check),
                        "{} cannot make size {} of size {}: dimension {} of {} becomes dimension "
                        "{} of {}",
                        check.mnemonic(), at(dst, dims[k]), src[k], k, shape_to_string(src),
                        dims[k], shape_to_string(dst));
  return true;
}

bool check_slice_dim(StmtCheck &check, std::size_t i, std::int64_t extent) {
  const std::int64_t start = check.inst.int_list(AttrKey::Start)[i];
  const std::int64_t size = check.inst.int_list(AttrKey::Size)[i];
  const Dims strides = check.inst.int_list(AttrKey::Stride);
  const std::int64_t stride = strides.empty() ? 1 : strides[i];
  if (start < 0)
    return check.fail(attribute_part(AttrKey::Start),
                      "start of dimension {} is {}, expected at "
                      "least 0",
                      i, start);
  if (size < 1)
    return check.fail(attribute_part(AttrKey::Size),
                      "size of dimension {} is {}, expected at "
                      "least 1",
                      i, size);
  if (stride < 1)
    return check.fail(attribute_part(AttrKey::Stride),
                      "stride of dimension {} is {}, expected at "
                      "least 1",
                      i, stride);
  std::int64_t last = 0;
  const bool fits = !__builtin_mul_overflow(size - 1, stride, &last) &&
                    !__builtin_add_overflow(start, last, &last);
  if (fits && last < extent)
    return true;
  return check.fail(attribute_part(AttrKey::Size),
                    "slice of dimension {} from {} with size {} and stride {} leaves its size {}",
                    i, start, size, stride, extent);
}

bool check_slice(StmtCheck &check) {
  const Dims src = check.inst.operand(0).shape();
  if (!check_length(check, AttrKey::Start, src.size()) ||
      !check_length(check, AttrKey::Size, src.size()))
    return false;
  const bool has_stride = check.inst.attr(AttrKey::Stride) != nullptr;
  if (has_stride && !check_length(check, AttrKey::Stride, src.size()))
    return false;
  for (std::size_t i = 0; i < src.size(); ++i)
    if (!check_slice_dim(check, i, src[i]))
      return false;
  return expect_result(check, check.inst.int_list(AttrKey::Size));
}

bool check_dim_attribute(StmtCheck &check, std::size_t rank) {
  const std::int64_t dim = check.inst.int_attr(AttrKey::Dim);
  if (dim >= 0 && dim < static_cast<std::int64_t>(rank))
    return true;
  return check.fail(attribute_part(AttrKey::Dim), "dim is {}, expected one below the rank {}", dim,
                    rank);
}

bool fits_beside(Dims shape, Dims first, std::int64_t dim) {
  if (shape.size() != first.size())
    return false;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (static_cast<std::int64_t>(i) != dim && shape[i] != first[i])
      return false;
  return true;
}

bool check_concat(StmtCheck &check) {
  const Dims first = check.inst.operand(0).shape();
  const std::int64_t dim = check.inst.int_attr(AttrKey::Dim);
  if (!check_dim_attribute(check, first.size()))
    return false;
  ShapeBuilder expected(first);
  expected[dim] = 0;
  for (const Use &use : check.inst.operands()) {
    if (!fits_beside(use.shape(), first, dim))
      return check.fail(
          part_of(check, use), "operands of {} differ in dimension {} only, found {} and {}",
          check.mnemonic(), dim, shape_to_string(first), shape_to_string(use.shape()));
    if (__builtin_add_overflow(expected[dim], at(use.shape(), dim), &expected[dim]))
      return check.fail(result_part(check), "{} has more than 2^63 - 1 elements in dimension {}",
                        check.mnemonic(), dim);
  }
  return expect_result(check, expected.dims());
}

bool check_iota(StmtCheck &check) {
  const std::size_t rank = check.inst.dst_shape().size();
  if (rank == 0)
    return check.fail(result_part(check), "iota has a rank of at least 1, found rank 0");
  return check_dim_attribute(check, rank);
}

// Pairs of dimensions of the two operands: as many on both sides, and of equal size.
bool check_pairs(StmtCheck &check, AttrKey lhs_key, AttrKey rhs_key) {
  const Dims lhs_dims = check.inst.int_list(lhs_key);
  const Dims rhs_dims = check.inst.int_list(rhs_key);
  if (lhs_dims.size() != rhs_dims.size())
    return check.fail(attribute_part(rhs_key), "{} has {} entries and {} has {}, expected as many",
                      info(lhs_key).name, lhs_dims.size(), info(rhs_key).name, rhs_dims.size());
  const Use &lhs = check.inst.operand(0);
  const Use &rhs = check.inst.operand(1);
  for (std::size_t i = 0; i < lhs_dims.size(); ++i) {
    // A container of the contracted dimension that runs fastest holds several elements of it.
    const bool packed = lhs_key == AttrKey::LhsContract && i + 1 == lhs_dims.size();
    const __int128 lhs_lanes = packed ? info(lhs.dtype()).lanes : 1;
    const __int128 rhs_lanes = packed ? info(rhs.dtype()).lanes : 1;
    if (at(lhs.shape(), lhs_dims[i]) * lhs_lanes != at(rhs.shape(), rhs_dims[i]) * rhs_lanes)
      return check.fail(part_of(check, rhs),
                        "dimension {} of {} meets dimension {} of {}, expected equal sizes",
                        lhs_dims[i], type_text(lhs), rhs_dims[i], type_text(rhs));
  }
  return true;
}

void push_free_dims(ShapeBuilder &shape, Dims dims, std::uint32_t taken) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    if ((taken >> i & 1) == 0)
      shape.push(dims[i]);
}

bool check_matmul(StmtCheck &check) {
  const Dims lhs = check.inst.operand(0).shape();
  const Dims rhs = check.inst.operand(1).shape();
  std::uint32_t lhs_taken = 0;
  std::uint32_t rhs_taken = 0;
  const bool dims_ok = check_dims(check, AttrKey::LhsContract, lhs.size(), lhs_taken) &&
                       check_dims(check, AttrKey::LhsBatch, lhs.size(), lhs_taken) &&
                       check_dims(check, AttrKey::RhsContract, rhs.size(), rhs_taken) &&
                       check_dims(check, AttrKey::RhsBatch, rhs.size(), rhs_taken);
  if (!dims_ok || !check_pairs(check, AttrKey::LhsContract, AttrKey::RhsContract) ||
      !check_pairs(check, AttrKey::LhsBatch, AttrKey::RhsBatch))
    return false;
  ShapeBuilder expected;
  for (const std::int64_t dim : check.inst.int_list(AttrKey::LhsBatch))
    expected.push(at(lhs, dim));
  push_free_dims(expected, lhs, lhs_taken);
  push_free_dims(expected, rhs, rhs_taken);
  return expect_result(check, expected.dims());
}

} // namespace

bool check_shapes(StmtCheck &check) {
  switch (check.inst.opcode()) {
  case Opcode::Activation:
    return check_columns(check, "bias");
  case Opcode::TensorScalar:
    return check_columns(check, "scalar");
  case Opcode::TensorCopy:
  case Opcode::TensorTensor:
  case Opcode::Select:
  case Opcode::Load:
  case Opcode::Store:
  case Opcode::OffloadedSlice:
    return check_same_shape(check);
  case Opcode::TensorReduce:
    return check_reduce(check);
  case Opcode::Transpose:
  case Opcode::OffloadedTranspose:
    return check_transpose(check);
  case Opcode::Reshape:
  case Opcode::OffloadedMemcpy:
  case Opcode::OffloadedMemcast:
    return check_same_count(check);
  case Opcode::OffloadedBitcast:
    return check_same_bytes(check);
  case Opcode::Broadcast:
  case Opcode::OffloadedBroadcast:
    return check_broadcast(check);
  case Opcode::Slice:
    return check_slice(check);
  case Opcode::Concat:
  case Opcode::OffloadedConcat:
    return check_concat(check);
  case Opcode::Matmul:
    return check_matmul(check);
  case Opcode::Iota:
    return check_iota(check);
  case Opcode::Memset:
  case Opcode::Call:
  case Opcode::Opaque:
    return true;
  }
  return true;
}

} // namespace nir
