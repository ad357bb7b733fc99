#include "ir/core/value.h"

#include <algorithm>

#include "ir/core/function.h"

namespace nir {

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
