// Numbers as text: from a token to the code of a dtype and back (language reference, "A number
// written for…" and "Printing").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "ir/numeric/dtype.h"

namespace nir {

// A number as the lexer found it: its sign, its kind, and the token's text without the sign.
struct NumberToken {
  enum class Kind : uint8_t {
    Integer,    // 12
    HexInteger, // 0x1f
    Decimal,    // 1.5  1.  .5  1e-5
    HexFloat,   // 0x1.8p3
    Inf,        // inf
    Nan,        // nan
    NanPayload, // nan(0x7fc00001)
  };
  bool negative = false;
  Kind kind = Kind::Integer;
  std::string_view text;
};

// The code of a number written for `dtype`, which is no x4 container.
//  - Integer dtypes and float8_e8m0fnu (its byte) take integers in their range only.
//  - Float dtypes round once, from the exact value of the text, ties to even; 8-bit floats
//  saturate,
//    `inf` included; an integer token is that number and `-0` is -0.0.
//  - `nan` is the canonical NaN. `nan(0x…)` gives fp32 bits, whose payload is cut to the dtype's;
//  for
//    float64 the bits of a float64 NaN may be given instead. `-` sets the sign.
// Linear in the text, which may have any length; memory is bounded. Errors name the number and what
// was expected.
tl::expected<uint64_t, std::string> literal_to_code(const NumberToken &number, DType dtype);

// Appends the text of `code`, of any dtype but an x4 container: the fewest significant digits that
// round to the code, laid out as std::to_chars lays out a float, and with `.0` where it would look
// like an integer. literal_to_code reads the same code back wherever `text_reads_back` holds.
void append_code_text(std::string &out, DType dtype, uint64_t code);
std::string code_to_text(DType dtype, uint64_t code);

// Is there a number for `code`? None exists for what no text can make: infinities of 8-bit floats,
// for text saturates, and float32r patterns with more than 11 mantissa bits. `hex` data can hold
// them.
bool text_reads_back(DType dtype, uint64_t code);

} // namespace nir
