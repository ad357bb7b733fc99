// Evaluates small functions given as text, for the tests of the evaluator.
#pragma once

#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/eval/evaluator.h"
#include "ir/numeric/literal.h"
#include "lang/nir/parser/parser.h"

namespace nir::test {

struct EvalModule {
  explicit EvalModule(std::string text) : file("test.nir", std::move(text)) {
    module = parse(file, diagnostics);
    for (const Diagnostic &diagnostic : diagnostics.diagnostics())
      if (diagnostic.severity == Severity::Error) {
        std::string message;
        render(diagnostic, file, message);
        ADD_FAILURE() << message;
      }
  }
  // The last one: what it calls stands before it, or after.
  const Function &function(std::string_view name = "f") const {
    return *module->find_function(module->intern(name));
  }
  // The instruction that defines %name, of @f.
  const Instruction *value(std::string_view name) const {
    for (const Stmt &stmt : function().statements())
      if (stmt.name() == module->intern(name))
        return cast<Instruction>(&stmt);
    return nullptr;
  }
  SourceFile file;
  DiagnosticEngine diagnostics;
  std::unique_ptr<Module> module;
};

inline std::uint64_t code_at(const HostTensor &tensor, std::size_t i) {
  const unsigned bytes = sizeinbytes(tensor.type->dtype());
  std::uint64_t code = 0;
  std::memcpy(&code, tensor.bytes.data() + i * bytes, bytes);
  return code;
}

// Elements with blanks between, as the language writes numbers or as hexadecimal codes.
inline std::string tensor_text(const HostTensor &tensor, bool codes = false) {
  std::string text;
  for (std::int64_t i = 0; i < tensor.type->num_elements(); ++i) {
    const std::uint64_t code = code_at(tensor, static_cast<std::size_t>(i));
    text += i == 0 ? "" : " ";
    text += codes ? fmt::format("{:x}", code) : code_to_text(tensor.type->dtype(), code);
  }
  return text;
}

inline HostTensor host_tensor(const Type *type, std::initializer_list<std::uint64_t> codes) {
  HostTensor tensor{type, {}};
  for (const std::uint64_t code : codes) {
    const auto *bytes = reinterpret_cast<const std::byte *>(&code);
    tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + sizeinbytes(type->dtype()));
  }
  return tensor;
}

// The outputs of @f, ` | ` between them; the error after `error: ` where there is one.
inline std::string evaluated(const EvalModule &module, const EvalOptions &options = {},
                             std::span<const HostTensor> inputs = {}, bool codes = false) {
  if (module.module == nullptr)
    return "no module";
  const auto outputs = evaluate(module.function(), inputs, options);
  if (!outputs)
    return "error: " + outputs.error().message;
  std::string text;
  for (const HostTensor &tensor : *outputs)
    text += (text.empty() ? "" : " | ") + tensor_text(tensor, codes);
  return text;
}

inline std::string in_f(std::string_view body) { return fmt::format("func @f {{\n{}\n}}\n", body); }

// Of a function @f with that body and no inputs.
inline std::string results(std::string_view body, const EvalOptions &options = {}) {
  return evaluated(EvalModule(in_f(body)), options);
}
inline std::string result_codes(std::string_view body, const EvalOptions &options = {}) {
  return evaluated(EvalModule(in_f(body)), options, {}, true);
}

// `tensor $a : dtype[n] sbuf const = dense(numbers)`.
inline std::string constant(std::string_view name, std::string_view dtype,
                            std::string_view numbers) {
  const auto count = std::count(numbers.begin(), numbers.end(), ',') + 1;
  return fmt::format("tensor ${} : {}[{}] sbuf const = dense({})\n", name, dtype, count, numbers);
}

// `instruction` over the constants $a and $b of a dtype, written to `to`.
inline std::string over(std::string_view instruction, std::string_view dtype, std::string_view a,
                        std::string_view b, std::string_view to) {
  const auto count = std::count(a.begin(), a.end(), ',') + 1;
  return constant("a", dtype, a) + (b.empty() ? "" : constant("b", dtype, b)) +
         fmt::format("tensor $y : {}[{}] sbuf output\n{} -> $y\n", to, count, instruction);
}

// The elements of `op $a, $b`.
inline std::string tensor_op(std::string_view op, std::string_view dtype, std::string_view a,
                             std::string_view b, std::string_view to = "") {
  return results(
      over(fmt::format("tensor_tensor {} $a, $b", op), dtype, a, b, to.empty() ? dtype : to));
}

// The elements of `fn $a`.
inline std::string function_of(std::string_view fn, std::string_view a,
                               std::string_view dtype = "float32") {
  return results(over(fmt::format("activation {} $a", fn), dtype, a, "", dtype));
}

// The elements of $a as `to`.
inline std::string copied(std::string_view from, std::string_view a, std::string_view to,
                          std::string_view attributes = "") {
  return results(over(fmt::format("tensor_copy $a {}", attributes), from, a, "", to));
}

} // namespace nir::test
