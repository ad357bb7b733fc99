#include "lang/nir/lexer/words.h"

#include "lang/nir/lexer/token_kinds.h"

namespace nir::lang {
namespace {

struct Keyword {
  std::string_view text;
  int token;
};

// The reserved words (language reference, Words).
constexpr Keyword keywords[] = {
#define RESERVED(text, token) {text, TOK_##token},
#include "ir/name/reserved.def"
#undef RESERVED
};

// The forms that differ from a plain list of operands.
int form_of(Opcode opcode) {
  switch (opcode) {
  case Opcode::Activation:
    return TOK_OP_ACTIVATION;
  case Opcode::TensorScalar:
    return TOK_OP_SCALAR;
  case Opcode::TensorTensor:
  case Opcode::TensorReduce:
    return TOK_OP_ALU;
  case Opcode::Memset:
    return TOK_OP_NUMBER;
  case Opcode::Call:
    return TOK_CALL;
  case Opcode::Opaque:
    return TOK_OPAQUE;
  default:
    return TOK_OP_PLAIN;
  }
}

// The name of a dtype and its aliases, which stand in one text with a blank between them.
template <class Visit> void for_each_dtype_word(DType dtype, Visit visit) {
  visit(info(dtype).name);
  std::string_view rest = info(dtype).aliases;
  while (!rest.empty()) {
    const std::size_t blank = rest.find(' ');
    visit(rest.substr(0, blank));
    rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
  }
}

} // namespace

const WordTable &WordTable::instance() {
  static const WordTable table;
  return table;
}

WordTable::WordTable() {
  rows_.reserve(num_slots / 4);
  for (const OpcodeInfo &opcode : all_opcodes()) {
    WordInfo &word = row(opcode.mnemonic);
    word.opcode = opcode.opcode;
    word.token = form_of(opcode.opcode);
  }
  for (const Keyword &keyword : keywords)
    row(keyword.text).token = keyword.token;
  unsigned index = 0;
  for (const std::string_view name : all_activation_fns())
    row(name).fn = static_cast<ActivationFn>(index++);
  index = 0;
  for (const std::string_view name : all_alu_ops())
    row(name).op = static_cast<AluOp>(index++);
  for (const AttrInfo &attribute : all_attributes())
    row(attribute.name).attribute = attribute.key;
  for (const DType dtype : all_dtypes())
    for_each_dtype_word(dtype, [&](std::string_view name) { row(name).dtype = dtype; });
}

WordInfo &WordTable::row(std::string_view text) {
  std::size_t slot = hash(text) % num_slots;
  for (; slots_[slot] != 0; slot = (slot + 1) % num_slots)
    if (rows_[slots_[slot] - 1].text == text)
      return rows_[slots_[slot] - 1];
  rows_.push_back({text, TOK_WORD, {}, {}, {}, {}, {}});
  slots_[slot] = static_cast<std::uint16_t>(rows_.size());
  return rows_.back();
}

const std::vector<std::string_view> &dtype_words() {
  static const auto words = [] {
    std::vector<std::string_view> list;
    for (const DType dtype : all_dtypes())
      for_each_dtype_word(dtype, [&](std::string_view name) { list.push_back(name); });
    return list;
  }();
  return words;
}

const std::vector<std::string_view> &opcode_words() {
  static const auto words = [] {
    std::vector<std::string_view> list;
    for (const OpcodeInfo &opcode : all_opcodes())
      list.push_back(opcode.mnemonic);
    return list;
  }();
  return words;
}

} // namespace nir::lang
