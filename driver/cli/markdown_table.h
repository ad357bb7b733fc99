#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nir {

// A Markdown table under construction. Cells are plain text or Markdown; `|` in them is escaped.
class MarkdownTable {
public:
  using Row = std::vector<std::string>;

  explicit MarkdownTable(Row header) : header_(std::move(header)) {}
  void add(Row row) { rows_.push_back(std::move(row)); }
  // Columns are padded to one width, the last one is not.
  std::string text() const;

private:
  Row header_;
  std::vector<Row> rows_;
};

// `word` as Markdown shows code; empty stays empty.
std::string code(std::string_view word);

// The words as code, separated by blanks.
template <class Words> std::string code_list(const Words &words) {
  std::string out;
  for (const auto &word : words) {
    if (!out.empty())
      out += ' ';
    out += code(word);
  }
  return out;
}

} // namespace nir
