#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace nir {

// splitmix64: small, good, and the same everywhere, which the standard distributions are not.
class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E37'79B9'7F4A'7C15u);
    z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9u;
    z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EBu;
    return z ^ (z >> 31);
  }
  // 0 .. count - 1; the bias of the remainder does not matter here.
  std::uint64_t below(std::uint64_t count) { return next() % count; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool one_in(std::uint64_t count) { return below(count) == 0; }

  template <class T> T pick(std::initializer_list<T> items) {
    return items.begin()[below(items.size())];
  }
  // Of a container that is not empty.
  template <class Items> const auto &pick_from(const Items &items) {
    return *(std::begin(items) + static_cast<std::ptrdiff_t>(below(std::size(items))));
  }

private:
  std::uint64_t state_;
};

} // namespace nir
