#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace nir {

enum class Opcode : std::uint8_t {
#define OP(name, ...) name,
#include "ir/isa/opcodes.def"
#undef OP
};

constexpr unsigned num_opcodes = 0
#define OP(...) +1
#include "ir/isa/opcodes.def"
#undef OP
    ;

// The functions of `activation`.
enum class ActivationFn : std::uint8_t {
#define FN(name, text) name,
#include "ir/isa/functions.def"
#undef FN
};

// The operators of the arithmetic instructions.
enum class AluOp : std::uint8_t {
#define ALU(name, ...) name,
#include "ir/isa/alu_ops.def"
#undef ALU
};

enum class AttrKey : std::uint8_t {
#define ATTR(name, ...) name,
#include "ir/isa/attributes.def"
#undef ATTR
  // What an instruction carries besides attributes, kept in the same list but never spelled as one.
  Callee,     // of a call
  OpaqueName, // of an opaque
  Custom,     // an opaque's own attribute, under its own name
};

enum class AttrKind : std::uint8_t { Flag, Float32, Int, IntList, String };
enum class AttrDefault : std::uint8_t { None, Optional, Text };

// How messages name what an attribute takes: `a list of integers`.
std::string_view describe(AttrKind kind);

struct AttrInfo {
  AttrKey key;
  std::string_view name;
  AttrKind kind;
  AttrDefault default_kind; // None: required
  std::string_view default_text;
  std::string_view doc;
};

// The families that an opcode belongs to; passes and the verifier ask these, never lists of
// opcodes.
namespace op_trait {
constexpr std::uint16_t Engine = 1 << 0;     // reads and writes on an engine: sbuf and psum only
constexpr std::uint16_t Mover = 1 << 1;      // rearranges elements on chip
constexpr std::uint16_t Generator = 1 << 2;  // makes elements from nothing: iota, memset
constexpr std::uint16_t Dma = 1 << 3;        // load and store
constexpr std::uint16_t Offloaded = 1 << 4;  // whole tensors moved by DMA
constexpr std::uint16_t NeverDead = 1 << 5;  // has effects beyond what it writes
constexpr std::uint16_t MutableDst = 1 << 6; // may write another dtype than it does
constexpr std::uint16_t KeepsDType = 1 << 7; // its rules demand the dtype of its src
constexpr std::uint16_t WideIsSrc = 1 << 8; // holds its result in the dtype of src before it writes
constexpr std::uint16_t CopiesBits = 1 << 9; // computes nothing: moves elements, casting at most
} // namespace op_trait

enum class ResultForm : std::uint8_t { Either, ValueOnly, DstOnly, AnyOrBare, Bare };

struct OpcodeInfo {
  Opcode opcode;
  std::string_view mnemonic;
  int min_operands;
  int max_operands; // -1: no limit
  ResultForm result;
  std::uint16_t traits;
  std::span<const AttrKey> attributes; // its own, in printing order; the marks come on top
  std::string_view doc;

  bool has(std::uint16_t trait) const { return (traits & trait) != 0; }
};

namespace detail {
extern const OpcodeInfo opcode_table[num_opcodes];
}
inline const OpcodeInfo &info(Opcode opcode) {
  return detail::opcode_table[static_cast<unsigned>(opcode)];
}
const AttrInfo &info(AttrKey key); // not for Callee, OpaqueName and Custom
inline std::string_view mnemonic(Opcode opcode) { return info(opcode).mnemonic; }
std::string_view to_string(ActivationFn fn);
std::string_view to_string(AluOp op);
bool is_integer_only(AluOp op);
bool may_reduce(AluOp op);

std::span<const OpcodeInfo> all_opcodes();
std::span<const AttrInfo> all_attributes();
std::span<const std::string_view> all_activation_fns();
std::span<const std::string_view> all_alu_ops();
std::span<const AttrKey> mark_attributes();

std::optional<Opcode> find_opcode(std::string_view mnemonic);
std::optional<ActivationFn> find_activation_fn(std::string_view name);
std::optional<AluOp> find_alu_op(std::string_view name);
std::optional<AttrKey> find_attribute(std::string_view name);

} // namespace nir
