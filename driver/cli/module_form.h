#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/core/module.h"
#include "ir/diagnostics/diagnostic.h"
#include "ir/print/printer.h"
#include "lang/nir/parser/parser.h"

namespace nir {

// The forms in which tools read and write modules: the language's text, and docs/binary.md.
enum class ModuleForm : std::uint8_t { Text, Binary };

// The words of `--emit`, in the order of ModuleForm.
std::span<const std::string_view> module_form_words();
// What help says of `--emit`.
std::string module_form_doc();
// Of one of these words.
ModuleForm module_form(std::string_view word);

// Reads a module in the form that its first bytes say. What is wrong with a text has positions in
// it, what is wrong with a binary module has none. The module refers to the bytes of `file`.
std::unique_ptr<Module> read_module(const SourceFile &file, DiagnosticEngine &diagnostics,
                                    const ParseOptions &options = {});
void write_module(Module &module, ModuleForm form, const TextSink &sink);

// Why a module cannot be written there in this form: a terminal shows no bytes. Nothing where it
// can.
std::optional<std::string> form_conflict(ModuleForm form, const std::string &path);

} // namespace nir
