#include "driver/cli/module_form.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/cli/files.h"
#include "ir/binary/binary_reader.h"
#include "ir/binary/binary_writer.h"

namespace nir {
namespace {

constexpr std::string_view words[] = {"text", "binary"};

} // namespace

std::span<const std::string_view> module_form_words() { return words; }

std::string module_form_doc() {
  return fmt::format("the form of the result: {}", fmt::join(words, "|"));
}

ModuleForm module_form(std::string_view word) {
  const auto found = std::ranges::find(words, word);
  return static_cast<ModuleForm>(found - std::begin(words));
}

std::unique_ptr<Module> read_module(const SourceFile &file, DiagnosticEngine &diagnostics,
                                    const ParseOptions &options) {
  if (!is_binary_module(file.text()))
    return parse(file, diagnostics, options);
  return read_binary(file.text(), diagnostics,
                     {.verify = options.verify, .target = options.target});
}

void write_module(Module &module, ModuleForm form, const TextSink &sink) {
  if (form == ModuleForm::Binary)
    write_binary(module, sink);
  else
    print(module, sink);
}

std::optional<std::string> form_conflict(ModuleForm form, const std::string &path) {
  if (form == ModuleForm::Text || !is_terminal(path))
    return std::nullopt;
  return "a binary module would go to a terminal, expected -o FILE or a pipe";
}

} // namespace nir
