#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/core/instruction.h"
#include "ir/diagnostics/source_text.h"

namespace nir {

// A range of bytes of the source. Without a position where begin is no_source.
struct SourceRange {
  SourceOffset begin = no_source;
  SourceOffset end = no_source;

  static SourceRange at(SourceOffset begin, std::uint32_t length = 1) {
    return begin == no_source ? SourceRange{} : SourceRange{begin, begin + length};
  }
  bool valid() const { return begin != no_source; }
};

enum class Severity : std::uint8_t { Error, Warning, Remark, Note };
std::string_view to_string(Severity severity);

struct DiagnosticNote {
  SourceRange range;
  std::string message;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  SourceRange range;
  std::string message;
  std::vector<DiagnosticNote> notes;
};

// Collects what is wrong with one input, to be shown together. It stops recording errors at its
// limit and counts the rest.
class DiagnosticEngine {
public:
  static constexpr unsigned default_max_errors = 20;

  explicit DiagnosticEngine(unsigned max_errors = default_max_errors) : max_errors_(max_errors) {}

  // Returns the recorded diagnostic, for notes; past the limit a scratch one that nobody sees.
  Diagnostic &report(Severity severity, SourceRange range, std::string message);
  Diagnostic &error(SourceRange range, std::string message) {
    return report(Severity::Error, range, std::move(message));
  }
  Diagnostic &warning(SourceRange range, std::string message) {
    return report(Severity::Warning, range, std::move(message));
  }
  Diagnostic &remark(SourceRange range, std::string message) {
    return report(Severity::Remark, range, std::move(message));
  }

  // Reports all that `other` has recorded, in its order, and counts the errors that it only
  // counted.
  void add(DiagnosticEngine other);

  bool has_errors() const { return num_errors_ != 0; }
  unsigned num_errors() const { return num_errors_; }
  unsigned num_warnings() const { return num_warnings_; }
  bool at_limit() const { return num_errors_ >= max_errors_; }
  unsigned max_errors() const { return max_errors_; }
  // One with the same limit, for what is found beside this one and added later. Warnings become
  // errors when they are added.
  DiagnosticEngine empty_copy() const { return DiagnosticEngine(max_errors_); }
  // With --werror: every warning counts as an error from here on.
  void set_warnings_are_errors(bool on) { warnings_are_errors_ = on; }

  const std::vector<Diagnostic> &diagnostics() const { return diagnostics_; }
  // By position, those without one last; otherwise in order of arrival.
  void sort_by_position();
  void clear();

private:
  std::vector<Diagnostic> diagnostics_;
  Diagnostic scratch_;
  unsigned max_errors_;
  unsigned num_errors_ = 0;
  unsigned num_warnings_ = 0;
  bool warnings_are_errors_ = false;
};

struct LineColumn {
  std::uint32_t line = 1;
  std::uint32_t column = 1; // counts bytes from 1
};

// The text of one input and the name that messages give it. Text of 4 GiB and more is refused by
// whoever reads it: offsets have 32 bits.
class SourceFile {
public:
  SourceFile(std::string name, SourceText text);
  SourceFile(std::string name, std::string text);

  const std::string &name() const { return name_; }
  std::string_view text() const { return text_.view(); }
  // For whoever reads it in order: see SourceText.
  const SourceText &source_text() const { return text_; }
  LineColumn locate(SourceOffset offset) const;      // O(log lines), after one pass over the text
  std::string_view line(std::uint32_t number) const; // without its line end

private:
  const std::vector<SourceOffset> &line_starts() const;
  std::string name_;
  SourceText text_;
  mutable std::vector<SourceOffset> line_starts_; // built when first asked
};

// `file:line:col: error: message`, the source line, a caret with the range underlined, then notes
// (language reference, Errors). Of a line longer than 200 columns an excerpt is shown.
void render(const Diagnostic &diagnostic, const SourceFile &file, std::string &out);

// The word of `known` nearest to `word` by edit distance; empty where none is near enough to be
// what was meant.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

// ` (did you mean 'exp'?)`, or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

} // namespace nir
