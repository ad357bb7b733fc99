// Any module goes through -O2: it is refused and left alone, or every pass keeps what passes keep.

#include "ir/print/printer.h"
#include "lang/nir/parser/parser.h"
#include "passes/manager/pass_manager.h"
#include "passes/pipeline/opt_levels.h"
#include "tests/fuzz/fuzz_check.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace nir;
  using fuzz::require;
  const SourceFile file("fuzz.nir", fuzz::text_of(data, size));
  DiagnosticEngine diagnostics;
  const auto module = parse(file, diagnostics);
  if (module == nullptr)
    return 0;
  PassManagerOptions options;
  options.verify_each = true;
  options.check_changed = true;
  options.remarks = {.applied = true, .missed = true};
  PassManager manager(parse_pipeline(opt_level_pipeline(2, {.fp32_cast = "all"})).value(), options);
  const std::string before = to_string(*module);
  const PipelineStatus status = manager.run(*module, diagnostics);
  require(status != PipelineStatus::InternalError, manager.failed_pass());
  if (status == PipelineStatus::InputError)
    require(to_string(*module) == before, "what is refused is left alone");
  return 0;
}
