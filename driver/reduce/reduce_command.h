#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace nir {

// A shell command that is asked whether a candidate is still of interest: it gets the path of a
// file with the candidate's text, in place of each `{}` or as its last argument where there is
// none, and says yes with exit status 0. What it prints is dropped. The file is always the same
// one, in a temporary folder, which goes with the object.
class ReduceCommand {
public:
  // The error is a whole message.
  static tl::expected<ReduceCommand, std::string> create(std::string_view command);
  ~ReduceCommand();
  ReduceCommand(ReduceCommand &&other) noexcept;
  ReduceCommand(const ReduceCommand &) = delete;
  ReduceCommand &operator=(const ReduceCommand &) = delete;
  ReduceCommand &operator=(ReduceCommand &&) = delete;

  // Throws where the file cannot be written or no shell be started.
  bool accepts(std::string_view text);

private:
  ReduceCommand(std::string folder, std::string_view command);

  std::string folder_; // empty: moved away
  std::string path_;
  std::string command_;
};

// The command with the path in it.
std::string command_for(std::string_view command, std::string_view path);

} // namespace nir
