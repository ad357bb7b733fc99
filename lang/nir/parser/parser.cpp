#include "lang/nir/parser/parser.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "ir/support/parallel.h"
#include "lang/nir/lexer/token_kinds.h"
#include "lang/nir/parser/parse_context.h"

namespace nir {
namespace {

// Adds what two parts of one reading found, by position, as one list. Each part has recorded as
// many errors as the list may show.
void merge(DiagnosticEngine &first, DiagnosticEngine &second, DiagnosticEngine &out) {
  std::vector<Diagnostic> all = first.diagnostics();
  all.insert(all.end(), second.diagnostics().begin(), second.diagnostics().end());
  std::ranges::stable_sort(all, {}, [](const Diagnostic &item) { return item.range.begin; });
  const auto is_error = [](const Diagnostic &item) { return item.severity == Severity::Error; };
  auto unrecorded = first.num_errors() + second.num_errors() -
                    static_cast<unsigned>(std::ranges::count_if(all, is_error));
  for (Diagnostic &item : all) {
    const bool hidden = is_error(item) && out.at_limit();
    Diagnostic &reported = out.report(item.severity, item.range, std::move(item.message));
    if (!hidden)
      reported.notes = std::move(item.notes);
  }
  for (; unrecorded > 0; --unrecorded)
    out.error({}, {});
}

// Text of less than so many bytes is not worth a thread.
constexpr std::size_t min_part_size = std::size_t{64} << 10;
constexpr unsigned parts_per_thread = 4;

// What was read from a part of the text.
struct Part {
  DiagnosticEngine found;
  lang::CallChecks calls;
  bool accepted = false; // else the parser gave up
};

class Reader {
public:
  Reader(const SourceFile &file, const ParseOptions &options, unsigned max_errors)
      : file_(file), options_(options), max_errors_(max_errors),
        module_(std::make_unique<Module>()), functions_(*module_) {
    if (options.target != nullptr)
      module_->set_target(*options.target);
  }

  Part read(SourceRange range) {
    Part part{DiagnosticEngine(max_errors_), lang::CallChecks(*module_, functions_)};
    lang::ParseContext context(file_, range, *module_, functions_, part.found, options_);
    part.accepted = nir_yyparse(context) == 0;
    if (!part.accepted && !part.found.has_errors())
      context.report_internal("gave up");
    part.calls = std::move(context.calls());
    return part;
  }

  Arena &arena() { return module_->arena(); }

  // When all parts have been read. nullptr where anything was wrong.
  std::unique_ptr<Module> finish(Part whole, DiagnosticEngine &diagnostics) {
    DiagnosticEngine found_at_end(max_errors_);
    whole.calls.define_functions();
    // Where the parser gave up, a callee may be defined in what it did not read.
    if (whole.accepted)
      whole.calls.check(options_.verify, options_.jobs, found_at_end);
    const bool failed = whole.found.has_errors() || found_at_end.has_errors();
    merge(whole.found, found_at_end, diagnostics);
    return failed ? nullptr : std::move(module_);
  }

private:
  const SourceFile &file_;
  const ParseOptions &options_;
  unsigned max_errors_;
  std::unique_ptr<Module> module_;
  lang::FunctionNames functions_;
};

// Where parts of about equal size begin, each at a `func` that is first on its line; the text in
// front of the first one is the header. That a line begins there needs no lexer: neither strings
// nor comments go on behind the end of a line. If such a line is within a function after all, the
// part before it does not end as it should, and that is an error.
std::vector<SourceOffset> cut_at_functions(std::string_view text, unsigned jobs) {
  constexpr std::string_view head = "\nfunc ";
  std::vector<SourceOffset> cuts;
  const std::size_t size = std::max(min_part_size, text.size() / (jobs * parts_per_thread) + 1);
  for (std::size_t at = text.find(head); at != std::string_view::npos;
       at = text.find(head, std::min(at + size, text.size())))
    cuts.push_back(static_cast<SourceOffset>(at + 1));
  return cuts;
}

// Reads functions at the same time. nullptr where it finds anything wrong, or the text is not of
// the kind: what there is to say is then found, and said, by reading from front to end.
std::unique_ptr<Module> parse_parallel(const SourceFile &file, DiagnosticEngine &diagnostics,
                                       const ParseOptions &options) {
  const std::vector<SourceOffset> cuts = cut_at_functions(file.text(), options.jobs);
  if (cuts.size() < 2)
    return nullptr;
  Reader reader(file, options, diagnostics.max_errors());
  Part whole = reader.read({0, cuts.front()});
  if (!whole.accepted || whole.found.has_errors())
    return nullptr;
  std::vector<std::optional<Part>> parts(cuts.size());
  std::atomic<bool> failed = false;
  parallel_for(&reader.arena(), options.jobs, cuts.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && !failed; ++i) {
      parts[i] = reader.read({cuts[i], i + 1 < cuts.size() ? cuts[i + 1] : no_source});
      if (!parts[i]->accepted || parts[i]->found.has_errors())
        failed = true;
    }
  });
  if (failed)
    return nullptr;
  for (std::optional<Part> &part : parts) {
    whole.found.add(std::move(part->found));
    whole.calls.append(std::move(part->calls));
  }
  DiagnosticEngine found(diagnostics.max_errors());
  std::unique_ptr<Module> module = reader.finish(std::move(whole), found);
  if (module != nullptr)
    diagnostics.add(std::move(found));
  return module;
}

} // namespace

std::unique_ptr<Module> parse(const SourceFile &file, DiagnosticEngine &diagnostics,
                              const ParseOptions &options) {
  if (options.jobs > 1)
    if (std::unique_ptr<Module> module = parse_parallel(file, diagnostics, options))
      return module;
  Reader reader(file, options, diagnostics.max_errors());
  return reader.finish(reader.read({0, no_source}), diagnostics);
}

} // namespace nir
