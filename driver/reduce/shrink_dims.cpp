#include "driver/reduce/shrink_dims.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include "driver/reduce/shrink_plan.h"
#include "ir/isa/attribute.h"

namespace nir {
namespace {

// One dimension of a box within a larger one: of an access or a slice.
struct BoxDim {
  std::int64_t extent;
  std::int64_t start;
  std::int64_t size;
  std::int64_t stride;

  bool is_all() const { return start == 0 && size == extent; }
};

class DimShrinker {
public:
  DimShrinker(Module &module, std::int64_t max_extent, DiagnosticEngine &diagnostics)
      : module_(module), diagnostics_(diagnostics), max_extent_(max_extent), plan_(max_extent) {}

  void run() {
    for (const Function *function : module_.functions())
      collect(*function);
    plan_.solve();
    for (const ShrinkPlan::Large &large : plan_.still_large())
      report(large);
    // Boxes are scaled by the old shapes of what holds them.
    for (Function *function : module_.functions())
      for (Stmt &stmt : function->statements())
        if (auto *inst = dyn_cast<Instruction>(&stmt))
          scale_boxes(*inst);
    for (Function *function : module_.functions())
      retype(*function);
  }

private:
  void collect(const Function &function) {
    for (const Tensor *tensor = function.first_tensor(); tensor != nullptr; tensor = tensor->next())
      add_extents(tensor->shape());
    for (const Stmt &stmt : function.statements())
      if (const auto *inst = dyn_cast<Instruction>(&stmt))
        collect(*inst);
  }

  void add_extents(std::span<const std::int64_t> shape) {
    for (const std::int64_t extent : shape)
      plan_.add_extent(extent);
  }

  void collect(const Instruction &inst) {
    if (inst.defines_value())
      add_extents(inst.shape());
    for (const Use &use : inst.uses_of_operands())
      if (use.access() != nullptr)
        collect_access(inst, use);
    switch (inst.opcode()) {
    case Opcode::Reshape:
    case Opcode::OffloadedMemcpy:
    case Opcode::OffloadedMemcast:
    case Opcode::OffloadedBitcast:
      plan_.same_elements(inst.operand(0).shape(), inst.dst_shape(), inst);
      break;
    case Opcode::Concat:
    case Opcode::OffloadedConcat:
      collect_concat(inst);
      break;
    case Opcode::Slice:
      for (std::size_t i = 0; i < inst.operand(0).shape().size(); ++i)
        collect_box(slice_dim(inst, i), inst);
      break;
    default:
      break;
    }
  }

  void collect_concat(const Instruction &inst) {
    const auto dim = static_cast<std::size_t>(inst.int_attr(AttrKey::Dim));
    std::vector<std::int64_t> extents{inst.dst_shape()[dim]};
    for (const Use &use : inst.operands())
      extents.push_back(use.shape()[dim]);
    plan_.same_divisor(std::move(extents), {}, inst);
  }

  void collect_access(const Instruction &inst, const Use &use) {
    add_extents(use.access()->shape());
    for (std::size_t i = 0; i < use.access()->dims().size(); ++i) {
      const AccessDim &dim = use.access()->dims()[i];
      const BoxDim box{use.value()->shape()[i], dim.constant, dim.size, dim.stride};
      if (dim.terms.empty()) {
        collect_box(box, inst);
        continue;
      }
      std::vector<std::int64_t> coefficients{dim.constant};
      for (const AffineTerm &term : dim.terms)
        coefficients.push_back(term.factor);
      plan_.same_divisor({box.extent, box.size}, coefficients, inst);
    }
  }

  // Boxes keep their share of what holds them, as far as the two have a common divisor; what has
  // none must only fit. A single element fits anywhere.
  void collect_box(const BoxDim &box, const Instruction &inst) {
    plan_.add_extent(box.extent);
    if (box.is_all() || box.size == 1)
      return;
    if (std::gcd(box.size, box.extent) == 1)
      plan_.fits(box.size, box.stride, box.extent, inst);
    else
      plan_.same_divisor({box.size, box.extent}, {}, inst);
  }

  static BoxDim slice_dim(const Instruction &inst, std::size_t i) {
    const std::span<const std::int64_t> strides = inst.int_list(AttrKey::Stride);
    return {inst.operand(0).shape()[i], inst.int_list(AttrKey::Start)[i],
            inst.int_list(AttrKey::Size)[i], strides.empty() ? 1 : strides[i]};
  }

  // Where the box begins in the smaller extent: at the same share of it, but within.
  std::int64_t scaled_start(const BoxDim &box) const {
    const std::int64_t extent = plan_.shrunk(box.extent);
    const std::int64_t last = extent - 1 - (plan_.shrunk(box.size) - 1) * box.stride;
    const auto share =
        static_cast<std::int64_t>(static_cast<__int128>(box.start) * extent / box.extent);
    return std::min(share, last);
  }

  void scale_boxes(Instruction &inst) {
    for (Use &use : inst.uses_of_operands())
      if (use.access() != nullptr)
        use.set(use.value(), scaled_access(use));
    if (inst.opcode() == Opcode::Slice)
      scale_slice(inst);
  }

  const Access *scaled_access(const Use &use) {
    const Access &access = *use.access();
    std::vector<AccessDim> dims(access.dims().begin(), access.dims().end());
    std::vector<std::vector<AffineTerm>> terms(dims.size());
    bool whole = true;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      AccessDim &dim = dims[i];
      const BoxDim box{use.value()->shape()[i], dim.constant, dim.size, dim.stride};
      const std::int64_t divisor = box.extent / plan_.shrunk(box.extent);
      terms[i].assign(dim.terms.begin(), dim.terms.end());
      for (AffineTerm &term : terms[i])
        term.factor /= divisor;
      dim.constant = dim.terms.empty() ? scaled_start(box) : dim.constant / divisor;
      dim.terms = terms[i];
      dim.size = plan_.shrunk(dim.size);
      whole =
          whole && dim.terms.empty() && dim.constant == 0 && dim.size == plan_.shrunk(box.extent);
    }
    if (whole && !access.reinterprets())
      return nullptr;
    return Access::create(module_.arena(), shrunk(access.box()), dims, whole,
                          access.reinterprets());
  }

  void scale_slice(Instruction &inst) {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> size;
    for (std::size_t i = 0; i < inst.operand(0).shape().size(); ++i) {
      const BoxDim box = slice_dim(inst, i);
      start.push_back(scaled_start(box));
      size.push_back(plan_.shrunk(box.size));
    }
    std::vector<Attr> attrs(inst.attrs()->items().begin(), inst.attrs()->items().end());
    for (Attr &attr : attrs)
      if (attr.key == AttrKey::Start || attr.key == AttrKey::Size)
        attr.value = AttrValue::of_ints(module_.arena().copy(
            std::span<const std::int64_t>(attr.key == AttrKey::Start ? start : size)));
    inst.set_attrs(AttrList::create(module_.arena(), attrs));
  }

  // No larger than a type that there is already.
  const Type *shrunk(const Type *type) {
    std::vector<std::int64_t> shape;
    for (const std::int64_t extent : type->shape())
      shape.push_back(plan_.shrunk(extent));
    return module_.types().get(type->dtype(), shape).value();
  }

  void retype(Function &function) {
    for (Tensor *tensor = function.first_tensor(); tensor != nullptr; tensor = tensor->next()) {
      const Type *type = shrunk(tensor->type());
      if (tensor->init() != nullptr && tensor->init()->form != InitForm::Splat)
        keep_corner(*tensor->init(), *tensor->type(), *type);
      tensor->retype(type);
    }
    for (Stmt &stmt : function.statements())
      if (auto *inst = dyn_cast<Instruction>(&stmt); inst && inst->defines_value())
        inst->set_result_type(shrunk(inst->type()));
  }

  // The elements whose indices the smaller type has.
  static void keep_corner(ConstData &data, const Type &old_type, const Type &new_type) {
    const std::size_t item = sizeinbytes(old_type.dtype());
    std::vector<std::uint8_t> kept(static_cast<std::size_t>(new_type.size_in_bytes()));
    std::array<std::int64_t, max_rank> index{};
    for (std::size_t at = 0; at < kept.size(); at += item) {
      std::int64_t from = 0;
      for (unsigned i = 0; i < old_type.rank(); ++i)
        from = from * old_type.dim(i) + index[i];
      std::memcpy(&kept[at], &data.bytes[static_cast<std::size_t>(from) * item], item);
      for (unsigned i = old_type.rank(); i-- > 0;) {
        if (++index[i] < new_type.dim(i))
          break;
        index[i] = 0;
      }
    }
    data.bytes = std::move(kept);
  }

  void report(const ShrinkPlan::Large &large) {
    const std::int64_t now = plan_.shrunk(large.extent);
    const std::string what = now == large.extent
                                 ? fmt::format("dimensions of {} stay", large.extent)
                                 : fmt::format("dimensions of {} become {}", large.extent, now);
    if (large.stmt == nullptr) {
      diagnostics_.remark({}, fmt::format("shrink-dims: {}: they have no divisor that would bring "
                                          "them to {}",
                                          what, max_extent_));
      return;
    }
    diagnostics_.remark(SourceRange::at(large.stmt->source()),
                        fmt::format("shrink-dims: {} and not {}: this {} relates them to others",
                                    what, max_extent_,
                                    cast<Instruction>(large.stmt)->opcode_info().mnemonic));
  }

  Module &module_;
  DiagnosticEngine &diagnostics_;
  std::int64_t max_extent_;
  ShrinkPlan plan_;
};

} // namespace

void shrink_dims(Module &module, std::int64_t max_extent, DiagnosticEngine &diagnostics) {
  DimShrinker(module, max_extent, diagnostics).run();
}

} // namespace nir
