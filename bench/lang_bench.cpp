// Lexing and parsing.

#include "bench/bench_modules.h"
#include "lang/nir/lexer/lexer.h"
#include "lang/nir/lexer/token_kinds.h"
#include "lang/nir/parser/parser.h"

namespace nir::bench {
namespace {

void lex(benchmark::State &state) {
  const SourceFile &file = source_of(input_of(state));
  std::int64_t tokens = 0;
  for (auto _ : state) {
    Module module;
    DiagnosticEngine diagnostics;
    lang::Lexer lexer(file, module, diagnostics);
    lang::Token token;
    for (tokens = 0; lexer.next(token) != TOK_END; ++tokens)
      benchmark::DoNotOptimize(token);
  }
  set_rates(state, tokens, file.text().size());
}
BENCHMARK(lex)->Apply(all_inputs);

// As every tool reads: with the rules of all statements.
void parse_checked(benchmark::State &state) {
  const SourceFile &file = source_of(input_of(state));
  for (auto _ : state) {
    DiagnosticEngine diagnostics;
    const auto module = parse(file, diagnostics);
    benchmark::DoNotOptimize(module.get());
  }
  set_rates(state, num_statements(*make_module(input_of(state))), file.text().size());
}
BENCHMARK(parse_checked)->Apply(all_inputs);

void parse_unchecked(benchmark::State &state) {
  const SourceFile &file = source_of(input_of(state));
  ParseOptions options;
  options.verify = false;
  for (auto _ : state) {
    DiagnosticEngine diagnostics;
    const auto module = parse(file, diagnostics, options);
    benchmark::DoNotOptimize(module.get());
  }
  set_rates(state, num_statements(*make_module(input_of(state))), file.text().size());
}
BENCHMARK(parse_unchecked)->Apply(all_inputs);

} // namespace
} // namespace nir::bench
