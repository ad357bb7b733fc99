#include "driver/opt/verify_diagnostics.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "driver/cli/cli.h"

namespace nir {
namespace {

constexpr std::string_view prefix = "expected-";
constexpr std::uint32_t unknown_line = 0; // of what has no position

constexpr Severity severities[] = {Severity::Error, Severity::Warning, Severity::Remark,
                                   Severity::Note};

struct Expectation {
  Severity severity = Severity::Error;
  std::uint32_t line = unknown_line;
  std::string_view text;
  std::uint32_t left = 1; // how often it is still to be met
  SourceRange range;      // of the comment
};

// Where the comment of a line begins; npos where it has none. A string holds no comment.
std::size_t find_comment(std::string_view line) {
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && in_string)
      ++i;
    else if (line[i] == '"')
      in_string = !in_string;
    else if (!in_string && line.substr(i).starts_with("//"))
      return i;
  }
  return std::string_view::npos;
}

// Reads the expectations in one comment, character by character.
class ExpectationReader {
public:
  ExpectationReader(std::string_view comment, SourceOffset offset, std::uint32_t line,
                    std::uint32_t num_lines, DiagnosticEngine &errors)
      : text_(comment), offset_(offset), line_(line), num_lines_(num_lines), errors_(errors) {}

  // The next one; nothing at the end. What cannot be read is reported and passed over.
  std::optional<Expectation> next() {
    while (true) {
      const std::size_t found = text_.find(prefix, at_);
      if (found == std::string_view::npos)
        return std::nullopt;
      begin_ = found;
      at_ = found + prefix.size();
      if (auto expectation = read())
        return expectation;
    }
  }

private:
  std::optional<Expectation> read() {
    Expectation expectation;
    const std::string_view word = take_word();
    const auto severity = std::find_if(std::begin(severities), std::end(severities),
                                       [word](Severity s) { return to_string(s) == word; });
    const bool is_known = severity != std::end(severities);
    // Prose may say "expected-value" and mean nothing by it.
    if (!is_known && text_.find("{{", at_) == std::string_view::npos)
      return std::nullopt;
    if (!is_known)
      return fail(unknown_word("expectation", fmt::format("{}{}", prefix, word), known_words()));
    expectation.severity = *severity;
    const auto line = read_line();
    if (!line)
      return std::nullopt;
    expectation.line = *line;
    skip_blanks();
    if (const auto count = take_number())
      expectation.left = *count;
    skip_blanks();
    if (!take("{{"))
      return fail("expected '{{' and the text of the message");
    const std::size_t end = text_.find("}}", at_);
    if (end == std::string_view::npos)
      return fail("expected '}}' behind the text of the message");
    expectation.text = text_.substr(at_, end - at_);
    at_ = end + 2;
    expectation.range = range();
    return expectation;
  }

  // The line that is meant: this one, or what follows `@`.
  std::optional<std::uint32_t> read_line() {
    if (!take("@"))
      return line_;
    if (take("above"))
      return checked_line(std::int64_t{line_} - 1);
    if (take("below"))
      return checked_line(std::int64_t{line_} + 1);
    if (take("unknown"))
      return unknown_line;
    const bool is_back = take("-");
    if (is_back || take("+"))
      if (const auto distance = take_number())
        return checked_line(std::int64_t{line_} + (is_back ? -1 : 1) * std::int64_t{*distance});
    fail("expected '+N', '-N', 'above', 'below' or 'unknown' behind '@'");
    return std::nullopt;
  }

  std::optional<std::uint32_t> checked_line(std::int64_t line) {
    if (line >= 1 && line <= num_lines_)
      return static_cast<std::uint32_t>(line);
    fail(fmt::format("the file has no line {}", line));
    return std::nullopt;
  }

  static std::vector<std::string_view> known_words() {
    return {"expected-error", "expected-warning", "expected-remark", "expected-note"};
  }

  std::nullopt_t fail(std::string message) {
    errors_.error(range(), std::move(message));
    return std::nullopt;
  }

  SourceRange range() const {
    return {offset_ + static_cast<SourceOffset>(begin_), offset_ + static_cast<SourceOffset>(at_)};
  }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word))
      return false;
    at_ += word.size();
    return true;
  }
  std::string_view take_word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= 'a' && text_[at_] <= 'z')
      ++at_;
    return text_.substr(start, at_ - start);
  }
  std::optional<std::uint32_t> take_number() {
    std::uint32_t number = 0;
    const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (result.ec != std::errc())
      return std::nullopt;
    at_ = static_cast<std::size_t>(result.ptr - text_.data());
    return number;
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'))
      ++at_;
  }

  std::string_view text_;
  SourceOffset offset_; // of text_ in the file
  std::uint32_t line_;
  std::uint32_t num_lines_;
  DiagnosticEngine &errors_;
  std::size_t begin_ = 0; // of the expectation at hand
  std::size_t at_ = 0;
};

std::vector<Expectation> read_expectations(const SourceFile &file, DiagnosticEngine &errors) {
  std::vector<Expectation> expectations;
  const std::string_view text = file.text();
  const auto num_lines = static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n') + 1);
  std::size_t begin = 0;
  for (std::uint32_t number = 1; number <= num_lines; ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t comment = find_comment(line);
    if (comment != std::string_view::npos) {
      ExpectationReader reader(line.substr(comment), static_cast<SourceOffset>(begin + comment),
                               number, num_lines, errors);
      while (const auto expectation = reader.next())
        expectations.push_back(*expectation);
    }
    begin = end + 1;
  }
  return expectations;
}

// The expectations by line. Of two that a message meets, the longer text takes it, so that the
// shorter one is left for a message that meets only it.
class ExpectationTable {
public:
  explicit ExpectationTable(std::vector<Expectation> expectations)
      : expectations_(std::move(expectations)) {
    for (Expectation &expectation : expectations_)
      by_line_[expectation.line].push_back(&expectation);
    for (auto &[line, list] : by_line_)
      std::stable_sort(list.begin(), list.end(), [](const auto *a, const auto *b) {
        return a->text.size() > b->text.size();
      });
  }

  bool meet(Severity severity, std::uint32_t line, std::string_view message) {
    const auto found = by_line_.find(line);
    if (found == by_line_.end())
      return false;
    for (Expectation *expectation : found->second) {
      const bool met = expectation->left != 0 && expectation->severity == severity &&
                       message.find(expectation->text) != std::string_view::npos;
      if (!met)
        continue;
      --expectation->left;
      return true;
    }
    return false;
  }

  void report_unmet(DiagnosticEngine &errors) const {
    for (const Expectation &expectation : expectations_)
      if (expectation.left != 0)
        errors.error(expectation.range,
                     fmt::format("expected {} '{}' was not produced",
                                 to_string(expectation.severity), expectation.text));
  }

private:
  std::vector<Expectation> expectations_; // in order of position
  std::map<std::uint32_t, std::vector<Expectation *>> by_line_;
};

} // namespace

bool verify_diagnostics(const SourceFile &file, std::span<const Diagnostic> diagnostics,
                        DiagnosticEngine &errors) {
  ExpectationTable table(read_expectations(file, errors));
  const auto check = [&](Severity severity, SourceRange range, const std::string &message) {
    const std::uint32_t line = range.valid() ? file.locate(range.begin).line : unknown_line;
    if (!table.meet(severity, line, message))
      errors.error(range, fmt::format("unexpected {}: {}", to_string(severity), message));
  };
  for (const Diagnostic &diagnostic : diagnostics) {
    check(diagnostic.severity, diagnostic.range, diagnostic.message);
    for (const DiagnosticNote &note : diagnostic.notes)
      check(Severity::Note, note.range, note.message);
  }
  table.report_unmet(errors);
  errors.sort_by_position();
  return !errors.has_errors();
}

} // namespace nir
