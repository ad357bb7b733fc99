#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace nir {

// What `diff -u` says of two texts under the given labels, empty where they are equal. The program
// is run on temporary files; the error says why it could not be.
tl::expected<std::string, std::string> unified_diff(std::string_view before, std::string_view after,
                                                    const std::string &before_label,
                                                    const std::string &after_label);

} // namespace nir
