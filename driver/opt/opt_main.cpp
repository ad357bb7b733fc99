#include "driver/opt/opt_main.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "driver/cli/cli.h"
#include "driver/cli/files.h"
#include "driver/opt/opt_batch.h"
#include "driver/opt/opt_options.h"
#include "driver/opt/pass_help.h"

namespace nir {
namespace {

constexpr std::string_view tool = "nir-opt";

int print_text(std::string_view text) {
  const auto written = write_file("-", text);
  if (written)
    return exit_status::success;
  print_error(tool, written.error());
  return exit_status::input_error;
}

// Whether the folder is there now.
bool make_output_dir(const OptOptions &options) {
  if (options.output_dir.empty() || options.verify_diagnostics)
    return true;
  std::error_code error;
  std::filesystem::create_directories(options.output_dir, error);
  if (!error && std::filesystem::is_directory(options.output_dir, error))
    return true;
  const std::string reason = error ? error.message() : "it is no folder";
  print_error(tool, fmt::format("cannot write into '{}': {}", options.output_dir, reason));
  return false;
}

int run(int argc, char **argv) {
  const auto options = parse_opt_options(argc, argv);
  if (!options)
    return options.error();
  if (options->list_passes)
    return print_text(pass_list());
  if (options->help_pass != nullptr)
    return print_text(pass_help(*options->help_pass));
  if (options->print_pipeline)
    return print_text(to_string(options->pipeline) + '\n');
  if (!make_output_dir(*options))
    return exit_status::input_error;
  return run_opt_batch(*options);
}

} // namespace

int opt_main(int argc, char **argv) { return run_tool(tool, argc, argv, run); }

} // namespace nir
