// my-opt PIPELINE FILE: runs a pipeline, in which the passes of this folder may stand beside nir's,
// and prints the module.
#include <fstream>
#include <iostream>
#include <sstream>

#include "ir/printer.h"
#include "lang/parser.h"
#include "passes/pass_manager.h"

extern const nir::PassInfo fold_transposes;
extern const nir::PassInfo strip_loc;

namespace {

void show(const nir::DiagnosticEngine &diagnostics, const nir::SourceFile &file) {
  std::string text;
  for (const nir::Diagnostic &diagnostic : diagnostics.diagnostics())
    nir::render(diagnostic, file, text);
  std::cerr << text;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: my-opt PIPELINE FILE\n";
    return 2;
  }
  nir::register_pass(fold_transposes);
  nir::register_pass(strip_loc);
  auto pipeline = nir::parse_pipeline(argv[1]);
  if (!pipeline) {
    std::cerr << nir::render(pipeline.error(), argv[1]);
    return 2;
  }

  std::ostringstream text;
  text << std::ifstream(argv[2]).rdbuf();
  const nir::SourceFile file(argv[2], text.str());
  nir::DiagnosticEngine diagnostics;
  const auto module = nir::parse(file, diagnostics);
  if (module == nullptr) {
    show(diagnostics, file);
    return 1;
  }
  nir::PassManagerOptions options;
  options.verify_each = true;   // what tests want:
  options.check_changed = true; // passes that tell the truth
  options.remarks.applied = true;
  nir::PassManager manager(std::move(*pipeline), std::move(options));
  const nir::PipelineStatus status = manager.run(*module, diagnostics);
  show(diagnostics, file);
  if (status != nir::PipelineStatus::Success)
    return 1;
  std::cout << nir::to_string(*module);
  std::cerr << manager.statistics_text();
  return 0;
}
