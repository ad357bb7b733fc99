#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace nir {

// Exit status of every tool (tools, Exit status).
namespace exit_status {
constexpr int success = 0;
constexpr int input_error = 1;
constexpr int usage_error = 2;
constexpr int internal_error = 70;
} // namespace exit_status

// What is the same on every tool's command line: `--help`, `--version`, and errors that say what
// was given, what was expected, and the nearest known word.
void set_up_cli(CLI::App &app, std::string_view tool);

// Parses the command line. A value means that the program is to end with that status: `--help` and
// `--version` have been answered, an error has been reported.
std::optional<int> parse_cli(CLI::App &app, int argc, char **argv);

// `tool: error: message` on standard error.
void print_error(std::string_view tool, std::string_view message);

// Runs a tool's body, with an internal error for what it throws. Broken pipes become write errors.
int run_tool(std::string_view tool, int argc, char **argv, int (*body)(int argc, char **argv));

// A word as a shell takes it, in quotes where it needs them.
std::string shell_word(std::string_view word);

// The command as a shell takes it.
std::string command_text(int argc, char **argv);

// Checks of one argument. `what` is the noun of the message: "target".
CLI::Validator check_word(std::string what, std::vector<std::string_view> words);
CLI::Validator check_word_list(std::string what, std::vector<std::string_view> words); // a,b,c
CLI::Validator check_number(std::uint64_t min, std::uint64_t max);

// `unknown target 'trn9' (did you mean 'trn2'?)`, with the known words where none is near and they
// are few.
std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string_view> known);

// Rows of a table in two columns, for help.
struct HelpRow {
  std::string_view word;
  std::string_view text;
};
std::string help_table(std::string_view title, std::span<const HelpRow> rows);

} // namespace nir
