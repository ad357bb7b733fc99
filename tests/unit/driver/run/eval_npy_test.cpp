#include "driver/run/npy.h"

#include "ir/core/module.h"
#include "tests/unit/support/eval_module.h"

namespace nir::test {
namespace {

class Npy : public testing::Test {
protected:
  const Type *type(DType dtype, std::initializer_list<std::int64_t> shape) {
    return *module_.types().get(dtype, std::span(shape.begin(), shape.size()));
  }
  // A file of format 1.0, or another, with that header and data.
  static std::string file(std::string header, std::string_view data, char major = 1) {
    std::string text = "\x93NUMPY";
    text += {major, '\0', static_cast<char>(header.size()), '\0'};
    if (major > 1)
      text += std::string(2, '\0');
    return text + header + std::string(data);
  }
  static std::string header(std::string_view descr, std::string_view shape,
                            std::string_view order = "False") {
    return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr, order,
                       shape);
  }
  std::string error(std::string_view text, const Type *t) {
    const auto read = from_npy(text, t);
    return read ? "none" : read.error();
  }
  Module module_;
};

TEST_F(Npy, IsWhatNumPyWrites) {
  const std::string text = to_npy(host_tensor(type(DType::Float32, {2}), {0x3f800000, 0x40000000}));
  EXPECT_EQ(text.size(), 128u + 8u);
  EXPECT_EQ(text.substr(0, 10), std::string("\x93NUMPY\x01\x00v\x00", 10));
  EXPECT_EQ(text.substr(10, 57), "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }");
  EXPECT_EQ(text[127], '\n');
  EXPECT_EQ(text.substr(128), std::string("\0\0\x80\x3f\0\0\0\x40", 8));
}

TEST_F(Npy, RoundTrips) {
  for (const DType dtype : all_dtypes()) {
    HostTensor tensor{type(dtype, {2, 3}), std::vector<std::byte>(6 * sizeinbytes(dtype))};
    for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
      tensor.bytes[i] = static_cast<std::byte>(i * 41 + 7);
    const auto again = from_npy(to_npy(tensor), tensor.type);
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(again->bytes, tensor.bytes);
  }
}

TEST_F(Npy, DtypesThatNumPyLacksAreUnsigned) {
  EXPECT_EQ(npy_descr(DType::Bfloat16), "<u2");
  EXPECT_EQ(npy_descr(DType::Float8E4), "|u1");
  EXPECT_EQ(npy_descr(DType::Float32r), "<u4");
  EXPECT_EQ(npy_descr(DType::Float8E5m2X4), "<u4");
  EXPECT_EQ(npy_descr(DType::Float16), "<f2");
  EXPECT_EQ(npy_descr(DType::Uint64), "<u8");
  EXPECT_EQ(npy_descr(DType::Int8), "|i1");
}

TEST_F(Npy, ReadsEveryFormat) {
  const Type *t = type(DType::Int16, {2});
  for (const char major : {'\1', '\2', '\3'}) {
    const auto read = from_npy(file(header("<i2", "(2,)"), std::string("\1\0\2\0", 4), major), t);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(tensor_text(*read), "1 2");
  }
}

TEST_F(Npy, ReadsOtherSpellings) {
  const Type *t = type(DType::Int16, {1, 2});
  const std::string data("\1\0\2\0", 4);
  EXPECT_EQ(error(file("{\"shape\":(1,2),\"descr\":\"=i2\",\"fortran_order\":False}", data), t),
            "none");
  EXPECT_EQ(
      error(file("  { 'fortran_order' : False , 'descr':'<i2', 'shape': ( 1 , 2 ) } \n", data), t),
      "none");
}

TEST_F(Npy, TurnsBigEndianRound) {
  const auto read =
      from_npy(file(header(">i2", "(2,)"), std::string("\0\1\1\0", 4)), type(DType::Int16, {2}));
  ASSERT_TRUE(read);
  EXPECT_EQ(tensor_text(*read), "1 256");
}

TEST_F(Npy, FortranOrderIsRefusedWhereItMatters) {
  EXPECT_EQ(error(file(header("<i2", "(2, 1)", "True"), "abcd"), type(DType::Int16, {2, 1})),
            "byte 10: found Fortran order, expected C order");
  EXPECT_EQ(error(file(header("<i2", "(2,)", "True"), "abcd"), type(DType::Int16, {2})), "none");
}

TEST_F(Npy, TheHeaderMustSayTheType) {
  const Type *t = type(DType::Int16, {2});
  EXPECT_EQ(error(file(header("<u2", "(2,)"), "abcd"), t),
            "byte 10: found elements '<u2', expected '<i2' for int16");
  EXPECT_EQ(error(file(header("<i2", "(2, 1)"), "abcd"), t),
            "byte 10: found the shape (2, 1), expected (2,)");
  EXPECT_EQ(error(file(header("<i2", "()"), "ab"), t),
            "byte 10: found the shape (), expected (2,)");
}

TEST_F(Npy, ScalarsHaveAnEmptyShape) {
  EXPECT_EQ(error(file(header("|u1", "()"), "a"), type(DType::Uint8, {})), "none");
}

TEST_F(Npy, MalformedFilesAreLocatedErrors) {
  const Type *t = type(DType::Int16, {2});
  EXPECT_EQ(error("", t), "byte 0: expected the magic bytes of a .npy file");
  EXPECT_EQ(error("\x93NUMPY", t), "byte 6: the file ends within its header");
  EXPECT_EQ(error(std::string("\x93NUMPY\x04\x00..", 10), t),
            "byte 6: found format 4.0, expected 1.0, 2.0 or 3.0");
  EXPECT_EQ(error(std::string("\x93NUMPY\x02\x00..", 10), t),
            "byte 10: the file ends within its header");
  EXPECT_EQ(error(std::string("\x93NUMPY\x01\x00\xff\xff", 10), t),
            "byte 8: the header has 65535 bytes, but only 0 follow");
  EXPECT_EQ(error(file("", ""), t), "byte 10: expected '{' in the header");
  EXPECT_EQ(error(file("{'descr'", ""), t), "byte 18: expected ':' in the header");
  EXPECT_EQ(error(file("{'descr': 'abc", ""), t), "byte 21: a string of the header does not end");
  EXPECT_EQ(error(file("{'descr': [('a', '<i2')]}", ""), t),
            "byte 20: expected elements of one number each");
  EXPECT_EQ(error(file("{'shape': (2,), 'descr': '<i2'}", ""), t),
            "byte 41: the header has no 'fortran_order'");
  EXPECT_EQ(error(file("{'other': 1}", ""), t), "byte 11: unknown key 'other' in the header");
  EXPECT_EQ(error(file("{'shape': (-2,)}", ""), t), "byte 21: expected the size of a dimension");
  EXPECT_EQ(error(file("{'shape': (99999999999999999999,)}", ""), t),
            "byte 21: expected the size of a dimension");
  EXPECT_EQ(error(file("{'fortran_order': 1}", ""), t),
            "byte 28: expected True or False as fortran_order");
  EXPECT_EQ(error(file(header("<i2", "(2,)") + "x", "abcd"), t),
            "byte 68: expected the end of the header");
  EXPECT_EQ(error(file(header("<i2", "(2,)"), "abc"), t),
            "byte 68: found 3 bytes of elements, expected 4");
  EXPECT_EQ(error(file(header("<i2", "(2,)"), "abcde"), t),
            "byte 68: found 5 bytes of elements, expected 4");
}

// Every prefix of a good file, and every byte of it spoiled: an error or a tensor, nothing else.
TEST_F(Npy, BadBytesDoNoHarm) {
  const HostTensor tensor = host_tensor(type(DType::Int16, {2}), {1, 2});
  const std::string good = to_npy(tensor);
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(from_npy(good.substr(0, i), tensor.type));
    for (const char byte : {'\0', '\xff', '(', '\''}) {
      std::string bad = good;
      bad[i] = byte;
      const auto read = from_npy(bad, tensor.type);
      EXPECT_TRUE(read || !read.error().empty());
    }
  }
}

TEST_F(Npy, FileNamesStayInTheirFolder) {
  EXPECT_EQ(npy_file_name("y"), "y.npy");
  EXPECT_EQ(npy_file_name("a.b-c_1"), "a.b-c_1.npy");
  EXPECT_EQ(npy_file_name("../x"), "%2E.%2Fx.npy");
  EXPECT_EQ(npy_file_name("a b%"), "a%20b%25.npy");
}

} // namespace
} // namespace nir::test
