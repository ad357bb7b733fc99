#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "ir/diagnostics/source_text.h"

namespace nir {

// Errors of this header are whole messages: `cannot read 'x': No such file or directory`.
using FileError = std::string;

// How messages call an input: `<stdin>` for `-`.
std::string display_name(const std::string &path);

// Whether what is written there goes to a terminal; `-` is standard output.
bool is_terminal(const std::string &path);

// All bytes of a file, of standard input for `-`. Text of 4 GiB and more is refused: source offsets
// have 32 bits. A large file is mapped, not copied: it must keep its length as long as the text
// lives.
tl::expected<SourceText, FileError> read_input(const std::string &path);

// One output of a tool (tools, the habits of all tools). Where the name, links followed, is a
// regular file or does not exist, the text goes into a file beside it, which takes the name when it
// is committed and vanishes otherwise. Anything else (`-` for standard output, a device, a pipe) is
// written directly, so nothing may be written before everything that can fail has succeeded.
class OutputFile {
public:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  tl::expected<void, FileError> open();
  // The first failure is kept for `commit`; what follows it is dropped.
  void write(std::string_view text);
  tl::expected<void, FileError> commit();

private:
  tl::expected<void, FileError> open_beside(const std::string &name, bool exists, unsigned mode);
  tl::expected<void, FileError> open_directly();
  tl::expected<void, FileError> failure(int error) const;
  bool close_fd();

  std::string path_;
  std::string final_name_; // links followed; empty where it is written directly
  std::string temporary_;  // exists while this is not empty
  int fd_ = -1;
  int error_ = 0; // errno of the first failed write
};

// Writes and commits `text` in one go.
tl::expected<void, FileError> write_file(const std::string &path, std::string_view text);

} // namespace nir
