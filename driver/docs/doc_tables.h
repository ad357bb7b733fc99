#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace nir {

// The tables of the documentation that say what the code says. They stand in Markdown files between
//
//   <!-- generated: NAME -->
//   <!-- end generated -->
//
// each comment on a line of its own. docs/testing.md lists what keeps them current.

// The text of one table, lines with line ends; NAME is one of doc_table_names(). The error names
// what is unknown.
tl::expected<std::string, std::string> doc_table(std::string_view name);

// Every name, `pass NAME` for each pass of passes/pipeline/passes.def included.
std::vector<std::string> doc_table_names();

// `markdown` with the content of each block replaced by its table. The error begins with the line
// number: an unknown name, a block without an end, an end without a block.
tl::expected<std::string, std::string> update_doc_tables(std::string_view markdown);

} // namespace nir
