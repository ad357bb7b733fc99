// nir-gen SHAPE --size N --seed S: makes a synthetic module (tools, nir-gen).

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/generator/generator.h"
#include "driver/cli/cli.h"
#include "driver/cli/files.h"
#include "driver/cli/module_form.h"
#include "driver/cli/progress.h"

namespace nir {
namespace {

constexpr std::string_view tool = "nir-gen";
constexpr std::uint64_t long_size = 1'000'000; // instructions that are worth showing progress

struct Arguments {
  std::string shape;
  std::uint64_t size = 1000;
  std::uint64_t seed = 0;
  std::string target{default_target().name};
  bool legal = false;
  bool small = false;
  bool large = false;
  std::string output = "-";
  std::string emit{module_form_words().front()};
  bool list_shapes = false;
};

std::vector<std::string_view> shape_names() {
  std::vector<std::string_view> names;
  for (const ShapeInfo &shape : all_shapes())
    names.push_back(shape.name);
  return names;
}

std::string shape_table() {
  std::vector<HelpRow> rows;
  for (const ShapeInfo &shape : all_shapes())
    rows.push_back({shape.name, shape.doc});
  return help_table("Shapes", rows);
}

void add_options(CLI::App &app, Arguments &arguments) {
  app.add_option("SHAPE", arguments.shape, "what the module looks like, see below")
      ->type_name("")
      ->check(check_word("shape", shape_names()));
  app.add_option("--size", arguments.size, "about how many instructions, loops included")
      ->type_name("N")
      ->check(check_number(1, max_generator_size))
      ->capture_default_str();
  app.add_option("--seed", arguments.seed, "another seed, another module of the shape")
      ->type_name("S")
      ->check(check_number(0, ~std::uint64_t{0}))
      ->capture_default_str();
  app.add_option("--target", arguments.target, "the target of the module")
      ->type_name("NAME")
      ->check(check_word("target", {target_names().begin(), target_names().end()}))
      ->capture_default_str();
  app.add_flag("--legal,!--not-legal", arguments.legal,
               "random: in legal form; or with work for legalize-dtype, as by default");
  auto *small = app.add_flag("--small", arguments.small,
                             fmt::format("random: no dimension above {}; so below size {} anyhow",
                                         max_small_extent, small_size));
  app.add_flag("--large", arguments.large, "random: larger dimensions, also below that size")
      ->excludes(small);
  app.add_option("-o,--output", arguments.output, "where the module goes; - is standard output")
      ->type_name("FILE");
  app.add_option("--emit", arguments.emit, module_form_doc())
      ->type_name("FORM")
      ->check(check_word("form", {module_form_words().begin(), module_form_words().end()}))
      ->capture_default_str();
  app.add_flag("--list-shapes", arguments.list_shapes, "print the known shapes");
  app.footer(shape_table());
}

int report(const tl::expected<void, FileError> &written) {
  if (written)
    return exit_status::success;
  print_error(tool, written.error());
  return exit_status::input_error;
}

std::optional<bool> wants_small(const Arguments &arguments) {
  if (arguments.small || arguments.large)
    return arguments.small;
  return std::nullopt;
}

tl::expected<void, FileError> write_generated(const Arguments &arguments) {
  Progress progress(tool, arguments.size >= long_size);
  progress.show("generating");
  const auto module = generate({.shape = arguments.shape,
                                .size = arguments.size,
                                .seed = arguments.seed,
                                .target = *find_target(arguments.target),
                                .legal = arguments.legal,
                                .small = wants_small(arguments)});
  progress.show("writing");
  OutputFile file(arguments.output);
  if (auto opened = file.open(); !opened)
    return opened;
  write_module(*module, module_form(arguments.emit),
               [&file](std::string_view bytes) { file.write(bytes); });
  return file.commit();
}

int run(int argc, char **argv) {
  Arguments arguments;
  CLI::App app("Makes a synthetic .nir module. The same shape, size and seed give the same text on "
               "every machine.");
  set_up_cli(app, tool);
  add_options(app, arguments);
  if (const auto status = parse_cli(app, argc, argv))
    return *status;
  if (arguments.list_shapes)
    return report(write_file("-", shape_table()));
  if (arguments.shape.empty()) {
    print_error(tool,
                fmt::format("no shape was given, expected {}", fmt::join(shape_names(), ", ")));
    return exit_status::usage_error;
  }
  if (const auto error = form_conflict(module_form(arguments.emit), arguments.output)) {
    print_error(tool, *error);
    return exit_status::usage_error;
  }
  return report(write_generated(arguments));
}

} // namespace
} // namespace nir

int main(int argc, char **argv) { return nir::run_tool(nir::tool, argc, argv, nir::run); }
