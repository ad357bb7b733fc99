#include "ir/source_text.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace nir {
namespace {

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t whole_pages(std::size_t bytes) { return bytes / page_size() * page_size(); }

char *anonymous_pages(std::size_t bytes) {
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char *>(memory);
}

// Whether all of them could be read.
bool read_at(int fd, std::size_t offset, char *data, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::pread(fd, data, size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    data += count;
    offset += static_cast<std::size_t>(count);
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

} // namespace

SourceText::~SourceText() {
  if (pages_ != nullptr)
    ::munmap(pages_, capacity_);
}

SourceText &SourceText::operator=(SourceText &&other) noexcept {
  std::swap(string_, other.string_);
  std::swap(pages_, other.pages_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(is_file_, other.is_file_);
  return *this;
}

// Whole pages come from the file. The rest is copied into a page of its own, so that the NUL behind
// it stands whatever becomes of the file.
std::optional<SourceText> SourceText::map(int fd, std::size_t size) {
  const std::size_t mapped = whole_pages(size);
  SourceText text;
  text.capacity_ = mapped + page_size();
  text.pages_ = anonymous_pages(text.capacity_);
  if (text.pages_ == nullptr ||
      ::mmap(text.pages_, mapped, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED ||
      !read_at(fd, mapped, text.pages_ + mapped, size - mapped))
    return std::nullopt;
  text.size_ = size;
  text.is_file_ = true;
  return text;
}

std::span<char> SourceText::room(std::size_t bytes) {
  const std::size_t wanted = size_ + bytes + 1; // the NUL
  if (wanted > capacity_) {
    // Pages that are not touched take no memory, and those that move are not copied.
    const std::size_t capacity = whole_pages(std::max(wanted, 2 * capacity_) + page_size() - 1);
    void *moved = pages_ == nullptr ? anonymous_pages(capacity)
                                    : ::mremap(pages_, capacity_, capacity, MREMAP_MAYMOVE);
    if (moved == nullptr || moved == MAP_FAILED)
      throw std::bad_alloc();
    pages_ = static_cast<char *>(moved);
    capacity_ = capacity;
  }
  return {pages_ + size_, capacity_ - size_ - 1};
}

void SourceText::release(std::size_t begin, std::size_t end) const {
  const std::size_t first = whole_pages(begin);
  const std::size_t last = whole_pages(std::min(end, size_));
  if (is_file_ && first < last)
    ::madvise(pages_ + first, last - first, MADV_DONTNEED);
}

} // namespace nir
