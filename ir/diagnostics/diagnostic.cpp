#include "ir/diagnostics/diagnostic.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nir {

std::string_view to_string(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  case Severity::Note:
    return "note";
  }
  return {};
}

Diagnostic &DiagnosticEngine::report(Severity severity, SourceRange range, std::string message) {
  if (severity == Severity::Warning && warnings_are_errors_)
    severity = Severity::Error;
  if (severity == Severity::Warning)
    ++num_warnings_;
  if (severity == Severity::Error) {
    const bool full = at_limit();
    ++num_errors_;
    if (full) {
      scratch_ = {severity, range, std::move(message), {}};
      return scratch_;
    }
  }
  return diagnostics_.emplace_back(Diagnostic{severity, range, std::move(message), {}});
}

void DiagnosticEngine::add(DiagnosticEngine other) {
  unsigned unrecorded = other.num_errors_;
  for (Diagnostic &item : other.diagnostics_) {
    unrecorded -= item.severity == Severity::Error ? 1 : 0;
    report(item.severity, item.range, std::move(item.message)).notes = std::move(item.notes);
  }
  for (; unrecorded > 0; --unrecorded)
    error({}, {});
}

void DiagnosticEngine::sort_by_position() {
  // no_source is the largest offset, so what has no position goes last by itself.
  std::ranges::stable_sort(diagnostics_, {},
                           [](const Diagnostic &diagnostic) { return diagnostic.range.begin; });
}

void DiagnosticEngine::clear() {
  diagnostics_.clear();
  num_errors_ = 0;
  num_warnings_ = 0;
}

SourceFile::SourceFile(std::string name, SourceText text)
    : name_(std::move(name)), text_(std::move(text)) {}

SourceFile::SourceFile(std::string name, std::string text)
    : SourceFile(std::move(name), SourceText(std::move(text))) {}

const std::vector<SourceOffset> &SourceFile::line_starts() const {
  if (!line_starts_.empty())
    return line_starts_;
  line_starts_.push_back(0);
  const std::string_view text = text_.view();
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
    line_starts_.push_back(static_cast<SourceOffset>(at + 1));
  return line_starts_;
}

LineColumn SourceFile::locate(SourceOffset offset) const {
  const auto clamped = static_cast<SourceOffset>(std::min(std::size_t{offset}, text().size()));
  const auto &starts = line_starts();
  const auto after = std::ranges::upper_bound(starts, clamped);
  const auto line = static_cast<std::uint32_t>(after - starts.begin());
  return {line, clamped - starts[line - 1] + 1};
}

std::string_view SourceFile::line(std::uint32_t number) const {
  const auto &starts = line_starts();
  if (number == 0 || number > starts.size())
    return {};
  const std::size_t begin = starts[number - 1];
  const std::string_view text = text_.view();
  std::size_t end = number < starts.size() ? starts[number] - 1 : text.size();
  if (end > begin && text[end - 1] == '\r')
    --end;
  return text.substr(begin, end - begin);
}

namespace {

// Words longer than this are no misspelt keyword.
constexpr std::size_t max_word = 64;

// The edit distance of two short words, a swap of neighbours counting one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<std::array<std::uint8_t, max_word + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j)
    rows[0][j] = static_cast<std::uint8_t>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto &row = rows[i % 3];
    const auto &above = rows[(i - 1) % 3];
    row[0] = static_cast<std::uint8_t>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      int best = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped)
        best = std::min(best, rows[(i - 2) % 3][j - 2] + 1);
      row[j] = static_cast<std::uint8_t>(best);
    }
  }
  return rows[a.size() % 3][b.size()];
}

} // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  if (word.empty() || word.size() > max_word)
    return {};
  // A third of the word may be wrong, but never all of it.
  std::size_t limit = std::min((word.size() + 2) / 3, word.size() - 1);
  std::string_view nearest;
  for (const std::string_view candidate : known) {
    const std::size_t difference = candidate.size() > word.size() ? candidate.size() - word.size()
                                                                  : word.size() - candidate.size();
    if (candidate.size() > max_word || difference > limit)
      continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance > limit || (distance == limit && !nearest.empty()))
      continue;
    nearest = candidate;
    limit = distance;
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_word(word, known);
  if (nearest.empty())
    return {};
  return " (did you mean '" + std::string(nearest) + "'?)";
}

} // namespace nir
