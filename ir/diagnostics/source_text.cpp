#include "ir/diagnostics/source_text.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/support/large_memory.h"

namespace nir {
namespace {

constexpr std::size_t no_place = std::numeric_limits<std::size_t>::max();

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t whole_pages(std::size_t bytes) { return bytes / page_size() * page_size(); }

// How many of them could be read.
std::size_t read_at(int fd, std::size_t offset, std::span<char> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

} // namespace

SourceText::~SourceText() {
  if (pages_ != nullptr)
    ::munmap(pages_, capacity_);
  if (fd_ >= 0)
    ::close(fd_);
}

SourceText &SourceText::operator=(SourceText &&other) noexcept {
  std::swap(string_, other.string_);
  std::swap(pages_, other.pages_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(fd_, other.fd_);
  return *this;
}

// Whole pages come from the file. The rest is copied into a page of its own, so that the NUL behind
// it stands whatever becomes of the file.
std::optional<SourceText> SourceText::map(int fd, std::size_t size) {
  const std::size_t mapped = whole_pages(size);
  SourceText text;
  text.capacity_ = whole_huge_pages(size + 1);
  text.pages_ = map_huge_pages(text.capacity_);
  text.fd_ = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (text.pages_ == nullptr || text.fd_ < 0 ||
      ::mmap(text.pages_, mapped, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED ||
      read_at(fd, mapped, {text.pages_ + mapped, size - mapped}) != size - mapped)
    return std::nullopt;
  text.size_ = size;
  return text;
}

std::span<char> SourceText::room(std::size_t bytes) {
  const std::size_t wanted = size_ + bytes + 1; // the NUL
  if (wanted > capacity_) {
    // Pages that are not touched take no memory, and those that move are not copied.
    const std::size_t capacity = whole_huge_pages(std::max(wanted, 2 * capacity_));
    char *const larger = map_huge_pages(capacity);
    if (larger == nullptr)
      throw std::bad_alloc();
    if (pages_ != nullptr && ::mremap(pages_, capacity_, capacity_, MREMAP_MAYMOVE | MREMAP_FIXED,
                                      larger) == MAP_FAILED) {
      ::munmap(larger, capacity);
      throw std::bad_alloc();
    }
    pages_ = larger;
    capacity_ = capacity;
  }
  return {pages_ + size_, capacity_ - size_ - 1};
}

TextWindow::TextWindow(const SourceText &text, std::size_t begin, std::size_t end) : text_(&text) {
  next_ = text.is_file() ? whole_huge_pages(begin) : no_place;
  end_ = end < text.size_ ? end : text.capacity_;
}

void TextWindow::move(std::size_t at) {
  const std::size_t from = at / huge_page_size * huge_page_size;
  const bool fits = from + huge_page_size <= end_ && place(text_->pages_ + from);
  if (fits)
    fill(from);
  next_ = fits ? from + huge_page_size : no_place;
}

// What the page leaves is the file's again. At no time is there nothing at an address of the text:
// another thread's memory could get there.
bool TextWindow::place(char *to) {
  if (page_ == nullptr) {
    page_ = to;
    const bool mapped = ::mmap(to, huge_page_size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    ::madvise(to, huge_page_size, MADV_HUGEPAGE);
    return mapped;
  }
  const bool moved = ::mremap(page_, huge_page_size, huge_page_size,
                              MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) != MAP_FAILED;
  ::mmap(page_, huge_page_size, PROT_READ, MAP_PRIVATE | MAP_FIXED, text_->fd_,
         page_ - text_->pages_);
  page_ = to;
  return moved;
}

// What the file does not have any more is NUL, as is all that is behind the text.
void TextWindow::fill(std::size_t from) {
  const std::span<char> page(page_, huge_page_size);
  const std::size_t wanted = std::min(huge_page_size, text_->size_ - from);
  const std::size_t count = read_at(text_->fd_, from, page.first(wanted));
  std::ranges::fill(page.subspan(count), '\0');
}

} // namespace nir
