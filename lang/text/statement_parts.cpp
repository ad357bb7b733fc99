#include "lang/text/statement_parts.h"

namespace nir::lang {

SourceRange StatementParts::locate(const Stmt &, StmtPart part) const {
  const auto or_whole = [this](SourceRange range) { return range.valid() ? range : whole; };
  switch (part.kind) {
  case StmtPart::Whole:
    return whole;
  case StmtPart::Mnemonic:
    return or_whole(mnemonic);
  case StmtPart::Operand:
    return part.index < operands_.size() ? operands_[part.index].range : whole;
  case StmtPart::Subscript: {
    if (part.index >= operands_.size())
      return whole;
    const OperandRange &operand = operands_[part.index];
    const std::size_t place = operand.first_subscript + std::size_t{part.sub};
    const std::size_t end = part.index + 1 < operands_.size()
                                ? operands_[part.index + 1].first_subscript
                                : subscripts_.size();
    return place < end ? subscripts_[place] : operand.range;
  }
  case StmtPart::Result:
    return or_whole(result);
  case StmtPart::Dst:
    return or_whole(dst);
  case StmtPart::Attribute:
    return or_whole(attribute(static_cast<AttrKey>(part.index)));
  }
  return whole;
}

SourceRange StatementParts::attribute(AttrKey key) const {
  for (const AttributeRange &attribute : attributes_)
    if (attribute.key == key)
      return attribute.range;
  return {};
}

} // namespace nir::lang
