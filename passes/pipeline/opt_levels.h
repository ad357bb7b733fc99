#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nir {

constexpr unsigned max_opt_level = 2;

// What the command line says of the pipelines -O0, -O1, ….
struct OptLevelOptions {
  std::string_view fp32_cast = "matmult"; // a word of fp32_cast_modes()
  bool excess_precision = true;           // off: every rounding of an author stays
};

// What --fp32-cast takes: `none`, and the modes of auto-cast-fp32.
std::vector<std::string_view> fp32_cast_modes();

// The pipeline that a level stands for, as text (passes, The pass manager).
std::string opt_level_pipeline(unsigned level, const OptLevelOptions &options = {});

} // namespace nir
