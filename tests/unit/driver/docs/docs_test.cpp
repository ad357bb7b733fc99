// The documentation says what the code says: generated tables are current, every `nir` block is
// well-formed, every pass is documented. tests/docs checks the rest.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driver/docs/doc_tables.h"
#include "ir/verify/verifier.h"
#include "lang/nir/parser/parser.h"
#include "passes/core/pass.h"

namespace nir {
namespace {

struct Document {
  std::string path;
  std::string text;
};

Document read_document(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return {path.string(), text.str()};
}

const std::vector<Document> &documents() {
  static const std::vector<Document> all = [] {
    const std::filesystem::path root = NIR_SOURCE_DIR;
    std::set<std::filesystem::path> paths{root / "README.md"};
    for (const auto &entry : std::filesystem::recursive_directory_iterator(root / "docs"))
      if (entry.path().extension() == ".md")
        paths.insert(entry.path());
    std::vector<Document> found;
    for (const auto &path : paths)
      found.push_back(read_document(path));
    return found;
  }();
  return all;
}

struct NirBlock {
  std::string place; // file:line
  std::string text;
};

// A block without a function is the body of one. The newlines in front keep the lines of messages
// those of the document.
std::string as_module(std::size_t line, const std::string &block) {
  const bool is_module = block.find("func @") != std::string::npos || block.starts_with("module");
  const std::string lead(line, '\n');
  return is_module ? lead + block : lead.substr(1) + "func @example {\n" + block + "}\n";
}

std::vector<NirBlock> nir_blocks() {
  std::vector<NirBlock> blocks;
  for (const Document &document : documents()) {
    std::istringstream lines(document.text);
    std::string line;
    std::string text;
    std::size_t number = 0;
    std::size_t begin = 0; // 0: outside
    while (std::getline(lines, line)) {
      ++number;
      if (begin == 0 && (line == "```nir" || line.starts_with("```nir "))) {
        begin = number;
        text.clear();
      } else if (begin != 0 && line == "```") {
        blocks.push_back({document.path + ':' + std::to_string(begin), as_module(begin, text)});
        begin = 0;
      } else if (begin != 0) {
        text += line + '\n';
      }
    }
  }
  return blocks;
}

std::string rendered(const DiagnosticEngine &diagnostics, const SourceFile &file) {
  std::string out;
  for (const Diagnostic &diagnostic : diagnostics.diagnostics())
    render(diagnostic, file, out);
  return out;
}

TEST(Docs, GeneratedTablesAreCurrent) {
  for (const Document &document : documents()) {
    const auto updated = update_doc_tables(document.text);
    ASSERT_TRUE(updated) << document.path << ':' << updated.error();
    EXPECT_TRUE(*updated == document.text)
        << document.path << ": a generated table is not current; run ./dev docs";
  }
}

TEST(Docs, NirBlocksAreWellFormed) {
  const std::vector<NirBlock> blocks = nir_blocks();
  EXPECT_FALSE(blocks.empty());
  for (const NirBlock &block : blocks) {
    const SourceFile file(block.place, block.text);
    DiagnosticEngine diagnostics;
    const auto module = parse(file, diagnostics);
    const bool well_formed =
        module != nullptr && verify(*module, VerifyLevel::Structure, diagnostics);
    EXPECT_TRUE(well_formed) << block.place << '\n' << rendered(diagnostics, file);
  }
}

TEST(Docs, EveryTableIsUsed) {
  for (const std::string &name : doc_table_names()) {
    bool used = false;
    for (const Document &document : documents())
      used |= document.text.find("<!-- generated: " + name + " -->\n") != std::string::npos;
    EXPECT_TRUE(used) << "no document has a block for '" << name << "'";
  }
}

TEST(DocTables, RewritesTheContentOfBlocks) {
  const auto functions = doc_table("functions");
  ASSERT_TRUE(functions);
  const auto updated =
      update_doc_tables("a\n<!-- generated: functions -->\nold\n<!-- end generated -->\nb");
  ASSERT_TRUE(updated) << updated.error();
  EXPECT_EQ(*updated,
            "a\n<!-- generated: functions -->\n" + *functions + "<!-- end generated -->\nb");
}

TEST(DocTables, RefusesBadBlocks) {
  EXPECT_EQ(update_doc_tables("\n<!-- generated: function -->\n").error(),
            "2: unknown table 'function' (did you mean 'functions'?)");
  EXPECT_EQ(update_doc_tables("<!-- generated: functions -->\n").error(),
            "1: generated block without an end");
  EXPECT_EQ(update_doc_tables("<!-- end generated -->\n").error(),
            "1: end of a generated block that has no beginning");
  EXPECT_EQ(update_doc_tables("<!-- generated: dtypes -->\n<!-- generated: dtypes -->\n").error(),
            "2: generated block inside another one");
}

} // namespace
} // namespace nir
