#include "driver/cli/cli.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <exception>
#include <iostream>
#include <new>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/diagnostics/diagnostic.h"

namespace nir {
namespace {

constexpr std::size_t max_listed_words = 8;

bool is_shell_safe(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-./=,:+@%").find(c) != std::string_view::npos;
}

// CLI11 takes the next argument as the value of `--option=`: an empty value has to stand alone.
std::vector<std::string> arguments_of(const CLI::App &app, int argc, char **argv) {
  std::vector<std::string> arguments;
  bool only_positionals = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    only_positionals = only_positionals || argument == "--";
    const bool is_empty_value =
        !only_positionals && argument.starts_with("--") && argument.ends_with('=');
    const std::string name = argument.substr(0, argument.find('='));
    const CLI::Option *option = is_empty_value ? app.get_option_no_throw(name) : nullptr;
    if (option != nullptr && option->get_items_expected_min() > 0) {
      arguments.push_back(name);
      arguments.emplace_back();
    } else {
      arguments.push_back(argument);
    }
  }
  return arguments;
}

std::string unknown_option(const CLI::App &app, const std::string &argument) {
  const std::string name = argument.substr(0, argument.find('='));
  std::vector<std::string> known;
  for (const CLI::Option *option : app.get_options()) {
    for (const std::string &word : option->get_lnames())
      known.push_back("--" + word);
    for (const std::string &word : option->get_snames())
      known.push_back("-" + word);
  }
  const std::vector<std::string_view> words(known.begin(), known.end());
  return fmt::format("unknown option '{}'{}", name, did_you_mean(name, words));
}

// Options that nothing knows. A tool without positionals has none left over either.
std::optional<std::string> leftover_error(const CLI::App &app) {
  for (const std::string &argument : app.remaining()) {
    if (argument.size() > 1 && argument[0] == '-')
      return unknown_option(app, argument);
    return fmt::format("unexpected argument '{}'", argument);
  }
  return std::nullopt;
}

} // namespace

void set_up_cli(CLI::App &app, std::string_view tool) {
  app.name(std::string(tool));
  app.allow_extras(); // they are reported by parse_cli, with suggestions
  app.set_help_flag("-h,--help", "print this and exit");
  app.set_version_flag("--version", fmt::format("{} {}", tool, NIR_VERSION),
                       "print the version and exit");
  app.get_formatter()->column_width(34);
}

std::optional<int> parse_cli(CLI::App &app, int argc, char **argv) {
  try {
    std::vector<std::string> arguments = arguments_of(app, argc, argv);
    std::reverse(arguments.begin(), arguments.end()); // as CLI11 wants it
    app.parse(std::move(arguments));
  } catch (const CLI::Success &request) { // --help, --version
    return app.exit(request, std::cout, std::cerr);
  } catch (const CLI::Error &error) {
    // An unknown option explains most other errors.
    print_error(app.get_name(), leftover_error(app).value_or(error.what()));
    return exit_status::usage_error;
  }
  if (const auto error = leftover_error(app)) {
    print_error(app.get_name(), *error);
    return exit_status::usage_error;
  }
  return std::nullopt;
}

void print_error(std::string_view tool, std::string_view message) {
  std::cerr << fmt::format("{}: error: {}\n", tool, message) << std::flush;
}

int run_tool(std::string_view tool, int argc, char **argv, int (*body)(int argc, char **argv)) {
  std::signal(SIGPIPE, SIG_IGN);
  std::string reason;
  try {
    return body(argc, argv);
  } catch (const std::bad_alloc &) {
    reason = "out of memory";
  } catch (const std::exception &error) {
    reason = error.what();
  }
  std::cerr << fmt::format("{}: internal error: {}\n{}: to reproduce: {}\n", tool, reason, tool,
                           command_text(argc, argv));
  return exit_status::internal_error;
}

std::string shell_word(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_shell_safe))
    return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string command_text(int argc, char **argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) {
    text += i == 0 ? "" : " ";
    text += shell_word(argv[i]);
  }
  return text;
}

std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string_view> known) {
  std::string message = fmt::format("unknown {} '{}'", what, word);
  const std::string suggestion = did_you_mean(word, known);
  if (!suggestion.empty() || known.size() > max_listed_words)
    return message + suggestion;
  return message + fmt::format(", expected {}", fmt::join(known, ", "));
}

CLI::Validator check_word(std::string what, std::vector<std::string_view> words) {
  return CLI::Validator(
      [what = std::move(what), words = std::move(words)](const std::string &word) {
        if (std::find(words.begin(), words.end(), word) != words.end())
          return std::string();
        return unknown_word(what, word, words);
      },
      "");
}

CLI::Validator check_word_list(std::string what, std::vector<std::string_view> words) {
  return CLI::Validator(
      [what = std::move(what), words = std::move(words)](const std::string &list) {
        for (const std::string &word : CLI::detail::split(list, ','))
          if (std::find(words.begin(), words.end(), word) == words.end())
            return unknown_word(what, word, words);
        return std::string();
      },
      "");
}

CLI::Validator check_number(std::uint64_t min, std::uint64_t max) {
  return CLI::Validator(
      [min, max](const std::string &text) {
        std::uint64_t value = 0;
        const char *end = text.data() + text.size();
        const auto result = std::from_chars(text.data(), end, value);
        if (result.ec == std::errc() && result.ptr == end && value >= min && value <= max)
          return std::string();
        return fmt::format("'{}' is no number from {} to {}", text, min, max);
      },
      "");
}

std::string help_table(std::string_view title, std::span<const HelpRow> rows) {
  std::size_t width = 0;
  for (const HelpRow &row : rows)
    width = std::max(width, row.word.size());
  std::string text = fmt::format("{}:\n", title);
  for (const HelpRow &row : rows)
    text += fmt::format("  {:<{}}  {}\n", row.word, width, row.text);
  return text;
}

} // namespace nir
