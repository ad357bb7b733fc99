#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace nir {

// Disjoint sets of the numbers 0, …, n - 1: which objects must have one dtype. The representative
// of a set is its smallest member, so that it does not depend on the order of unions. O(log n) a
// call, without recursion.
class DTypeClasses {
public:
  DTypeClasses() = default;
  explicit DTypeClasses(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }

  std::uint32_t find(std::uint32_t member) {
    while (parent_[member] != member) {
      parent_[member] = parent_[parent_[member]];
      member = parent_[member];
    }
    return member;
  }

  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    if (a > b)
      std::swap(a, b);
    parent_[b] = a;
  }

private:
  std::vector<std::uint32_t> parent_;
};

} // namespace nir
