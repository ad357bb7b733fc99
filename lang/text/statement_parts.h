#pragma once

#include <vector>

#include "ir/verify/verifier.h"

namespace nir::lang {

// Where the parts of the statement that is being read stand, for messages of the verifier.
class StatementParts final : public StmtLocator {
public:
  SourceRange whole;
  SourceRange mnemonic;
  SourceRange result; // the type behind `:`
  SourceRange dst;    // the access behind `->`

  void clear() {
    whole = mnemonic = result = dst = {};
    operands_.clear();
    subscripts_.clear();
    attributes_.clear();
  }
  // `subscripts` are those of an access, in order of its dimensions. The destination comes last.
  void add_operand(SourceRange range, std::span<const SourceRange> subscripts = {}) {
    operands_.push_back({range, static_cast<std::uint32_t>(subscripts_.size())});
    if (!subscripts.empty())
      subscripts_.insert(subscripts_.end(), subscripts.begin(), subscripts.end());
  }
  void add_attribute(AttrKey key, SourceRange range) { attributes_.push_back({key, range}); }

  std::size_t num_operands() const { return operands_.size(); }
  SourceRange operand(std::size_t i) const { return operands_[i].range; }

  SourceRange locate(const Stmt &stmt, StmtPart part) const override;

private:
  struct OperandRange {
    SourceRange range;
    std::uint32_t first_subscript;
  };
  struct AttributeRange {
    AttrKey key;
    SourceRange range;
  };
  SourceRange attribute(AttrKey key) const;

  std::vector<OperandRange> operands_;
  std::vector<SourceRange> subscripts_;
  std::vector<AttributeRange> attributes_;
};

} // namespace nir::lang
