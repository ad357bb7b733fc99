#include "driver/run/run_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/cli/cli.h"

namespace nir {
namespace {

constexpr std::string_view tool = "nir-run";
constexpr std::uint64_t max_threads = 256;

template <class T> struct Choice {
  std::string_view word;
  T value;
};

constexpr Choice<InputKind> input_kinds[] = {{"random", InputKind::Random},
                                             {"edges", InputKind::Edges}};
constexpr Choice<OpaqueMode> opaque_modes[] = {{"error", OpaqueMode::Error},
                                               {"zero", OpaqueMode::Zero},
                                               {"identity", OpaqueMode::Identity},
                                               {"hash", OpaqueMode::Hash}};
constexpr Choice<RunPrint> prints[] = {
    {"values", RunPrint::Values}, {"digest", RunPrint::Digest}, {"nothing", RunPrint::Nothing}};

template <class T, std::size_t n>
std::vector<std::string_view> words_of(const Choice<T> (&choices)[n]) {
  std::vector<std::string_view> words;
  for (const Choice<T> &choice : choices)
    words.push_back(choice.word);
  return words;
}

// The word has been checked.
template <class T, std::size_t n> T choose(const Choice<T> (&choices)[n], std::string_view word) {
  return std::ranges::find(choices, word, &Choice<T>::word)->value;
}

// The command line as text, before it is understood.
struct Words {
  std::vector<std::string> inputs;
  std::string kind = "random";
  std::string opaque = "error";
  std::string print = "digest";
  std::string memory_limit = "4G";
};

// Bytes, with K, M, G or T for powers of 1024.
std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view units = "KMGT";
  unsigned shift = 0;
  if (!text.empty())
    if (const auto unit = units.find(text.back()); unit != std::string_view::npos) {
      shift = 10 * (static_cast<unsigned>(unit) + 1);
      text.remove_suffix(1);
    }
  std::uint64_t count = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), count);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() ||
      count > ~std::uint64_t{0} >> shift)
    return std::nullopt;
  return count << shift;
}

CLI::Validator check_bytes() {
  return CLI::Validator(
      [](const std::string &text) {
        if (parse_bytes(text))
          return std::string();
        return fmt::format("'{}' is no number of bytes, expected one such as 800M or 4G", text);
      },
      "");
}

CLI::Validator check_input() {
  return CLI::Validator(
      [](const std::string &text) {
        const auto equals = text.find('=');
        if (equals != std::string::npos && equals != 0 && equals + 1 != text.size())
          return std::string();
        return fmt::format("'{}' names no input, expected NAME=FILE", text);
      },
      "");
}

std::string without_sigil(std::string name, char sigil) {
  if (!name.empty() && name[0] == sigil)
    name.erase(0, 1);
  return name;
}

template <class T, std::size_t n>
void add_choice(CLI::App &app, const char *name, std::string &word, const char *doc,
                std::string_view what, const Choice<T> (&choices)[n]) {
  app.add_option(name, word, doc)
      ->type_name(fmt::format("{}", fmt::join(words_of(choices), "|")))
      ->check(check_word(std::string(what), words_of(choices)))
      ->capture_default_str();
}

void add_options(CLI::App &app, RunOptions &options, Words &words) {
  app.add_option("FILE", options.files, "the module; standard input where there is none or -")
      ->type_name("");
  app.add_flag("--compare", options.compare,
               "take two modules and say how far the outputs of both are from those of the first "
               "without rounding");
  app.add_option("--function", options.function, "which function; the only one by default")
      ->type_name("@NAME");
  app.add_option("--input", words.inputs, "an input tensor's elements; may be repeated")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false)
      ->check(check_input());
  app.add_option("--seed", options.seed, "other random inputs for every number")
      ->type_name("N")
      ->check(check_number(0, ~std::uint64_t{0}))
      ->capture_default_str();
  add_choice(app, "--inputs", words.kind, "what inputs without a file are made of", "inputs",
             input_kinds);
  add_choice(app, "--opaque", words.opaque, "what stands in for opaque instructions", "stand-in",
             opaque_modes);
  add_choice(app, "--print", words.print, "what is printed of the outputs", "output", prints);
  app.add_option("-o,--output", options.output, "where that goes; - is standard output")
      ->type_name("FILE");
  app.add_option("--output-dir", options.output_dir, "folder for the outputs as NAME.npy")
      ->type_name("DIR");
  app.add_flag(
      "--reference", options.eval.reference,
      "compute in float64 and leave out every rounding between; float outputs are float64");
  app.add_option("--memory-limit", words.memory_limit,
                 "refuse what may need more bytes; K, M, G and T are powers of 1024")
      ->type_name("SIZE")
      ->check(check_bytes())
      ->capture_default_str();
  app.add_option("--threads", options.eval.threads, "threads; they change no bit of a result")
      ->type_name("N")
      ->check(check_number(1, max_threads))
      ->capture_default_str();
  app.footer("Exit status: 0 success, 1 the input is wrong, 2 the command line is wrong, "
             "70 an internal error.");
}

std::string conflict(const RunOptions &options) {
  const std::size_t wanted = options.compare ? 2 : 1;
  if (options.compare && options.files.size() != wanted)
    return fmt::format("--compare takes two modules, found {}", options.files.size());
  if (options.files.size() > wanted)
    return fmt::format("found {} modules, expected one", options.files.size());
  if (options.compare && std::ranges::count(options.files, "-") > 1)
    return "standard input can be one of the two modules, not both";
  if (options.compare && (options.eval.reference || !options.output_dir.empty()))
    return "--compare prints a table only: it goes with neither --reference nor --output-dir";
  for (std::size_t i = 0; i < options.inputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (options.inputs[i].name == options.inputs[j].name)
        return fmt::format("two files for the input '{}'", options.inputs[i].name);
  return {};
}

} // namespace

tl::expected<RunOptions, int> parse_run_options(int argc, char **argv) {
  RunOptions options;
  Words words;
  CLI::App app("Evaluates a function of a .nir module on given, random or edge-case inputs.");
  set_up_cli(app, tool);
  add_options(app, options, words);
  if (const auto status = parse_cli(app, argc, argv))
    return tl::unexpected(*status);
  options.function = without_sigil(options.function, '@');
  options.kind = choose(input_kinds, words.kind);
  options.eval.opaque = choose(opaque_modes, words.opaque);
  options.print = choose(prints, words.print);
  options.eval.memory_limit = *parse_bytes(words.memory_limit);
  for (const std::string &input : words.inputs) {
    const auto equals = input.find('=');
    options.inputs.push_back(
        {without_sigil(input.substr(0, equals), '$'), input.substr(equals + 1)});
  }
  if (options.files.empty() && !options.compare)
    options.files.emplace_back("-");
  if (const std::string message = conflict(options); !message.empty()) {
    print_error(tool, message);
    return tl::unexpected(exit_status::usage_error);
  }
  return options;
}

} // namespace nir
