#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/diagnostic.h"
#include "ir/module.h"
#include "passes/pass.h"

namespace nir {

// Why casts are left at the end of a pipeline: of each pass that looked at a cast and declined,
// what it said the last time (tools, --explain). Watches one module at a time, from start() to
// report().
class Explanation {
public:
  // Forgets what was. Until the report the caller holds a RecyclingPause of the module's arena, so
  // that an erased statement is never taken for another.
  void start(const Module &module);

  // The pass has looked at the cast and lets it stay.
  void declined(const PassInfo &pass, const Stmt &cast, std::string reason);

  // Of every cast left, in order of the program: a remark with its dtypes and the bytes of its
  // results, and a note for each pass that declined, in order of their first words; at the end a
  // remark with the sums, and the bytes moved by the whole module. Casts are tensor_copy between
  // dtypes and offloaded_memcast.
  void report(DiagnosticEngine &diagnostics) const;

private:
  struct Reason {
    const PassInfo *pass;
    std::string text;
  };
  void report(const Instruction &cast, DiagnosticEngine &diagnostics) const;

  const Module *module_ = nullptr;
  std::unordered_map<const Stmt *, std::vector<Reason>> reasons_; // asked only, never walked
};

} // namespace nir
