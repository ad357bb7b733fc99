// tensor_reduce: each sum is one chain, in ascending order of the reduced indices.

#include <algorithm>

#include "ir/semantics/eval_ops.h"

namespace nir::eval {
namespace {

// The source, reordered: dimensions that stay, reduced ones as `axes` lists them, and then, where
// the last dimension stays, that one, so that whole rows of it are combined at once.
struct Reduction {
  Box box;
  std::int64_t outer = 1;
  std::int64_t terms = 1;
  std::int64_t row = 1;
};

Reduction reorder(const Box &src, std::span<const std::int64_t> axes) {
  Reduction result;
  result.box.offset = src.offset;
  std::uint32_t reduced = 0;
  for (const std::int64_t axis : axes)
    reduced |= 1u << axis;
  const bool keeps_last = src.rank != 0 && (reduced >> (src.rank - 1) & 1) == 0;
  const unsigned outer_dims = keeps_last ? src.rank - 1 : src.rank;
  for (unsigned i = 0; i < outer_dims; ++i) {
    if ((reduced >> i & 1) != 0)
      continue;
    result.box.push(src.size[i], src.stride[i]);
    result.outer *= src.size[i];
  }
  for (const std::int64_t axis : axes) {
    const auto i = static_cast<std::size_t>(axis);
    result.box.push(src.size[i], src.stride[i]);
    result.terms *= src.size[i];
  }
  if (keeps_last) {
    result.row = src.size[outer_dims];
    result.box.push(result.row, src.stride[outer_dims]);
  }
  return result;
}

class Reducer {
public:
  Reducer(const Execution &run, const Reduction &shape)
      : run_(run), shape_(shape), dtype_(run.operands[0].dtype),
        lane_(is_int_type(dtype_) ? int_lane(dtype_) : run.float_lane()),
        context_{lane_, is_int_lane(lane_) ? 8 * sizeinbytes(dtype_) : 64},
        item_(sizeinbytes(lane_dtype(lane_))), source_(make_source()),
        sink_(run.dst, lane_dtype(lane_), run.exact(), run.rounding) {}

  // Single results first..last of the outer dimensions, where rows have one element.
  void reduce_singles(std::int64_t first, std::int64_t last, Workspace &workspace) const;
  // Results of the outer dimensions first..last, a row each.
  void reduce_rows(std::int64_t first, std::int64_t last, Workspace &workspace) const;

private:
  Source make_source() const {
    View view = run_.operands[0];
    view.box = shape_.box;
    return lane_source(run_, view, dtype_, lane_);
  }
  void reduce_row(std::int64_t outer, std::int64_t column, std::int64_t count,
                  Workspace &workspace) const;
  void write(std::int64_t at, std::int64_t count, Workspace &workspace) const {
    make_nans_canonical(lane_, workspace.lane.data(), static_cast<std::size_t>(count));
    sink_.write(at, count, workspace.lane.data(), workspace.result);
  }

  const Execution &run_;
  const Reduction &shape_;
  DType dtype_;
  Lane lane_;
  AluContext context_;
  unsigned item_;
  Source source_;
  Sink sink_;
};

void Reducer::reduce_singles(std::int64_t first, std::int64_t last, Workspace &workspace) const {
  const AluOp op = run_.inst.op();
  std::int64_t done = 0; // terms of the result at hand
  std::int64_t result = first;
  std::int64_t pending = 0; // results not yet written
  for (std::int64_t at = first * shape_.terms; at < last * shape_.terms; at += block_size) {
    const std::int64_t count = std::min(block_size, last * shape_.terms - at);
    const std::byte *terms = source_.read(at, count, workspace.operands[0]);
    for (std::int64_t i = 0; i < count;) {
      std::byte *acc = workspace.lane.data() + pending * item_;
      if (done == 0) {
        start_reduction(op, context_, terms + i * item_, acc, 1);
        ++i;
        ++done;
      }
      const std::int64_t more = std::min(shape_.terms - done, count - i);
      fold(op, context_, acc, terms + i * item_, static_cast<std::size_t>(more));
      i += more;
      done += more;
      if (done < shape_.terms)
        continue;
      done = 0;
      if (++pending == block_size) {
        write(result, pending, workspace);
        result += pending;
        pending = 0;
      }
    }
  }
  if (pending != 0)
    write(result, pending, workspace);
}

void Reducer::reduce_rows(std::int64_t first, std::int64_t last, Workspace &workspace) const {
  for (std::int64_t outer = first; outer < last; ++outer)
    for (std::int64_t column = 0; column < shape_.row; column += block_size)
      reduce_row(outer, column, std::min(block_size, shape_.row - column), workspace);
}

// `count` neighbours of one row of results. Short rows are read several at a time.
void Reducer::reduce_row(std::int64_t outer, std::int64_t column, std::int64_t count,
                         Workspace &workspace) const {
  const AluOp op = run_.inst.op();
  const std::int64_t rows_at_once = count == shape_.row ? block_size / count : 1;
  std::byte *acc = workspace.lane.data();
  const auto size = static_cast<std::size_t>(count);
  for (std::int64_t term = 0; term < shape_.terms; term += rows_at_once) {
    const std::int64_t rows = std::min(rows_at_once, shape_.terms - term);
    const std::int64_t start = (outer * shape_.terms + term) * shape_.row + column;
    const std::byte *terms = source_.read(start, rows * count, workspace.operands[0]);
    for (std::int64_t row = 0; row < rows; ++row, terms += count * item_) {
      if (term + row == 0)
        start_reduction(op, context_, terms, acc, size);
      else
        apply_op(op, context_, acc, terms, acc, size);
    }
  }
  write(outer * shape_.row + column, count, workspace);
}

} // namespace

void run_reduce(const Execution &run) {
  const Reduction shape = reorder(run.operands[0].box, run.inst.int_list(AttrKey::Axes));
  const Reducer reducer(run, shape);
  run.workers.run(shape.outer, shape.terms * shape.row,
                  [&](std::int64_t first, std::int64_t last, Workspace &workspace) {
                    if (shape.row == 1)
                      reducer.reduce_singles(first, last, workspace);
                    else
                      reducer.reduce_rows(first, last, workspace);
                  });
}

} // namespace nir::eval
