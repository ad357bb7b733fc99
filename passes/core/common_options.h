// Options that several passes have: their words and meaning stand here once.
#pragma once

#include "passes/core/pass.h"

namespace nir {

inline constexpr std::string_view on_off[] = {"on", "off"};

// What every pass that retypes or moves casts takes (passes, Profit).
inline constexpr PassOption profit_option{"profit", PassOption::Choice, "off", on_off,
                                          "on: decline what makes bytes moved grow"};

} // namespace nir
