#include "driver/reduce/reduce_command.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/cli/cli.h"
#include "driver/cli/files.h"

namespace nir {
namespace {

std::string error_text(int error) { return std::generic_category().message(error); }

// Runs the command with nothing to read and nowhere to print, and waits for it.
bool succeeds(const std::string &command) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  // The tools ignore broken pipes; what they start must not.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::string shell = "sh";
  std::string flag = "-c";
  std::string text = command;
  char *arguments[] = {shell.data(), flag.data(), text.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, "/bin/sh", &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    throw std::runtime_error(fmt::format("cannot start /bin/sh: {}", error_text(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw std::runtime_error(fmt::format("cannot wait for /bin/sh: {}", error_text(errno)));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

std::string command_for(std::string_view command, std::string_view path) {
  constexpr std::string_view place = "{}";
  const std::string word = shell_word(path);
  std::string result;
  std::size_t at = 0;
  for (std::size_t found = 0; (found = command.find(place, at)) != std::string_view::npos;) {
    result += command.substr(at, found - at);
    result += word;
    at = found + place.size();
  }
  result += command.substr(at);
  return at == 0 ? result + ' ' + word : result;
}

tl::expected<ReduceCommand, std::string> ReduceCommand::create(std::string_view command) {
  std::error_code no_folder;
  const std::filesystem::path root = std::filesystem::temp_directory_path(no_folder);
  std::string folder = (root / "nir-reduce-XXXXXX").string();
  if (no_folder || mkdtemp(folder.data()) == nullptr)
    return tl::unexpected(fmt::format("cannot make the folder '{}': {}", folder,
                                      no_folder ? no_folder.message() : error_text(errno)));
  return ReduceCommand(std::move(folder), command);
}

ReduceCommand::ReduceCommand(std::string folder, std::string_view command)
    : folder_(std::move(folder)), path_(folder_ + "/candidate.nir"),
      command_(command_for(command, path_)) {}

ReduceCommand::ReduceCommand(ReduceCommand &&other) noexcept
    : folder_(std::exchange(other.folder_, {})), path_(std::move(other.path_)),
      command_(std::move(other.command_)) {}

ReduceCommand::~ReduceCommand() {
  std::error_code ignored;
  if (!folder_.empty())
    std::filesystem::remove_all(folder_, ignored);
}

bool ReduceCommand::accepts(std::string_view text) {
  if (const auto written = write_file(path_, text); !written)
    throw std::runtime_error(written.error());
  return succeeds(command_);
}

} // namespace nir
