#include "driver/cli/markdown_table.h"

#include <algorithm>

namespace nir {
namespace {

constexpr std::size_t max_padding = 40; // longer cells stick out, and pad no others

std::string escaped(std::string_view cell) {
  std::string out;
  for (const char c : cell) {
    if (c == '|')
      out += '\\';
    out += c;
  }
  return out;
}

void append_row(const MarkdownTable::Row &row, const std::vector<std::size_t> &widths,
                std::string &out) {
  out += '|';
  for (std::size_t i = 0; i < row.size(); ++i) {
    out += ' ' + row[i];
    if (i + 1 < row.size() && row[i].size() < widths[i])
      out.append(widths[i] - row[i].size(), ' ');
    out += " |";
  }
  out += '\n';
}

} // namespace

std::string MarkdownTable::text() const {
  std::vector<Row> rows{header_};
  rows.insert(rows.end(), rows_.begin(), rows_.end());
  std::vector<std::size_t> widths(header_.size(), 0);
  for (Row &row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = escaped(row[i]);
      widths[i] = std::max(widths[i], std::min(row[i].size(), max_padding));
    }
  std::string out;
  append_row(rows[0], widths, out);
  out += '|';
  for (std::size_t i = 0; i < header_.size(); ++i)
    out.append((i + 1 < header_.size() ? widths[i] : rows[0][i].size()) + 2, '-') += '|';
  out += '\n';
  for (std::size_t i = 1; i < rows.size(); ++i)
    append_row(rows[i], widths, out);
  return out;
}

std::string code(std::string_view word) {
  return word.empty() ? std::string() : "`" + std::string(word) + "`";
}

} // namespace nir
