#include "passes/instrument/cycle_probe.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/print/printer.h"

namespace nir {
namespace {

std::string describe(const Piece &piece) {
  if (piece.stmt != nullptr)
    return to_string(*piece.stmt);
  if (piece.tensor == nullptr)
    return {};
  const NameTable &names = piece.tensor->function()->module().names();
  return fmt::format("tensor {} : {}", quoted_name(names, '$', piece.tensor->name()),
                     to_string(*piece.tensor->type()));
}

SourceRange range_of(const Piece &piece) {
  if (piece.stmt != nullptr)
    return SourceRange::at(piece.stmt->source());
  return piece.tensor != nullptr ? SourceRange::at(piece.tensor->source()) : SourceRange{};
}

void add_once(std::vector<std::string_view> &names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end())
    names.push_back(name);
}

// `'a', 'b' and 'c'`.
std::string list_names(const std::vector<std::string_view> &names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0)
      out += i + 1 == names.size() ? " and " : ", ";
    out += fmt::format("'{}'", names[i]);
  }
  return out;
}

} // namespace

CycleProbe::CycleProbe(Module &module) : start_(piece_hashes(module)), last_(start_) {}

void CycleProbe::after_pass(const PassInfo &pass, bool says_changed, Module &module) {
  if (says_changed)
    add_once(claimers_, pass.name);
  std::vector<std::uint64_t> now = piece_hashes(module);
  if (now == last_)
    return;
  last_ = std::move(now);
  add_once(changers_, pass.name);
  if (!flip_)
    find_flip(module);
}

void CycleProbe::find_flip(Module &module) {
  const auto [before, after] = std::ranges::mismatch(start_, last_);
  flip_ = static_cast<std::size_t>(before - start_.begin());
  was_inserted_ = last_.size() > start_.size();
  was_erased_ = last_.size() < start_.size();
  if (was_erased_)
    return;
  const Piece piece = piece_at(module, *flip_);
  flipped_ = describe(piece);
  range_ = range_of(piece);
}

PassFailure CycleProbe::explain(std::string_view where, Module &module) const {
  if (!flip_)
    return {fmt::format("{}: {} says that it changed the module, but left it as it was", where,
                        list_names(claimers_)),
            {},
            {}};
  const Piece at_start = piece_at(module, *flip_);
  const std::string_view verb = changers_.size() > 1 ? "undo each other" : "undoes itself";
  PassFailure failure{fmt::format("{}: {} {}: {}", where, list_names(changers_), verb,
                                  describe_flip(describe(at_start))),
                      range_,
                      {}};
  if (was_erased_)
    failure.range = range_of(at_start);
  return failure;
}

std::string CycleProbe::describe_flip(const std::string &at_start) const {
  if (was_inserted_)
    return fmt::format("`{}` comes and goes", flipped_);
  if (was_erased_)
    return fmt::format("`{}` goes and comes back", at_start);
  return fmt::format("`{}` becomes `{}` and back", at_start, flipped_);
}

} // namespace nir
