// What the fuzzers on bytes share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ir/diagnostics/diagnostic.h"

// One input. Anything that must not be ends the process, so that the fuzzer keeps the input.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace nir::fuzz {

inline std::string text_of(const std::uint8_t *data, std::size_t size) {
  return std::string(reinterpret_cast<const char *>(data), size);
}

inline void require(bool holds, std::string_view what) {
  if (holds)
    return;
  std::fprintf(stderr, "fuzzer: it does not hold that %.*s\n", static_cast<int>(what.size()),
               what.data());
  std::abort();
}

// Of a text that was refused: there are errors, they lie inside it, and they can be shown.
inline void require_located_errors(const DiagnosticEngine &diagnostics, const SourceFile &file) {
  require(diagnostics.has_errors(), "what is refused has an error");
  std::string shown;
  for (const Diagnostic &diagnostic : diagnostics.diagnostics()) {
    require(!diagnostic.message.empty(), "a diagnostic says something");
    require(diagnostic.range.valid() && diagnostic.range.begin <= file.text().size() &&
                diagnostic.range.end <= file.text().size() + 1,
            "a diagnostic lies inside the text");
    render(diagnostic, file, shown);
  }
}

} // namespace nir::fuzz
