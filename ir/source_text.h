#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nir {

// The bytes of one input, and behind them a NUL that is not one of them. They are a string, pages
// that grow as they are filled, or a file that is mapped: of that, only what is looked at takes
// memory. The bytes stay where they are until the end, also when the object moves, unless they are
// a short string.
class SourceText {
public:
  SourceText() = default;
  explicit SourceText(std::string text) : string_(std::move(text)) {}
  ~SourceText();
  SourceText(SourceText &&other) noexcept { *this = std::move(other); }
  SourceText &operator=(SourceText &&other) noexcept;

  // The first `size` bytes of a regular file, `size` more than a page; nullopt where they cannot be
  // mapped. What others write to the file meanwhile may show, except in the last page; if they make
  // it shorter, looking at what is gone ends the process.
  static std::optional<SourceText> map(int fd, std::size_t size);

  std::string_view view() const {
    return pages_ == nullptr ? std::string_view(string_) : std::string_view(pages_, size_);
  }

  // Memory for at least so many more bytes, of a text that is empty or was made by this. Throws
  // std::bad_alloc where there is none.
  std::span<char> room(std::size_t bytes);
  // Counts what was written to the room.
  void add(std::size_t bytes) { size_ += bytes; }

  // Whether `release` does anything: what refers to the text for long should then be a copy.
  bool can_release() const { return is_file_; }
  // Gives back the memory of these bytes, which are read from the file again when they are needed.
  void release(std::size_t begin, std::size_t end) const;

private:
  std::string string_;
  char *pages_ = nullptr;    // instead of the string
  std::size_t size_ = 0;     // what of the pages is text
  std::size_t capacity_ = 0; // bytes of all pages
  bool is_file_ = false;
};

} // namespace nir
