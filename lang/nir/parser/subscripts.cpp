#include "lang/nir/parser/subscripts.h"

#include <algorithm>

#include <fmt/format.h>

namespace nir::lang {
namespace {

bool same_dim(const AccessDim &a, const AccessDim &b) {
  return a.constant == b.constant && a.size == b.size && a.stride == b.stride &&
         std::ranges::equal(a.terms, b.terms);
}

// Of what stands in the text and not of addresses: which accesses are shared shows in the binary
// form, and equal inputs give equal bytes.
std::size_t hash_of(const Type *box, std::span<const AccessDim> dims) {
  auto hash = static_cast<std::uint64_t>(box->dtype());
  const auto add = [&hash](std::uint64_t value) {
    hash = (hash ^ value) * 0x9e37'79b9'7f4a'7c15u;
    hash ^= hash >> 29;
  };
  for (const AccessDim &dim : dims) {
    add(static_cast<std::uint64_t>(dim.constant));
    add(static_cast<std::uint64_t>(dim.size));
    for (const AffineTerm &term : dim.terms) {
      add(term.loop->depth());
      add(static_cast<std::uint64_t>(term.loop->lo()));
      add(static_cast<std::uint64_t>(term.factor));
    }
  }
  return hash >> 20;
}

} // namespace

void Subscripts::clear() {
  constant_ = 0;
  first_term_ = 0;
  terms_.clear();
  num_terms_.clear();
  dims_.clear();
  ranges_.clear();
}

void Subscripts::overflow(SourceRange range) {
  errors_.error(range, "the index does not fit in 64 bits");
}

void Subscripts::constant_term(const Token &integer) {
  term_ = {nullptr, integer.integer, integer.range()};
}

void Subscripts::loop_term(const Loop *loop, std::int64_t factor, SourceRange range) {
  term_ = {loop, factor, range};
}

void Subscripts::add_term(int sign) {
  std::int64_t factor = term_.factor;
  if (sign < 0 && __builtin_sub_overflow(std::int64_t{0}, factor, &factor))
    return overflow(term_.range);
  if (term_.loop != nullptr) {
    terms_.push_back({term_.loop, factor});
  } else if (__builtin_add_overflow(constant_, factor, &constant_)) {
    overflow(term_.range);
  }
}

// Brings the terms of the current dimension into their order, each loop once and without zeros.
void Subscripts::merge_terms(SourceRange range) {
  const auto begin = terms_.begin() + static_cast<std::ptrdiff_t>(first_term_);
  const auto outer_first = [](const AffineTerm &a, const AffineTerm &b) {
    return a.loop->depth() < b.loop->depth();
  };
  if (!std::is_sorted(begin, terms_.end(), outer_first))
    std::stable_sort(begin, terms_.end(), outer_first);
  auto out = begin;
  for (auto it = begin; it != terms_.end();) {
    AffineTerm sum = *it;
    for (++it; it != terms_.end() && it->loop == sum.loop; ++it)
      if (__builtin_add_overflow(sum.factor, it->factor, &sum.factor))
        return overflow(range);
    if (sum.factor != 0)
      *out++ = sum;
  }
  terms_.erase(out, terms_.end());
}

void Subscripts::add_dim(const Token &index, const Token &size, const Token *stride) {
  const SourceRange range{index.begin, stride != nullptr ? stride->end : size.end};
  if (terms_.size() > first_term_)
    merge_terms(index.range());
  if (!errors_.failed() && size.integer < 1)
    errors_.error(size.range(), fmt::format("size is {}, expected at least 1", size.integer));
  if (!errors_.failed() && stride != nullptr && stride->integer < 1)
    errors_.error(stride->range(),
                  fmt::format("stride is {}, expected at least 1", stride->integer));
  AccessDim &dim = dims_.emplace_back();
  dim.constant = constant_;
  dim.size = size.integer;
  dim.stride = stride != nullptr ? stride->integer : 1;
  num_terms_.push_back(terms_.size() - first_term_);
  ranges_.push_back(range);
  first_term_ = terms_.size();
  constant_ = 0;
}

bool Subscripts::names_all_of(const Type &type) const {
  if (dims_.size() != type.rank())
    return false;
  for (unsigned i = 0; i < type.rank(); ++i) {
    const AccessDim &dim = dims_[i];
    const bool in_order = dim.stride == 1 || dim.size == 1;
    if (dim.size != type.dim(i) || dim.constant != 0 || num_terms_[i] != 0 || !in_order)
      return false;
  }
  return true;
}

const Access *Subscripts::access(const Tensor &tensor, DType dtype, SourceRange range) {
  if (names_all_of(*tensor.type()))
    return whole(tensor, dtype, range);
  const AffineTerm *terms = terms_.data();
  shape_.clear();
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    dims_[i].terms = {terms, num_terms_[i]};
    terms += num_terms_[i];
    shape_.push_back(dims_[i].size);
  }
  auto box = module_.types().get(dtype, shape_);
  if (box)
    return shared(*box, false, dtype != tensor.dtype());
  errors_.error(range, std::move(box.error()));
  return nullptr;
}

const Access *Subscripts::whole(const Tensor &tensor, DType dtype, SourceRange range) {
  if (dtype == tensor.dtype())
    return nullptr;
  const Type *box = module_.types().with_dtype(tensor.type(), dtype);
  if (box == nullptr) {
    errors_.error(range, "the byte size of the type does not fit in 63 bits");
    return nullptr;
  }
  dims_.clear();
  for (const std::int64_t size : box->shape())
    dims_.push_back({{}, 0, size, 1});
  return shared(box, true, true);
}

const Access *Subscripts::shared(const Type *box, bool whole, bool reinterprets) {
  const Access *&slot = cache_[hash_of(box, dims_) % cache_.size()];
  const bool hit = slot != nullptr && slot->box() == box && slot->is_whole() == whole &&
                   slot->reinterprets() == reinterprets &&
                   std::ranges::equal(slot->dims(), dims_, same_dim);
  if (!hit)
    slot = Access::create(module_.arena(), box, dims_, whole, reinterprets);
  return slot;
}

} // namespace nir::lang
