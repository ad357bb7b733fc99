// nir-doctables [--check] FILE...: rewrites the generated tables of Markdown files in place, or
// with --check says which files differ from what the code says (status 1). `./dev docs` runs it.
#include <iostream>

#include <fmt/format.h>

#include "driver/cli/cli.h"
#include "driver/cli/files.h"
#include "driver/docs/doc_tables.h"

namespace nir {
namespace {

constexpr std::string_view tool = "nir-doctables";

int fail(std::string_view message) {
  print_error(tool, message);
  return exit_status::input_error;
}

int update(const std::string &path, bool only_check) {
  const auto text = read_input(path);
  if (!text)
    return fail(text.error());
  const auto updated = update_doc_tables(std::string(text->view()));
  if (!updated)
    return fail(fmt::format("{}:{}", path, updated.error()));
  if (*updated == text->view())
    return exit_status::success;
  if (only_check)
    return fail(fmt::format("{}: generated tables are not current; run ./dev docs", path));
  if (const auto written = write_file(path, *updated); !written)
    return fail(written.error());
  return exit_status::success;
}

int doctables_main(int argc, char **argv) {
  CLI::App app("Rewrites the generated tables of the documentation");
  set_up_cli(app, tool);
  bool only_check = false;
  std::vector<std::string> files;
  app.add_flag("--check", only_check, "change nothing; fail where a table is not current");
  app.add_option("FILE", files, "Markdown files")->required();
  if (const auto status = parse_cli(app, argc, argv))
    return *status;
  int status = exit_status::success;
  for (const std::string &file : files)
    status = std::max(status, update(file, only_check));
  return status;
}

} // namespace
} // namespace nir

int main(int argc, char **argv) {
  return nir::run_tool(nir::tool, argc, argv, nir::doctables_main);
}
