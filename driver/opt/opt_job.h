#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "driver/opt/opt_options.h"

namespace nir {

// How the work on one input ended.
struct OptResult {
  int status = 0;
  std::unique_ptr<PassManager> pass_manager; // with its statistics; nullptr where nothing ran
};

// Where messages go, as they arise.
using MessageSink = std::function<void(std::string_view)>;

// Parses, verifies, runs, verifies and prints one input, in pieces where it is to be split. Nothing
// is written unless all of it succeeded (tools, the habits of all tools).
OptResult run_opt_job(const OptOptions &options, const std::string &input, MessageSink messages);

} // namespace nir
