#include "driver/run/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nir {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t alignment = 64; // of the data, as NumPy writes it
constexpr std::size_t version_bytes = 2;

// What a header says.
struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Reads the header's Python dictionary. After an error nothing more is read.
class HeaderReader {
public:
  HeaderReader(std::string_view file, std::size_t begin, std::size_t end)
      : file_(file), at_(begin), end_(end) {}

  tl::expected<NpyHeader, std::string> read() {
    expect('{');
    while (ok() && !at('}')) {
      read_entry();
      if (!at('}'))
        expect(',');
    }
    expect('}');
    skip_blanks();
    if (ok() && at_ != end_)
      fail("expected the end of the header");
    for (const auto &[seen, key] :
         {std::pair(has_descr_, "descr"), std::pair(has_order_, "fortran_order"),
          std::pair(has_shape_, "shape")})
      if (ok() && !seen)
        fail(fmt::format("the header has no '{}'", key));
    if (!ok())
      return tl::unexpected(error_);
    return header_;
  }

private:
  bool ok() const { return error_.empty(); }
  void fail(std::string_view what) {
    if (ok())
      error_ = fmt::format("byte {}: {}", at_, what);
  }
  void skip_blanks() {
    while (at_ < end_ && std::string_view(" \t\n\r").find(file_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool at(char c) {
    skip_blanks();
    return at_ < end_ && file_[at_] == c;
  }
  void expect(char c) {
    if (!ok())
      return;
    if (!at(c))
      return fail(fmt::format("expected '{}' in the header", c));
    ++at_;
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    if (file_.substr(at_, end_ - at_).substr(0, word.size()) != word)
      return false;
    at_ += word.size();
    return true;
  }

  void read_entry() {
    skip_blanks();
    const std::size_t begin = at_;
    const std::string key = read_string();
    expect(':');
    if (!ok())
      return;
    if (key == "descr") {
      header_.descr = read_string();
      has_descr_ = true;
    } else if (key == "fortran_order") {
      read_order();
      has_order_ = true;
    } else if (key == "shape") {
      read_shape();
      has_shape_ = true;
    } else {
      at_ = begin;
      fail(fmt::format("unknown key '{}' in the header", key));
    }
  }

  std::string read_string() {
    skip_blanks();
    if (at('[')) {
      fail("expected elements of one number each");
      return {};
    }
    if (!at('\'') && !at('"')) {
      fail("expected a string in the header");
      return {};
    }
    const char quote = file_[at_++];
    const std::size_t close = file_.substr(0, end_).find(quote, at_);
    if (close == std::string_view::npos) {
      fail("a string of the header does not end");
      return {};
    }
    std::string text(file_.substr(at_, close - at_));
    at_ = close + 1;
    return text;
  }

  void read_order() {
    if (take_word("True"))
      header_.fortran_order = true;
    else if (!take_word("False"))
      fail("expected True or False as fortran_order");
  }

  void read_shape() {
    header_.shape.clear();
    expect('(');
    while (ok() && !at(')')) {
      read_size();
      if (!at(')'))
        expect(',');
    }
    expect(')');
  }

  void read_size() {
    skip_blanks();
    std::int64_t size = 0;
    const char *begin = file_.data() + at_;
    const auto result = std::from_chars(begin, file_.data() + end_, size);
    if (result.ec != std::errc() || size < 0)
      return fail("expected the size of a dimension");
    at_ += static_cast<std::size_t>(result.ptr - begin);
    header_.shape.push_back(size);
  }

  std::string_view file_;
  std::size_t at_;
  std::size_t end_;
  std::string error_;
  NpyHeader header_;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Where the header's text begins and ends.
struct HeaderPlace {
  std::size_t begin;
  std::size_t end;
};

tl::expected<HeaderPlace, std::string> find_header(std::string_view file) {
  if (!file.starts_with(magic))
    return tl::unexpected(std::string("byte 0: expected the magic bytes of a .npy file"));
  if (file.size() < magic.size() + version_bytes)
    return tl::unexpected(fmt::format("byte {}: the file ends within its header", file.size()));
  const unsigned major = static_cast<unsigned char>(file[magic.size()]);
  const unsigned minor = static_cast<unsigned char>(file[magic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0)
    return tl::unexpected(fmt::format("byte {}: found format {}.{}, expected 1.0, 2.0 or 3.0",
                                      magic.size(), major, minor));
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t begin = magic.size() + version_bytes + length_bytes;
  if (file.size() < begin)
    return tl::unexpected(fmt::format("byte {}: the file ends within its header", file.size()));
  const std::size_t length = little_endian(file.substr(magic.size() + version_bytes, length_bytes));
  if (length > file.size() - begin)
    return tl::unexpected(fmt::format("byte {}: the header has {} bytes, but only {} follow",
                                      magic.size() + version_bytes, length, file.size() - begin));
  return HeaderPlace{begin, begin + length};
}

std::string python_shape(std::span<const std::int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

void reverse_items(std::vector<std::byte> &bytes, std::size_t item) {
  for (std::size_t at = 0; at < bytes.size(); at += item)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + item));
}

// Whether the elements of that descr are big-endian; nothing where it is not the dtype's.
std::optional<bool> match_descr(std::string_view found, std::string_view expected) {
  if (found.size() != expected.size() || found.substr(1) != expected.substr(1))
    return std::nullopt;
  const char order = found[0];
  if (order == '>' && expected[0] != '|')
    return true;
  return std::string_view("<=|>").find(order) != std::string_view::npos &&
                 (order != '|' || expected[0] == '|')
             ? std::optional(false)
             : std::nullopt;
}

} // namespace

std::string_view npy_descr(DType dtype) {
  switch (dtype) {
  case DType::Int8:
    return "|i1";
  case DType::Int16:
    return "<i2";
  case DType::Int32:
    return "<i4";
  case DType::Int64:
    return "<i8";
  case DType::Float16:
    return "<f2";
  case DType::Float32:
    return "<f4";
  case DType::Float64:
    return "<f8";
  default:
    break;
  }
  switch (sizeinbytes(dtype)) {
  case 1:
    return "|u1";
  case 2:
    return "<u2";
  case 4:
    return "<u4";
  default:
    return "<u8";
  }
}

std::string to_npy(const HostTensor &tensor) {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                  npy_descr(tensor.type->dtype()), python_shape(tensor.type->shape()));
  constexpr std::size_t prefix = magic.size() + version_bytes + 2;
  const std::size_t used = prefix + header.size() + 1;
  header.append((alignment - used % alignment) % alignment, ' ');
  header += '\n';
  std::string file(magic);
  file += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
           static_cast<char>(header.size() >> 8)};
  file += header;
  file.append(reinterpret_cast<const char *>(tensor.bytes.data()), tensor.bytes.size());
  return file;
}

tl::expected<HostTensor, std::string> from_npy(std::string_view file, const Type *type) {
  const auto place = find_header(file);
  if (!place)
    return tl::unexpected(place.error());
  const auto header = HeaderReader(file, place->begin, place->end).read();
  if (!header)
    return tl::unexpected(header.error());
  const std::string_view descr = npy_descr(type->dtype());
  const auto big_endian = match_descr(header->descr, descr);
  if (!big_endian)
    return tl::unexpected(fmt::format("byte {}: found elements '{}', expected '{}' for {}",
                                      place->begin, header->descr, descr,
                                      dtype2str(type->dtype())));
  if (!std::ranges::equal(header->shape, type->shape()))
    return tl::unexpected(fmt::format("byte {}: found the shape {}, expected {}", place->begin,
                                      python_shape(header->shape), python_shape(type->shape())));
  if (header->fortran_order && type->rank() > 1)
    return tl::unexpected(
        fmt::format("byte {}: found Fortran order, expected C order", place->begin));
  const std::string_view data = file.substr(place->end);
  if (data.size() != static_cast<std::size_t>(type->size_in_bytes()))
    return tl::unexpected(fmt::format("byte {}: found {} bytes of elements, expected {}",
                                      place->end, data.size(), type->size_in_bytes()));
  HostTensor tensor{type, std::vector<std::byte>(data.size())};
  std::memcpy(tensor.bytes.data(), data.data(), data.size());
  if (*big_endian)
    reverse_items(tensor.bytes, sizeinbytes(type->dtype()));
  return tensor;
}

std::string npy_file_name(std::string_view tensor_name) {
  std::string name;
  for (const char c : tensor_name) {
    const bool inner_point = c == '.' && !name.empty();
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || inner_point;
    if (plain)
      name += c;
    else
      name += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return name + ".npy";
}

} // namespace nir
