// Which extents become which: the arithmetic of --shrink-dims, without the module.
#pragma once

#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "ir/core/instruction.h"

namespace nir {

// A divisor of an extent, as exponents of the small primes.
using Factors = std::map<std::int64_t, unsigned>;

// Extents and what relates them. Extents are divided by divisors that satisfy every relation; the
// search starts with what brings each large extent down to the maximum and takes factors back where
// a relation does not hold. Nothing divided satisfies all of them, so it always ends.
class ShrinkPlan {
public:
  explicit ShrinkPlan(std::int64_t max_extent) : max_extent_(max_extent) {}

  // What is said first is what remarks name. `stmt` is at fault where a relation holds factors
  // back.
  void add_extent(std::int64_t extent);
  // Both shapes have as many elements as before, in proportion: of a reshape. Dimensions are
  // matched from the left into the smallest groups with equal products.
  void same_elements(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                     const Stmt &stmt);
  // All are divided alike, and so can the coefficients be.
  void same_divisor(std::vector<std::int64_t> extents, std::span<const std::int64_t> coefficients,
                    const Stmt &stmt);
  // `size` elements, `stride` apart, lie within `extent`.
  void fits(std::int64_t size, std::int64_t stride, std::int64_t extent, const Stmt &stmt);

  void solve();

  // After `solve`.
  std::int64_t shrunk(std::int64_t extent) const;
  // Extents that are still larger than the maximum, in ascending order, with the statement that
  // held them back; nullptr where they have no factors to take out.
  struct Large {
    std::int64_t extent;
    const Stmt *stmt;
  };
  std::vector<Large> still_large() const;

private:
  struct Extent {
    Factors divisor;
    bool related = false;          // some relation says something about it
    const Stmt *held_by = nullptr; // the last one that took factors back
  };
  enum class Kind : std::uint8_t { Product, Same, Fits };
  struct Relation {
    Kind kind;
    std::vector<std::int64_t> left;
    std::vector<std::int64_t> right; // of Product; of Fits the extent
    std::int64_t stride = 1;         // of Fits
    std::int64_t common = 0; // of Same: the greatest common divisor of the coefficients; 0: none
    const Stmt *stmt;
  };

  void add_group(std::vector<std::int64_t> left, std::vector<std::int64_t> right, const Stmt &stmt);
  void add(Relation relation);
  std::int64_t divided(std::int64_t extent) const;
  Factors wanted_divisor(std::int64_t extent) const;
  // Each returns whether it took factors back.
  bool enforce(const Relation &relation);
  bool enforce_product(const Relation &relation);
  bool enforce_same(const Relation &relation);
  bool enforce_fits(const Relation &relation);
  bool lower(std::int64_t extent, std::int64_t prime, unsigned exponent, const Stmt *stmt);

  std::int64_t max_extent_;
  std::map<std::int64_t, Extent> extents_;
  std::vector<Relation> relations_;
};

} // namespace nir
