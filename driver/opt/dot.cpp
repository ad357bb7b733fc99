#include "driver/opt/dot.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/support/scratch_map.h"

namespace nir {
namespace {

constexpr std::size_t chunk_size = std::size_t{1} << 16;

// A string as Graphviz reads it. A backslash is special in labels.
std::string dot_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    if (c == '\n')
      quoted += "\\n";
    else
      quoted += c;
  }
  return quoted + '"';
}

class DotWriter {
public:
  explicit DotWriter(const TextSink &sink) : sink_(sink) {}

  void write_module(const Module &module) {
    line("digraph nir {");
    depth_ = 1;
    line("node [fontname = \"monospace\"];");
    for (const Function *function : module.functions())
      write_function(*function);
    depth_ = 0;
    line("}");
    sink_(out_);
  }

private:
  void write_function(const Function &function) {
    const std::string title = quoted_name(function.module().names(), '@', function.name());
    nodes_.clear();
    open_cluster(title);
    for (const Tensor *tensor = function.first_tensor(); tensor != nullptr; tensor = tensor->next())
      write_tensor(*tensor);
    write_statements(function);
    close_cluster();
    write_edges(function);
  }

  void write_tensor(const Tensor &tensor) {
    std::string label = fmt::format(
        "{}\n{} {}", quoted_name(tensor.function()->module().names(), '$', tensor.name()),
        to_string(*tensor.type()), to_string(tensor.space()));
    if (tensor.role() != Role::Internal)
      label += fmt::format(" {}", to_string(tensor.role()));
    line(fmt::format("n{} [shape = box, label = {}];", number_of(tensor), dot_string(label)));
  }

  // Loops are clusters: one opens where the depth grows and closes where it shrinks.
  void write_statements(const Function &function) {
    unsigned open = 0;
    for (const Stmt &stmt : function.statements()) {
      const Loop *around = stmt.parent_loop();
      for (; open > (around == nullptr ? 0 : around->depth()); --open)
        close_cluster();
      if (const Loop *loop = dyn_cast<Loop>(&stmt)) {
        std::string header = to_string(*loop);
        header.resize(header.find_last_not_of(" {") + 1);
        open_cluster(header);
        ++open;
        continue;
      }
      line(fmt::format("n{} [label = {}];", number_of(stmt), dot_string(label_of(stmt))));
    }
    for (; open != 0; --open)
      close_cluster();
  }

  // What it does, without what the edges show.
  static std::string label_of(const Stmt &stmt) {
    const Instruction &inst = *cast<Instruction>(&stmt);
    std::string label(inst.opcode_info().mnemonic);
    if (inst.opcode() == Opcode::Activation)
      label += fmt::format(" {}", to_string(inst.fn()));
    if (inst.opcode() == Opcode::TensorTensor || inst.opcode() == Opcode::TensorReduce)
      label += fmt::format(" {}", to_string(inst.op()));
    if (inst.opcode() == Opcode::TensorScalar)
      for (unsigned i = 1; i < inst.num_operands(); ++i)
        label += fmt::format(" {}", to_string(inst.op(i - 1)));
    if (inst.opcode() == Opcode::Call)
      label += ' ' + quoted_name(stmt.function()->module().names(), '@', inst.callee()->name());
    if (inst.opcode() == Opcode::Opaque)
      label += fmt::format(" \"{}\"", inst.opaque_name());
    if (inst.defines_value())
      label += '\n' + to_string(*inst.type());
    return label;
  }

  void write_edges(const Function &function) {
    for (const Stmt &stmt : function.statements()) {
      const Instruction *inst = dyn_cast<Instruction>(&stmt);
      if (inst == nullptr)
        continue;
      for (const Use &use : inst->uses_of_operands())
        write_edge(use, *inst);
    }
  }

  // Numbers are no nodes. What a tensor's users do to it gives the direction, perhaps both.
  void write_edge(const Use &use, const Instruction &inst) {
    if (use.value() == nullptr || isa<Immediate>(use.value()))
      return;
    const bool is_read = reads(use);
    const bool is_written = writes(use);
    const std::uint32_t user = number_of(inst);
    const std::uint32_t used = number_of(*use.value());
    const bool backwards = is_written && !is_read;
    line(fmt::format("n{} -> n{} [label = {}{}];", backwards ? user : used, backwards ? used : user,
                     dot_string(dtype2str(use.dtype())),
                     is_read && is_written ? ", dir = both" : ""));
  }

  void open_cluster(std::string_view title) {
    line(fmt::format("subgraph cluster{} {{", num_clusters_++));
    ++depth_;
    line(fmt::format("label = {};", dot_string(title)));
  }
  void close_cluster() {
    --depth_;
    line("}");
  }

  std::uint32_t number_of(const Value &value) {
    const auto [number, is_new] = nodes_.try_emplace(&value, num_nodes_);
    num_nodes_ += is_new ? 1 : 0;
    return *number;
  }

  // Indented no deeper than one can read: a thousand loops may nest.
  void line(std::string_view text) {
    constexpr unsigned max_indent = 40;
    out_.append(std::min(depth_ * 2, max_indent), ' ');
    out_ += text;
    out_ += '\n';
    if (out_.size() < chunk_size)
      return;
    sink_(out_);
    out_.clear();
  }

  const TextSink &sink_;
  std::string out_;
  unsigned depth_ = 0;
  std::uint32_t num_clusters_ = 0;
  std::uint32_t num_nodes_ = 0;
  ScratchMap<const Value *, std::uint32_t> nodes_; // of the function at hand
};

} // namespace

void write_dot(const Module &module, const TextSink &sink) { DotWriter(sink).write_module(module); }

} // namespace nir
