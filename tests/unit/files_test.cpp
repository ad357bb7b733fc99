#include "driver/files.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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
  EXPECT_EQ(read_input(path("x")).value(), text);
}

TEST_F(FilesTest, ReadsAnEmptyFile) {
  put("x", "");
  EXPECT_EQ(read_input(path("x")).value(), "");
}

TEST_F(FilesTest, ReadsWhatIsLargerThanOneRead) {
  const std::string text(5'000'000, 'x');
  put("x", text);
  EXPECT_EQ(read_input(path("x")).value(), text);
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
