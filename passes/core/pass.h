#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/core/module.h"
#include "ir/diagnostics/diagnostic.h"

namespace nir {

class DeclineReasons;
class PassContext;
class RemarkMemory;
class RewriteLog;

// One option of a pass, written `pass{name=value}`; a flag may stand alone for `=true`.
struct PassOption {
  enum Kind : std::uint8_t { Flag, Choice, Number };
  std::string_view name;
  Kind kind = Flag;
  std::string_view default_value;
  std::span<const std::string_view> choices; // of a Choice
  std::string_view doc;
};

// One counter of a pass. Counters saturate at 2^64 - 1.
struct PassStatistic {
  std::string_view name;
  std::string_view unit; // "bytes", "casts", …
};

// The options of one pass in a pipeline: what was written there, defaults for the rest. The
// pipeline parser has checked names and values against the pass's table.
class PassOptions {
public:
  PassOptions() = default;
  explicit PassOptions(std::span<const PassOption> table) : table_(table) {}

  // An empty value is that of a flag that stands alone.
  void set(std::string_view name, std::string value);
  // The given or default value. The name must be in the table.
  std::string_view get(std::string_view name) const;
  bool flag(std::string_view name) const { return get(name) == "true" || get(name) == "on"; }
  std::uint64_t number(std::string_view name) const;
  // What was written, in that order.
  const std::vector<std::pair<std::string, std::string>> &given() const { return given_; }

private:
  std::span<const PassOption> table_;
  std::vector<std::pair<std::string, std::string>> given_;
};

// A transformation of one module. A new object is made for every place in a pipeline and may be run
// many times; it keeps nothing between runs.
class Pass {
public:
  virtual ~Pass() = default;
  // Returns whether it changed the module, truthfully: --check-changed holds it to that. Errors go
  // to the context's diagnostics, and then the module must be as it was.
  virtual bool run(Module &module, PassContext &context) = 0;
};

// A pass that looks at one function at a time and at nothing outside it but the interfaces of
// callees, so that what it does to a function follows from that function alone. Functions are given
// in order of definition, or several at a time on as many threads: `run` keeps what it knows in
// locals. One that a run left as it was, and that nobody has changed since, need not be given
// again.
class FunctionPass : public Pass {
public:
  bool run(Module &module, PassContext &context) final;
  virtual bool run(Function &function, PassContext &context) = 0;
};

// Everything that is known of a pass, in one place: the registry, --help, the pipeline parser,
// --stats and the table in the docs all read it.
struct PassInfo {
  std::string_view name;
  std::string_view description;
  std::span<const PassOption> options;
  std::span<const PassStatistic> statistics;
  std::unique_ptr<Pass> (*create)(const PassOptions &options);
  bool establishes_legal_form = false; // --verify-each checks legal form from here on
  // Run again on what it has just left, it changes, counts and says nothing. Of a function pass; in
  // a fixpoint a function that nobody else has changed since is not shown to it again.
  bool idempotent = false;
};

// What happened, or did not, to one cast (passes, Classes).
enum class RemarkClass : std::uint8_t { Exact, Inserted, Permitted, Declined };
std::string_view to_string(RemarkClass remark_class);

// Which remarks are wanted.
struct RemarkFilter {
  bool applied = false;
  bool missed = false;
};

// Counters of one pass, in the order of its table, summed over all its runs.
struct PassCounters {
  const PassInfo *pass = nullptr;
  std::vector<std::uint64_t> values;
  PassCounters zeros() const { return {pass, std::vector<std::uint64_t>(values.size())}; }
};

// What a running pass sees of its surroundings.
class PassContext {
public:
  PassContext(const PassInfo &pass, DiagnosticEngine &diagnostics, PassCounters &counters,
              RemarkFilter remarks, std::uint64_t shuffle_seed)
      : pass_(pass), diagnostics_(diagnostics), counters_(counters), remarks_(remarks),
        shuffle_state_(shuffle_seed) {}

  const PassInfo &pass() const { return pass_; }
  DiagnosticEngine &diagnostics() { return diagnostics_; }
  const PassCounters &counters() const { return counters_; }

  // Whether functions have to be given one after the other, in order: something is kept from one
  // to the next.
  bool needs_order() const {
    return shuffle_state_ != 0 || rewrites_ != nullptr || decline_reasons_ != nullptr ||
           remarks_.applied || remarks_.missed;
  }
  // The same surroundings for a part of the module, beside others, where no order is needed.
  PassContext with(DiagnosticEngine &diagnostics, PassCounters &counters) const {
    return {pass_, diagnostics, counters, remarks_, shuffle_state_};
  }

  // Adds to the statistic with that place in the pass's table, saturating.
  void count(unsigned statistic, std::uint64_t amount = 1);

  // Building a message costs: ask first.
  bool wants_applied() const { return remarks_.applied; }
  bool wants_missed() const { return remarks_.missed || decline_reasons_ != nullptr; }
  // A remark at the statement: `pass-name: exact: message` or `pass-name: declined: message`.
  void remark(RemarkClass remark_class, const Stmt &at, std::string message);

  // Where rewrites record what they claim about numbers; nullptr where nobody asks. Every pass that
  // removes or moves a cast must.
  RewriteLog *rewrites() { return rewrites_; }
  void set_rewrites(RewriteLog *log) { rewrites_ = log; }
  // Where it is kept why casts stayed; nullptr where nobody asks.
  void set_decline_reasons(DeclineReasons *reasons) { decline_reasons_ = reasons; }
  // What earlier runs have said is not said again.
  void set_remark_memory(RemarkMemory *memory) { remark_memory_ = memory; }

  // With --shuffle-seed, puts the items of a worklist whose order is free into a random but seeded
  // order; else leaves them. Results must not depend on it.
  template <class T> void shuffle(std::vector<T> &items) {
    if (shuffle_state_ == 0)
      return;
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[next_random() % i]);
  }

private:
  std::uint64_t next_random();

  const PassInfo &pass_;
  DiagnosticEngine &diagnostics_;
  PassCounters &counters_;
  RemarkFilter remarks_;
  std::uint64_t shuffle_state_; // 0: keep orders
  RewriteLog *rewrites_ = nullptr;
  DeclineReasons *decline_reasons_ = nullptr;
  RemarkMemory *remark_memory_ = nullptr;
};

} // namespace nir
