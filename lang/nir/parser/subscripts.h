#pragma once

#include <array>
#include <span>
#include <vector>

#include "ir/core/module.h"
#include "lang/nir/lexer/token.h"
#include "lang/text/errors.h"

namespace nir::lang {

// Reads the subscripts of one access and makes it. Equal accesses near each other share memory.
class Subscripts {
public:
  Subscripts(Module &module, Errors &errors) : module_(module), errors_(errors) {}

  void clear();

  // One term of an affine index, to be added to its dimension by add_term.
  void constant_term(const Token &integer);
  void loop_term(const Loop *loop, std::int64_t factor, SourceRange range);
  void no_term() { term_ = {}; } // one that was an error
  void add_term(int sign);
  // Ends a dimension: `stride` is nullptr where it was left out.
  void add_dim(const Token &index, const Token &size, const Token *stride);

  std::span<const SourceRange> ranges() const { return ranges_; }

  // The access to `tensor` that the dimensions make, under `dtype`. nullptr where it is the whole
  // tensor as it is, and where it fails.
  const Access *access(const Tensor &tensor, DType dtype, SourceRange range);
  // Likewise for the whole tensor.
  const Access *whole(const Tensor &tensor, DType dtype, SourceRange range);

private:
  struct Term {
    const Loop *loop = nullptr; // nullptr for a constant
    std::int64_t factor = 0;
    SourceRange range;
  };

  bool names_all_of(const Type &type) const;
  void merge_terms(SourceRange range);
  void overflow(SourceRange range);
  const Access *shared(const Type *box, bool whole, bool reinterprets);

  Module &module_;
  Errors &errors_;
  Term term_;
  std::int64_t constant_ = 0;
  std::size_t first_term_ = 0; // of the current dimension, in terms_
  std::vector<AffineTerm> terms_;
  std::vector<std::size_t> num_terms_; // of each dimension
  std::vector<AccessDim> dims_;
  std::vector<SourceRange> ranges_;
  std::vector<std::int64_t> shape_;
  std::array<const Access *, 256> cache_{};
};

} // namespace nir::lang
