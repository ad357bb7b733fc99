// NumPy's .npy files, formats 1.0, 2.0 and 3.0.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "ir/eval/evaluator.h"

namespace nir {

// The descr of the dtype: NumPy's own where it has one, else unsigned integers of the item size,
// which are the codes.
std::string_view npy_descr(DType dtype);

// A file's bytes for a tensor, and back. The header must say exactly the type, in C order (where
// that matters); big-endian elements are turned round. Errors say at which byte what was found and
// what was expected.
std::string to_npy(const HostTensor &tensor);
tl::expected<HostTensor, std::string> from_npy(std::string_view file, const Type *type);

// The file name for a tensor's name: bytes other than letters, digits, `_`, `-` and inner points as
// %XX, so that no name leaves the folder and no two meet.
std::string npy_file_name(std::string_view tensor_name);

} // namespace nir
