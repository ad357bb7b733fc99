// nir-gen SHAPE --size N --seed S: makes a synthetic module; nir-gen replicate FILE --size N: a
// large one of a real one (tools, nir-gen).

#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/generator/generator.h"
#include "bench/generator/naming.h"
#include "bench/generator/replicate.h"
#include "driver/cli/cli.h"
#include "driver/cli/files.h"
#include "driver/cli/module_form.h"
#include "driver/cli/progress.h"

namespace nir {
namespace {

constexpr std::string_view tool = "nir-gen";
constexpr std::string_view replicate_word = "replicate"; // in place of a shape
constexpr std::uint64_t long_size = 1'000'000; // instructions that are worth showing progress

struct Arguments {
  std::string shape;
  std::string file; // of replicate
  std::uint64_t size = 1000;
  std::uint64_t seed = 0;
  std::string target{default_target().name};
  bool legal = false;
  bool small = false;
  bool large = false;
  bool chain = false;
  std::string names; // a word of naming_words(), or empty: as the shape or the file has them
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

std::vector<std::string_view> first_words() {
  std::vector<std::string_view> words = shape_names();
  words.push_back(replicate_word);
  return words;
}

std::string shape_table() {
  std::vector<HelpRow> rows;
  for (const ShapeInfo &shape : all_shapes())
    rows.push_back({shape.name, shape.doc});
  rows.push_back({replicate_word, "copies of what FILE holds, under fresh names"});
  return help_table("Shapes", rows);
}

void add_options(CLI::App &app, Arguments &arguments) {
  app.add_option("SHAPE", arguments.shape, "what the module looks like, see below")
      ->type_name("")
      ->check(check_word("shape", first_words()));
  app.add_option("FILE", arguments.file, "replicate: the module; - is standard input")
      ->type_name("");
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
  app.add_option("--names", arguments.names,
                 fmt::format("how values are called: {}; else as by the shape, numbers, or as in "
                             "FILE",
                             fmt::join(naming_words(), "|")))
      ->type_name("KIND")
      ->check(check_word("kind of names", {naming_words().begin(), naming_words().end()}));
  app.add_flag("--chain", arguments.chain,
               "replicate: the copies one behind the other in one function, each reading what the "
               "one before has written; else as many functions");
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

// Shapes have numbers, and a few names, as it is.
void apply_names(const Arguments &arguments, Module &module) {
  const std::optional<Naming> naming = find_naming(arguments.names);
  if (!naming)
    return;
  if (*naming != Naming::Numbers)
    rename(module, *naming, RenameScope::Numbered);
  else if (arguments.shape == replicate_word)
    rename(module, *naming, RenameScope::Everything);
}

tl::expected<void, FileError> write_result(const Arguments &arguments, Module &module) {
  apply_names(arguments, module);
  OutputFile file(arguments.output);
  if (auto opened = file.open(); !opened)
    return opened;
  write_module(module, module_form(arguments.emit),
               [&file](std::string_view bytes) { file.write(bytes); });
  return file.commit();
}

int write_generated(const Arguments &arguments) {
  Progress progress(tool, arguments.size >= long_size);
  progress.show("generating");
  const auto module = generate({.shape = arguments.shape,
                                .size = arguments.size,
                                .seed = arguments.seed,
                                .target = *find_target(arguments.target),
                                .legal = arguments.legal,
                                .small = wants_small(arguments)});
  return report(write_result(arguments, *module));
}

int write_replicated(const Arguments &arguments) {
  auto text = read_input(arguments.file);
  if (!text)
    return report(tl::unexpected(text.error()));
  const SourceFile file(display_name(arguments.file), std::move(*text));
  DiagnosticEngine diagnostics;
  const std::unique_ptr<Module> module = read_module(file, diagnostics);
  if (module == nullptr) {
    std::string rendered;
    for (const Diagnostic &diagnostic : diagnostics.diagnostics())
      if (diagnostic.severity == Severity::Error)
        render(diagnostic, file, rendered);
    std::cerr << rendered << std::flush;
    return exit_status::input_error;
  }
  Progress progress(tool, arguments.size >= long_size);
  progress.show("copying");
  replicate(*module, arguments.size, arguments.chain ? ReplicateAs::Chain : ReplicateAs::Functions);
  return report(write_result(arguments, *module));
}

// What is wrong with the arguments taken together.
std::optional<std::string> conflict(const Arguments &arguments) {
  const bool replicates = arguments.shape == replicate_word;
  if (arguments.shape.empty())
    return fmt::format("no shape was given, expected {}", fmt::join(first_words(), ", "));
  if (replicates && arguments.file.empty())
    return "replicate takes a FILE";
  if (!replicates && !arguments.file.empty())
    return fmt::format("unexpected argument '{}'", arguments.file);
  if (!replicates && arguments.chain)
    return fmt::format("--chain is for {} only", replicate_word);
  return form_conflict(module_form(arguments.emit), arguments.output);
}

int run(int argc, char **argv) {
  Arguments arguments;
  CLI::App app(
      "Makes a synthetic .nir module, or a large one of a real one. The same arguments give "
      "the same text on every machine.");
  set_up_cli(app, tool);
  add_options(app, arguments);
  if (const auto status = parse_cli(app, argc, argv))
    return *status;
  if (arguments.list_shapes)
    return report(write_file("-", shape_table()));
  if (const auto error = conflict(arguments)) {
    print_error(tool, *error);
    return exit_status::usage_error;
  }
  return arguments.shape == replicate_word ? write_replicated(arguments)
                                           : write_generated(arguments);
}

} // namespace
} // namespace nir

int main(int argc, char **argv) { return nir::run_tool(nir::tool, argc, argv, nir::run); }
