#include "ir/eval/eval_nans.h"

#include <algorithm>
#include <cstdint>

#include "ir/numeric/float_format.h"

namespace nir::eval {
namespace {

template <class Code>
bool canonicalize(const FloatFormat &format, std::byte *bytes, std::size_t count) {
  auto *codes = reinterpret_cast<Code *>(bytes);
  const auto sign_mask = static_cast<Code>(format.sign_mask());
  const auto canonical = static_cast<Code>(format.nan_code());
  bool changed = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_nan_code(format, codes[i]))
      continue;
    const auto wanted = static_cast<Code>((codes[i] & sign_mask) | canonical);
    changed |= codes[i] != wanted;
    codes[i] = wanted;
  }
  return changed;
}

} // namespace

bool canonicalize_nans(DType dtype, std::byte *codes, std::size_t count) {
  const FloatFormat *format = float_format(dtype);
  if (format == nullptr)
    return false;
  switch (sizeinbytes(dtype)) {
  case 1:
    return canonicalize<std::uint8_t>(*format, codes, count);
  case 2:
    return canonicalize<std::uint16_t>(*format, codes, count);
  case 4:
    return canonicalize<std::uint32_t>(*format, codes, count);
  default:
    return canonicalize<std::uint64_t>(*format, codes, count);
  }
}

void canonicalize_nans(const View &view) {
  if (float_format(view.held) == nullptr)
    return;
  const unsigned item = sizeinbytes(view.held);
  const std::int64_t total = view.box.num_elements();
  if (view.box.is_contiguous()) {
    canonicalize_nans(view.held, view.data + view.box.offset * item,
                      static_cast<std::size_t>(total));
    return;
  }
  const Box box = collapsed(view.box);
  alignas(64) std::array<std::byte, block_size * 8> block;
  for (std::int64_t at = 0; at < total; at += block_size) {
    const std::int64_t count = std::min(block_size, total - at);
    gather(view.data, item, box, at, count, block.data());
    if (canonicalize_nans(view.held, block.data(), static_cast<std::size_t>(count)))
      scatter(block.data(), item, box, at, count, view.data);
  }
}

} // namespace nir::eval
