#pragma once

#include <string>
#include <utility>

#include "ir/diagnostics/diagnostic.h"

namespace nir::lang {

// Reports what is wrong with the statement that is being read, and remembers that something was: a
// statement that failed is not made, and what it defines counts as defined with unknown type.
class Errors {
public:
  explicit Errors(DiagnosticEngine &diagnostics) : diagnostics_(diagnostics) {}

  Diagnostic &error(SourceRange range, std::string message) {
    failed_ = true;
    return diagnostics_.error(range, std::move(message));
  }
  // For what follows from an earlier error and needs no message.
  void fail() { failed_ = true; }
  bool failed() const { return failed_; }
  void begin_statement() { failed_ = false; }
  DiagnosticEngine &diagnostics() { return diagnostics_; }

private:
  DiagnosticEngine &diagnostics_;
  bool failed_ = false;
};

} // namespace nir::lang
