#include "driver/cli/progress.h"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace nir {

namespace {
constexpr std::string_view clear_line = "\r\x1b[K";
} // namespace

Progress::Progress(std::string_view tool, bool is_long)
    : tool_(tool), enabled_(is_long && ::isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::string_view what) {
  if (!enabled_)
    return;
  fmt::print(stderr, "{}{}: {} ...", clear_line, tool_, what);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_)
    return;
  fmt::print(stderr, "{}", clear_line);
  std::fflush(stderr);
  shown_ = false;
}

} // namespace nir
