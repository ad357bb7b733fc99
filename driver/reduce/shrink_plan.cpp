#include "driver/reduce/shrink_plan.h"

#include <algorithm>

namespace nir {
namespace {

constexpr std::int64_t largest_prime = 97; // that is taken out of extents

unsigned exponent_in(std::int64_t number, std::int64_t prime) {
  unsigned exponent = 0;
  for (; number % prime == 0; number /= prime)
    ++exponent;
  return exponent;
}

unsigned exponent_of(const Factors &factors, std::int64_t prime) {
  const auto found = factors.find(prime);
  return found == factors.end() ? 0 : found->second;
}

// Extents of 1 and what stands on both sides say nothing.
void cancel(std::vector<std::int64_t> &left, std::vector<std::int64_t> &right) {
  std::erase(left, 1);
  std::erase(right, 1);
  for (auto it = left.begin(); it != left.end();) {
    const auto twin = std::ranges::find(right, *it);
    if (twin == right.end()) {
      ++it;
      continue;
    }
    right.erase(twin);
    it = left.erase(it);
  }
}

} // namespace

void ShrinkPlan::add_extent(std::int64_t extent) { extents_.try_emplace(extent); }

void ShrinkPlan::same_elements(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                               const Stmt &stmt) {
  std::vector<std::int64_t> left;
  std::vector<std::int64_t> right;
  std::int64_t left_product = 1;
  std::int64_t right_product = 1;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool from_left = j == b.size() || (i < a.size() && left_product <= right_product);
    if (from_left) {
      left_product *= a[i];
      left.push_back(a[i++]);
    } else {
      right_product *= b[j];
      right.push_back(b[j++]);
    }
    if (left_product != right_product)
      continue;
    add_group(std::move(left), std::move(right), stmt);
    left.clear();
    right.clear();
    left_product = right_product = 1;
  }
  // A bitcast to another item size: only the whole products are in proportion.
  add_group(std::move(left), std::move(right), stmt);
}

void ShrinkPlan::add_group(std::vector<std::int64_t> left, std::vector<std::int64_t> right,
                           const Stmt &stmt) {
  cancel(left, right);
  if (!left.empty() || !right.empty())
    add({Kind::Product, std::move(left), std::move(right), 1, 0, &stmt});
}

void ShrinkPlan::same_divisor(std::vector<std::int64_t> extents,
                              std::span<const std::int64_t> coefficients, const Stmt &stmt) {
  std::int64_t common = 0;
  for (const std::int64_t coefficient : coefficients)
    common = std::gcd(common, coefficient);
  add({Kind::Same, std::move(extents), {}, 1, common, &stmt});
}

void ShrinkPlan::fits(std::int64_t size, std::int64_t stride, std::int64_t extent,
                      const Stmt &stmt) {
  if (size != 1)
    add({Kind::Fits, {size}, {extent}, stride, 0, &stmt});
}

void ShrinkPlan::add(Relation relation) {
  for (const auto &side : {relation.left, relation.right})
    for (const std::int64_t extent : side)
      extents_[extent].related = true;
  relations_.push_back(std::move(relation));
}

// The smallest primes go first: the extent gets no smaller than it must.
Factors ShrinkPlan::wanted_divisor(std::int64_t extent) const {
  Factors divisor;
  for (std::int64_t prime = 2; prime <= largest_prime; ++prime)
    for (; extent > max_extent_ && extent % prime == 0; extent /= prime)
      ++divisor[prime];
  return divisor;
}

std::int64_t ShrinkPlan::divided(std::int64_t extent) const {
  for (const auto &[prime, exponent] : extents_.at(extent).divisor)
    for (unsigned i = 0; i < exponent; ++i)
      extent /= prime;
  return extent;
}

void ShrinkPlan::solve() {
  for (auto &[number, extent] : extents_)
    extent.divisor = wanted_divisor(number);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Relation &relation : relations_)
      changed |= enforce(relation);
  }
}

bool ShrinkPlan::enforce(const Relation &relation) {
  switch (relation.kind) {
  case Kind::Product:
    return enforce_product(relation);
  case Kind::Same:
    return enforce_same(relation);
  case Kind::Fits:
    return enforce_fits(relation);
  }
  return false;
}

bool ShrinkPlan::lower(std::int64_t extent, std::int64_t prime, unsigned exponent,
                       const Stmt *stmt) {
  Extent &entry = extents_.at(extent);
  if (exponent_of(entry.divisor, prime) <= exponent)
    return false;
  entry.divisor[prime] = exponent;
  entry.held_by = stmt;
  return true;
}

// One factor at a time, of the extent that has lost most, until both sides have as many.
bool ShrinkPlan::enforce_product(const Relation &relation) {
  const auto exponents = [&](const std::vector<std::int64_t> &side, std::int64_t prime) {
    unsigned sum = 0;
    for (const std::int64_t extent : side)
      sum += exponent_of(extents_.at(extent).divisor, prime);
    return sum;
  };
  bool changed = false;
  for (std::int64_t prime = 2; prime <= largest_prime; ++prime)
    while (true) {
      const unsigned left = exponents(relation.left, prime);
      const unsigned right = exponents(relation.right, prime);
      if (left == right)
        break;
      const auto &side = left > right ? relation.left : relation.right;
      const std::int64_t most = *std::ranges::max_element(side, {}, [&](std::int64_t extent) {
        return exponent_of(extents_.at(extent).divisor, prime);
      });
      changed |=
          lower(most, prime, exponent_of(extents_.at(most).divisor, prime) - 1, relation.stmt);
    }
  return changed;
}

bool ShrinkPlan::enforce_same(const Relation &relation) {
  bool changed = false;
  for (std::int64_t prime = 2; prime <= largest_prime; ++prime) {
    unsigned least = relation.common == 0 ? ~0u : exponent_in(relation.common, prime);
    for (const std::int64_t extent : relation.left)
      least = std::min(least, exponent_of(extents_.at(extent).divisor, prime));
    for (const std::int64_t extent : relation.left)
      changed |= lower(extent, prime, least, relation.stmt);
  }
  return changed;
}

bool ShrinkPlan::enforce_fits(const Relation &relation) {
  const std::int64_t size = relation.left[0];
  const std::int64_t extent = relation.right[0];
  if ((divided(size) - 1) * relation.stride < divided(extent))
    return false;
  Factors &divisor = extents_.at(extent).divisor;
  for (const auto &[prime, exponent] : divisor)
    if (exponent != 0)
      return lower(extent, prime, exponent - 1, relation.stmt);
  return false; // it is as it was, and the size no larger
}

std::int64_t ShrinkPlan::shrunk(std::int64_t extent) const {
  const std::int64_t result = divided(extent);
  const bool is_free = !extents_.at(extent).related;
  return is_free ? std::min(result, max_extent_) : result;
}

std::vector<ShrinkPlan::Large> ShrinkPlan::still_large() const {
  std::vector<Large> large;
  for (const auto &[number, extent] : extents_)
    if (shrunk(number) > max_extent_)
      large.push_back({number, extent.held_by});
  return large;
}

} // namespace nir
