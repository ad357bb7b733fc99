#include "ir/value.h"

#include <algorithm>

#include "ir/function.h"

namespace nir {

DType Use::dtype() const { return reinterprets() ? access_->view() : value()->dtype(); }

std::span<const std::int64_t> Use::shape() const {
  return access_ != nullptr ? access_->shape() : value()->shape();
}

bool Use::reinterprets() const { return access_ != nullptr && access_->reinterprets(); }

UseRange::iterator::iterator(Use *use) : use_(use), next_(nullptr) {
  if (use_ != nullptr)
    next_ = use_->next_;
}

UseRange::iterator &UseRange::iterator::operator++() {
  *this = iterator(next_);
  return *this;
}

bool Value::first_use_is_only() const { return uses_->next_ == nullptr; }

void Value::replace_all_uses_with(Value *value, const Access *access) {
  assert(value != nullptr && value != this);
  // The uses move as one chain: only their values change, and the head of the list.
  Use *last = nullptr;
  for (Use *use = uses_; use != nullptr; use = use->next_) {
    assert(use->access_ == nullptr && "accesses name their tensor's shape");
    use->value_ = value;
    use->access_ = access;
    assert(use->dtype() == dtype() && std::ranges::equal(use->shape(), shape()));
    last = use;
  }
  if (last == nullptr)
    return;
  last->next_ = value->uses_;
  if (value->uses_ != nullptr)
    value->uses_->link_ = &last->next_;
  value->uses_ = uses_;
  value->uses_->link_ = &value->uses_;
  uses_ = nullptr;
}

} // namespace nir
