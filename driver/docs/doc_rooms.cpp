#include "driver/docs/doc_rooms.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "driver/cli/markdown_table.h"

namespace nir {
namespace {

namespace fs = std::filesystem;

// The parts of a row of rooms.txt, between ` | `.
std::vector<std::string> parts_of(std::string_view row) {
  constexpr std::string_view bar = "|";
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = row.find(bar);
    std::string_view part = row.substr(0, end);
    while (part.starts_with(' '))
      part.remove_prefix(1);
    while (part.ends_with(' '))
      part.remove_suffix(1);
    parts.emplace_back(part);
    if (end == std::string_view::npos)
      return parts;
    row.remove_prefix(end + bar.size());
  }
}

bool is_source(const fs::path &file) {
  constexpr std::array<std::string_view, 5> endings{".h", ".cpp", ".def", ".re", ".y"};
  return std::ranges::find(endings, file.extension().string()) != endings.end();
}

struct Size {
  std::size_t files = 0;
  std::size_t lines = 0;
};

Size size_of(const fs::path &room) {
  Size size;
  for (const fs::directory_entry &entry : fs::directory_iterator(room)) {
    if (!is_source(entry.path()))
      continue;
    ++size.files;
    std::ifstream text(entry.path());
    for (std::string line; std::getline(text, line);)
      ++size.lines;
  }
  return size;
}

} // namespace

std::string doc_rooms(const std::string &root) {
  constexpr std::size_t step = 100;
  MarkdownTable table({"room", "files", "lines", "uses", "what it is for"});
  std::ifstream rows(root + "/cmake/rooms.txt");
  for (std::string row; std::getline(rows, row);) {
    if (row.starts_with('#'))
      continue;
    const std::vector<std::string> parts = parts_of(row);
    const Size size = size_of(fs::path(root) / parts.at(0));
    table.add({code(parts.at(0)), std::to_string(size.files),
               std::to_string((size.lines + step - 1) / step * step), parts.at(1), parts.at(2)});
  }
  return table.text();
}

} // namespace nir
