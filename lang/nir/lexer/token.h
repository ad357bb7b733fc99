#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "ir/core/type.h"
#include "ir/diagnostics/diagnostic.h"
#include "ir/name/name.h"
#include "ir/numeric/literal.h"

namespace nir::lang {

struct WordInfo;

// A number as it stands in the source: where its text begins, which is not where the token begins
// when there is a sign, and what it looks like.
struct NumberText {
  SourceOffset begin;
  NumberToken::Kind kind;
  bool negative;
};

// The semantic value of every symbol of the grammar. Plain data, because the parser copies it from
// and to its stack; what the payload is follows from the symbol. The lexer writes each half with
// one store, so that the parser's copies do not wait for several.
struct Token {
  union {
    std::uint64_t bits;   // of a Name, or a packed NumberText
    const WordInfo *word; // nullptr for a word that means nothing anywhere
    const Type *type;     // nullptr where the type was an error
    std::int64_t integer;
  };
  SourceOffset begin;
  SourceOffset end;

  SourceRange range() const { return {begin, end}; }
  void set_range(SourceOffset first, SourceOffset last) {
    static_assert(std::endian::native == std::endian::little);
    const std::uint64_t both = first | std::uint64_t{last} << 32;
    std::memcpy(&begin, &both, sizeof both);
  }

  Name name() const { return std::bit_cast<Name>(static_cast<std::uint32_t>(bits)); }
  void set_name(Name name) { bits = name.bits(); }

  NumberText number() const {
    return {static_cast<SourceOffset>(bits), static_cast<NumberToken::Kind>(bits >> 32 & 0xff),
            (bits >> 40) != 0};
  }
  void set_number(NumberText number) {
    bits = number.begin | std::uint64_t{static_cast<std::uint8_t>(number.kind)} << 32 |
           std::uint64_t{number.negative} << 40;
  }
};

} // namespace nir::lang
