#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "ir/binary/binary_format.h"

namespace nir::binary {

// Goes through bytes that may be anything. The first thing that is wrong is kept, with the offset
// of the byte where it shows; from then on the reader is at its end and gives zeros, so that a
// caller has to ask `failed` only before it counts on what it read.
class ByteReader {
public:
  // `first` is the offset of the first byte in the file, for messages.
  ByteReader(std::string_view bytes, std::size_t first)
      : begin_(bytes.data()), next_(begin_), end_(begin_ + bytes.size()), first_(first) {}

  bool failed() const { return !error_.empty(); }
  const std::string &error() const { return error_; }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - next_); }
  const char *position() const { return next_; }
  // Moves on by `size` bytes, which must be there.
  void skip(std::size_t size) { next_ += size; }

  std::uint8_t byte() { return has(1) ? static_cast<std::uint8_t>(*next_++) : std::uint8_t{0}; }
  std::uint32_t word() { return fixed<std::uint32_t>(); }
  std::uint64_t wide() { return fixed<std::uint64_t>(); }
  std::uint64_t varint() {
    if (next_ != end_ && static_cast<std::uint8_t>(*next_) < 0x80)
      return static_cast<std::uint8_t>(*next_++);
    return long_varint();
  }
  std::int64_t signed_varint() { return from_zigzag(varint()); }
  std::string_view raw(std::uint64_t size) {
    if (!has(size))
      return {};
    const std::string_view result(next_, size);
    next_ += size;
    return result;
  }
  std::string_view text() { return raw(varint()); }

  // A number of things that take at least `least` bytes each: what cannot be there is not counted
  // on, so that memory stays in proportion.
  std::size_t count(std::string_view what, std::size_t least) {
    const char *place = next_;
    const std::uint64_t number = varint();
    if (failed() || number <= remaining() / least)
      return failed() ? 0 : static_cast<std::size_t>(number);
    fail_at(place, fmt::format("there are {} {}, which do not fit in the {} bytes that follow",
                               number, what, remaining()));
    return 0;
  }
  // An index below `size`; 0 where it failed.
  std::size_t index(std::string_view what, std::size_t size) {
    const char *place = next_;
    const std::uint64_t number = varint();
    if (failed() || number < size)
      return failed() ? 0 : static_cast<std::size_t>(number);
    fail_index(place, what, number, size);
    return 0;
  }

  [[gnu::cold, gnu::noinline]] bool fail_at(const char *place, std::string_view message) {
    if (!failed())
      error_ = fmt::format("at byte {}: {}", offset_of(place), message);
    next_ = end_;
    return false;
  }
  [[gnu::cold, gnu::noinline]] bool fail_index(const char *place, std::string_view what,
                                               std::uint64_t number, std::size_t size) {
    return fail_at(place, size == 0 ? fmt::format("{} {} is named, but there is none", what, number)
                                    : fmt::format("{} {} is named, expected one below {}", what,
                                                  number, size));
  }
  [[gnu::cold, gnu::noinline]] bool fail_at_end() {
    return fail_at(next_, "the module ends in the middle of something");
  }

private:
  std::size_t offset_of(const char *place) const {
    return first_ + static_cast<std::size_t>(place - begin_);
  }
  bool has(std::uint64_t size) { return size <= remaining() || fail_at_end(); }
  template <class Unsigned> Unsigned fixed() {
    if (!has(sizeof(Unsigned)))
      return 0;
    const auto value = load<Unsigned>(next_);
    next_ += sizeof(Unsigned);
    return value;
  }
  std::uint64_t long_varint() {
    constexpr unsigned bits = 64;
    const char *place = next_;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < bits; shift += 7) {
      const std::uint64_t part = byte();
      if (failed())
        return 0;
      if (shift == bits - 1 && part > 1)
        break;
      value |= (part & 0x7f) << shift;
      if (part < 0x80)
        return value;
    }
    fail_at(place, "a number does not fit in 64 bits");
    return 0;
  }

  const char *begin_;
  const char *next_;
  const char *end_;
  std::size_t first_;
  std::string error_;
};

} // namespace nir::binary
