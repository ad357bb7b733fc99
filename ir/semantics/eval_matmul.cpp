// matmul: both operands are cast and laid out in tiles, a batch at a time, and multiplied tile by
// tile.

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "ir/semantics/eval_matmul_kernel.h"
#include "ir/semantics/eval_ops.h"
#include "ir/support/saturating.h"

namespace nir::eval {
namespace {

using Dims = std::span<const std::int64_t>;

// One operand: its dimensions as batch, contracted and free, and how many elements those have.
struct MatmulSide {
  std::vector<std::int64_t> order;
  std::int64_t batches = 1;
  std::int64_t depth = 1;
  std::int64_t width = 1;
};

MatmulSide make_side(Dims shape, Dims batch, Dims contract) {
  MatmulSide side;
  std::uint32_t taken = 0;
  const auto take = [&](Dims dims, std::int64_t &count) {
    for (const std::int64_t dim : dims) {
      side.order.push_back(dim);
      count *= shape[static_cast<std::size_t>(dim)];
      taken |= 1u << dim;
    }
  };
  take(batch, side.batches);
  take(contract, side.depth);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.size()); ++i)
    if ((taken >> i & 1) == 0)
      take(std::span(&i, 1), side.width);
  return side;
}

MatmulSide left_side(const Instruction &inst) {
  return make_side(inst.operand(0).shape(), inst.int_list(AttrKey::LhsBatch),
                   inst.int_list(AttrKey::LhsContract));
}

MatmulSide right_side(const Instruction &inst) {
  return make_side(inst.operand(1).shape(), inst.int_list(AttrKey::RhsBatch),
                   inst.int_list(AttrKey::RhsContract));
}

std::int64_t round_up(std::int64_t count, std::size_t unit) {
  const auto step = static_cast<std::int64_t>(unit);
  return (count + step - 1) / step * step;
}

template <class T> class Matmul {
public:
  explicit Matmul(const Execution &run)
      : run_(run), lhs_(left_side(run.inst)), rhs_(right_side(run.inst)),
        left_source_(source_of(0, lhs_)), right_source_(source_of(1, rhs_)),
        old_(lane_source(run, run.dst, DType::Float32, lane)),
        sink_(run.dst, lane_dtype(lane), run.exact(), run.rounding) {}

  void multiply() {
    for (std::int64_t batch = 0; batch < lhs_.batches; ++batch) {
      left_ = packed(left_source_, lhs_, batch, rows);
      right_ = packed(right_source_, rhs_, batch, columns);
      const std::int64_t tiles = round_up(lhs_.width, rows) / height;
      run_.workers.run(tiles, lhs_.depth * rhs_.width / 4 + 1,
                       [&](std::int64_t first, std::int64_t last, Workspace &workspace) {
                         for (std::int64_t tile = first; tile < last; ++tile)
                           for (std::int64_t at = 0; at < rhs_.width; at += block_size)
                             multiply_strip(batch, tile * height, at, workspace);
                       });
    }
  }

private:
  static constexpr Lane lane = std::is_same_v<T, float> ? Lane::Float : Lane::Double;
  static constexpr std::size_t rows = matmul_rows;
  static constexpr std::size_t columns = matmul_columns<T>;
  static constexpr auto height = static_cast<std::int64_t>(rows);
  static_assert(block_size % columns == 0);

  Source source_of(unsigned i, const MatmulSide &side) const {
    View view = run_.operands[i];
    view.box = permuted(view.box, side.order);
    return lane_source(run_, view, *run_.target.matmul_operand_dtype(view.dtype), lane);
  }

  // The operand in panels of `unit` neighbours, each with one row for every contracted index; what
  // is missing from the last panel is 0.
  std::vector<T> packed(const Source &source, const MatmulSide &side, std::int64_t batch,
                        std::size_t unit) const {
    std::vector<T> panels(static_cast<std::size_t>(round_up(side.width, unit) * side.depth));
    Workspace &workspace = run_.workers.workspace();
    const auto step = static_cast<std::int64_t>(unit);
    for (std::int64_t k = 0; k < side.depth; ++k) {
      const std::int64_t row = (batch * side.depth + k) * side.width;
      const std::int64_t part = block_size / step * step;
      for (std::int64_t at = 0; at < side.width; at += part) {
        const std::int64_t count = std::min(part, side.width - at);
        const std::byte *codes = source.read(row + at, count, workspace.operands[0]);
        for (std::int64_t i = 0; i < count; i += step)
          std::memcpy(panels.data() + (at + i) * side.depth + k * step, codes + i * sizeof(T),
                      static_cast<std::size_t>(std::min(step, count - i)) * sizeof(T));
      }
    }
    return panels;
  }

  // Of `rows` rows of the result at most block_size columns from `column` on.
  void multiply_strip(std::int64_t batch, std::int64_t row, std::int64_t column,
                      Workspace &workspace) const {
    alignas(64) T strip[rows * block_size];
    const std::int64_t count = std::min(block_size, rhs_.width - column);
    const std::int64_t used_rows = std::min(height, lhs_.width - row);
    const std::int64_t begin = (batch * lhs_.width + row) * rhs_.width + column;
    if (run_.inst.accumulates())
      read_old(begin, used_rows, count, strip, workspace);
    for (std::int64_t at = 0; at < count; at += columns)
      multiply_tile_at(row, column + at, strip + at);
    for (std::int64_t i = 0; i < used_rows; ++i) {
      T *results = strip + i * block_size;
      make_nans_canonical(lane, results, static_cast<std::size_t>(count));
      sink_.write(begin + i * rhs_.width, count, reinterpret_cast<const std::byte *>(results),
                  workspace.result);
    }
  }

  // What the destination holds; 0 beyond its last row and column, to the ends of the tiles.
  void read_old(std::int64_t begin, std::int64_t used_rows, std::int64_t count, T *strip,
                Workspace &workspace) const {
    for (std::int64_t i = 0; i < height; ++i) {
      T *row = strip + i * block_size;
      std::fill_n(row, round_up(count, columns), T{0});
      if (i >= used_rows)
        continue;
      const std::byte *old = old_.read(begin + i * rhs_.width, count, workspace.operands[0]);
      std::memcpy(row, old, static_cast<std::size_t>(count) * sizeof(T));
    }
  }

  // What lies beyond the last row and column of the result is computed and never looked at.
  void multiply_tile_at(std::int64_t row, std::int64_t column, T *strip) const {
    alignas(64) T acc[rows * columns];
    const bool accumulate = run_.inst.accumulates();
    if (accumulate)
      for (std::size_t i = 0; i < rows; ++i)
        std::memcpy(acc + i * columns, strip + i * block_size, columns * sizeof(T));
    multiply_tile(left_.data() + row * lhs_.depth, right_.data() + column * lhs_.depth,
                  static_cast<std::size_t>(lhs_.depth), accumulate, acc);
    for (std::size_t i = 0; i < rows; ++i)
      std::memcpy(strip + i * block_size, acc + i * columns, columns * sizeof(T));
  }

  const Execution &run_;
  MatmulSide lhs_;
  MatmulSide rhs_;
  Source left_source_;
  Source right_source_;
  Source old_; // what the destination holds
  Sink sink_;
  std::vector<T> left_;
  std::vector<T> right_;
};

} // namespace

void run_matmul(const Execution &run) {
  if (run.rounding.reference)
    Matmul<double>(run).multiply();
  else
    Matmul<float>(run).multiply();
}

std::uint64_t matmul_scratch_bytes(const Instruction &inst, bool reference) {
  const MatmulSide lhs = left_side(inst);
  const MatmulSide rhs = right_side(inst);
  const std::uint64_t item = reference ? sizeof(double) : sizeof(float);
  const auto width = static_cast<std::uint64_t>(round_up(rhs.width, matmul_columns<float>));
  const auto height = static_cast<std::uint64_t>(round_up(lhs.width, matmul_rows));
  const std::uint64_t both = saturating_add(width, height);
  return saturating_multiply(saturating_multiply(both, static_cast<std::uint64_t>(lhs.depth)),
                             item);
}

} // namespace nir::eval
