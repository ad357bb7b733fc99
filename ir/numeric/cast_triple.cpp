// How a triple is decided.
//
// The first stage of every cast decodes to fp32, so with A, B, C distinct the question is about the
// set V of fp32 values that A decodes to: does C's rounding of v equal C's rounding of B's rounding
// of v, for every v in V? On each side of zero V, B and C are described by a Grid: in the binade
// [2^e, 2^(e+1)] the values are the multiples of a power of two, the quantum, up to a largest
// value.
//
//  1. Values where a format stops being a grid are converted and compared: zeros, infinities, NaNs,
//  the
//     largest value, and V's neighbours of the points where B and C begin to overflow. Both
//     roundings are monotone and constant beyond those points, so the neighbours speak for all
//     values there.
//  2. Below those points, each binade is decided from its three quanta (`may_differ`). Where they
//  allow
//     a difference, values that show it are converted and compared.
//
// With A == C the direct way passes the bytes through, so A must also survive fp32.
#include "ir/numeric/cast_triple.h"

#include <atomic>
#include <bit>
#include <cstddef>

#include "ir/numeric/float_format.h"

namespace nir {
namespace {

constexpr const FloatFormat &fp32_format = *float_format(DType::Float32);
constexpr uint32_t fp32_sign = 0x80000000;
constexpr uint32_t fp32_infinity = 0x7f800000;
constexpr uint32_t fp32_nan = 0x7fc00000;

// Containers have no casts. The scale casts as the integer of its byte.
bool is_castable(DType dtype) { return !is_x4_dtype(dtype) && dtype_index(dtype) < num_dtypes; }

// Bits of the magnitude of an integer, or of the scale's byte.
int value_bits(DType dtype) {
  return 8 * static_cast<int>(sizeinbytes(dtype)) - is_signed_int(dtype);
}

bool int_holds_int(DType b, DType a) {
  return value_bits(a) <= value_bits(b) && (is_signed_int(b) || !is_signed_int(a));
}

// One side of zero of what a dtype decodes to: in [2^e, 2^(e+1)] the multiples of 2^quantum(e) up
// to `largest` (fp32 bits without sign; 0 where the side has no value).
struct Grid {
  int min_quantum;
  int precision; // significant bits
  uint32_t largest;

  int quantum(int exponent) const { return std::max(min_quantum, exponent - precision + 1); }
};

Grid grid_of(DType dtype, bool negative, bool as_source) {
  const FloatFormat *format = float_format(dtype);
  if (!format) {
    const IntRange range = int_range(dtype);
    const uint64_t extreme = negative ? -range.min_magnitude : range.max;
    return {0, fp32_format.mantissa_bits + 1, decode_to_fp32(dtype, extreme) & ~fp32_sign};
  }
  const int mantissa_bits =
      std::min(as_source ? format->stored_mantissa_bits() : format->mantissa_bits,
               fp32_format.mantissa_bits);
  const int min_exponent = std::max(format->min_exponent(), fp32_format.min_exponent());
  uint64_t largest = format->max_finite_code();
  if (as_source)
    largest |= (uint64_t{1} << format->trailing_bits) - 1;
  const uint32_t bits = std::min(decode_to_fp32(dtype, largest), fp32_infinity - 1);
  return {min_exponent - mantissa_bits, mantissa_bits + 1, bits};
}

// Exponent of the leading bit of positive fp32 bits.
int exponent_of(uint32_t bits) { return leading_exponent(exact_value(DType::Float32, bits)); }

// Every integer of `a` has `value_bits` bits, but for the lowest of a signed one, a power of two.
bool float_holds_int(const FloatFormat &b, DType a) {
  const int bits = value_bits(a);
  const int top_exponent = is_signed_int(a) ? bits : bits - 1;
  const int b_exponent = leading_exponent(exact_value(b.dtype, b.max_finite_code()));
  return bits <= b.mantissa_bits + 1 && top_exponent <= b_exponent;
}

uint32_t fp32_of(uint64_t mantissa, int exponent) {
  return static_cast<uint32_t>(encode_exact(fp32_format, {false, mantissa, exponent}));
}

// The largest grid value at or below positive `bits`; 0 where there is none but zero.
uint32_t floor_on(const Grid &grid, uint32_t bits) {
  const uint32_t clamped = std::min(bits, grid.largest);
  if (clamped == 0)
    return 0;
  const int quantum = grid.quantum(exponent_of(clamped));
  const ExactValue value = exact_value(DType::Float32, clamped);
  const int shift = quantum - value.exponent;
  if (shift <= 0)
    return clamped;
  return shift >= 64 ? 0 : fp32_of(value.mantissa >> shift, quantum);
}

// The smallest grid value above grid value `bits`; above `largest` the result is larger than it.
uint32_t next_on(const Grid &grid, uint32_t bits) {
  if (bits >= grid.largest)
    return fp32_infinity;
  if (bits == 0)
    return fp32_of(1, grid.min_quantum);
  const int quantum = grid.quantum(exponent_of(bits));
  const ExactValue value = exact_value(DType::Float32, bits);
  return fp32_of((value.mantissa >> (quantum - value.exponent)) + 1, quantum);
}

class TripleAnalysis {
public:
  TripleAnalysis(DType a, DType b, DType c) : a_(a), b_(b), c_(c) {}

  bool is_exact() const {
    if (a_ == c_ && !survives_fp32(a_))
      return false;
    return side_agrees(false) && side_agrees(true);
  }

private:
  // Does A to fp32 to A give back every code that is no NaN?
  static bool survives_fp32(DType dtype);

  // Do both ways agree on this fp32 value?
  bool agrees(uint32_t bits) const {
    const uint32_t through_b = decode_to_fp32(b_, encode_from_fp32(b_, bits));
    return encode_from_fp32(c_, through_b) == encode_from_fp32(c_, bits);
  }

  bool side_agrees(bool negative) const;
  bool special_values_agree(uint32_t sign) const;
  bool edges_agree(const Grid &source, uint32_t sign, uint32_t edge) const;
  bool binade_agrees(const Grid &source, uint32_t sign, int exponent, int qb, int qc) const;

  DType a_;
  DType b_;
  DType c_;
};

bool TripleAnalysis::survives_fp32(DType dtype) {
  const FloatFormat *format = float_format(dtype);
  if (!format)
    return value_bits(dtype) <= fp32_format.mantissa_bits + 1;
  const bool loses_infinity = format->has_infinity && format->overflow != OverflowKind::Infinity;
  const bool loses_mantissa =
      format->mantissa_bits > fp32_format.mantissa_bits || format->trailing_bits != 0;
  return !loses_infinity && !loses_mantissa;
}

// Positive fp32 bits from which on `dtype` gives what infinity gives. Unsigned dtypes give it for
// the whole negative side.
uint32_t overflow_edge(DType dtype, uint32_t sign) {
  const uint64_t beyond = encode_from_fp32(dtype, fp32_infinity | sign);
  uint32_t low = 0;
  uint32_t high = fp32_infinity;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (encode_from_fp32(dtype, middle | sign) == beyond)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

bool TripleAnalysis::special_values_agree(uint32_t sign) const {
  const FloatFormat *format = float_format(a_);
  if (!format)
    return agrees(0);
  if (!agrees(sign))
    return false;
  if (format->has_infinity && !agrees(fp32_infinity | sign))
    return false;
  return format->nan == NanKind::None || agrees(fp32_nan | sign);
}

// A's neighbours of `edge`.
bool TripleAnalysis::edges_agree(const Grid &source, uint32_t sign, uint32_t edge) const {
  const uint32_t below = edge == 0 ? 0 : floor_on(source, edge - 1);
  const uint32_t above = next_on(source, below);
  if (below != 0 && !agrees(below | sign))
    return false;
  return above > source.largest || agrees(above | sign);
}

// Can rounding multiples of 2^qa in [2^e, 2^(e+1)) to multiples of 2^qb first change what rounding
// to multiples of 2^qc gives? All to nearest, ties to even.
bool may_differ(int e, int qa, int qb, int qc) {
  if (qb <= qa || qb == qc)
    return false; // B changes nothing, or rounds just as C does
  if (qc < qb)
    return qc <= e || (qc == e + 1 && qa < e); // B loses what C keeps, unless C keeps nothing here
  if (qc >= e + 2)
    return false; // all goes to zero, over 2^(e+1) too
  // Rounding twice. It is harmless only where A has one bit more than B and B one more than C: then
  // the values beside a midpoint of C are ties in B, and go away from the midpoint.
  return !(qa == qb - 1 && qb == qc - 1);
}

bool TripleAnalysis::binade_agrees(const Grid &source, uint32_t sign, int e, int qb, int qc) const {
  const int qa = source.quantum(e);
  if (!may_differ(e, qa, qb, qc))
    return true;
  // Where A has the whole binade, one of these shows the difference: its lowest values, the lowest
  // that C keeps, and those beside C's lowest midpoint. All in units of 2^qa.
  const uint64_t lowest = uint64_t{1} << (e - qa);
  const uint64_t c_step = qc >= qa && qc < e ? uint64_t{1} << (qc - qa) : 0;
  const uint64_t half_c_step = qc > qa && qc <= e ? uint64_t{1} << (qc - 1 - qa) : 0;
  const uint64_t midpoint = lowest + half_c_step;
  for (uint64_t units : {lowest, lowest + 1, lowest + c_step, midpoint - 1, midpoint + 1}) {
    const uint32_t bits = fp32_of(units, qa);
    if (bits != 0 && bits <= source.largest && !agrees(bits | sign))
      return false;
  }
  return true;
}

bool TripleAnalysis::side_agrees(bool negative) const {
  const uint32_t sign = negative ? fp32_sign : 0;
  if (!special_values_agree(sign))
    return false;
  const Grid source = grid_of(a_, negative, true);
  if (source.largest == 0)
    return true;
  const uint32_t edge_b = overflow_edge(b_, sign);
  const uint32_t edge_c = overflow_edge(c_, sign);
  if (!agrees(source.largest | sign) || !edges_agree(source, sign, edge_b) ||
      !edges_agree(source, sign, edge_c))
    return false;

  const uint32_t end = std::min({source.largest, edge_b, edge_c});
  if (end == 0)
    return true;
  const Grid middle = grid_of(b_, negative, false);
  const Grid target = grid_of(c_, negative, false);
  for (int e = source.min_quantum; e <= exponent_of(end); ++e) {
    if (!binade_agrees(source, sign, e, middle.quantum(e), target.quantum(e)))
      return false;
  }
  return true;
}

bool decide(DType a, DType b, DType c) {
  if (!is_castable(a) || !is_castable(b) || !is_castable(c))
    return a == b && b == c;
  if (a == b || b == c)
    return true; // one of the two copies keeps its dtype, and so every byte
  return TripleAnalysis(a, b, c).is_exact();
}

enum class Answer : uint8_t { Unknown, No, Yes };

// A cache of a pure function: threads may race to fill an entry, with the same answer.
std::array<std::atomic<Answer>, size_t{num_dtypes} * num_dtypes * num_dtypes> answers;

} // namespace

bool triple_is_exact(DType a, DType b, DType c) {
  const size_t index =
      (dtype_index(a) * size_t{num_dtypes} + dtype_index(b)) * num_dtypes + dtype_index(c);
  Answer answer = answers[index].load(std::memory_order_relaxed);
  if (answer == Answer::Unknown) {
    answer = decide(a, b, c) ? Answer::Yes : Answer::No;
    answers[index].store(answer, std::memory_order_relaxed);
  }
  return answer == Answer::Yes;
}

bool holds(DType b, DType a) {
  if (a == b)
    return true;
  if (!is_castable(a) || !is_castable(b))
    return false;
  const FloatFormat *format_a = float_format(a);
  const FloatFormat *format_b = float_format(b);
  if (!format_a)
    return format_b ? float_holds_int(*format_b, a) : int_holds_int(b, a);
  // No integer has a float's -0.0.
  return format_b && triple_is_exact(a, b, DType::Float32);
}

} // namespace nir
