#pragma once

#include <span>
#include <string_view>

#include "passes/core/pass.h"

namespace nir {

// The registered passes: those of passes/pipeline/passes.def, and what a program adds before it
// parses pipelines. Names are unique; a second registration of a name is an internal error.
std::span<const PassInfo *const> all_passes();
const PassInfo *find_pass(std::string_view name); // nullptr where unknown
void register_pass(const PassInfo &info);         // `info` must live as long as the program

} // namespace nir
