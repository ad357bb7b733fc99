#include "driver/opt/opt_options.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/cli/cli.h"
#include "ir/diagnostics/diagnostic.h"
#include "passes/pipeline/opt_levels.h"
#include "passes/pipeline/registry.h"

namespace nir {
namespace {

constexpr std::string_view tool = "nir-opt";
constexpr unsigned max_jobs = 256;
constexpr unsigned default_check_inputs = 4;
constexpr unsigned max_check_inputs = 1'000'000;
// The value of a flag that may take one (`--stats`, `--stats=json`) and was given without.
constexpr std::string_view no_value = "true";

template <class T> struct Choice {
  std::string_view word;
  T value;
};

constexpr Choice<VerifyLevel> verify_levels[] = {
    {"off", VerifyLevel::Off},
    {"structure", VerifyLevel::Structure},
    {"legal", VerifyLevel::Legal},
};

constexpr Choice<StatsFormat> stats_formats[] = {
    {no_value, StatsFormat::Text},
    {"json", StatsFormat::Json},
};

constexpr Choice<PrintChanged> print_changed_forms[] = {
    {no_value, PrintChanged::Text},
    {"diff", PrintChanged::Diff},
};

constexpr Choice<bool RemarkFilter::*> remark_kinds[] = {
    {"applied", &RemarkFilter::applied},
    {"missed", &RemarkFilter::missed},
};

template <class T, std::size_t n>
std::vector<std::string_view> words_of(const Choice<T> (&choices)[n]) {
  std::vector<std::string_view> words;
  for (const Choice<T> &choice : choices)
    if (choice.word != no_value)
      words.push_back(choice.word);
  return words;
}

template <class T, std::size_t n>
std::optional<T> find_choice(const Choice<T> (&choices)[n], std::string_view word) {
  for (const Choice<T> &choice : choices)
    if (choice.word == word)
      return choice.value;
  return std::nullopt;
}

// The words of a choice as help shows them.
template <class T, std::size_t n> std::string spelled(const Choice<T> (&choices)[n]) {
  return fmt::format("{}", fmt::join(words_of(choices), "|"));
}

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const PassInfo *pass : all_passes())
    names.push_back(pass->name);
  return names;
}

std::vector<std::string_view> feature_names() {
  std::vector<std::string_view> names;
  for (const TargetFeature &feature : all_target_features())
    names.push_back(feature.name);
  return names;
}

std::string footer() {
  std::vector<HelpRow> passes;
  for (const PassInfo *pass : all_passes())
    passes.push_back({pass->name, pass->description});
  std::vector<std::string> level_words;
  for (unsigned level = 0; level <= max_opt_level; ++level)
    level_words.push_back(fmt::format("-O{}", level));
  std::vector<std::string> level_texts{"no passes"};
  for (unsigned level = 1; level <= max_opt_level; ++level)
    level_texts.push_back(opt_level_pipeline(level));
  std::vector<HelpRow> levels;
  for (unsigned level = 0; level <= max_opt_level; ++level)
    levels.push_back({level_words[level], level_texts[level]});
  std::vector<HelpRow> features;
  for (const TargetFeature &feature : all_target_features())
    features.push_back({feature.name, feature.doc});
  return help_table("Passes (--help-pass=NAME says more)", passes) + '\n' +
         help_table("Levels", levels) + '\n' + help_table("Target features", features) +
         "\nExit status: 0 success, 1 the input is wrong, 2 the command line is wrong, "
         "70 an internal error.";
}

// The command line as text, before it is understood.
struct Words {
  std::optional<std::string> passes;
  std::optional<unsigned> level;
  std::string fp32_cast{OptLevelOptions().fp32_cast};
  std::string excess_precision = "on";
  std::string target;
  std::string verify = "structure";
  std::string emit{module_form_words().front()};
  std::string help_pass;
  std::string stats;
  std::string check;
  std::string print_changed;
  std::vector<std::string> print_before;
  std::vector<std::string> print_after;
  std::vector<std::string> remarks;
  std::optional<std::uint64_t> bisect_limit;
};

// A value with `=`, or none.
CLI::Validator check_optional_word(std::string what, std::vector<std::string_view> words) {
  return CLI::Validator(
      [what = std::move(what), words = std::move(words)](const std::string &word) {
        if (word == no_value || std::find(words.begin(), words.end(), word) != words.end())
          return std::string();
        return unknown_word(what, word, words);
      },
      "");
}

// `--check`, `--check=8`, `--check=excess`, `--check=8,excess`. Returns what is wrong.
std::string read_check(const std::string &text, CheckOptions &check) {
  check.inputs = default_check_inputs;
  if (text == no_value)
    return {};
  for (const std::string &word : CLI::detail::split(text, ',')) {
    unsigned inputs = 0;
    if (word == "excess")
      check.excess = true;
    else if (CLI::detail::lexical_cast(word, inputs) && inputs >= 1 && inputs <= max_check_inputs)
      check.inputs = inputs;
    else
      return fmt::format("found '{}', expected a number of inputs from 1 to {}, 'excess', or both "
                         "with a comma between them",
                         word, max_check_inputs);
  }
  return {};
}

void add_file_options(CLI::App &app, OptOptions &options, Words &words) {
  constexpr const char *group = "Files";
  app.add_option("FILE", options.inputs, "inputs; standard input where there is none or -")
      ->type_name("");
  app.add_option("-o,--output", options.output, "where the result goes; - is standard output")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--output-dir", options.output_dir,
                 "folder of the results, under the inputs' base names; needed for several inputs")
      ->type_name("DIR")
      ->group(group);
  app.add_option("--emit", words.emit, module_form_doc())
      ->type_name("FORM")
      ->check(check_word("form", {module_form_words().begin(), module_form_words().end()}))
      ->capture_default_str()
      ->group(group);
  app.add_option("-j,--jobs", options.jobs,
                 "inputs that are worked on at a time; threads, where there is one")
      ->type_name("N")
      ->check(check_number(1, max_jobs))
      ->group(group);
  app.add_flag("--split-input-file", options.split_input_file,
               "treat what stands between lines of `// -----` as inputs of their own")
      ->group(group);
}

constexpr const char *run_group = "What is run";

void add_level_options(CLI::App &app, Words &words) {
  constexpr const char *group = run_group;
  auto *passes = app.add_option("--passes", words.passes, "the passes to run")
                     ->type_name("PIPELINE")
                     ->group(group);
  auto *level = app.add_option("-O", words.level, "run the pipeline of a level")
                    ->type_name("LEVEL")
                    ->check(check_number(0, max_opt_level))
                    ->excludes(passes)
                    ->group(group);
  app.add_option("--fp32-cast", words.fp32_cast, "what -O2 narrows: none, a mode of auto-cast-fp32")
      ->type_name("MODE")
      ->check(check_word("mode", fp32_cast_modes()))
      ->capture_default_str()
      ->needs(level)
      ->group(group);
  app.add_option("--excess-precision", words.excess_precision,
                 "off: -O1 and -O2 keep every rounding that an author wrote")
      ->type_name("on|off")
      ->check(check_word("value", {"on", "off"}))
      ->capture_default_str()
      ->needs(level)
      ->group(group);
}

void add_machine_options(CLI::App &app, OptOptions &options, Words &words) {
  constexpr const char *group = run_group;
  app.add_option("--target", words.target,
                 "replace the module's target: " +
                     fmt::format("{}", fmt::join(target_names(), "|")))
      ->type_name("NAME")
      ->check(check_word("target", {target_names().begin(), target_names().end()}))
      ->group(group);
  app.add_option("--target-feature", options.target_features,
                 "switch features of the target, as +dma-cast,-x4-matmul")
      ->type_name("LIST")
      ->check(CLI::Validator(
          [](const std::string &list) {
            Target scratch = default_target();
            const auto applied = apply_target_features(scratch, list);
            if (applied)
              return std::string();
            return fmt::format("{}, expected a list of +NAME and -NAME with NAME one of {}",
                               applied.error(), fmt::join(feature_names(), ", "));
          },
          ""))
      ->group(group);
  app.add_option("--shrink-dims", options.shrink_dims,
                 "before the passes, divide the dimensions that are larger than K, consistently")
      ->type_name("K")
      ->check(check_number(1, std::numeric_limits<std::int64_t>::max()))
      ->group(group);
}

void add_pipeline_options(CLI::App &app, OptOptions &options, Words &words) {
  constexpr const char *group = run_group;
  add_level_options(app, words);
  add_machine_options(app, options, words);
  app.add_flag("--print-pipeline", options.print_pipeline, "print the pipeline and run nothing")
      ->group(group);
  app.add_flag("--list-passes", options.list_passes, "print the known passes")->group(group);
  app.add_option("--help-pass", words.help_pass, "print a pass's options and statistics")
      ->type_name("NAME")
      ->check(check_word("pass", pass_names()))
      ->group(group);
  app.add_option("--opt-bisect-limit", words.bisect_limit, "run only the first N passes")
      ->type_name("N")
      ->check(check_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->group(group);
  app.add_option("--shuffle-seed", options.pass_manager.shuffle_seed,
                 "shuffle worklists whose order is free; the result must not change")
      ->type_name("N")
      ->check(check_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->group(group);
}

void add_check_options(CLI::App &app, OptOptions &options, Words &words) {
  constexpr const char *group = "Checks and diagnostics";
  app.add_option("--verify", words.verify,
                 "level of the last verification: " + spelled(verify_levels))
      ->type_name("LEVEL")
      ->check(check_word("verify level", words_of(verify_levels)))
      ->capture_default_str()
      ->group(group);
  app.add_flag("--verify-each", options.pass_manager.verify_each, "verify after every pass")
      ->group(group);
  app.add_flag("--check-changed", options.pass_manager.check_changed,
               "hold passes to what they say about having changed the module")
      ->group(group);
  app.add_flag("--check", words.check,
               "evaluate what each pass changed before and after it, on N inputs (=N, default 4), "
               "and hold it to what it claims; =excess or =N,excess: show errors against the "
               "reference too")
      ->check(CLI::Validator(
          [](const std::string &text) {
            CheckOptions scratch;
            return read_check(text, scratch);
          },
          ""))
      ->group(group);
  app.add_option("--check-reproducer", options.check.reproducer,
                 "where a failed check leaves the module before the pass (default "
                 "nir-check-PASS.nir)")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--verify-diagnostics", options.verify_diagnostics,
               "check diagnostics against `// expected-error {{text}}` comments; print no result")
      ->group(group);
  app.add_flag("--werror", options.werror, "treat warnings as errors")->group(group);
  app.add_option("--max-errors", options.max_errors, "errors shown for an input; 0: all")
      ->type_name("N")
      ->check(check_number(0, std::numeric_limits<unsigned>::max()))
      ->capture_default_str()
      ->group(group);
  app.add_flag("--explain", options.explain,
               "say of every cast left at the end which passes looked at it and why it stayed")
      ->group(group);
  app.add_option("--remarks", words.remarks,
                 "show remarks: a list of " +
                     fmt::format("{}", fmt::join(words_of(remark_kinds), ", ")))
      ->type_name("LIST")
      ->allow_extra_args(false)
      ->check(check_word_list("remark kind", words_of(remark_kinds)))
      ->group(group);
}

void add_report_options(CLI::App &app, OptOptions &options, Words &words) {
  constexpr const char *group = "Reports";
  PassManagerOptions &manager = options.pass_manager;
  app.add_flag("--print-before", words.print_before, "dump before a pass (=NAME), or every pass")
      ->check(check_optional_word("pass", pass_names()))
      ->group(group);
  app.add_flag("--print-after", words.print_after, "dump after a pass (=NAME), or every pass")
      ->check(check_optional_word("pass", pass_names()))
      ->group(group);
  app.add_flag("--print-before-all", manager.print_before_all, "dump before every pass")
      ->group(group);
  app.add_flag("--print-after-all", manager.print_after_all, "dump after every pass")->group(group);
  app.add_flag("--print-changed", words.print_changed,
               "dump after each pass that changed something, as text or =diff")
      ->check(check_optional_word("form", words_of(print_changed_forms)))
      ->group(group);
  app.add_flag("--time-passes", manager.time_passes, "report times")->group(group);
  app.add_flag("--stats", words.stats, "report statistics, as a table or =json")
      ->check(check_optional_word("format", words_of(stats_formats)))
      ->group(group);
  app.add_option("--trace", options.trace, "write a Chrome trace")->type_name("FILE")->group(group);
  app.add_option("--dot", options.dot, "write the resulting module as a Graphviz graph")
      ->type_name("FILE")
      ->group(group);
}

// What a command needs beside passes and input for passes to do the same again.
std::string reproducing_command(const OptOptions &options) {
  std::string text = fmt::format("{} --check={}", tool, options.check.inputs);
  if (options.target != nullptr)
    text += fmt::format(" --target={}", options.target->name);
  if (!options.target_features.empty())
    text += fmt::format(" --target-feature={}", options.target_features);
  if (options.pass_manager.shuffle_seed != 0)
    text += fmt::format(" --shuffle-seed={}", options.pass_manager.shuffle_seed);
  return text;
}

// `--print-before` alone means every pass.
void set_dumps(const std::vector<std::string> &given, bool &all, std::vector<std::string> &passes) {
  for (const std::string &name : given) {
    if (name == no_value)
      all = true;
    else
      passes.push_back(name);
  }
}

void interpret(const Words &words, OptOptions &options) {
  PassManagerOptions &manager = options.pass_manager;
  options.emit = module_form(words.emit);
  options.target = find_target(words.target);
  options.verify = find_choice(verify_levels, words.verify).value_or(VerifyLevel::Structure);
  options.stats = find_choice(stats_formats, words.stats).value_or(StatsFormat::Off);
  options.help_pass = words.help_pass.empty() ? nullptr : find_pass(words.help_pass);
  manager.print_changed =
      find_choice(print_changed_forms, words.print_changed).value_or(PrintChanged::Off);
  set_dumps(words.print_before, manager.print_before_all, manager.print_before);
  set_dumps(words.print_after, manager.print_after_all, manager.print_after);
  for (const std::string &list : words.remarks)
    for (const std::string &word : CLI::detail::split(list, ','))
      if (const auto kind = find_choice(remark_kinds, word))
        manager.remarks.**kind = true;
  if (!words.check.empty())
    (void)read_check(words.check, options.check); // checked already
  options.check.command = reproducing_command(options);
  manager.bisect_limit = words.bisect_limit;
  manager.trace = !options.trace.empty();
  manager.werror = options.werror;
  if (options.max_errors == 0)
    options.max_errors = std::numeric_limits<unsigned>::max();
  if (options.inputs.empty())
    options.inputs.emplace_back("-");
}

// Where a result is printed under no name of its own.
bool prints_no_result(const OptOptions &options) {
  return options.verify_diagnostics || options.print_pipeline || options.list_passes ||
         options.help_pass != nullptr;
}

std::optional<std::string> output_dir_conflict(const OptOptions &options) {
  std::map<std::string, std::string> inputs; // by base name
  for (const std::string &input : options.inputs) {
    if (input == "-")
      return "standard input has no name that could stand in --output-dir";
    const auto [other, is_new] =
        inputs.try_emplace(std::filesystem::path(input).filename().string(), input);
    if (!is_new)
      return fmt::format("inputs '{}' and '{}' have the same base name '{}'", other->second, input,
                         other->first);
  }
  return std::nullopt;
}

// What of the command line contradicts itself.
std::optional<std::string> conflict(const OptOptions &options) {
  if (prints_no_result(options))
    return std::nullopt;
  if (!options.output_dir.empty() && options.output != "-")
    return "--output and --output-dir exclude each other";
  if (options.inputs.size() > 1 && options.output_dir.empty())
    return fmt::format("{} inputs were given, which needs --output-dir", options.inputs.size());
  if (options.inputs.size() > 1 && (!options.dot.empty() || !options.trace.empty()))
    return fmt::format("{} takes one input, but {} were given",
                       options.dot.empty() ? "--trace" : "--dot", options.inputs.size());
  if (options.emit == ModuleForm::Binary && options.split_input_file)
    return "--split-input-file writes text, which --emit=binary excludes";
  if (!options.output_dir.empty())
    return output_dir_conflict(options);
  return form_conflict(options.emit, options.output);
}

// The pipeline that the command line asks for; reports what is wrong with its text.
std::optional<Pipeline> pipeline_of(const Words &words) {
  std::string text;
  if (words.passes)
    text = *words.passes;
  else if (words.level)
    text = opt_level_pipeline(*words.level, {.fp32_cast = words.fp32_cast,
                                             .excess_precision = words.excess_precision == "on"});
  if (text.empty())
    return Pipeline();
  auto pipeline = parse_pipeline(text);
  if (pipeline)
    return std::move(*pipeline);
  std::cerr << render(pipeline.error(), text) << std::flush;
  return std::nullopt;
}

} // namespace

tl::expected<OptOptions, int> parse_opt_options(int argc, char **argv) {
  OptOptions options;
  options.max_errors = DiagnosticEngine::default_max_errors;
  options.command = command_text(argc, argv);
  Words words;
  CLI::App app("Reads .nir modules, verifies them, runs passes, and prints them. Without passes it "
               "is the formatter.");
  set_up_cli(app, tool);
  add_file_options(app, options, words);
  add_pipeline_options(app, options, words);
  add_check_options(app, options, words);
  add_report_options(app, options, words);
  app.footer(footer());
  if (const auto status = parse_cli(app, argc, argv))
    return tl::unexpected(*status);
  interpret(words, options);
  if (const auto error = conflict(options)) {
    print_error(tool, *error);
    return tl::unexpected(exit_status::usage_error);
  }
  auto pipeline = pipeline_of(words);
  if (!pipeline)
    return tl::unexpected(exit_status::usage_error);
  options.pipeline = std::move(*pipeline);
  return options;
}

std::string output_path(const OptOptions &options, const std::string &input) {
  if (options.output_dir.empty())
    return options.output;
  return (std::filesystem::path(options.output_dir) / std::filesystem::path(input).filename())
      .string();
}

} // namespace nir
