#include "passes/pipeline/pipeline.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "ir/diagnostics/diagnostic.h"
#include "passes/pipeline/registry.h"

namespace nir {
namespace {

constexpr std::string_view fixpoint_name = "fixpoint";
// A fixpoint's options, as a table like that of a pass.
constexpr std::array<PassOption, 1> fixpoint_options{
    {{"max", PassOption::Number, "32", {}, "rounds at most, at least 1"}}};

constexpr std::array<std::string_view, 4> flag_values{"true", "false", "on", "off"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '+';
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names{fixpoint_name};
  for (const PassInfo *pass : all_passes())
    names.push_back(pass->name);
  return names;
}

std::vector<std::string_view> option_names(std::span<const PassOption> table) {
  std::vector<std::string_view> names;
  for (const PassOption &option : table)
    names.push_back(option.name);
  return names;
}

// `'a', 'b' or 'c'`.
std::string list_words(std::span<const std::string_view> words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      out += i + 1 == words.size() ? " or " : ", ";
    out += fmt::format("'{}'", words[i]);
  }
  return out;
}

std::string expected_values(const PassOption &option) {
  switch (option.kind) {
  case PassOption::Flag:
    return "'true' or 'false'";
  case PassOption::Choice:
    return list_words(option.choices);
  case PassOption::Number:
    return "a number";
  }
  return {};
}

bool takes_value(const PassOption &option, std::string_view value) {
  switch (option.kind) {
  case PassOption::Flag:
    return std::ranges::find(flag_values, value) != flag_values.end();
  case PassOption::Choice:
    return std::ranges::find(option.choices, value) != option.choices.end();
  case PassOption::Number:
    return parse_number(value).has_value();
  }
  return false;
}

// A piece of the text, and where it begins.
struct Word {
  std::string_view text;
  std::size_t begin = 0;
};

// Reads a pipeline with an explicit stack of open fixpoints. Each function returns whether it went
// well; where not, error_ says why.
class PipelineParser {
public:
  explicit PipelineParser(std::string_view text) : text_(text) {}

  tl::expected<Pipeline, PipelineError> parse() {
    skip_blanks();
    if (!at_end() && !parse_lists())
      return tl::unexpected(std::move(error_));
    return Pipeline{std::move(top_)};
  }

private:
  // Elements and what stands between them, until the end of the text.
  bool parse_lists() {
    for (;;) {
      if (!parse_element())
        return false;
      if (expects_element_)
        continue;
      if (!close_lists())
        return false;
      if (at_end())
        return true;
    }
  }

  // A pass with its options, or a fixpoint up to its `(`.
  bool parse_element() {
    Word name;
    if (!take_word("a pass name", name))
      return false;
    expects_element_ = name.text == fixpoint_name;
    return expects_element_ ? open_fixpoint(name) : parse_pass(name);
  }

  bool parse_pass(const Word &name) {
    const PassInfo *pass = find_pass(name.text);
    if (pass == nullptr)
      return fail(name, fmt::format("unknown pass '{}'{}", name.text,
                                    did_you_mean(name.text, known_names())));
    PipelineNode node;
    node.pass = pass;
    node.options = PassOptions(pass->options);
    const std::string owner = fmt::format("pass '{}'", pass->name);
    if (!parse_options(owner, pass->options, node.options))
      return false;
    if (peek() == '(')
      return fail_here(fmt::format("{} takes no list, only {} does", owner, fixpoint_name));
    list().push_back(std::move(node));
    return true;
  }

  bool open_fixpoint(const Word &name) {
    if (open_.size() == Pipeline::max_nesting)
      return fail(name, fmt::format("fixpoints nest deeper than {}", Pipeline::max_nesting));
    PipelineNode node;
    PassOptions options{fixpoint_options};
    if (!parse_options(std::string(fixpoint_name), fixpoint_options, options))
      return false;
    if (!options.given().empty())
      node.max_rounds = options.number("max");
    if (!take('('))
      return fail_here(
          fmt::format("expected '(' and the list of {}, found {}", fixpoint_name, found()));
    open_.push_back(std::move(node));
    return true;
  }

  // Behind an element: any number of `)`, then `,` or the end.
  bool close_lists() {
    for (;;) {
      skip_blanks();
      if (take(','))
        return expects_more();
      if (at_end())
        return open_.empty() ||
               fail_here("expected ')' behind the list of fixpoint, found the end");
      if (open_.empty() || peek() != ')')
        return fail_here(
            fmt::format("expected {}, found {}", open_.empty() ? "','" : "',' or ')'", found()));
      take(')');
      PipelineNode node = std::move(open_.back());
      open_.pop_back();
      list().push_back(std::move(node));
    }
  }

  bool expects_more() {
    skip_blanks();
    return !at_end() || fail_here("expected a pass name behind ',', found the end");
  }

  bool parse_options(const std::string &owner, std::span<const PassOption> table,
                     PassOptions &options) {
    if (!take('{'))
      return true;
    do {
      if (!parse_option(owner, table, options))
        return false;
    } while (take(','));
    return take('}') || fail_here(fmt::format("expected ',' or '}}', found {}", found()));
  }

  bool parse_option(const std::string &owner, std::span<const PassOption> table,
                    PassOptions &options) {
    Word name;
    if (!take_word("an option name", name))
      return false;
    const auto option = std::ranges::find(table, name.text, &PassOption::name);
    if (option == table.end())
      return fail(name, unknown_option(owner, table, name.text));
    for (const auto &[given, value] : options.given())
      if (given == name.text)
        return fail(name, fmt::format("option '{}' of {} is given twice", name.text, owner));
    if (!take('='))
      return set_bare(owner, *option, name, options);
    Word value;
    if (!take_word(fmt::format("a value of option '{}'", name.text), value))
      return false;
    if (!takes_value(*option, value.text))
      return fail(value, fmt::format("option '{}' of {} has no value '{}', expected {}{}",
                                     name.text, owner, value.text, expected_values(*option),
                                     did_you_mean(value.text, option->choices)));
    if (table.data() == fixpoint_options.data() && parse_number(value.text) == 0)
      return fail(value, fmt::format("option 'max' of {} must be at least 1", owner));
    options.set(name.text, std::string(value.text));
    return true;
  }

  bool set_bare(const std::string &owner, const PassOption &option, const Word &name,
                PassOptions &options) {
    if (option.kind != PassOption::Flag)
      return fail(name, fmt::format("option '{}' of {} needs a value, expected {}", name.text,
                                    owner, expected_values(option)));
    options.set(name.text, std::string());
    return true;
  }

  static std::string unknown_option(const std::string &owner, std::span<const PassOption> table,
                                    std::string_view name) {
    if (table.empty())
      return fmt::format("{} takes no options, found '{}'", owner, name);
    return fmt::format("{} has no option '{}'{}", owner, name,
                       did_you_mean(name, option_names(table)));
  }

  // Tokens. Blanks in front of each are skipped.
  void skip_blanks() {
    while (!at_end() && is_blank(text_[position_]))
      ++position_;
  }
  bool at_end() const { return position_ == text_.size(); }
  char peek() {
    skip_blanks();
    return at_end() ? '\0' : text_[position_];
  }
  bool take(char c) {
    skip_blanks();
    if (at_end() || text_[position_] != c)
      return false;
    ++position_;
    return true;
  }
  bool take_word(std::string_view what, Word &word) {
    skip_blanks();
    word.begin = position_;
    while (!at_end() && is_word_char(text_[position_]))
      ++position_;
    word.text = text_.substr(word.begin, position_ - word.begin);
    return !word.text.empty() || fail_here(fmt::format("expected {}, found {}", what, found()));
  }

  // The next character, as messages name it.
  std::string found() {
    skip_blanks();
    if (at_end())
      return "the end";
    const auto c = static_cast<unsigned char>(text_[position_]);
    return c > ' ' && c < 0x7f ? fmt::format("'{}'", text_[position_])
                               : fmt::format("the byte 0x{:02x}", c);
  }

  bool fail(const Word &word, std::string message) {
    error_ = {word.begin, word.text.size(), std::move(message)};
    return false;
  }
  bool fail_here(std::string message) {
    error_ = {position_, at_end() ? std::size_t{0} : std::size_t{1}, std::move(message)};
    return false;
  }

  // Where finished elements go.
  std::vector<PipelineNode> &list() { return open_.empty() ? top_ : open_.back().children; }

  std::string_view text_;
  std::size_t position_ = 0;
  bool expects_element_ = true;
  std::vector<PipelineNode> top_;
  std::vector<PipelineNode> open_; // the fixpoints whose lists are being read
  PipelineError error_;
};

void append_options(const PassOptions &options, std::string &out) {
  if (options.given().empty())
    return;
  char separator = '{';
  for (const auto &[name, value] : options.given()) {
    out += separator;
    out += name;
    if (!value.empty())
      out += '=' + value;
    separator = ',';
  }
  out += '}';
}

// Recurses no deeper than fixpoints nest.
void append_list(std::span<const PipelineNode> nodes, std::string &out);

void append_node(const PipelineNode &node, std::string &out) {
  if (node.pass != nullptr) {
    out += node.pass->name;
    return append_options(node.options, out);
  }
  out += fixpoint_name;
  if (node.max_rounds != 0)
    out += fmt::format("{{max={}}}", node.max_rounds);
  out += '(';
  append_list(node.children, out);
  out += ')';
}

void append_list(std::span<const PipelineNode> nodes, std::string &out) {
  for (const PipelineNode &node : nodes) {
    if (&node != nodes.data())
      out += ',';
    append_node(node, out);
  }
}

} // namespace

tl::expected<Pipeline, PipelineError> parse_pipeline(std::string_view text) {
  return PipelineParser(text).parse();
}

std::string to_string(const Pipeline &pipeline) {
  std::string out;
  append_list(pipeline.nodes, out);
  return out;
}

std::string to_string(const PipelineNode &node) {
  std::string out;
  append_node(node, out);
  return out;
}

std::string render(const PipelineError &error, std::string_view text) {
  Diagnostic diagnostic;
  diagnostic.range =
      SourceRange::at(static_cast<SourceOffset>(error.begin),
                      static_cast<std::uint32_t>(std::max<std::size_t>(error.length, 1)));
  diagnostic.message = error.message;
  std::string out;
  render(diagnostic, SourceFile("pipeline", std::string(text)), out);
  return out;
}

} // namespace nir
