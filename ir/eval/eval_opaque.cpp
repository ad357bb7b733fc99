#include "ir/eval/eval_opaque.h"

#include <algorithm>
#include <cstring>

#include <xxhash.h>

#include "ir/eval/eval_inputs.h"

namespace nir::eval {
namespace {

// The elements as the opaque's operand has them, whatever form they are held in.
Source codes_of(const Execution &run, const View &view) {
  Source source(view);
  source.then(view.read_dtype(), view.dtype, run.exact());
  return source;
}

// XXH64 of the name and of each operand's dtype, shape and elements.
std::uint64_t hash_operands(const Execution &run) {
  const std::string_view name = run.inst.opaque_name();
  std::uint64_t hash = XXH64(name.data(), name.size(), 0);
  Workspace &workspace = run.workers.workspace();
  for (const View &view : run.operands) {
    const std::string_view dtype = dtype2str(view.dtype);
    hash = XXH64(dtype.data(), dtype.size(), hash);
    hash = XXH64(view.box.size.data(), view.box.rank * sizeof(std::int64_t), hash);
    const Source source = codes_of(run, view);
    const std::int64_t total = view.box.num_elements();
    for (std::int64_t at = 0; at < total; at += block_size) {
      const std::int64_t count = std::min(block_size, total - at);
      const std::byte *codes = source.read(at, count, workspace.operands[0]);
      hash = XXH64(codes, static_cast<std::size_t>(count) * sizeinbytes(view.dtype), hash);
    }
  }
  return hash;
}

// Blocks of codes of the destination's dtype, made by `make(at, count, out)`.
template <class Make> void write_codes(const Execution &run, const View &dst, Make make) {
  Workspace &workspace = run.workers.workspace();
  const Sink sink(dst, dst.dtype, run.exact(), run.rounding);
  const std::int64_t total = dst.box.num_elements();
  for (std::int64_t at = 0; at < total; at += block_size) {
    const std::int64_t count = std::min(block_size, total - at);
    make(at, count, workspace.lane.data());
    sink.write(at, count, workspace.lane.data(), workspace.result);
  }
}

void write_zeros(const Execution &run, const View &dst) {
  write_codes(run, dst, [&](std::int64_t, std::int64_t count, std::byte *out) {
    std::memset(out, 0, static_cast<std::size_t>(count) * sizeinbytes(dst.dtype));
  });
}

void write_random(const Execution &run, const View &dst, std::uint64_t seed) {
  const InputStream stream(dst.dtype, seed, InputKind::Random);
  write_codes(run, dst, [&](std::int64_t at, std::int64_t count, std::byte *out) {
    stream.fill(static_cast<std::uint64_t>(at), static_cast<std::size_t>(count), out);
  });
}

bool same_shape(const Box &a, const Box &b) {
  return std::ranges::equal(std::span(a.size).first(a.rank), std::span(b.size).first(b.rank));
}

// Whether a cast between the two exists: containers and scales only move.
bool can_cast(DType from, DType to) {
  const auto is_special = [](DType dtype) {
    return is_x4_dtype(dtype) || dtype == DType::Float8E8m0fnu;
  };
  return from == to || (!is_special(from) && !is_special(to));
}

void write_first_operand(const Execution &run) {
  for (const View &view : run.operands)
    if (same_shape(view.box, run.dst.box) && can_cast(view.dtype, run.dst.dtype))
      return copy_elements(run, Source(view), view.read_dtype(), run.dst, CastRule::Device);
  write_zeros(run, run.dst);
}

} // namespace

void run_opaque(const Execution &run, OpaqueMode mode) {
  const bool has_result = !run.inst.is_bare();
  if (mode == OpaqueMode::Identity) {
    if (has_result)
      write_first_operand(run);
    return;
  }
  std::uint64_t seed = mode == OpaqueMode::Hash ? hash_operands(run) : 0;
  const auto write = [&](const View &dst) {
    if (mode == OpaqueMode::Hash)
      write_random(run, dst, seed++);
    else
      write_zeros(run, dst);
  };
  for (std::size_t i = 0; i < run.operands.size(); ++i)
    if (writes(run.inst.operand(static_cast<unsigned>(i))))
      write(run.operands[i]);
  if (has_result)
    write(run.dst);
}

} // namespace nir::eval
