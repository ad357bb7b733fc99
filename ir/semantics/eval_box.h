// Which elements of a buffer an operand names, as offsets and strides, and moving them in blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/core/access.h"
#include "ir/core/type.h"

namespace nir::eval {

// A box of elements in row-major order of its sizes: element (i, j, …) stands at
// offset + i * stride[0] + j * stride[1] + …, counted in items. Strides may be 0.
struct Box {
  std::int64_t offset = 0;
  unsigned rank = 0;
  std::array<std::int64_t, max_rank> size{};
  std::array<std::int64_t, max_rank> stride{};

  void push(std::int64_t dim_size, std::int64_t dim_stride) {
    size[rank] = dim_size;
    stride[rank++] = dim_stride;
  }
  std::int64_t num_elements() const;
  // Whether the elements follow one another without gaps.
  bool is_contiguous() const;
};

bool operator==(const Box &a, const Box &b);

// A whole buffer of the shape.
Box dense_box(std::span<const std::int64_t> shape);
// Every element of the shape is item 0.
Box splat_box(std::span<const std::int64_t> shape);
// What an access names within a tensor that `whole` describes; `loop_values` holds the variables of
// the loops around it, the outermost first.
Box access_box(const Box &whole, const Access &access, std::span<const std::int64_t> loop_values);

// Result dimension i is dimension perm[i] of the box.
Box permuted(const Box &box, std::span<const std::int64_t> perm);
// Dimension k of the box becomes dimension dims[k] of `shape`, repeated where its size is 1.
Box broadcast(const Box &box, std::span<const std::int64_t> dims,
              std::span<const std::int64_t> shape);
// One for each partition, or one for all, seen with the shape that it is combined with.
Box column(const Box &box, std::span<const std::int64_t> shape);
Box sliced(const Box &box, std::span<const std::int64_t> start, std::span<const std::int64_t> size,
           std::span<const std::int64_t> stride);

// The same elements in the same order with as few dimensions as possible.
Box collapsed(const Box &box);

// Copies `count` elements of `item` bytes, from the one with index `start` in row-major order, to
// or from contiguous memory. The box must be collapsed.
void gather(const std::byte *data, unsigned item, const Box &box, std::int64_t start,
            std::int64_t count, std::byte *out);
void scatter(const std::byte *in, unsigned item, const Box &box, std::int64_t start,
             std::int64_t count, std::byte *data);

} // namespace nir::eval
