#include "driver/opt/opt_job.h"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "driver/cli/cli.h"
#include "driver/cli/files.h"
#include "driver/cli/module_form.h"
#include "driver/cli/progress.h"
#include "driver/cli/split_input.h"
#include "driver/opt/dot.h"
#include "driver/opt/phase_times.h"
#include "driver/opt/verify_diagnostics.h"
#include "driver/reduce/shrink_dims.h"
#include "ir/binary/binary_reader.h"
#include "passes/manager/explanation.h"

namespace nir {
namespace {

constexpr std::size_t long_input = std::size_t{8} << 20; // bytes that are worth showing progress

std::string error_line(std::string_view message) {
  return fmt::format("nir-opt: error: {}\n", message);
}

// What is written when everything has succeeded: each output into its own temporary file, and all
// of them named at the end.
class Outputs {
public:
  // Opens `path` and lets `fill` write it.
  template <class Fill> tl::expected<void, FileError> add(const std::string &path, Fill fill) {
    files_.push_back(std::make_unique<OutputFile>(path));
    if (auto opened = files_.back()->open(); !opened)
      return opened;
    fill(*files_.back());
    return {};
  }
  tl::expected<void, FileError> commit() {
    for (const auto &file : files_)
      if (auto committed = file->commit(); !committed)
        return committed;
    return {};
  }

private:
  std::vector<std::unique_ptr<OutputFile>> files_;
};

class OptJob {
public:
  OptJob(const OptOptions &options, const std::string &input, MessageSink messages)
      : options_(options), input_(input), messages_(std::move(messages)) {}

  OptResult run();

private:
  // A piece of the input and its module. The module refers to the text.
  struct Piece {
    SourceOffset offset = 0;
    std::unique_ptr<SourceFile> own_text; // nullptr: the piece is the whole input
    std::unique_ptr<Module> module;
  };

  int run_pieces();
  int run_piece(Piece &piece);
  int transform(Piece &piece, DiagnosticEngine &diagnostics);
  std::unique_ptr<Module> parse_piece(const Piece &piece, DiagnosticEngine &diagnostics);
  Target with_features(Target target) const;
  PipelineStatus run_pipeline(Piece &piece, DiagnosticEngine &diagnostics);
  std::string check_summary() const;
  int verify_result(Piece &piece, DiagnosticEngine &diagnostics);
  int check_expectations();
  int write_outputs();
  tl::expected<void, FileError> stage_outputs(Outputs &outputs);
  void print_result(OutputFile &file) const;

  // Threads for this input: those that are not busy with others.
  unsigned jobs() const { return options_.inputs.size() > 1 ? 1 : options_.jobs; }

  void summarize_errors();
  int internal_error(std::string_view reason);
  std::string find_breaking_pass(const Piece &piece);
  PassManagerOptions manager_options();
  const SourceFile &text_of(const Piece &piece) const {
    return piece.own_text ? *piece.own_text : *file_;
  }
  // Shows, or keeps for the comparison with expectations, what has been diagnosed since last time.
  void flush(const DiagnosticEngine &diagnostics, const Piece &piece);
  void message(std::string_view text) {
    progress_->clear();
    messages_(text);
  }

  const OptOptions &options_;
  const std::string &input_;
  MessageSink messages_;
  std::optional<SourceFile> file_;
  std::optional<Progress> progress_;
  std::optional<RewriteChecker> checker_;         // with --check
  std::optional<DeclineReasons> decline_reasons_; // with --explain
  std::unique_ptr<PassManager> manager_;
  PhaseTimes times_;
  std::vector<Piece> pieces_;
  std::vector<Diagnostic> kept_; // with --verify-diagnostics
  std::size_t num_flushed_ = 0;  // of the piece at hand
  std::uint64_t num_errors_ = 0; // of all pieces
  std::uint64_t num_shown_ = 0;
  std::string failure_; // of an internal error in the pipeline
};

OptResult OptJob::run() {
  auto text = read_input(input_);
  if (!text) {
    messages_(error_line(text.error()));
    return {exit_status::input_error, nullptr};
  }
  progress_.emplace("nir-opt", text->view().size() >= long_input);
  file_.emplace(display_name(input_), std::move(*text));
  const bool reads_comments = options_.split_input_file || options_.verify_diagnostics;
  if (reads_comments && is_binary_module(file_->text())) {
    messages_(error_line(
        fmt::format("'{}' is a binary module and has no comments, which {} reads", file_->name(),
                    options_.split_input_file ? "--split-input-file" : "--verify-diagnostics")));
    return {exit_status::input_error, nullptr};
  }
  if (options_.check.inputs != 0)
    checker_.emplace(options_.check);
  if (options_.explain)
    decline_reasons_.emplace();
  manager_ = std::make_unique<PassManager>(options_.pipeline, manager_options());
  int status = run_pieces();
  if (status == exit_status::input_error)
    summarize_errors();
  if (options_.verify_diagnostics && status != exit_status::internal_error)
    status = check_expectations();
  else if (status == exit_status::success)
    status = write_outputs();
  progress_->clear();
  if (checker_ && status == exit_status::success)
    message(check_summary());
  if (options_.pass_manager.time_passes)
    message(times_.report() + manager_->timing_report());
  return {status, std::move(manager_)};
}

PassManagerOptions OptJob::manager_options() {
  PassManagerOptions manager_options = options_.pass_manager;
  manager_options.jobs = jobs();
  manager_options.log = [this](std::string_view text) { message(text); };
  if (checker_)
    manager_options.observer = &*checker_;
  if (decline_reasons_)
    manager_options.decline_reasons = &*decline_reasons_;
  return manager_options;
}

std::string OptJob::check_summary() const {
  const CheckCounts &counts = checker_->counts();
  return fmt::format("nir-opt: check: {} changes by passes, {} functions compared on {} inputs, {} "
                     "skipped, {} inputs made const\n",
                     counts.passes, counts.functions, options_.check.inputs, counts.skipped,
                     counts.constants);
}

int OptJob::run_pieces() {
  if (options_.split_input_file) {
    for (const InputPiece &part : split_input(file_->text()))
      pieces_.push_back({part.offset,
                         std::make_unique<SourceFile>(file_->name(), std::string(part.text)),
                         nullptr});
  } else {
    pieces_.emplace_back();
  }
  int status = exit_status::success;
  for (Piece &piece : pieces_)
    status = std::max(status, run_piece(piece));
  return status;
}

int OptJob::run_piece(Piece &piece) {
  DiagnosticEngine diagnostics(options_.max_errors);
  diagnostics.set_warnings_are_errors(options_.werror);
  num_flushed_ = 0;
  const int status = transform(piece, diagnostics);
  flush(diagnostics, piece);
  if (status != exit_status::success || options_.verify_diagnostics)
    piece.module.reset();
  num_errors_ += diagnostics.num_errors();
  num_shown_ += std::min(diagnostics.num_errors(), diagnostics.max_errors());
  return status;
}

int OptJob::transform(Piece &piece, DiagnosticEngine &diagnostics) {
  progress_->show("parsing");
  piece.module = parse_piece(piece, diagnostics);
  diagnostics.sort_by_position();
  flush(diagnostics, piece);
  if (diagnostics.has_errors() || piece.module == nullptr)
    return exit_status::input_error;

  progress_->show("running passes");
  PipelineStatus status = PipelineStatus::Success;
  try {
    status = run_pipeline(piece, diagnostics);
  } catch (const std::bad_alloc &) {
    return internal_error("out of memory");
  } catch (const std::exception &error) {
    return internal_error(error.what());
  }
  flush(diagnostics, piece);
  if (status == PipelineStatus::InternalError)
    return internal_error(failure_);
  if (status == PipelineStatus::InputError || diagnostics.has_errors())
    return exit_status::input_error;
  return verify_result(piece, diagnostics);
}

PipelineStatus OptJob::run_pipeline(Piece &piece, DiagnosticEngine &diagnostics) {
  Module &module = *piece.module;
  if (checker_)
    checker_->start(module, diagnostics);
  std::optional<RecyclingPause> pause;
  if (decline_reasons_) {
    decline_reasons_->start();
    pause.emplace(module.arena());
  }
  PipelineStatus status = PipelineStatus::Success;
  {
    const PhaseTimes::Scope scope(times_, "passes");
    status = manager_->run(module, diagnostics);
  }
  if (decline_reasons_ && status == PipelineStatus::Success)
    explain_casts(module, *decline_reasons_, diagnostics);
  failure_ = manager_->failed_pass();
  if (status != PipelineStatus::Success || !checker_)
    return status;
  failure_ = checker_->finish(module);
  if (!failure_.empty())
    return PipelineStatus::InternalError;
  if (options_.check.excess)
    message(checker_->excess_report());
  return PipelineStatus::Success;
}

std::unique_ptr<Module> OptJob::parse_piece(const Piece &piece, DiagnosticEngine &diagnostics) {
  const bool checks = options_.verify != VerifyLevel::Off;
  // What is right may depend on the target. Where only its features change, the module has to say
  // first what they are features of, and the rules are checked afterwards.
  const bool checks_late = options_.target == nullptr && !options_.target_features.empty();
  std::optional<Target> target;
  if (options_.target != nullptr)
    target = with_features(*options_.target);
  ParseOptions parse_options;
  parse_options.verify = checks && !checks_late;
  parse_options.target = target ? &*target : nullptr;
  parse_options.jobs = jobs();
  std::unique_ptr<Module> module;
  {
    const PhaseTimes::Scope scope(times_, "parse");
    module = read_module(text_of(piece), diagnostics, parse_options);
  }
  if (module == nullptr)
    return nullptr;
  if (target && module->has_header())
    module->set_prints_target(true);
  if (checks_late)
    module->set_target(with_features(module->target()));
  if (checks && checks_late) {
    const PhaseTimes::Scope scope(times_, "verify");
    verify(*module, VerifyLevel::Structure, diagnostics, jobs());
  }
  if (options_.shrink_dims != 0 && !diagnostics.has_errors())
    shrink_dims(*module, options_.shrink_dims, diagnostics);
  return module;
}

Target OptJob::with_features(Target target) const {
  // The command line was checked: the features are known.
  (void)apply_target_features(target, options_.target_features);
  return target;
}

// The input was well-formed: what is broken now, a pass broke. Only legal form may be missing
// because no pass was asked to establish it.
int OptJob::verify_result(Piece &piece, DiagnosticEngine &diagnostics) {
  if (options_.verify == VerifyLevel::Off)
    return exit_status::success;
  progress_->show("verifying");
  const PhaseTimes::Scope scope(times_, "verify");
  const bool has_run = !options_.pipeline.nodes.empty();
  if (has_run && !verify(*piece.module, VerifyLevel::Structure, diagnostics, jobs())) {
    flush(diagnostics, piece);
    return internal_error(find_breaking_pass(piece));
  }
  if (options_.verify != VerifyLevel::Legal ||
      verify(*piece.module, VerifyLevel::Legal, diagnostics, jobs()))
    return exit_status::success;
  flush(diagnostics, piece);
  return manager_->has_legal_form() ? internal_error(find_breaking_pass(piece))
                                    : exit_status::input_error;
}

// Runs the pipeline on the input again, with a look at the module after every pass.
std::string OptJob::find_breaking_pass(const Piece &piece) {
  DiagnosticEngine diagnostics(options_.max_errors);
  const std::unique_ptr<Module> module = parse_piece(piece, diagnostics);
  PassManagerOptions manager_options;
  manager_options.verify_each = true;
  manager_options.shuffle_seed = options_.pass_manager.shuffle_seed;
  manager_options.bisect_limit = options_.pass_manager.bisect_limit;
  manager_options.log = [](std::string_view) {};
  PassManager manager(options_.pipeline, manager_options);
  if (module == nullptr || manager.run(*module, diagnostics) != PipelineStatus::InternalError)
    return "the module is broken after the pipeline";
  return manager.failed_pass();
}

int OptJob::internal_error(std::string_view reason) {
  message(fmt::format("nir-opt: internal error: {}\nnir-opt: to reproduce: {}\n", reason,
                      options_.command));
  return exit_status::internal_error;
}

void OptJob::flush(const DiagnosticEngine &diagnostics, const Piece &piece) {
  const std::vector<Diagnostic> &all = diagnostics.diagnostics();
  std::string text;
  for (; num_flushed_ < all.size(); ++num_flushed_) {
    Diagnostic diagnostic = shifted(all[num_flushed_], piece.offset);
    if (options_.verify_diagnostics)
      kept_.push_back(std::move(diagnostic));
    else
      render(diagnostic, *file_, text);
  }
  if (!text.empty())
    message(text);
}

void OptJob::summarize_errors() {
  if (num_errors_ == 0 || options_.verify_diagnostics)
    return;
  std::string text =
      fmt::format("{} {} generated", num_errors_, num_errors_ == 1 ? "error" : "errors");
  if (num_shown_ < num_errors_)
    text += fmt::format(", {} shown", num_shown_);
  message(text + '\n');
}

int OptJob::check_expectations() {
  DiagnosticEngine errors(options_.max_errors);
  if (verify_diagnostics(*file_, kept_, errors))
    return exit_status::success;
  std::string text;
  for (const Diagnostic &error : errors.diagnostics())
    render(error, *file_, text);
  message(text);
  return exit_status::input_error;
}

int OptJob::write_outputs() {
  progress_->show("writing");
  const PhaseTimes::Scope scope(times_, "print");
  Outputs outputs;
  tl::expected<void, FileError> written = stage_outputs(outputs);
  if (written)
    written = outputs.commit();
  if (written)
    return exit_status::success;
  message(error_line(written.error()));
  return exit_status::input_error;
}

tl::expected<void, FileError> OptJob::stage_outputs(Outputs &outputs) {
  tl::expected<void, FileError> staged;
  if (!options_.dot.empty())
    staged = outputs.add(options_.dot, [this](OutputFile &file) {
      for (const Piece &piece : pieces_)
        write_dot(*piece.module, [&file](std::string_view text) { file.write(text); });
    });
  if (staged && !options_.trace.empty())
    staged = outputs.add(options_.trace,
                         [this](OutputFile &file) { file.write(manager_->chrome_trace()); });
  if (staged)
    staged = outputs.add(output_path(options_, input_),
                         [this](OutputFile &file) { print_result(file); });
  return staged;
}

void OptJob::print_result(OutputFile &file) const {
  for (const Piece &piece : pieces_) {
    if (&piece != &pieces_.front())
      file.write(fmt::format("{}\n", split_marker));
    write_module(*piece.module, options_.emit,
                 [&file](std::string_view bytes) { file.write(bytes); });
  }
}

} // namespace

OptResult run_opt_job(const OptOptions &options, const std::string &input, MessageSink messages) {
  return OptJob(options, input, std::move(messages)).run();
}

} // namespace nir
