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

  // Whether it is a mapped file: what refers to the text for long should then be a copy, because
  // looking at it takes memory again.
  bool is_file() const { return fd_ >= 0; }

private:
  friend class TextWindow;

  std::string string_;
  char *pages_ = nullptr;    // instead of the string
  std::size_t size_ = 0;     // what of the pages is text
  std::size_t capacity_ = 0; // bytes of all pages
  int fd_ = -1;              // of the file that is mapped
};

// Memory for the part of a mapped file that is being read, from front to back. Faults of a mapping
// cost more than reading the file, and to keep all of what was read would cost memory: so there is
// one huge page, which moves along the text. Elsewhere the text is the mapping's. Of a text that is
// no file there is nothing to do.
class TextWindow {
public:
  // For reading [begin, end); nobody else has a window there. The text outlives the window.
  TextWindow(const SourceText &text, std::size_t begin, std::size_t end);
  TextWindow(const TextWindow &) = delete;
  TextWindow &operator=(const TextWindow &) = delete;

  // To be called on the way with the place where reading goes on.
  void advance(std::size_t at) {
    if (at >= next_)
      move(at);
  }

private:
  void move(std::size_t at);
  // Brings the page to that place; false where the system does not.
  bool place(char *to);
  void fill(std::size_t from);

  const SourceText *text_;
  char *page_ = nullptr; // none yet, or within the text
  std::size_t next_ = 0; // where to move
  std::size_t end_ = 0;  // no window reaches behind it
};

} // namespace nir
