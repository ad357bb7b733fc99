// Any bytes are cut into tokens that follow one another up to the end.

#include "lang/nir/lexer/lexer.h"

#include "lang/nir/lexer/token_kinds.h"
#include "tests/fuzz/fuzz_check.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace nir;
  using fuzz::require;
  const SourceFile file("fuzz.nir", fuzz::text_of(data, size));
  Module module;
  DiagnosticEngine diagnostics;
  lang::Lexer lexer(file, module, diagnostics);
  lang::Token token;
  SourceOffset end = 0;
  bool failed = false;
  for (int kind = lexer.next(token); kind != TOK_END; kind = lexer.next(token)) {
    const SourceRange range = token.range();
    require(range.begin >= end, "tokens do not overlap");
    require(range.end > range.begin && range.end <= size, "a token lies inside the text");
    failed = failed || kind == TOK_NIR_YYerror;
    if (kind == TOK_STRING) {
      std::string content;
      lang::unescape(lexer.text(range), content);
    }
    end = range.end;
  }
  if (failed)
    fuzz::require_located_errors(diagnostics, file);
  require(failed == diagnostics.has_errors(), "what is no token is reported, and nothing else");
  return 0;
}
