#include "passes/instrument/unified_diff.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char **environ; // POSIX declares it in no header

namespace nir {
namespace {

// A temporary file with the given content, gone with the object.
class TemporaryFile {
public:
  explicit TemporaryFile(std::string_view content) {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "nir-diff-XXXXXX").string();
    const int file = error ? -1 : ::mkostemp(path_.data(), O_CLOEXEC);
    if (file < 0) {
      path_.clear();
      return;
    }
    complete_ = write_all(file, content);
    complete_ &= ::close(file) == 0;
  }
  ~TemporaryFile() {
    if (!path_.empty())
      ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  bool complete() const { return complete_; }
  const std::string &path() const { return path_; }

private:
  static bool write_all(int file, std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(file, content.data(), content.size());
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        return false;
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  std::string path_;
  bool complete_ = false;
};

std::string read_all(int file) {
  std::string out;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return out;
    out.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

// Runs `diff` with its output into a pipe; returns the pipe's reading end.
tl::expected<int, std::string> start(const std::array<const char *, 9> &arguments, pid_t &child) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    return tl::unexpected(std::string(std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  const int error = ::posix_spawnp(&child, arguments[0], &actions, nullptr,
                                   const_cast<char *const *>(arguments.data()), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  if (error == 0)
    return pipe[0];
  ::close(pipe[0]);
  return tl::unexpected(std::string(std::strerror(error)));
}

// The exit status; nothing where the program did not exit by itself.
std::optional<int> wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return std::nullopt;
  return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
}

} // namespace

tl::expected<std::string, std::string> unified_diff(std::string_view before, std::string_view after,
                                                    const std::string &before_label,
                                                    const std::string &after_label) {
  const TemporaryFile old_file(before);
  const TemporaryFile new_file(after);
  if (!old_file.complete() || !new_file.complete())
    return tl::unexpected(std::string("cannot write a temporary file"));
  pid_t child = 0;
  const auto output =
      start({"diff", "-u", "--label", before_label.c_str(), "--label", after_label.c_str(),
             old_file.path().c_str(), new_file.path().c_str(), nullptr},
            child);
  if (!output)
    return tl::unexpected("cannot run diff: " + output.error());
  std::string text = read_all(*output);
  ::close(*output);
  constexpr int texts_differ = 1; // diff: 0 equal, 1 different, 2 trouble
  const auto status = wait_for(child);
  if (!status || *status > texts_differ)
    return tl::unexpected(std::string("diff failed"));
  return text;
}

} // namespace nir
