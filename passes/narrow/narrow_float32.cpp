#include "passes/narrow/narrow_float32.h"

#include <algorithm>

#include <fmt/format.h>

namespace nir {
namespace {

class Narrower {
public:
  Narrower(Function &function, PassContext &context, const NarrowingOptions &options,
           NarrowingCounts &counts)
      : context_(context), narrow_(options.narrow), plan_(function, options),
        edit_(function, context, counts) {}

  void run(bool profit) {
    // All costs are known before anything changes.
    const std::vector<NarrowingPlan::Class> classes = plan_.classes();
    for (const NarrowingPlan::Class &one : classes) {
      if (profit && one.bytes.grows())
        decline(one);
      else
        narrow(one);
    }
    edit_.set_marks();
    fold_all();
  }

private:
  void narrow(const NarrowingPlan::Class &one) {
    for (const NarrowingPlan::Node *node : one.nodes) {
      if (node->wide)
        redirect(*node);
      else
        narrow_in_place(*node);
    }
  }

  void narrow_in_place(const NarrowingPlan::Node &node) {
    if (auto *inst = dyn_cast<Instruction>(node.object);
        inst != nullptr && narrow_source(*inst, narrow_) != nullptr)
      folds_.push_back(inst);
    else
      edit_.retype(*node.object, narrow_, node.authored);
  }

  // What reads the wide node and is to read narrow.
  void redirect(const NarrowingPlan::Node &node) {
    const std::span<Use *const> readers = plan_.redirected(node);
    auto *def = dyn_cast<Instruction>(node.object);
    if (def == nullptr) {
      for (Use *use : readers)
        edit_.cast_access(*use, narrow_);
      return;
    }
    if (Value *source = narrow_source(*def, narrow_))
      return edit_.bypass(*def, *source, readers);
    Instruction &cast = edit_.cast_behind(*def, narrow_);
    for (Use *use : readers)
      use->set(&cast);
  }

  // Last of all, because it erases what the plan speaks of.
  void fold_all() {
    for (Instruction *cast : folds_)
      edit_.fold(*cast, *narrow_source(*cast, narrow_));
  }

  void decline(const NarrowingPlan::Class &one) {
    if (!context_.wants_missed())
      return;
    context_.remark(RemarkClass::Declined, anchor_of(one),
                    fmt::format("float32 -> {}: {}", dtype2str(narrow_), to_string(one.bytes)));
  }

  // Where to speak of a class: at its first value, or at the first use of its first tensor, which
  // is wide: only casts make bytes grow.
  const Instruction &anchor_of(const NarrowingPlan::Class &one) const {
    for (const NarrowingPlan::Node *node : one.nodes)
      if (const auto *inst = dyn_cast<Instruction>(node->object))
        return *inst;
    const auto wide = std::ranges::find_if(one.nodes, [](const auto *node) { return node->wide; });
    return *plan_.redirected(**wide).front()->user();
  }

  PassContext &context_;
  DType narrow_;
  NarrowingPlan plan_;
  NarrowingEdit edit_;
  std::vector<Instruction *> folds_;
};

} // namespace

bool narrow_float32(Function &function, PassContext &context, const NarrowingOptions &options,
                    bool profit, NarrowingCounts &counts) {
  Narrower(function, context, options, counts).run(profit);
  return counts.any();
}

} // namespace nir
