#include "driver/docs/doc_numerics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "driver/cli/markdown_table.h"
#include "ir/numeric/cast_triple.h"
#include "ir/numeric/float_format.h"
#include "ir/numeric/literal.h"
#include "ir/numeric/promotion.h"

namespace nir {
namespace {

std::string class_text(DType dtype) {
  switch (info(dtype).cls) {
  case DTypeClass::Unsigned:
    return "unsigned";
  case DTypeClass::Signed:
    return "signed";
  case DTypeClass::Float:
    return is_host_only(dtype) ? "float, host only" : "float";
  case DTypeClass::PackedFloat:
    return fmt::format("float, packed: {}", code(dtype2str(info(dtype).element)));
  case DTypeClass::Scale:
    return "scale exponent";
  case DTypeClass::Unknown:
    break;
  }
  return {};
}

std::string tag_text(DType dtype) {
  const auto tag = wire_tag(dtype);
  const auto old_tag = wire_tag(dtype, true);
  if (!tag)
    return "-";
  return tag == old_tag ? fmt::format("{}", *tag)
                        : fmt::format("{} ({} before trn3)", *tag, *old_tag);
}

std::string aliases_text(DType dtype) {
  std::string out;
  std::string_view rest = info(dtype).aliases;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    out += (out.empty() ? "" : " ") + code(word);
  }
  return out;
}

std::string nan_text(const FloatFormat &format) {
  switch (format.nan) {
  case NanKind::Ieee:
    return "IEEE";
  case NanKind::AllOnes:
    return "all ones";
  case NanKind::None:
    return "none";
  }
  return {};
}

std::string overflow_text(const FloatFormat &format) {
  return format.overflow == OverflowKind::Infinity ? "infinity" : "max finite";
}

// Names of dtypes that a predicate of their index chooses, as code.
template <class Chosen> std::string names_where(Chosen chosen) {
  std::vector<std::string_view> names;
  for (DType dtype : all_dtypes())
    if (chosen(dtype))
      names.push_back(dtype2str(dtype));
  return code_list(names);
}

// Every dtype in a row, its partners in the column of what becomes of the pair.
template <class Meet> std::string meeting_table(Meet meet) {
  MarkdownTable table({"dtype", "gives itself with", "gives the other with", "gives a third",
                       "gives nothing with"});
  for (DType dtype : all_dtypes()) {
    const auto gives = [&](DType other) { return meet(dtype, other); };
    std::string thirds;
    for (DType other : all_dtypes())
      if (const auto result = gives(other); result && *result != dtype && *result != other)
        thirds += fmt::format("{}{} with {}", thirds.empty() ? "" : ", ", code(dtype2str(*result)),
                              code(dtype2str(other)));
    const auto is_itself = [&](DType other) { return gives(other) == dtype; };
    const auto is_other = [&](DType other) { return other != dtype && gives(other) == other; };
    const auto is_nothing = [&](DType other) { return !gives(other); };
    table.add({code(dtype2str(dtype)), names_where(is_itself), names_where(is_other), thirds,
               names_where(is_nothing)});
  }
  return table.text();
}

struct Triple {
  DType a, b, c;
  std::string left;  // (a, b), c
  std::string right; // a, (b, c)
  bool both_defined;

  auto key() const {
    return std::tuple(sizeinbytes(a) + sizeinbytes(b) + sizeinbytes(c), dtype_index(a),
                      dtype_index(b), dtype_index(c));
  }
};

using Promotion = tl::expected<DType, std::string>;

Promotion then(const Promotion &first, DType second) {
  return first ? promote_type(*first, second) : first;
}

std::string result_text(const Promotion &result) {
  return result ? code(dtype2str(*result)) : "no path";
}

// All triples that promote differently from the left and from the right. (a, b, c) and (c, b, a)
// are one, since promotion is commutative.
std::vector<Triple> find_non_associative() {
  std::vector<Triple> found;
  for (DType a : all_dtypes())
    for (DType b : all_dtypes())
      for (DType c : all_dtypes()) {
        if (dtype_index(a) > dtype_index(c))
          continue;
        const Promotion left = then(promote_type(a, b), c);
        const Promotion right = then(promote_type(b, c), a);
        const bool same = left.has_value() == right.has_value() && (!left || *left == *right);
        if (!same)
          found.push_back({a, b, c, result_text(left), result_text(right), left && right});
      }
  std::ranges::sort(found, {}, &Triple::key);
  return found;
}

std::string triples_table(const std::vector<Triple> &triples, bool both_defined,
                          std::size_t limit) {
  MarkdownTable table({"a", "b", "c", "a with b, then c", "b with c, then a"});
  std::size_t shown = 0;
  for (const Triple &t : triples)
    if (t.both_defined == both_defined && shown++ < limit)
      table.add(
          {code(dtype2str(t.a)), code(dtype2str(t.b)), code(dtype2str(t.c)), t.left, t.right});
  return table.text();
}

// All digits of a short float; the language's own text has only as many as tell codes apart.
std::string exact_text(DType dtype, std::uint64_t code) {
  return fmt::format("{}", std::bit_cast<float>(decode_to_fp32(dtype, code)));
}

} // namespace

std::string doc_dtypes() {
  MarkdownTable table({"ordinal", "name", "bytes", "wire tag", "lanes", "class", "aliases"});
  for (DType dtype : all_dtypes()) {
    const DTypeInfo &row = info(dtype);
    table.add({is_host_only(dtype) ? "-" : fmt::format("{}", row.ordinal), code(row.name),
               fmt::format("{}", row.bytes), tag_text(dtype), fmt::format("{}", row.lanes),
               class_text(dtype), aliases_text(dtype)});
  }
  return table.text();
}

std::string doc_float_formats() {
  MarkdownTable table({"name", "exponent bits", "mantissa bits", "bias", "max finite",
                       "smallest normal", "smallest subnormal", "infinity", "NaN", "beyond max"});
  for (DType dtype : all_dtypes()) {
    const FloatFormat *format = float_format(dtype);
    if (format == nullptr)
      continue;
    table.add({code(dtype2str(dtype)), fmt::format("{}", format->exponent_bits),
               fmt::format("{}", format->mantissa_bits), fmt::format("{}", format->bias),
               dtype == DType::Float64 ? code_to_text(dtype, format->max_finite_code())
                                       : exact_text(dtype, format->max_finite_code()),
               fmt::format("2^{}", format->min_exponent()),
               fmt::format("2^{}", format->min_quantum()), format->has_infinity ? "yes" : "no",
               nan_text(*format), overflow_text(*format)});
  }
  return table.text();
}

std::string doc_casts_to_float8() {
  constexpr std::array<DType, 4> formats{DType::Float8E3, DType::Float8E4, DType::Float8E4m3fn,
                                         DType::Float8E5};
  constexpr std::array<std::string_view, 8> numbers{"0.001", "0.3",   "17.0",    "248.0",
                                                    "464.0", "500.0", "60000.0", "inf"};
  MarkdownTable::Row header{"float32"};
  for (DType dtype : formats)
    header.push_back(code(dtype2str(dtype)));
  MarkdownTable table(std::move(header));
  for (std::string_view number : numbers) {
    const auto kind = number == "inf" ? NumberToken::Kind::Inf : NumberToken::Kind::Decimal;
    const std::uint64_t fp32 =
        literal_to_code({.negative = false, .kind = kind, .text = number}, DType::Float32).value();
    MarkdownTable::Row row{std::string(number)};
    for (DType dtype : formats)
      row.push_back(exact_text(dtype, convert_code(DType::Float32, dtype, fp32)));
    table.add(std::move(row));
  }
  return table.text();
}

std::string doc_integer_copies() {
  struct Copy {
    DType from, to;
    std::uint64_t value;
  };
  constexpr std::array<Copy, 6> copies{{
      {DType::Int32, DType::Int64, 16777216},
      {DType::Int32, DType::Int64, 16777217},
      {DType::Int32, DType::Uint32, 2147483647},
      {DType::Uint32, DType::Int32, 4294967295},
      {DType::Int64, DType::Int16, 40000},
      {DType::Uint64, DType::Int64, 9007199254740993},
  }};
  MarkdownTable table({"from", "to", "element", "copied", "copied with `exact_ints`"});
  for (const auto &[from, to, value] : copies)
    table.add({code(dtype2str(from)), code(dtype2str(to)), code_to_text(from, value),
               code_to_text(to, convert_code(from, to, value)),
               code_to_text(to, convert_code_exact_ints(from, to, value))});
  return table.text();
}

std::string doc_holds() {
  MarkdownTable table({"A", "held by"});
  for (DType a : all_dtypes()) {
    const std::string holders = names_where([a](DType b) { return b != a && holds(b, a); });
    table.add({code(dtype2str(a)), holders.empty() ? "itself only" : holders});
  }
  return table.text();
}

std::string doc_survives() {
  MarkdownTable table({"A", "survives"});
  for (DType a : all_dtypes()) {
    const std::string between =
        names_where([a](DType b) { return b != a && triple_is_exact(a, b, a); });
    table.add({code(dtype2str(a)), between.empty() ? "nothing" : between});
  }
  return table.text();
}

std::string doc_promotion() { return meeting_table(promote_type); }

std::string doc_associativity() {
  constexpr std::size_t shown_results = 6;
  constexpr std::size_t shown_failures = 3;
  const std::vector<Triple> triples = find_non_associative();
  const auto num_results = std::ranges::count(triples, true, &Triple::both_defined);
  std::string out =
      fmt::format("{} triples have two different results; the smallest:\n\n", num_results);
  out += triples_table(triples, true, shown_results);
  out += fmt::format("\n{} triples have a result one way and none the other way; the smallest:\n\n",
                     static_cast<std::ptrdiff_t>(triples.size()) - num_results);
  return out + triples_table(triples, false, shown_failures);
}

std::string doc_merge() { return meeting_table(merge_type); }

} // namespace nir
