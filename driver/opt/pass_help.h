#pragma once

#include <string>

#include "passes/core/pass.h"

namespace nir {

// The registered passes, one a line.
std::string pass_list();
// What is known of one: description, options with their defaults, statistics.
std::string pass_help(const PassInfo &pass);

} // namespace nir
