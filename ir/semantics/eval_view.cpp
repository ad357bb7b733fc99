#include "ir/semantics/eval_view.h"

#include <cassert>
#include <cstring>

namespace nir::eval {

void CastChain::add(DType from, DType to, CastRule rule) {
  if (from == to)
    return;
  assert(count_ < steps_.size());
  steps_[count_++] = {from, to, rule};
}

const std::byte *CastChain::run_steps(unsigned steps, const std::byte *codes, std::size_t count,
                                      Scratch &scratch) const {
  for (unsigned i = 0; i < steps; ++i) {
    std::byte *out = codes == scratch.a.data() ? scratch.b.data() : scratch.a.data();
    cast_codes(steps_[i].from, steps_[i].to, codes, out, count, steps_[i].rule);
    codes = out;
  }
  return codes;
}

const std::byte *CastChain::run(const std::byte *codes, std::size_t count, Scratch &scratch) const {
  return run_steps(count_, codes, count, scratch);
}

void CastChain::run_into(const std::byte *codes, std::size_t count, Scratch &scratch,
                         std::byte *out) const {
  assert(count_ != 0);
  codes = run_steps(count_ - 1, codes, count, scratch);
  const Step &last = steps_[count_ - 1];
  cast_codes(last.from, last.to, codes, out, count, last.rule);
}

Source::Source(const View &view)
    : data_(view.data), item_(sizeinbytes(view.held)), contiguous_(view.box.is_contiguous()),
      box_(collapsed(view.box)) {
  // Reinterpreting bytes needs them as the tensor's dtype has them.
  if (view.dtype != view.tensor_dtype)
    chain_.add(view.held, view.tensor_dtype,
               view.held == DType::Float64 ? CastRule::Reference : CastRule::Device);
}

const std::byte *Source::read(std::int64_t start, std::int64_t count, Scratch &scratch) const {
  const std::byte *codes = nullptr;
  if (contiguous_) {
    codes = data_ + (box_.offset + start) * item_;
  } else {
    gather(data_, item_, box_, start, count, scratch.a.data());
    codes = scratch.a.data();
  }
  return chain_.run(codes, static_cast<std::size_t>(count), scratch);
}

Sink::Sink(const View &view, DType from, CastRule rule, Rounding rounding)
    : data_(view.data), item_(sizeinbytes(view.held)), contiguous_(view.box.is_contiguous()),
      box_(collapsed(view.box)) {
  const CastRule widening = rounding.reference ? CastRule::Reference : CastRule::Device;
  if (view.dtype == view.tensor_dtype && view.held != view.dtype &&
      (rounding.reference || rounding.omitted)) {
    chain_.add(from, view.held, rule);
    return;
  }
  chain_.add(from, view.dtype, rule);
  chain_.add(view.tensor_dtype, view.held, widening);
}

std::byte *Sink::in_place(std::int64_t start) const {
  return contiguous_ && chain_.empty() ? data_ + (box_.offset + start) * item_ : nullptr;
}

void Sink::write(std::int64_t start, std::int64_t count, const std::byte *codes,
                 Scratch &scratch) const {
  const auto size = static_cast<std::size_t>(count);
  std::byte *direct = contiguous_ ? data_ + (box_.offset + start) * item_ : nullptr;
  if (direct != nullptr && chain_.empty()) {
    if (direct != codes)
      std::memcpy(direct, codes, size * item_);
  } else if (direct != nullptr) {
    chain_.run_into(codes, size, scratch, direct);
  } else {
    scatter(chain_.run(codes, size, scratch), item_, box_, start, count, data_);
  }
}

} // namespace nir::eval
