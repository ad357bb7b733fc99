#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/core/module.h"
#include "ir/support/scratch_map.h"
#include "passes/narrow/dtype_classes.h"
#include "passes/rewrite/bytes_moved.h"

namespace nir {

// What to narrow, and how.
struct NarrowingOptions {
  DType narrow;     // what float32 becomes
  bool inline_cast; // DMA casts on the way, where the target can
  bool inputs_only; // only what is read from float32 inputs
};

// Which float32 values and internal tensors of a function may become narrow, and what must do so
// together (design, Classes of dtype). It only looks.
//
// A node is a float32 value or tensor. It is *wide* where it must stay float32: its own format is
// fixed, or somebody reads it who needs float32. What reads a wide node and takes any dtype reads
// its narrowing cast instead; such a use is *redirected*. A class is narrowed as a whole: its other
// nodes in place, its wide ones by a cast.
//
// Cost: each node becomes wide at most once and part of a sum at most once, and is then propagated
// over its definitions and uses: O(instructions + uses), and O(n log n) for unions and order. It
// renumbers the function.
class NarrowingPlan {
public:
  struct Node {
    Value *object;
    bool wide = false;
    bool summed = false;         // a sum accumulates it, or what it is copied to
    bool excluded = false;       // none of this pass's business: wide, and gets no cast
    bool moved_to_casts = false; // what a mover delivers and only casts read
    bool authored = false; // an author rounds it, or what it is copied to, to the narrow dtype
    std::uint32_t first_redirected = 0; // of a wide node: its part of redirected()
    std::uint32_t num_redirected = 0;

    bool is_active() const { return !wide || num_redirected != 0; }
  };
  struct Class {
    std::vector<const Node *> nodes; // the active ones, in order
    BytesChange bytes;               // moved for these objects, before and after
  };

  NarrowingPlan(Function &function, const NarrowingOptions &options);

  // Those with anything to do, in the order of their first nodes (tensors, then values).
  std::vector<Class> classes();
  std::span<Use *const> redirected(const Node &node) const {
    return std::span(redirected_).subspan(node.first_redirected, node.num_redirected);
  }

private:
  enum class Reading : std::uint8_t {
    Fixed,   // needs float32
    Neutral, // takes either, and gains nothing from a cast
    Narrow   // takes either, and is to read narrow
  };

  void collect_nodes();
  void add_node(Value &object);
  Node *node_of(const Value *object);
  Node *result_node(const Instruction &inst);
  bool is_excluded(const Value &object);
  bool is_candidate(const Use &use);

  void find_wide();
  void check_operands(Instruction &inst);
  void check_result(const Instruction &inst);
  void propagate(Node &node);
  void keep_casts_behind(const Instruction &wide);
  void make_wide(Node &node, bool summed);
  bool result_stays(const Instruction &inst);
  bool rounds_narrow(const Instruction &inst) const;
  bool load_stays(const Instruction &load);
  bool tensor_stays(const Tensor &tensor) const;
  bool stored_stays(const Instruction &store);
  bool result_is_wide(const Instruction &inst);
  bool result_is_summed(const Instruction &inst);
  Reading reading_of(const Use &use);
  Reading dma_reading(const Use &use);
  Reading copy_reading(const Instruction &copy);
  bool feeds_sum(const Use &use);

  void find_authored();
  void join_classes();
  void join_result(const Instruction &inst);
  void find_redirected();

  BytesChange bytes_of(const Node &node);
  BytesChange bytes_of_redirected(const Node &node) const;

  Function &function_;
  NarrowingOptions options_;
  bool inline_; // DMA casts
  std::vector<Node> nodes_;
  ScratchMap<const Value *, std::uint32_t> index_;
  std::vector<std::uint32_t> pending_; // to be propagated
  std::vector<Use *> redirected_;
  DTypeClasses classes_;
};

} // namespace nir
