// Decimal text is rounded once by way of a double: std::from_chars gives the double nearest to the
// text, however long it is. Every midpoint between values of a narrower format is itself a double,
// so the text lies on the same side of each midpoint as the double does, unless the double *is*
// one; only then is the text compared with the exact decimal expansion of the double.
#include "ir/numeric/literal.h"

#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <limits>

#include "ir/numeric/float_format.h"

namespace nir {
namespace {

using Kind = NumberToken::Kind;
using Result = tl::expected<uint64_t, std::string>;

constexpr const FloatFormat &fp32_format = *float_format(DType::Float32);
constexpr const FloatFormat &fp64_format = *float_format(DType::Float64);

// A double and a midpoint between two doubles have at most 768 significant decimal digits.
constexpr size_t max_digits = 800;

// An exponent, of two or of ten, far outside every format; larger ones are cut to it.
constexpr int64_t huge_exponent = 100000;

// How the user wrote the number, shortened where it is long.
std::string as_written(const NumberToken &number) {
  constexpr size_t longest = 40;
  std::string text = number.negative ? "-" : "";
  text.append(number.text.substr(0, longest));
  if (number.text.size() > longest)
    text.append("...");
  return text;
}

tl::unexpected<std::string> malformed(const NumberToken &number) {
  return tl::unexpected("malformed number '" + as_written(number) + "'");
}

int clamp_exponent(int64_t exponent) {
  return static_cast<int>(std::clamp(exponent, -huge_exponent, huge_exponent));
}

// Reads an optional sign and decimal digits up to the end of `text`; false where it is something
// else. Saturates far beyond what the digits of a text in memory could make up for.
bool read_exponent(std::string_view text, int64_t &exponent) {
  constexpr int64_t limit = int64_t{1} << 50;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+'))
    text.remove_prefix(1);
  if (text.empty())
    return false;
  exponent = 0;
  for (char c : text) {
    if (c < '0' || c > '9')
      return false;
    exponent = std::min(exponent * 10 + (c - '0'), limit);
  }
  if (negative)
    exponent = -exponent;
  return true;
}

int digit_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

// The significant digits of a positional number in base 10 or 16, without leading and trailing
// zeros: 0.d1d2d3… * base^position. Digits beyond the first `kept` are only remembered as `sticky`.
struct Digits {
  std::string kept;
  int64_t position = 0;
  bool sticky = false;
  std::string_view rest; // what follows the digits and the point
};

// Nothing where there is no digit at all.
std::optional<Digits> scan_digits(std::string_view text, int base, size_t max_kept) {
  Digits digits;
  bool any = false;
  bool point = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (digit_value(c) >= base)
      break;
    any = true;
    const bool significant = c != '0' || !digits.kept.empty();
    if (significant && digits.kept.size() < max_kept)
      digits.kept.push_back(c);
    else
      digits.sticky |= c != '0';
    // Before the point a significant digit moves it; behind the point a leading zero does.
    if (significant && !point)
      ++digits.position;
    else if (!significant && point)
      --digits.position;
  }
  if (!any)
    return std::nullopt;
  while (!digits.kept.empty() && digits.kept.back() == '0' && !digits.sticky)
    digits.kept.pop_back();
  digits.rest = text.substr(i);
  return digits;
}

std::optional<Digits> scan_decimal(std::string_view text) {
  auto digits = scan_digits(text, 10, max_digits);
  if (!digits)
    return std::nullopt;
  if (!digits->rest.empty()) {
    int64_t exponent = 0;
    const char mark = digits->rest.front();
    if ((mark != 'e' && mark != 'E') || !read_exponent(digits->rest.substr(1), exponent))
      return std::nullopt;
    digits->position += exponent;
  }
  return digits;
}

// -1, 0 or 1: the decimal number against a finite double above zero.
int compare(const Digits &decimal, double value) {
  std::array<char, max_digits + 16> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific, static_cast<int>(max_digits) - 1);
  const auto exact = scan_decimal({buffer.data(), end.ptr});
  if (decimal.position != exact->position)
    return decimal.position < exact->position ? -1 : 1;
  if (const int order = decimal.kept.compare(exact->kept); order != 0)
    return order < 0 ? -1 : 1;
  return decimal.sticky ? 1 : 0;
}

enum class Range : uint8_t { Inside, TooLarge, TooSmall };

// The double nearest to unsigned decimal text; zero only for a text that is zero.
struct NearestDouble {
  double value = 0;
  Range range = Range::Inside;
};

// Long text is first cut to digits that round and compare in the same way, a last digit 1 standing
// for all that follow.
std::optional<NearestDouble> nearest_double_of_long(std::string_view text) {
  const auto digits = scan_decimal(text);
  if (!digits)
    return std::nullopt;
  if (digits->kept.empty())
    return NearestDouble{};
  std::string shortened = "." + digits->kept + (digits->sticky ? "1e" : "e");
  shortened += std::to_string(clamp_exponent(digits->position));
  NearestDouble result;
  const auto end =
      std::from_chars(shortened.data(), shortened.data() + shortened.size(), result.value);
  const bool finite = result.value <= std::numeric_limits<double>::max();
  if (end.ec != std::errc{} || !finite || result.value == 0)
    result.range = digits->position > 0 ? Range::TooLarge : Range::TooSmall;
  return result;
}

std::optional<NearestDouble> nearest_double(std::string_view text) {
  if (text.size() < max_digits && !text.empty() && text.front() != '-') {
    NearestDouble result;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), result.value);
    const bool finite = result.value <= std::numeric_limits<double>::max();
    if (end.ec == std::errc{} && end.ptr == text.data() + text.size() && finite &&
        result.value != 0)
      return result;
  }
  return nearest_double_of_long(text);
}

// The code of unsigned decimal text, rounded once; nothing where the text is malformed.
std::optional<uint64_t> round_decimal(const FloatFormat &format, bool negative,
                                      std::string_view text, bool saturate) {
  const auto nearest = nearest_double(text);
  if (!nearest)
    return std::nullopt;
  if (nearest->range != Range::Inside) {
    const auto exponent = nearest->range == Range::TooLarge ? huge_exponent : -huge_exponent;
    return encode_exact(format, {negative, 1, static_cast<int>(exponent)}, saturate);
  }
  ExactValue value = exact_value(DType::Float64, std::bit_cast<uint64_t>(nearest->value));
  value.negative = negative;
  if (format.dtype == DType::Float64 || value.mantissa == 0)
    return encode_exact(format, value, saturate);

  // Just below and just above the double: where both round alike, so does the text.
  value.mantissa *= 4;
  value.exponent -= 2;
  ExactValue below = value;
  ExactValue above = value;
  --below.mantissa;
  ++above.mantissa;
  const uint64_t code_below = encode_exact(format, below, saturate);
  const uint64_t code_above = encode_exact(format, above, saturate);
  if (code_below == code_above)
    return code_below;
  const int order = compare(*scan_decimal(text), nearest->value);
  if (order == 0)
    return encode_exact(format, value, saturate);
  return order < 0 ? code_below : code_above;
}

std::optional<std::string_view> hex_digits(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X"))
    return std::nullopt;
  return text.substr(2);
}

// The value of a hexadecimal integer or C hex float.
std::optional<ExactValue> exact_hex(std::string_view text) {
  const auto body = hex_digits(text);
  const auto digits = body ? scan_digits(*body, 16, 16) : std::nullopt;
  if (!digits)
    return std::nullopt;
  int64_t exponent = 0;
  if (!digits->rest.empty()) {
    const char mark = digits->rest.front();
    if ((mark != 'p' && mark != 'P') || !read_exponent(digits->rest.substr(1), exponent))
      return std::nullopt;
  }
  ExactValue value;
  for (char c : digits->kept)
    value.mantissa = value.mantissa << 4 | static_cast<uint64_t>(digit_value(c));
  const int64_t kept = static_cast<int64_t>(digits->kept.size());
  value.exponent = clamp_exponent(exponent + 4 * (digits->position - kept));
  value.sticky = digits->sticky;
  return value;
}

// The magnitude of an integer token; max of uint64_t, and `too_large`, where it has more than 64
// bits.
struct Magnitude {
  uint64_t value = 0;
  bool too_large = false;
};

std::optional<Magnitude> read_integer(const NumberToken &number) {
  const bool hex = number.kind == Kind::HexInteger;
  const auto text = hex ? hex_digits(number.text) : std::optional(number.text);
  if (!text || text->empty())
    return std::nullopt;
  Magnitude magnitude;
  const auto end =
      std::from_chars(text->data(), text->data() + text->size(), magnitude.value, hex ? 16 : 10);
  if (end.ptr != text->data() + text->size())
    return std::nullopt;
  magnitude.too_large = end.ec == std::errc::result_out_of_range;
  return magnitude;
}

// "0..255 for uint8"
std::string range_text(DType dtype) {
  const IntRange range = int_range(dtype);
  std::string text = range.min_magnitude ? "-" + std::to_string(range.min_magnitude) : "0";
  text.append("..").append(std::to_string(range.max));
  return text.append(" for ").append(dtype2str(dtype));
}

// An integer dtype, or the scale, whose number is its byte.
Result integer_code(const NumberToken &number, DType dtype) {
  if (number.kind != Kind::Integer && number.kind != Kind::HexInteger)
    return tl::unexpected("found " + as_written(number) + ", expected an integer in " +
                          range_text(dtype));
  const auto magnitude = read_integer(number);
  if (!magnitude)
    return malformed(number);
  const IntRange range = int_range(dtype);
  if (magnitude->too_large ||
      magnitude->value > (number.negative ? range.min_magnitude : range.max))
    return tl::unexpected(as_written(number) + " is out of range, expected " + range_text(dtype));
  return (number.negative ? -magnitude->value : magnitude->value) & code_mask(dtype);
}

// The payload of an fp32 NaN in `format`; a payload that is cut to nothing gives the canonical NaN.
uint64_t nan_from_fp32(const FloatFormat &format, uint64_t fp32_bits, bool negative) {
  if (format.nan != NanKind::Ieee)
    return encode_from_fp32(format.dtype, static_cast<uint32_t>(fp32_format.nan_code()) |
                                              (negative ? 1u << 31 : 0));
  const uint64_t payload = fp32_bits & fp32_format.stored_mantissa_mask();
  const int shift = format.stored_mantissa_bits() - fp32_format.stored_mantissa_bits();
  const uint64_t moved = shift >= 0 ? payload << shift : payload >> -shift;
  const uint64_t magnitude = moved ? format.exponent_mask() | moved : format.nan_code();
  return magnitude | (negative ? format.sign_mask() : 0);
}

Result nan_payload_code(const NumberToken &number, const FloatFormat &format) {
  std::string_view text = number.text;
  if (!text.starts_with("nan(") || !text.ends_with(')'))
    return malformed(number);
  text.remove_prefix(4);
  text.remove_suffix(1);
  const auto bits = read_integer({false, Kind::HexInteger, text});
  if (!bits)
    return malformed(number);
  const bool is_fp32 = bits->value <= std::numeric_limits<uint32_t>::max();
  if (!bits->too_large && is_fp32 && is_nan_code(fp32_format, bits->value))
    return nan_from_fp32(format, bits->value,
                         number.negative || (bits->value & fp32_format.sign_mask()));
  if (!bits->too_large && format.dtype == DType::Float64 && is_nan_code(fp64_format, bits->value))
    return bits->value | (number.negative ? fp64_format.sign_mask() : 0);
  return tl::unexpected("found " + as_written(number) + ", expected the fp32 bits of a NaN");
}

Result float_code(const NumberToken &number, const FloatFormat &format) {
  const uint32_t sign = number.negative ? 1u << 31 : 0;
  switch (number.kind) {
  case Kind::Integer:
  case Kind::Decimal:
    if (const auto code = round_decimal(format, number.negative, number.text, true))
      return *code;
    return malformed(number);
  case Kind::HexInteger:
  case Kind::HexFloat: {
    auto value = exact_hex(number.text);
    if (!value)
      return malformed(number);
    value->negative = number.negative;
    return encode_exact(format, *value);
  }
  case Kind::Inf:
    return encode_from_fp32(format.dtype,
                            static_cast<uint32_t>(fp32_format.infinity_code()) | sign);
  case Kind::Nan:
    return encode_from_fp32(format.dtype, static_cast<uint32_t>(fp32_format.nan_code()) | sign);
  case Kind::NanPayload:
    return nan_payload_code(number, format);
  }
  return malformed(number);
}

// The longest text of a number: a double with 17 digits, sign, point and exponent; or a NaN.
constexpr size_t max_text = 32;
using TextBuffer = std::array<char, max_text>;

template <typename... Args> std::string_view print(TextBuffer &buffer, Args... args) {
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), args...);
  assert(end.ec == std::errc{});
  return {buffer.data(), end.ptr};
}

void append_hex(std::string &out, uint64_t bits, size_t digits) {
  TextBuffer buffer;
  const std::string_view text = print(buffer, bits, 16);
  out.append("0x").append(digits - text.size(), '0').append(text);
}

// nan, or nan(0x…) with the fp32 pattern that nan_from_fp32 takes back to the code.
void append_nan(std::string &out, const FloatFormat &format, uint64_t code) {
  const uint64_t magnitude = code & format.magnitude_mask();
  out.append(code & format.sign_mask() ? "-nan" : "nan");
  if (magnitude == format.nan_code())
    return;
  const uint64_t payload = magnitude & format.stored_mantissa_mask();
  const int shift = fp32_format.stored_mantissa_bits() - format.stored_mantissa_bits();
  const uint64_t moved = shift >= 0 ? payload << shift : payload >> -shift;
  const bool fits = shift >= 0 || moved << -shift == payload;
  out.push_back('(');
  append_hex(out, fits ? fp32_format.exponent_mask() | moved : magnitude, fits ? 8 : 16);
  out.push_back(')');
}

// The next decimal up with as many digits as `text`, which is in scientific notation.
std::string next_decimal(std::string_view text) {
  const auto digits = scan_decimal(text);
  const size_t mark = text.find('e');
  const size_t count = mark > 1 ? mark - 1 : 1; // without the point
  std::string padded = digits->kept + std::string(count - digits->kept.size(), '0');
  uint64_t number = 0;
  std::from_chars(padded.data(), padded.data() + padded.size(), number);
  const int64_t exponent = digits->position - static_cast<int64_t>(count);
  return std::to_string(number + 1) + "e" + std::to_string(exponent);
}

// The decimal with the fewest digits that rounds to `magnitude`, a finite code without sign; of
// several the nearest. Saturation does not count: a number that only it brings to max finite is no
// name for it.
double shortest_decimal(const FloatFormat &format, uint64_t magnitude) {
  const double exact =
      std::bit_cast<double>(encode_exact(fp64_format, exact_value(format.dtype, magnitude)));
  // Only at a power of two do the neighbours lie at different distances, the upper one farther
  // away.
  const bool power_of_two = (magnitude & format.stored_mantissa_mask()) == 0;
  const auto rounds_back = [&](std::string_view text) {
    return round_decimal(format, false, text, false) == magnitude;
  };
  const auto to_double = [](std::string_view text) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  for (int digits = 0;; ++digits) {
    TextBuffer buffer;
    const std::string_view text = print(buffer, exact, std::chars_format::scientific, digits);
    if (rounds_back(text) || digits == std::numeric_limits<double>::max_digits10 - 1)
      return to_double(text);
    if (!power_of_two || to_double(text) > exact)
      continue;
    if (const std::string next = next_decimal(text); rounds_back(next))
      return to_double(next);
  }
}

bool has_stray_bits(const FloatFormat &format, uint64_t code) {
  return code & ((uint64_t{1} << format.trailing_bits) - 1);
}

bool is_infinity(const FloatFormat &format, uint64_t magnitude) {
  return format.has_infinity && magnitude == format.infinity_code();
}

void append_finite(std::string &out, const FloatFormat &format, uint64_t magnitude) {
  TextBuffer buffer;
  std::string_view text;
  if (format.dtype == DType::Float64)
    text = print(buffer, std::bit_cast<double>(magnitude));
  else if (format.dtype == DType::Float32 || has_stray_bits(format, magnitude))
    text = print(buffer, std::bit_cast<float>(static_cast<uint32_t>(magnitude)));
  else
    text = print(buffer, shortest_decimal(format, magnitude));
  out.append(text);
  if (text.find_first_of(".e") == std::string_view::npos)
    out.append(".0");
}

void append_float(std::string &out, const FloatFormat &format, uint64_t code) {
  if (is_nan_code(format, code))
    return append_nan(out, format, code);
  if (code & format.sign_mask())
    out.push_back('-');
  const uint64_t magnitude = code & format.magnitude_mask();
  if (is_infinity(format, magnitude))
    out.append("inf");
  else
    append_finite(out, format, magnitude);
}

} // namespace

tl::expected<uint64_t, std::string> literal_to_code(const NumberToken &number, DType dtype) {
  assert(!is_x4_dtype(dtype));
  if (const FloatFormat *format = float_format(dtype))
    return float_code(number, *format);
  return integer_code(number, dtype);
}

void append_code_text(std::string &out, DType dtype, uint64_t code) {
  if (const FloatFormat *format = float_format(dtype))
    return append_float(out, *format, code);
  const ExactValue value = exact_value(dtype, code);
  if (value.negative)
    out.push_back('-');
  TextBuffer buffer;
  out.append(print(buffer, value.mantissa));
}

std::string code_to_text(DType dtype, uint64_t code) {
  std::string text;
  append_code_text(text, dtype, code);
  return text;
}

bool text_reads_back(DType dtype, uint64_t code) {
  const FloatFormat *format = float_format(dtype);
  if (!format || is_nan_code(*format, code))
    return true;
  if (is_infinity(*format, code & format->magnitude_mask()))
    return format->overflow == OverflowKind::Infinity;
  return !has_stray_bits(*format, code);
}

} // namespace nir
