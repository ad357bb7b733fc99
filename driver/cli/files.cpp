#include "driver/cli/files.h"

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/binary/binary_format.h"
#include "ir/binary/binary_reader.h"

namespace nir {
namespace {

constexpr std::string_view standard_stream = "-";
constexpr std::size_t read_size = std::size_t{1} << 20;
// Smaller files are cheaper to read, and cannot change any more when they have been.
constexpr std::size_t min_mapped_size = std::size_t{1} << 20;
// One less than 2^32, which stands for "no position" as an offset.
constexpr std::uint64_t max_input_size = (std::uint64_t{1} << 32) - 1;
constexpr unsigned max_links = 40; // as the kernel
constexpr unsigned max_temporary_names = 10'000;
constexpr mode_t new_file_mode = 0666; // the umask applies
constexpr mode_t permission_bits = 07777;

std::string error_text(int error) { return std::generic_category().message(error); }

// Bytes read, 0 at the end, -1 with errno.
ssize_t read_some(int fd, char *data, std::size_t size) {
  ssize_t count = 0;
  do
    count = ::read(fd, data, size);
  while (count < 0 && errno == EINTR);
  return count;
}

constexpr std::string_view too_large = "it is 4 GiB or larger";

// Whether the file is a module in binary form, which is read as a whole: its checksum comes first.
bool is_binary_file(int fd) {
  char first[binary::signature.size()];
  const ssize_t count = ::pread(fd, first, sizeof first, 0);
  return count > 0 && is_binary_module({first, static_cast<std::size_t>(count)});
}

// The text of a regular file that is large, read from its beginning. nullopt for others.
std::optional<SourceText> map_file(int fd, const struct stat &status) {
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < min_mapped_size || ::lseek(fd, 0, SEEK_CUR) != 0 || is_binary_file(fd))
    return std::nullopt;
  auto text = SourceText::map(fd, size);
  if (text)
    ::lseek(fd, status.st_size, SEEK_SET); // it has been read
  return text;
}

tl::expected<SourceText, std::string> read_all(int fd) {
  struct stat status {};
  std::size_t expected = read_size;
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    if (static_cast<std::uint64_t>(status.st_size) >= max_input_size)
      return tl::unexpected(std::string(too_large));
    if (auto mapped = map_file(fd, status))
      return std::move(*mapped);
    expected = static_cast<std::size_t>(status.st_size) + 1;
  }
  SourceText text;
  while (true) {
    const std::span<char> room = text.room(expected);
    const ssize_t count = read_some(fd, room.data(), room.size());
    if (count < 0)
      return tl::unexpected(error_text(errno));
    if (count == 0)
      return text;
    text.add(static_cast<std::size_t>(count));
    if (text.view().size() >= max_input_size)
      return tl::unexpected(std::string(too_large));
    expected = 1;
  }
}

std::string directory_of(const std::string &path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return "";
  return path.substr(0, slash + 1);
}

// The name that `path` leads to when it is a link, to something that exists or not.
tl::expected<std::string, int> follow_links(std::string path) {
  for (unsigned i = 0; i < max_links; ++i) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode))
      return path;
    char target[PATH_MAX];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
    if (length < 0)
      return tl::unexpected(errno);
    const std::string name(target, static_cast<std::size_t>(length));
    path = name.starts_with('/') ? name : directory_of(path) + name;
  }
  return tl::unexpected(ELOOP);
}

} // namespace

std::string display_name(const std::string &path) {
  return path == standard_stream ? "<stdin>" : path;
}

bool is_terminal(const std::string &path) {
  if (path == standard_stream)
    return ::isatty(STDOUT_FILENO) == 1;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISCHR(status.st_mode))
    return false;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  const bool found = fd >= 0 && ::isatty(fd) == 1;
  if (fd >= 0)
    ::close(fd);
  return found;
}

tl::expected<SourceText, FileError> read_input(const std::string &path) {
  const auto failure = [&path](const std::string &reason) {
    return tl::unexpected(fmt::format("cannot read '{}': {}", display_name(path), reason));
  };
  const bool is_standard = path == standard_stream;
  const int fd = is_standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return failure(error_text(errno));
  auto text = read_all(fd);
  if (!is_standard)
    ::close(fd);
  if (!text)
    return failure(text.error());
  return std::move(*text);
}

OutputFile::~OutputFile() {
  close_fd();
  if (!temporary_.empty())
    ::unlink(temporary_.c_str());
}

tl::expected<void, FileError> OutputFile::failure(int error) const {
  if (path_ == standard_stream)
    return tl::unexpected(fmt::format("cannot write standard output: {}", error_text(error)));
  return tl::unexpected(fmt::format("cannot write '{}': {}", path_, error_text(error)));
}

tl::expected<void, FileError> OutputFile::open() {
  if (path_ == standard_stream) {
    fd_ = STDOUT_FILENO;
    return {};
  }
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT)
    return failure(errno);
  if (exists && !S_ISREG(status.st_mode))
    return open_directly();
  const auto name = follow_links(path_);
  if (!name)
    return failure(name.error());
  return open_beside(*name, exists, status.st_mode & permission_bits);
}

tl::expected<void, FileError> OutputFile::open_directly() {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  return fd_ < 0 ? failure(errno) : tl::expected<void, FileError>();
}

tl::expected<void, FileError> OutputFile::open_beside(const std::string &name, bool exists,
                                                      unsigned mode) {
  // Renaming would replace a file that may not be written.
  if (exists && ::access(name.c_str(), W_OK) != 0)
    return failure(errno);
  const std::string directory = directory_of(name);
  for (unsigned i = 0; i < max_temporary_names && fd_ < 0; ++i) {
    std::string candidate = fmt::format("{}.nir-{}-{}.tmp", directory, ::getpid(), i);
    fd_ = ::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, new_file_mode);
    if (fd_ >= 0)
      temporary_ = std::move(candidate);
    else if (errno != EEXIST)
      break;
  }
  if (fd_ < 0)
    return failure(errno);
  if (exists && ::fchmod(fd_, static_cast<mode_t>(mode)) != 0)
    return failure(errno);
  final_name_ = name;
  return {};
}

void OutputFile::write(std::string_view text) {
  while (!text.empty() && error_ == 0) {
    const ssize_t count = ::write(fd_, text.data(), text.size());
    if (count >= 0)
      text.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      error_ = errno;
  }
}

// Late errors of the file system show only here.
bool OutputFile::close_fd() {
  const int fd = fd_;
  fd_ = -1;
  return fd < 0 || fd == STDOUT_FILENO || ::close(fd) == 0;
}

tl::expected<void, FileError> OutputFile::commit() {
  if (!close_fd() && error_ == 0)
    error_ = errno;
  if (error_ != 0)
    return failure(error_);
  if (temporary_.empty())
    return {};
  if (std::rename(temporary_.c_str(), final_name_.c_str()) != 0)
    return failure(errno);
  temporary_.clear();
  return {};
}

tl::expected<void, FileError> write_file(const std::string &path, std::string_view text) {
  OutputFile file(path);
  if (auto opened = file.open(); !opened)
    return opened;
  file.write(text);
  return file.commit();
}

} // namespace nir
