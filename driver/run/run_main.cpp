#include "driver/run/run_main.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/cli/cli.h"
#include "driver/cli/files.h"
#include "driver/cli/module_form.h"
#include "driver/cli/progress.h"
#include "driver/run/npy.h"
#include "driver/run/run_options.h"
#include "driver/run/run_output.h"
#include "ir/name/name_text.h"

namespace nir {
namespace {

constexpr std::string_view tool = "nir-run";

// How the program ends early: what was wrong has been said.
using Failure = tl::unexpected<int>;

Failure fail(std::string_view message, int status = exit_status::input_error) {
  print_error(tool, message);
  return Failure(status);
}

std::string plain_name(const NameTable &names, Name name) {
  return name.is_number() ? std::to_string(name.number()) : std::string(names.view(name));
}

// A module, its text and the function that is run.
struct Subject {
  std::unique_ptr<SourceFile> file;
  std::unique_ptr<Module> module;
  const Function *function = nullptr;

  std::string name_of(const Tensor &tensor) const {
    return quoted_name(module->names(), '$', tensor.name());
  }
  std::vector<const Tensor *> tensors(Role role) const {
    std::vector<const Tensor *> found;
    for (const Tensor *tensor = function->first_tensor(); tensor; tensor = tensor->next())
      if (tensor->role() == role)
        found.push_back(tensor);
    return found;
  }
};

void show(const DiagnosticEngine &diagnostics, const SourceFile &file) {
  std::string text;
  for (const Diagnostic &diagnostic : diagnostics.diagnostics())
    if (diagnostic.severity != Severity::Warning) // what surprises is nir-opt's to say
      render(diagnostic, file, text);
  std::cerr << text;
}

Failure fail(const Subject &subject, const EvalError &error) {
  DiagnosticEngine diagnostics;
  diagnostics.error(SourceRange::at(error.source), error.message);
  show(diagnostics, *subject.file);
  return Failure(exit_status::input_error);
}

tl::expected<const Function *, int> choose_function(const Subject &subject,
                                                    const std::string &wanted) {
  std::vector<std::string> names;
  for (const Function *function : subject.module->functions()) {
    names.push_back(plain_name(subject.module->names(), function->name()));
    if (!wanted.empty() && names.back() == wanted)
      return function;
  }
  if (names.empty())
    return fail(fmt::format("{} has no function", subject.file->name()));
  if (!wanted.empty()) {
    const std::vector<std::string_view> known(names.begin(), names.end());
    return fail(unknown_word("function", wanted, known), exit_status::usage_error);
  }
  if (names.size() > 1)
    return fail(fmt::format("{} has {} functions, name one with --function: {}",
                            subject.file->name(), names.size(), fmt::join(names, ", ")),
                exit_status::usage_error);
  return subject.module->functions().front();
}

tl::expected<Subject, int> load_subject(const std::string &path, const RunOptions &options) {
  auto text = read_input(path);
  if (!text)
    return fail(text.error());
  Subject subject;
  subject.file = std::make_unique<SourceFile>(display_name(path), std::move(*text));
  DiagnosticEngine diagnostics;
  subject.module = read_module(*subject.file, diagnostics);
  show(diagnostics, *subject.file);
  if (subject.module == nullptr)
    return Failure(exit_status::input_error);
  const auto function = choose_function(subject, options.function);
  if (!function)
    return Failure(function.error());
  subject.function = *function;
  return subject;
}

tl::expected<void, int> check_memory(const Subject &subject, const EvalOptions &options) {
  const auto needed = required_memory(*subject.function, options);
  if (!needed)
    return fail(subject, needed.error());
  if (std::string message = memory_refusal(*subject.function, *needed, options); !message.empty())
    return fail(subject, EvalError{subject.function->source(), std::move(message)});
  return {};
}

tl::expected<void, int> check_input_names(const Subject &subject, const RunOptions &options) {
  std::vector<std::string> names;
  for (const Tensor *tensor : subject.tensors(Role::Input))
    names.push_back(plain_name(subject.module->names(), tensor->name()));
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const GivenInput &input : options.inputs)
    if (std::ranges::find(names, input.name) == names.end())
      return fail(known.empty() ? fmt::format("no input '{}': the function has none", input.name)
                                : unknown_word("input", input.name, known),
                  exit_status::usage_error);
  return {};
}

tl::expected<HostTensor, int> make_tensor(const Subject &subject, const Tensor &tensor,
                                          const RunOptions &options) {
  const std::string name = plain_name(subject.module->names(), tensor.name());
  const auto given = std::ranges::find(options.inputs, name, &GivenInput::name);
  if (given == options.inputs.end())
    return make_input(tensor.type(), name, options.seed, options.kind);
  const auto bytes = read_input(given->path);
  if (!bytes)
    return fail(bytes.error());
  auto read = from_npy(bytes->view(), tensor.type());
  if (!read)
    return fail(fmt::format("cannot use '{}' as {}: {}", given->path, subject.name_of(tensor),
                            read.error()));
  return std::move(*read);
}

tl::expected<std::vector<HostTensor>, int> make_inputs(const Subject &subject,
                                                       const RunOptions &options) {
  if (auto known = check_input_names(subject, options); !known)
    return Failure(known.error());
  std::vector<HostTensor> inputs;
  for (const Tensor *tensor : subject.tensors(Role::Input)) {
    auto input = make_tensor(subject, *tensor, options);
    if (!input)
      return Failure(input.error());
    inputs.push_back(std::move(*input));
  }
  return inputs;
}

tl::expected<std::vector<HostTensor>, int> run_subject(const Subject &subject,
                                                       std::span<const HostTensor> inputs,
                                                       const EvalOptions &options) {
  auto outputs = evaluate(*subject.function, inputs, options);
  if (!outputs)
    return fail(subject, outputs.error());
  return std::move(*outputs);
}

std::string outputs_text(const Subject &subject, std::span<const HostTensor> outputs,
                         RunPrint print) {
  std::string text;
  const auto tensors = subject.tensors(Role::Output);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = subject.name_of(*tensors[i]);
    if (print == RunPrint::Values)
      text += values_text(name, outputs[i]);
    else if (print == RunPrint::Digest)
      text += fmt::format("{} {} {}\n", name, to_string(*outputs[i].type),
                          digest_text(name, outputs[i]));
  }
  return text;
}

// All files, or none: each is named only when all are written.
tl::expected<void, FileError> write_outputs(const Subject &subject,
                                            std::span<const HostTensor> outputs,
                                            const RunOptions &options) {
  std::vector<std::unique_ptr<OutputFile>> files;
  const auto add = [&files](std::string path,
                            std::string_view content) -> tl::expected<void, FileError> {
    files.push_back(std::make_unique<OutputFile>(std::move(path)));
    if (auto opened = files.back()->open(); !opened)
      return opened;
    files.back()->write(content);
    return {};
  };
  const auto tensors = subject.tensors(Role::Output);
  for (std::size_t i = 0; i < outputs.size() && !options.output_dir.empty(); ++i) {
    const std::string name = plain_name(subject.module->names(), tensors[i]->name());
    const auto path = std::filesystem::path(options.output_dir) / npy_file_name(name);
    if (auto added = add(path.string(), to_npy(outputs[i])); !added)
      return added;
  }
  if (options.print != RunPrint::Nothing)
    if (auto added = add(options.output, outputs_text(subject, outputs, options.print)); !added)
      return added;
  for (const auto &file : files)
    if (auto committed = file->commit(); !committed)
      return committed;
  return {};
}

tl::expected<void, int> make_output_dir(const std::string &dir) {
  if (dir.empty())
    return {};
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (!error && std::filesystem::is_directory(dir, error))
    return {};
  return fail(
      fmt::format("cannot write into '{}': {}", dir, error ? error.message() : "it is no folder"));
}

tl::expected<void, int> run_one(const RunOptions &options) {
  const auto subject = load_subject(options.files[0], options);
  if (!subject)
    return Failure(subject.error());
  if (auto fits = check_memory(*subject, options.eval); !fits)
    return fits;
  const auto inputs = make_inputs(*subject, options);
  if (!inputs)
    return Failure(inputs.error());
  Progress progress(tool, true);
  progress.show("evaluating");
  const auto outputs = run_subject(*subject, *inputs, options.eval);
  progress.clear();
  if (!outputs)
    return Failure(outputs.error());
  if (auto made = make_output_dir(options.output_dir); !made)
    return made;
  if (auto written = write_outputs(*subject, *outputs, options); !written)
    return fail(written.error());
  return {};
}

// Why the two have not one interface; empty where they do.
std::string interface_difference(const Subject &a, const Subject &b) {
  for (const Role role : {Role::Input, Role::Output}) {
    const auto left = a.tensors(role);
    const auto right = b.tensors(role);
    if (left.size() != right.size())
      return fmt::format("{} {}s and {}", left.size(), to_string(role), right.size());
    for (std::size_t i = 0; i < left.size(); ++i) {
      const auto text = [](const Subject &subject, const Tensor &tensor) {
        return fmt::format("{} {}", subject.name_of(tensor), to_string(*tensor.type()));
      };
      if (text(a, *left[i]) != text(b, *right[i]))
        return fmt::format("{} {} is {} and {}", to_string(role), i + 1, text(a, *left[i]),
                           text(b, *right[i]));
    }
  }
  return {};
}

tl::expected<std::string, int> compare(const Subject &a, const Subject &b,
                                       const RunOptions &options) {
  EvalOptions exact = options.eval;
  exact.reference = true;
  for (const auto &[subject, eval] : {std::pair(&a, &options.eval), std::pair(&b, &options.eval),
                                      std::pair(&a, static_cast<const EvalOptions *>(&exact))})
    if (auto fits = check_memory(*subject, *eval); !fits)
      return Failure(fits.error());
  auto inputs = make_inputs(a, options);
  if (!inputs)
    return Failure(inputs.error());
  auto reference = run_subject(a, *inputs, exact);
  auto from_a = reference ? run_subject(a, *inputs, options.eval) : reference;
  // Types belong to their module.
  std::size_t i = 0;
  for (const Tensor *tensor : b.tensors(Role::Input))
    (*inputs)[i++].type = tensor->type();
  auto from_b = from_a ? run_subject(b, *inputs, options.eval) : from_a;
  if (!from_b)
    return Failure(from_b.error());
  std::vector<ComparedOutput> outputs;
  const auto tensors = a.tensors(Role::Output);
  for (std::size_t k = 0; k < tensors.size(); ++k)
    outputs.push_back({a.name_of(*tensors[k]), std::move((*from_a)[k]), std::move((*from_b)[k]),
                       std::move((*reference)[k])});
  return comparison_text(outputs);
}

tl::expected<void, int> run_two(const RunOptions &options) {
  const auto a = load_subject(options.files[0], options);
  if (!a)
    return Failure(a.error());
  const auto b = load_subject(options.files[1], options);
  if (!b)
    return Failure(b.error());
  if (const std::string difference = interface_difference(*a, *b); !difference.empty())
    return fail(fmt::format("the interfaces differ: {}", difference));
  Progress progress(tool, true);
  progress.show("evaluating");
  const auto text = compare(*a, *b, options);
  progress.clear();
  if (!text)
    return Failure(text.error());
  if (auto written = write_file(options.output, *text); !written)
    return fail(written.error());
  return {};
}

int run(int argc, char **argv) {
  const auto options = parse_run_options(argc, argv);
  if (!options)
    return options.error();
  const auto done = options->compare ? run_two(*options) : run_one(*options);
  return done ? exit_status::success : done.error();
}

} // namespace

int run_main(int argc, char **argv) { return run_tool(tool, argc, argv, run); }

} // namespace nir
