// What holds for every text, good or bad, for the tests that try many of them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "ir/print/printer.h"
#include "ir/verify/verifier.h"
#include "lang/nir/parser/parser.h"
#include "passes/instrument/structural_hash.h"
#include "passes/manager/pass_manager.h"

namespace nir::test {

// The `.nir` files of a folder, in order of their names; none where there is no such folder.
inline std::vector<std::filesystem::path> module_files(const std::filesystem::path &folder) {
  std::vector<std::filesystem::path> paths;
  if (!std::filesystem::is_directory(folder))
    return paths;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".nir")
      paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

inline std::vector<std::filesystem::path> example_files() {
  return module_files(std::filesystem::path(NIR_SOURCE_DIR) / "docs" / "examples");
}

inline std::string read_text(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline std::string rendered(const DiagnosticEngine &diagnostics, const SourceFile &file) {
  std::string text;
  for (const Diagnostic &diagnostic : diagnostics.diagnostics())
    render(diagnostic, file, text);
  return text;
}

// A text and the module that it is; nullptr where it is none.
struct TextModule {
  explicit TextModule(std::string text, std::string name = "test.nir")
      : file(std::move(name), std::move(text)), module(parse(file, diagnostics)) {}
  std::string messages() const { return rendered(diagnostics, file); }

  SourceFile file;
  DiagnosticEngine diagnostics;
  std::unique_ptr<Module> module;
};

// A module is well-formed, its text says all of it, and that text is the only one. Returns the
// text.
inline std::string expect_round_trip(Module &module, std::string_view name) {
  DiagnosticEngine broken;
  EXPECT_TRUE(verify(module, VerifyLevel::Structure, broken)) << name;
  const std::string text = to_string(module);
  const TextModule again(text, std::string(name) + " as printed");
  EXPECT_TRUE(again.module) << again.messages();
  if (!again.module)
    return text;
  EXPECT_EQ(to_string(*again.module), text) << name;
  EXPECT_EQ(structural_hash(*again.module), structural_hash(module)) << name;
  return text;
}

// The pipeline either refuses the module and leaves it as it was, or does what every pipeline does:
// each pass says the truth about a change and leaves a well-formed module with the old interface.
// A second run of the chain has nothing to do. Returns whether the module was accepted.
inline bool expect_pipeline_holds(Module &module, std::string_view pipeline,
                                  std::string_view name) {
  PassManagerOptions options;
  options.verify_each = true;
  options.check_changed = true;
  options.remarks = {.applied = true, .missed = true};
  PassManager manager(parse_pipeline(pipeline).value(), options);
  DiagnosticEngine diagnostics;
  const std::string before = to_string(module);
  const PipelineStatus status = manager.run(module, diagnostics);
  EXPECT_NE(status, PipelineStatus::InternalError) << name << ": " << manager.failed_pass();
  if (status == PipelineStatus::Success)
    return true;
  EXPECT_TRUE(diagnostics.has_errors()) << name;
  EXPECT_EQ(to_string(module), before) << name;
  return false;
}

// What is said of a bad text: errors that lie inside it, in order, at most as many as are asked
// for.
inline void expect_located_errors(const TextModule &bad) {
  EXPECT_TRUE(bad.diagnostics.has_errors());
  const auto &all = bad.diagnostics.diagnostics();
  EXPECT_LE(std::ranges::count(all, Severity::Error, &Diagnostic::severity),
            std::ptrdiff_t{DiagnosticEngine::default_max_errors});
  for (const Diagnostic &diagnostic : all) {
    EXPECT_TRUE(diagnostic.range.valid()) << diagnostic.message;
    EXPECT_LE(diagnostic.range.begin, bad.file.text().size()) << diagnostic.message;
    EXPECT_LE(diagnostic.range.end, bad.file.text().size() + 1) << diagnostic.message;
    EXPECT_FALSE(diagnostic.message.empty());
  }
}

} // namespace nir::test
