#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/isa/opcode.h"
#include "ir/numeric/dtype.h"

namespace nir::lang {

// Everything that a word can mean. Which of it counts depends on where the word stands, so one
// lookup by the lexer answers all questions of the grammar's actions.
struct WordInfo {
  std::string_view text;
  int token; // the grammar's: a keyword, the form of an opcode, or a plain word
  std::optional<Opcode> opcode;
  std::optional<ActivationFn> fn;
  std::optional<AluOp> op;
  std::optional<AttrKey> attribute;
  std::optional<DType> dtype;
};

// All words that mean something: reserved words, and the names in the tables of the IR.
class WordTable {
public:
  static const WordTable &instance();

  const WordInfo *find(std::string_view text) const {
    for (std::size_t slot = hash(text);; ++slot) {
      const std::uint16_t row = slots_[slot % num_slots];
      if (row == 0)
        return nullptr;
      if (rows_[row - 1].text == text)
        return &rows_[row - 1];
    }
  }

private:
  static constexpr std::size_t num_slots = 1024; // a multiple of the number of words

  WordTable();
  WordInfo &row(std::string_view text);
  static std::size_t hash(std::string_view text) {
    const auto byte = [text](std::size_t i) {
      return static_cast<std::size_t>(static_cast<unsigned char>(text[i]));
    };
    const std::size_t size = text.size();
    return size * 37 + byte(0) * 5 + byte(size / 2) * 71 + byte(size - 1) * 211;
  }

  std::vector<WordInfo> rows_;
  std::array<std::uint16_t, num_slots> slots_{}; // 1 + index into rows_, 0 is free
};

// The names of dtypes and their aliases, for suggestions.
const std::vector<std::string_view> &dtype_words();
// The opcodes, for suggestions.
const std::vector<std::string_view> &opcode_words();

} // namespace nir::lang
