#include "driver/reduce/reduce_stages.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace nir {
namespace {

using Edits = std::vector<Edit>;

template <class Visit> void for_each_stmt(const Module &module, Visit visit) {
  for (const Function *function : module.functions())
    for (const Stmt &stmt : function->statements())
      visit(stmt);
}

template <class Visit> void for_each_instruction(const Module &module, Visit visit) {
  for_each_stmt(module, [&visit](const Stmt &stmt) {
    if (const auto *inst = dyn_cast<Instruction>(&stmt))
      visit(*inst);
  });
}

template <class Visit> void for_each_loop(const Module &module, Visit visit) {
  for_each_stmt(module, [&visit](const Stmt &stmt) {
    if (const auto *loop = dyn_cast<Loop>(&stmt))
      visit(*loop);
  });
}

template <class Visit> void for_each_tensor(const Module &module, Visit visit) {
  for (const Function *function : module.functions())
    for (const Tensor *tensor = function->first_tensor(); tensor != nullptr;
         tensor = tensor->next())
      visit(*tensor);
}

Edits functions(const Module &module) {
  Edits edits;
  for (const Function *function : module.functions())
    edits.push_back({Edit::DropFunction, function});
  return edits;
}

Edits statements(const Module &module) {
  Edits edits;
  for_each_stmt(module, [&](const Stmt &stmt) { edits.push_back({Edit::DropStmt, &stmt}); });
  return edits;
}

Edits loops(const Module &module) {
  Edits edits;
  for_each_loop(module, [&](const Loop &loop) { edits.push_back({Edit::UnwrapLoop, &loop}); });
  return edits;
}

Edits trips(const Module &module) {
  Edits edits;
  for_each_loop(module, [&](const Loop &loop) {
    if (loop.trips() > 1 || loop.step() > 1)
      edits.push_back({Edit::ShrinkLoop, &loop});
  });
  return edits;
}

Edits tensors(const Module &module) {
  Edits edits;
  for_each_tensor(module, [&](const Tensor &tensor) {
    edits.push_back({Edit::DropTensor, &tensor});
  });
  return edits;
}

bool is_plain_value(const Instruction &inst) {
  return inst.opcode() == Opcode::Memset || inst.opcode() == Opcode::Load;
}

Edits values(const Module &module) {
  Edits edits;
  for_each_instruction(module, [&](const Instruction &inst) {
    if (inst.defines_value() && inst.opcode() != Opcode::Memset)
      edits.push_back({Edit::BecomeMemset, &inst});
  });
  return edits;
}

// Uses of values that are not the first of their type in the function, and of tensors. What is
// forwarded stands earlier afterwards, so that this comes to an end.
Edits operands(const Module &module) {
  Edits edits;
  for (const Function *function : module.functions()) {
    std::unordered_map<const Type *, const Value *> first;
    for (const Stmt &stmt : function->statements()) {
      const auto *inst = dyn_cast<Instruction>(&stmt);
      if (inst == nullptr)
        continue;
      for (const Use &use : inst->operands()) {
        const bool is_tensor = use.is_access() && !is_plain_value(*inst);
        const Value *value = use.value();
        const bool is_later =
            use.defining_instruction() != nullptr && first[value->type()] != value;
        if (is_tensor || is_later)
          edits.push_back({Edit::ForwardOperand, inst, use.index()});
      }
      if (inst->defines_value())
        first.try_emplace(inst->type(), inst);
    }
  }
  return edits;
}

bool may_leave_out(const Instruction &inst, unsigned operand) {
  switch (inst.opcode()) {
  case Opcode::Opaque:
    return true;
  case Opcode::Activation: // the bias
    return operand == 1;
  case Opcode::TensorScalar: // the second operator goes with it
    return operand == 2;
  default:
    return false;
  }
}

Edits optional_operands(const Module &module) {
  Edits edits;
  for_each_instruction(module, [&](const Instruction &inst) {
    for (unsigned i = 0; i < inst.num_operands(); ++i)
      if (may_leave_out(inst, i))
        edits.push_back({Edit::DropOperand, &inst, i});
  });
  return edits;
}

bool is_plain(const Access &access) {
  return std::ranges::all_of(access.dims(), [](const AccessDim &dim) {
    return dim.terms.empty() && dim.constant == 0 && dim.stride == 1;
  });
}

Edits subscripts(const Module &module) {
  Edits edits;
  for_each_instruction(module, [&](const Instruction &inst) {
    for (const Use &use : inst.uses_of_operands())
      if (use.access() != nullptr && !is_plain(*use.access()))
        edits.push_back({Edit::PlainAccess, &inst, use.index()});
  });
  return edits;
}

Edits roles(const Module &module) {
  Edits edits;
  for_each_tensor(module, [&](const Tensor &tensor) {
    if (tensor.role() != Role::Internal)
      edits.push_back({Edit::MakeInternal, &tensor});
  });
  return edits;
}

Edits constants(const Module &module) {
  Edits edits;
  for_each_tensor(module, [&](const Tensor &tensor) {
    // A splat is a number, which x4 containers have not.
    if (tensor.role() == Role::Const && tensor.init()->form != InitForm::Splat &&
        !is_x4_dtype(tensor.dtype()))
      edits.push_back({Edit::SplatInit, &tensor});
  });
  return edits;
}

bool may_leave_out(const Attr &attr) {
  if (attr.key == AttrKey::Custom)
    return true;
  if (attr.key == AttrKey::Callee || attr.key == AttrKey::OpaqueName)
    return false;
  return info(attr.key).default_kind != AttrDefault::None;
}

void list_attributes(const Instruction &inst, Edits &edits) {
  for (unsigned bit = inst_flag::Reverse0; bit <= inst_flag::Fixed; bit <<= 1)
    if (inst.has_flag(static_cast<std::uint16_t>(bit)))
      edits.push_back({Edit::DropFlag, &inst, bit});
  if (!inst.autocast().empty())
    edits.push_back({Edit::DropAutocast, &inst});
  if (inst.attrs() == nullptr)
    return;
  std::uint64_t place = 0;
  for (const Attr &attr : inst.attrs()->items()) {
    if (may_leave_out(attr))
      edits.push_back({Edit::DropAttribute, &inst, place});
    ++place;
  }
}

Edits attributes(const Module &module) {
  Edits edits;
  for (const Function *function : module.functions())
    if (function->is_strict())
      edits.push_back({Edit::DropStrict, function});
  for_each_instruction(module, [&](const Instruction &inst) { list_attributes(inst, edits); });
  return edits;
}

std::set<std::int64_t> large_extents(const Module &module) {
  std::set<std::int64_t> extents;
  const auto add = [&extents](std::span<const std::int64_t> shape) {
    for (const std::int64_t extent : shape)
      if (extent > 1)
        extents.insert(extent);
  };
  for_each_tensor(module, [&](const Tensor &tensor) { add(tensor.shape()); });
  for_each_stmt(module, [&](const Stmt &stmt) {
    if (stmt.type() != nullptr)
      add(stmt.shape());
  });
  return extents;
}

Edits extents_to_one(const Module &module) {
  Edits edits;
  for (const std::int64_t extent : large_extents(module))
    edits.push_back({Edit::ShrinkExtent, &module, static_cast<std::uint64_t>(extent)});
  return edits;
}

Edits halved_extents(const Module &module) {
  Edits edits;
  for (const std::int64_t extent : large_extents(module))
    if (extent > 2)
      edits.push_back({Edit::HalveExtent, &module, static_cast<std::uint64_t>(extent)});
  return edits;
}

// What a person called something is left.
Edits numbers(const Module &module) {
  Edits edits;
  for_each_stmt(module, [&](const Stmt &stmt) {
    if (stmt.name().is_number())
      edits.push_back({Edit::DropName, &stmt});
  });
  return edits;
}

Edits header(const Module &module) {
  if (!module.has_header() || module.target().name != default_target().name)
    return {};
  return {{Edit::DropHeader, &module}};
}

constexpr ReduceStage stages[] = {
    {"functions", functions},
    {"statements", statements},
    {"loops", loops},
    {"tensors", tensors},
    {"trips", trips},
    {"extents", extents_to_one},
    {"extents", halved_extents},
    {"values", values},
    {"operands", operands},
    {"optional operands", optional_operands},
    {"subscripts", subscripts},
    {"roles", roles},
    {"constants", constants},
    {"attributes", attributes},
    {"headers", header},
    {"numbers", numbers},
};

} // namespace

std::span<const ReduceStage> reduce_stages() { return stages; }

} // namespace nir
