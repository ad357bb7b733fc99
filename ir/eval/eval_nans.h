// NaNs without payloads, for comparisons that must not see them.
#pragma once

#include "ir/semantics/eval_view.h"

namespace nir::eval {

// Every NaN among the elements becomes the canonical one of the held dtype, with its sign. However
// the instruction sees the view: what counts is the dtype of the tensor.
void canonicalize_nans(const View &view);

// Likewise `count` codes of the dtype. Returns whether any changed.
bool canonicalize_nans(DType dtype, std::byte *codes, std::size_t count);

} // namespace nir::eval
