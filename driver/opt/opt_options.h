#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "driver/check/rewrite_checker.h"
#include "driver/cli/module_form.h"
#include "ir/isa/target.h"
#include "ir/verify/verifier.h"
#include "passes/manager/pass_manager.h"

namespace nir {

enum class StatsFormat : std::uint8_t { Off, Text, Json };

// The command line of nir-opt, checked (tools, nir-opt).
struct OptOptions {
  std::string command; // as a shell takes it, to reproduce an internal error

  std::vector<std::string> inputs; // at least one; `-` is standard input
  std::string output = "-";
  std::string output_dir; // empty: `output` is meant
  unsigned jobs = 1;
  ModuleForm emit = ModuleForm::Text;

  Pipeline pipeline;
  const Target *target = nullptr; // nullptr: what the module says
  std::string target_features;
  VerifyLevel verify = VerifyLevel::Structure;
  PassManagerOptions pass_manager;

  CheckOptions check;
  std::int64_t shrink_dims = 0; // the extent wanted at most; 0: dimensions stay

  bool explain = false; // say of every cast left why it stayed

  bool split_input_file = false;
  bool verify_diagnostics = false;
  bool werror = false;
  unsigned max_errors = 0;

  StatsFormat stats = StatsFormat::Off;
  std::string dot;   // file; empty: not wanted
  std::string trace; // likewise

  bool print_pipeline = false;
  bool list_passes = false;
  const PassInfo *help_pass = nullptr;
};

// The options, or the exit status where the program is to end: help was asked for and printed, or
// something is wrong and was reported.
tl::expected<OptOptions, int> parse_opt_options(int argc, char **argv);

// The file that an input's result goes to.
std::string output_path(const OptOptions &options, const std::string &input);

} // namespace nir
