#include "lang/nir/parser/init_reader.h"

#include <fmt/format.h>

namespace nir::lang {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string_view plural(std::int64_t count) { return count == 1 ? "" : "s"; }

} // namespace

void InitReader::begin(const Type *type) {
  type_ = type;
  num_elements_ = 0;
  present_ = false;
  data_ = {};
}

void InitReader::append(const Token &number) {
  if (type_ == nullptr)
    return;
  const auto code = literals_.code(number, type_->dtype());
  if (!code)
    return;
  for (unsigned i = 0; i < sizeinbytes(type_->dtype()); ++i)
    data_.bytes.push_back(static_cast<std::uint8_t>(*code >> (8 * i)));
}

void InitReader::splat(const Token &number) {
  present_ = true;
  data_.form = InitForm::Splat;
  append(number);
}

void InitReader::element(const Token &number) {
  ++num_elements_;
  if (type_ != nullptr && num_elements_ <= type_->num_elements())
    append(number);
}

void InitReader::dense(const Token &keyword, const Token &close) {
  present_ = true;
  data_.form = InitForm::Dense;
  if (type_ == nullptr || num_elements_ == type_->num_elements())
    return;
  errors_.error({keyword.begin, close.end},
                fmt::format("dense has {} number{}, expected {}, one for each element of {}",
                            num_elements_, plural(num_elements_), type_->num_elements(),
                            to_string(*type_)));
}

void InitReader::hex(const Token &string) {
  present_ = true;
  data_.form = InitForm::Hex;
  if (type_ == nullptr)
    return;
  const std::string_view digits = literals_.string(string);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (hex_digit(digits[i]) >= 0)
      continue;
    // Where the string has escapes its characters are not where the digits are.
    const bool plain = digits.size() + 2 == string.end - string.begin;
    const auto at = static_cast<SourceOffset>(string.begin + 1 + i);
    errors_.error(plain ? SourceRange::at(at) : string.range(),
                  "hex holds hexadecimal digits only");
    return;
  }
  const std::size_t size = digits.size() / 2;
  if (digits.size() % 2 != 0 || size != static_cast<std::uint64_t>(type_->size_in_bytes())) {
    errors_.error(string.range(),
                  fmt::format("hex has {} digits, expected two for each of the {} bytes of {}",
                              digits.size(), type_->size_in_bytes(), to_string(*type_)));
    return;
  }
  data_.bytes.resize(size);
  for (std::size_t i = 0; i < size; ++i)
    data_.bytes[i] =
        static_cast<std::uint8_t>(hex_digit(digits[2 * i]) * 16 + hex_digit(digits[2 * i + 1]));
}

} // namespace nir::lang
