#include "driver/cli/files.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/print/printer.h"
#include "lang/nir/parser/parser.h"

namespace nir {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test.
class FilesTest : public testing::Test {
protected:
  FilesTest() {
    folder_ = fs::temp_directory_path() / ("nir-files-test-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  ~FilesTest() override { fs::remove_all(folder_); }

  std::string path(const std::string &name) const { return (folder_ / name).string(); }
  void put(const std::string &name, const std::string &text) const {
    std::ofstream(path(name)) << text;
  }
  std::string get(const std::string &name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  std::size_t num_files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

TEST_F(FilesTest, ReadsAllBytes) {
  const std::string text("a\0b\n\xff", 5);
  put("x", text);
  EXPECT_EQ(read_input(path("x")).value().view(), text);
}

TEST_F(FilesTest, ReadsAnEmptyFile) {
  put("x", "");
  EXPECT_EQ(read_input(path("x")).value().view(), "");
}

TEST_F(FilesTest, ReadsWhatIsLargerThanOneRead) {
  const std::string text(5'000'000, 'x');
  put("x", text);
  EXPECT_EQ(read_input(path("x")).value().view(), text);
}

// Text whose bytes tell where they are from.
std::string counted_text(std::size_t size) {
  std::string text;
  while (text.size() < size)
    text += std::to_string(text.size()) + ' ';
  text.resize(size);
  return text;
}

constexpr std::size_t window_size = std::size_t{2} << 20;

TEST_F(FilesTest, TheTextOfAFileIsWholeWhereverTheWindowIs) {
  // The ends of pages, of huge pages, and none of either.
  for (const std::size_t size : {window_size, 3 * window_size, 2 * window_size + 4096,
                                 2 * window_size + 4095, 2 * window_size + 12'345}) {
    const std::string text = counted_text(size);
    put("x", text);
    const SourceText read = read_input(path("x")).value();
    ASSERT_TRUE(read.is_file());
    EXPECT_EQ(read.view(), text);
    EXPECT_EQ(read.view().data()[size], 0);
    TextWindow window(read, 0, size);
    for (std::size_t at = 0; at < size; at += window_size / 2) {
      window.advance(at);
      EXPECT_EQ(read.view(), text);
      EXPECT_EQ(read.view().data()[size], 0);
    }
  }
}

// Two readers of one text: neither touches what the other reads.
TEST_F(FilesTest, AWindowStaysInItsPart) {
  const std::string text = counted_text(5 * window_size + 100);
  put("x", text);
  const SourceText read = read_input(path("x")).value();
  const std::size_t middle = 2 * window_size + 1000;
  TextWindow first(read, 0, middle);
  TextWindow second(read, middle, text.size());
  put("x", std::string(text.size(), '!')); // shows where the text is not in memory
  first.advance(0);
  first.advance(window_size);
  first.advance(2 * window_size); // where the other part begins as well
  EXPECT_EQ(read.view()[window_size], '!');
  second.advance(middle);
  second.advance(3 * window_size);
  second.advance(5 * window_size);
  EXPECT_EQ(read.view()[5 * window_size], '!');
  EXPECT_EQ(read.view().data()[text.size()], 0);
}

TEST_F(FilesTest, WhatAFileDoesNotHaveAnyMoreIsNul) {
  const std::string text = counted_text(3 * window_size);
  put("x", text);
  const SourceText read = read_input(path("x")).value();
  TextWindow window(read, 0, text.size());
  fs::resize_file(path("x"), window_size + 10);
  window.advance(window_size);
  EXPECT_EQ(read.view().substr(0, window_size + 10), text.substr(0, window_size + 10));
  EXPECT_EQ(read.view().substr(window_size + 10, window_size - 10),
            std::string(window_size - 10, '\0'));
}

TEST_F(FilesTest, KeepsWhatItReadsFromAPipe) {
  const std::string text(5'000'000, 'x');
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path("pipe")) << text; });
  const auto read = read_input(path("pipe"));
  writer.join();
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->is_file());
  TextWindow(*read, 0, text.size()).advance(1000);
  EXPECT_EQ(read->view(), text);
  EXPECT_EQ(read->view().data()[text.size()], 0);
}

// Of a module that is read from a file, what the parser makes of it and says: the text's memory is
// given back on the way, and names and excerpts are of its beginning.
TEST_F(FilesTest, ParsesAMappedFileAsItDoesAString) {
  std::string text = "func @f {\n  tensor $in : f32[4] dram input\n  %first = load $in : f32[4]\n";
  while (text.size() < 6'000'000)
    text += "  %name" + std::to_string(text.size()) + " = tensor_copy %first : f32[4]\n";
  for (const char *end : {"}\n", "  %first = tensor_copy %none : f32[4]\n}\n"}) {
    put("x", text + end);
    const SourceFile mapped("x", read_input(path("x")).value());
    const SourceFile string("x", text + end);
    ASSERT_TRUE(mapped.source_text().is_file());
    DiagnosticEngine of_mapped, of_string;
    const auto from_mapped = parse(mapped, of_mapped);
    const auto from_string = parse(string, of_string);
    ASSERT_EQ(from_mapped == nullptr, from_string == nullptr);
    if (from_string != nullptr) {
      EXPECT_EQ(to_string(*from_mapped), to_string(*from_string));
    }
    std::string said, expected;
    for (const Diagnostic &item : of_mapped.diagnostics())
      render(item, mapped, said);
    for (const Diagnostic &item : of_string.diagnostics())
      render(item, string, expected);
    EXPECT_EQ(said, expected);
    EXPECT_EQ(said.empty(), from_string != nullptr);
  }
}

TEST_F(FilesTest, SaysWhatCannotBeRead) {
  EXPECT_EQ(read_input(path("none")).error(),
            "cannot read '" + path("none") + "': No such file or directory");
  EXPECT_EQ(read_input(folder_.string()).error(),
            "cannot read '" + folder_.string() + "': Is a directory");
}

TEST_F(FilesTest, WritesANewFile) {
  EXPECT_TRUE(write_file(path("x"), "text"));
  EXPECT_EQ(get("x"), "text");
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(FilesTest, LeavesNothingWithoutCommit) {
  put("x", "old");
  {
    OutputFile file(path("x"));
    ASSERT_TRUE(file.open());
    file.write("new");
    EXPECT_EQ(get("x"), "old");
  }
  EXPECT_EQ(get("x"), "old");
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(FilesTest, KeepsPermissions) {
  put("x", "old");
  ASSERT_EQ(::chmod(path("x").c_str(), 0600), 0);
  EXPECT_TRUE(write_file(path("x"), "new"));
  EXPECT_EQ(get("x"), "new");
  EXPECT_EQ(fs::status(path("x")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FilesTest, FollowsLinks) {
  fs::create_directory(path("folder"));
  put("folder/real", "old");
  fs::create_symlink("folder/real", path("link"));
  fs::create_symlink("link", path("link-to-link"));
  EXPECT_TRUE(write_file(path("link-to-link"), "new"));
  EXPECT_EQ(get("folder/real"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("link-to-link")));
}

TEST_F(FilesTest, FollowsALinkToNothing) {
  fs::create_symlink("new", path("link"));
  EXPECT_TRUE(write_file(path("link"), "text"));
  EXPECT_EQ(get("new"), "text");
}

TEST_F(FilesTest, RefusesLinksInACircle) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  EXPECT_FALSE(write_file(path("a"), "text"));
}

TEST_F(FilesTest, SaysWhatCannotBeWritten) {
  EXPECT_EQ(write_file(path("none/x"), "text").error(),
            "cannot write '" + path("none/x") + "': No such file or directory");
  EXPECT_EQ(write_file(folder_.string(), "text").error(),
            "cannot write '" + folder_.string() + "': Is a directory");
  EXPECT_EQ(num_files(), 0u);
}

TEST_F(FilesTest, WritesDevicesDirectly) {
  EXPECT_TRUE(write_file("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(write_file("/dev/full", "text").error(),
            "cannot write '/dev/full': No space left on device");
}

TEST_F(FilesTest, TwoOutputsInOneFolderDoNotMeet) {
  OutputFile a(path("a"));
  OutputFile b(path("b"));
  ASSERT_TRUE(a.open());
  ASSERT_TRUE(b.open());
  a.write("A");
  b.write("B");
  EXPECT_TRUE(a.commit());
  EXPECT_TRUE(b.commit());
  EXPECT_EQ(get("a") + get("b"), "AB");
}

TEST_F(FilesTest, DisplayNameOfStandardInput) {
  EXPECT_EQ(display_name("-"), "<stdin>");
  EXPECT_EQ(display_name("x"), "x");
}

} // namespace
} // namespace nir
