#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "ir/print/printer.h"

namespace nir {

// Gathers text and hands it on in large pieces: no allocation and no call a token.
class TextBuffer {
public:
  TextBuffer(const TextSink &sink, std::size_t capacity)
      : sink_(sink), capacity_(capacity), data_(new char[capacity]) {}
  ~TextBuffer() { flush(); }
  TextBuffer(const TextBuffer &) = delete;
  TextBuffer &operator=(const TextBuffer &) = delete;

  void push_back(char c) {
    if (size_ == capacity_)
      flush();
    data_[size_++] = c;
  }
  void append(std::string_view text) {
    if (text.size() > capacity_ - size_) {
      append_slowly(text);
      return;
    }
    std::memcpy(data_.get() + size_, text.data(), text.size());
    size_ += text.size();
  }
  template <class Integer> void append_int(Integer value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    append({digits, static_cast<std::size_t>(end - digits)});
  }
  void flush() {
    if (size_ != 0)
      sink_({data_.get(), size_});
    size_ = 0;
  }

private:
  void append_slowly(std::string_view text) {
    flush();
    if (text.size() > capacity_)
      sink_(text);
    else
      append(text);
  }

  const TextSink &sink_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  std::unique_ptr<char[]> data_;
};

// The texts of the objects printed last. Types and numbers are interned and few.
template <class T> class TextCache {
public:
  // The cached text of `object`, which `make` appends to an empty string where there is none.
  template <class Make> std::string_view get(const T *object, Make make) {
    Entry &entry = entries_[(reinterpret_cast<std::uintptr_t>(object) >> 3) % entries_.size()];
    if (entry.object != object) {
      entry.object = object;
      entry.text.clear();
      make(entry.text);
    }
    return entry.text;
  }

private:
  struct Entry {
    const T *object = nullptr;
    std::string text;
  };
  std::array<Entry, 509> entries_; // a prime: objects lie at multiples of powers of two
};

// The code of the element that begins at byte `at` of the data and has `size` bytes.
inline std::uint64_t code_at(const ConstData &data, std::size_t at, unsigned size) {
  std::uint64_t code = 0;
  for (unsigned i = 0; i < size; ++i)
    code |= std::uint64_t{data.bytes[at + i]} << (8 * i);
  return code;
}

} // namespace nir
