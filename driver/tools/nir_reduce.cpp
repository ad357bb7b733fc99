// nir-reduce FILE --test CMD: the smallest module for which CMD still exits 0 (tools, nir-reduce).

#include <iostream>
#include <limits>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "driver/cli/cli.h"
#include "driver/cli/files.h"
#include "driver/cli/module_form.h"
#include "driver/cli/progress.h"
#include "driver/reduce/reduce.h"
#include "driver/reduce/reduce_command.h"
#include "ir/print/printer.h"

namespace nir {
namespace {

constexpr std::string_view tool = "nir-reduce";

struct Arguments {
  std::string input = "-";
  std::string test;
  std::string output = "-";
  std::uint64_t max_tests = std::numeric_limits<std::uint64_t>::max();
};

int fail(std::string_view message) {
  print_error(tool, message);
  return exit_status::input_error;
}

void add_options(CLI::App &app, Arguments &arguments) {
  app.add_option("FILE", arguments.input, "the module; standard input where there is none or -")
      ->type_name("");
  app.add_option(
         "--test", arguments.test,
         "shell command that exits 0 for what is of interest; it gets a candidate's path as "
         "its last argument, or wherever it says {}")
      ->type_name("CMD");
  app.add_option("--max-tests", arguments.max_tests, "stop after so many runs of the command")
      ->type_name("N")
      ->check(check_number(1, std::numeric_limits<std::uint64_t>::max()));
  app.add_option("-o,--output", arguments.output, "where the module goes; - is standard output")
      ->type_name("FILE");
  app.footer(
      "What it tries: to leave out functions, statements, tensors, operands, attributes and\n"
      "marks, to make one trip of a loop, and dimensions smaller. All it tries is "
      "well-formed.");
}

std::unique_ptr<Module> read_input_module(const SourceFile &file) {
  DiagnosticEngine diagnostics;
  std::unique_ptr<Module> module = read_module(file, diagnostics);
  if (module != nullptr)
    return module;
  std::string text;
  for (const Diagnostic &diagnostic : diagnostics.diagnostics())
    if (diagnostic.severity == Severity::Error)
      render(diagnostic, file, text);
  std::cerr << text << std::flush;
  return nullptr;
}

int reduce_file(const Arguments &arguments) {
  auto text = read_input(arguments.input);
  if (!text)
    return fail(text.error());
  const SourceFile file(display_name(arguments.input), std::move(*text));
  std::unique_ptr<Module> module = read_input_module(file);
  if (module == nullptr)
    return exit_status::input_error;
  auto command = ReduceCommand::create(arguments.test);
  if (!command)
    return fail(command.error());
  OutputFile output(arguments.output);
  if (const auto opened = output.open(); !opened)
    return fail(opened.error());

  Progress progress(tool, true);
  const ReduceOptions options{
      .max_tests = arguments.max_tests,
      .progress = [&progress](std::string_view stage, std::size_t statements, std::uint64_t tests) {
        progress.show(fmt::format("{}; {} statements, {} tests", stage, statements, tests));
      }};
  const ReduceResult result = reduce(
      std::move(module), [&](std::string_view candidate) { return command->accepts(candidate); },
      options);
  progress.clear();
  if (result.module == nullptr)
    return fail(fmt::format("the test does not exit 0 on the input: {}", arguments.test));
  print(*result.module, [&output](std::string_view piece) { output.write(piece); });
  const auto written = output.commit();
  return written ? exit_status::success : fail(written.error());
}

int run(int argc, char **argv) {
  Arguments arguments;
  CLI::App app("Makes a module as small as it gets while a command still exits 0 for it.");
  set_up_cli(app, tool);
  add_options(app, arguments);
  if (const auto status = parse_cli(app, argc, argv))
    return *status;
  if (arguments.test.empty()) {
    print_error(tool, "no --test was given, expected a command");
    return exit_status::usage_error;
  }
  return reduce_file(arguments);
}

} // namespace
} // namespace nir

int main(int argc, char **argv) { return nir::run_tool(nir::tool, argc, argv, nir::run); }
