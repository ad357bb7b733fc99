#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace nir::lang {

// What pieces of the source were found to mean, by their text: a small table in which newcomers
// replace what stands in their place. Where `T` is value-initialised nothing is known.
template <class T> class TextCache {
public:
  // The place of `text`, to look at and to fill. Long texts are not remembered.
  T &place(std::string_view text) {
    if (text.size() > max_text)
      return unremembered_ = {};
    Row &row = rows_[hash(text) % rows_.size()];
    if (row.text != text)
      row.value = {};
    row.text = text; // where it was read last, since the memory of what is far behind is given back
    return row.value;
  }

private:
  struct Row {
    std::string_view text;
    T value{};
  };

  static std::size_t hash(std::string_view text) {
    constexpr std::uint64_t factor = 0x9e37'79b9'7f4a'7c15u;
    std::uint64_t hash = text.size();
    const char *at = text.data();
    std::size_t left = text.size();
    for (; left >= 8; left -= 8, at += 8) {
      std::uint64_t chunk = 0;
      std::memcpy(&chunk, at, 8);
      hash = (hash ^ chunk) * factor;
      hash ^= hash >> 32;
    }
    std::uint64_t rest = 0;
    for (; left > 0; --left)
      rest = rest << 8 | static_cast<unsigned char>(*at++);
    hash = (hash ^ rest) * factor;
    return hash >> 40;
  }

  static constexpr std::size_t max_text = 64;
  std::array<Row, 512> rows_;
  T unremembered_{};
};

} // namespace nir::lang
