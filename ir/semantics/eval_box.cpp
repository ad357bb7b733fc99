#include "ir/semantics/eval_box.h"

#include <algorithm>
#include <cstring>

#include "ir/core/function.h"

namespace nir::eval {
namespace {

template <class T>
void copy_strided(const T *src, std::int64_t src_stride, T *dst, std::int64_t dst_stride,
                  std::int64_t count) {
  if (src_stride == 1 && dst_stride == 1)
    std::memcpy(dst, src, static_cast<std::size_t>(count) * sizeof(T));
  else if (src_stride == 0 && dst_stride == 1)
    std::fill_n(dst, count, *src);
  else
    for (std::int64_t i = 0; i < count; ++i)
      dst[i * dst_stride] = src[i * src_stride];
}

// Calls `run(position, length, stride)` for the pieces of the last dimension that the elements
// start..start+count make up.
template <class Run>
void for_each_run(const Box &box, std::int64_t start, std::int64_t count, Run run) {
  if (box.rank == 0) {
    run(box.offset, count, 0);
    return;
  }
  std::array<std::int64_t, max_rank> index{};
  std::int64_t position = box.offset;
  for (unsigned i = box.rank; i-- > 0;) {
    index[i] = start % box.size[i];
    start /= box.size[i];
    position += index[i] * box.stride[i];
  }
  const unsigned last = box.rank - 1;
  while (true) {
    const std::int64_t length = std::min(count, box.size[last] - index[last]);
    run(position, length, box.stride[last]);
    count -= length;
    if (count == 0)
      return;
    position -= index[last] * box.stride[last];
    index[last] = 0;
    for (unsigned i = last; i-- > 0;) {
      position += box.stride[i];
      if (++index[i] < box.size[i])
        break;
      position -= box.size[i] * box.stride[i];
      index[i] = 0;
    }
  }
}

template <class T>
void gather_items(const std::byte *data, const Box &box, std::int64_t start, std::int64_t count,
                  std::byte *out) {
  const T *src = reinterpret_cast<const T *>(data);
  T *dst = reinterpret_cast<T *>(out);
  for_each_run(box, start, count, [&](std::int64_t at, std::int64_t length, std::int64_t stride) {
    copy_strided(src + at, stride, dst, 1, length);
    dst += length;
  });
}

template <class T>
void scatter_items(const std::byte *in, const Box &box, std::int64_t start, std::int64_t count,
                   std::byte *data) {
  const T *src = reinterpret_cast<const T *>(in);
  T *dst = reinterpret_cast<T *>(data);
  for_each_run(box, start, count, [&](std::int64_t at, std::int64_t length, std::int64_t stride) {
    copy_strided(src, 1, dst + at, stride, length);
    src += length;
  });
}

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

} // namespace

std::int64_t Box::num_elements() const {
  std::int64_t count = 1;
  for (unsigned i = 0; i < rank; ++i)
    count *= size[i];
  return count;
}

bool Box::is_contiguous() const {
  const Box flat = collapsed(*this);
  return flat.rank == 0 || (flat.rank == 1 && flat.stride[0] == 1);
}

bool operator==(const Box &a, const Box &b) {
  return a.offset == b.offset && a.rank == b.rank &&
         std::equal(a.size.begin(), a.size.begin() + a.rank, b.size.begin()) &&
         std::equal(a.stride.begin(), a.stride.begin() + a.rank, b.stride.begin());
}

Box dense_box(std::span<const std::int64_t> shape) {
  Box box = splat_box(shape);
  std::int64_t stride = 1;
  for (unsigned i = box.rank; i-- > 0;) {
    box.stride[i] = stride;
    stride *= box.size[i];
  }
  return box;
}

Box splat_box(std::span<const std::int64_t> shape) {
  Box box;
  for (const std::int64_t dim : shape)
    box.push(dim, 0);
  return box;
}

Box access_box(const Box &whole, const Access &access, std::span<const std::int64_t> loop_values) {
  Box box = whole;
  for (unsigned i = 0; i < whole.rank; ++i) {
    const AccessDim &dim = access.dims()[i];
    std::int64_t first = dim.constant;
    for (const AffineTerm &term : dim.terms)
      first += term.factor * loop_values[term.loop->depth() - 1];
    box.offset += first * whole.stride[i];
    box.size[i] = dim.size;
    // Of a single element the step means nothing and may be beyond all bounds.
    box.stride[i] = dim.size == 1 ? 0 : dim.stride * whole.stride[i];
  }
  return box;
}

Box permuted(const Box &box, std::span<const std::int64_t> perm) {
  Box result;
  result.offset = box.offset;
  for (const std::int64_t dim : perm)
    result.push(box.size[at(dim)], box.stride[at(dim)]);
  return result;
}

Box broadcast(const Box &box, std::span<const std::int64_t> dims,
              std::span<const std::int64_t> shape) {
  Box result = splat_box(shape);
  result.offset = box.offset;
  for (unsigned k = 0; k < box.rank; ++k)
    result.stride[at(dims[k])] = box.size[k] == 1 ? 0 : box.stride[k];
  return result;
}

Box column(const Box &box, std::span<const std::int64_t> shape) {
  Box result = splat_box(shape);
  result.offset = box.offset;
  if (box.rank != 0 && box.size[0] != 1)
    result.stride[0] = box.stride[0];
  return result;
}

Box sliced(const Box &box, std::span<const std::int64_t> start, std::span<const std::int64_t> size,
           std::span<const std::int64_t> stride) {
  Box result = box;
  for (unsigned i = 0; i < box.rank; ++i) {
    result.offset += start[i] * box.stride[i];
    result.size[i] = size[i];
    if (size[i] == 1)
      result.stride[i] = 0;
    else if (!stride.empty())
      result.stride[i] *= stride[i];
  }
  return result;
}

Box collapsed(const Box &box) {
  Box result;
  result.offset = box.offset;
  for (unsigned i = 0; i < box.rank; ++i) {
    if (box.size[i] == 1)
      continue;
    const unsigned last = result.rank - 1;
    if (result.rank != 0 && result.stride[last] == box.stride[i] * box.size[i]) {
      result.size[last] *= box.size[i];
      result.stride[last] = box.stride[i];
    } else {
      result.push(box.size[i], box.stride[i]);
    }
  }
  return result;
}

void gather(const std::byte *data, unsigned item, const Box &box, std::int64_t start,
            std::int64_t count, std::byte *out) {
  switch (item) {
  case 1:
    return gather_items<std::uint8_t>(data, box, start, count, out);
  case 2:
    return gather_items<std::uint16_t>(data, box, start, count, out);
  case 4:
    return gather_items<std::uint32_t>(data, box, start, count, out);
  default:
    return gather_items<std::uint64_t>(data, box, start, count, out);
  }
}

void scatter(const std::byte *in, unsigned item, const Box &box, std::int64_t start,
             std::int64_t count, std::byte *data) {
  switch (item) {
  case 1:
    return scatter_items<std::uint8_t>(in, box, start, count, data);
  case 2:
    return scatter_items<std::uint16_t>(in, box, start, count, data);
  case 4:
    return scatter_items<std::uint32_t>(in, box, start, count, data);
  default:
    return scatter_items<std::uint64_t>(in, box, start, count, data);
  }
}

} // namespace nir::eval
