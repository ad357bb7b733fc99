#include "passes/rewrite/mutate.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/numeric/cast_triple.h"
#include "ir/numeric/float_format.h"
#include "ir/support/saturating.h"
#include "passes/rewrite/bytes_moved.h"

namespace nir {
namespace {

bool takes_alu_op(const Instruction &inst) {
  return inst.opcode() == Opcode::TensorScalar || inst.opcode() == Opcode::TensorTensor ||
         inst.opcode() == Opcode::TensorReduce;
}

bool all_operands_are_integers(const Instruction &inst) {
  return std::ranges::all_of(inst.operands(),
                             [](const Use &use) { return is_int_type(use.dtype()); });
}

// Whether the last operator, whose result is written, works in fp32 whatever its operands.
bool ends_in_pow(const Instruction &inst) {
  const bool two_operators = inst.opcode() == Opcode::TensorScalar && inst.num_operands() == 3;
  return inst.op(two_operators ? 1 : 0) == AluOp::Pow;
}

// Why an instruction that reads or writes what is about to be retyped pins its dtype, whatever the
// value; nullptr where it does not (the fixed-format consumers of can_mutate_dst_ty).
const char *why_user_pins_dtype(const Use &use, const Target &target, DType to) {
  const Instruction &user = *use.user();
  if (use.reinterprets())
    return "a reinterpreting access";
  if (user.opcode() == Opcode::Call)
    return "it is given to a call";
  if (user.opcode() == Opcode::Opaque)
    return "it is given to an opaque";
  if (&use == user.dst())
    return nullptr; // a writer: why_writer_is_fixed asks
  if (user.opcode() == Opcode::Matmul)
    return "it is a matmul operand";
  if (user.has_trait(op_trait::Mover))
    return "it feeds a mover, which keeps dtype";
  if (user.has_trait(op_trait::Offloaded))
    return "it feeds an offloaded op";
  if (user.opcode() == Opcode::Select && use.index() == 0)
    return "it is a select predicate";
  if (user.has_trait(op_trait::Dma) && !target.dma_cast && user.dst_dtype() != to)
    return "its store or load would need a DMA cast, which the target lacks";
  if (computes_in_integers(user))
    return "it feeds an instruction that computes in integers";
  if (user.opcode() == Opcode::TensorCopy && user.exact_ints() && !is_int_type(to))
    return "it feeds a tensor_copy with exact_ints";
  return nullptr;
}

// Whether the reader has numbers that are of the dtype of an integer that it reads here (language
// reference, Instructions), also where pow takes all of them to fp32.
bool has_numbers_of(const Use &use) {
  const Instruction &user = *use.user();
  return user.opcode() == Opcode::TensorScalar && use.index() == 0 &&
         std::ranges::any_of(user.operands(),
                             [](const Use &operand) { return isa<Immediate>(operand.value()); });
}

// Whether a reader may read `to` and stays in legal form when all uses of `retyped` become `to`.
const char *why_reader_refuses(const Use &use, const Value *retyped, DType to) {
  const Instruction &user = *use.user();
  const bool is_scale = to == DType::Float8E8m0fnu;
  if (is_scale && user.opcode() != Opcode::TensorCopy && !user.has_trait(op_trait::Dma))
    return "a reader may not read float8_e8m0fnu";
  if (user.has_trait(op_trait::Dma) && is_scale != (user.dst_dtype() == DType::Float8E8m0fnu))
    return "DMA does not cast float8_e8m0fnu";
  for (const Use &other : user.matched_operands())
    if (other.value() != retyped && other.dtype() != to)
      return "an operation would not be in legal form";
  const bool integer_operator =
      takes_alu_op(user) &&
      (is_integer_only(user.op(0)) || (user.num_operands() == 3 && is_integer_only(user.op(1))));
  if (integer_operator && !is_int_type(to))
    return "a reader may not read it";
  if (has_numbers_of(use) && is_int_type(to) && to != use.dtype())
    return "a reader has numbers of the old dtype";
  // Scalars are numbers of fp32 for a float src and of src's own dtype for an integer one.
  if (takes_alu_op(user) && is_int_type(use.dtype()) != is_int_type(to))
    return "a reader would compute in another class of numbers";
  return nullptr;
}

// Whether the reader would see other values: `to` does not hold the old dtype, or the reader used
// to pass bits through that it would now convert.
const char *why_reader_loses(const Use &use, DType from, DType to) {
  const Instruction &user = *use.user();
  if (user.opcode() == Opcode::TensorCopy && user.dst_dtype() == to)
    return nullptr;
  if (!holds(to, from))
    return "another reader would lose precision";
  if (user.has_trait(op_trait::CopiesBits) && user.dst_dtype() == from &&
      !triple_is_exact(from, to, from))
    return "it feeds a copy that would no longer pass its bits through";
  return nullptr;
}

const char *why_writer_is_fixed(const Instruction &inst, DType dtype, const Target &target) {
  if (inst.is_fixed())
    return "the producer is fixed";
  if (!inst.has_trait(op_trait::MutableDst))
    return "the producer's opcode fixes its dtype";
  if (inst.has_trait(op_trait::Dma) && !target.dma_cast)
    return "the target has no DMA cast";
  if (dtype == DType::Float8E8m0fnu && inst.opcode() != Opcode::TensorCopy)
    return "only a tensor_copy may write float8_e8m0fnu";
  if (inst.exact_ints() && !is_int_type(dtype))
    return "a copy with exact_ints writes integers";
  return nullptr;
}

const char *why_tensor_is_fixed(const Tensor &tensor) {
  if (tensor.is_interface())
    return "the tensor is an input or output";
  if (tensor.role() == Role::Const)
    return "the tensor is a const";
  if (tensor.space() == Space::Psum)
    return "the tensor is in psum";
  return nullptr;
}

} // namespace

const Value &retyped_object(const Instruction &inst) {
  if (inst.has_dst())
    return *inst.dst()->value();
  return inst;
}

DType wide_dtype(const Instruction &inst) {
  if (inst.has_trait(op_trait::WideIsSrc))
    return inst.src()->dtype();
  if (inst.opcode() == Opcode::Memset)
    return inst.operand(0).dtype();
  if (inst.opcode() == Opcode::Iota && is_int_type(inst.dst_dtype()))
    return inst.dst_dtype();
  if (computes_in_integers(inst) && !ends_in_pow(inst))
    return inst.src()->dtype();
  return DType::Float32;
}

bool computes_in_integers(const Instruction &inst) {
  return takes_alu_op(inst) && all_operands_are_integers(inst) && inst.op(0) != AluOp::Pow;
}

const char *why_dst_ty_is_fixed(const Instruction &inst, DType dtype, const Instruction *but_for) {
  const Target &target = inst.function()->module().target();
  if (is_x4_dtype(dtype))
    return "packed x4 dtypes are never computed";
  if (dtype == DType::Float64 || dtype == DType::Float4E2m1fn)
    return "the dtype is host only";
  if (const char *reason = why_writer_is_fixed(inst, dtype, target))
    return reason;

  const Value *object = &retyped_object(inst);
  if (const Tensor *tensor = dyn_cast<Tensor>(object))
    if (const char *reason = why_tensor_is_fixed(*tensor))
      return reason;
  const DType old = inst.dst_dtype();
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(object->type()->num_elements(), std::int64_t{sizeinbytes(dtype)},
                             &bytes))
    return "the type would be too large";

  for (const Use &use : object->uses()) {
    const Instruction &user = *use.user();
    if (const char *reason = why_user_pins_dtype(use, target, dtype))
      return reason;
    if (writes(use)) {
      if (&user == &inst)
        continue;
      if (const char *reason = why_writer_is_fixed(user, dtype, target))
        return reason;
      continue;
    }
    if (&user == but_for)
      continue;
    if (const char *reason = why_reader_refuses(use, object, dtype))
      return reason;
    if (const char *reason = why_reader_loses(use, old, dtype))
      return reason;
  }
  return nullptr;
}

const char *DstMutability::why_fixed(const Instruction &inst, DType dtype,
                                     const Instruction &but_for) {
  const Value &object = retyped_object(inst);
  if (!object.has_n_uses_or_more(min_remembered_uses))
    return why_dst_ty_is_fixed(inst, dtype, &but_for);

  // The answer speaks of the object; what is particular to a writer is asked every time.
  if (const char *reason = why_writer_is_fixed(inst, dtype, inst.function()->module().target()))
    return reason;
  auto &answers = answers_[&object];
  for (const auto &[known, reason] : answers)
    if (known == dtype)
      return reason;
  const char *reason = why_dst_ty_is_fixed(inst, dtype, &but_for);
  answers.emplace_back(dtype, reason);
  return reason;
}

bool absorbing_copy_is_exact(const Instruction &producer, const Instruction &copy) {
  const DType wide = wide_dtype(producer);
  const DType old = producer.dst_dtype();
  const DType wanted = copy.dst_dtype();
  if (producer.exact_ints() || copy.exact_ints())
    return producer.exact_ints() && copy.exact_ints() && is_int_type(wide) && is_int_type(old) &&
           is_int_type(wanted) && holds(old, wide);
  if (!triple_is_exact(wide, old, wanted))
    return false;
  // Between integers a copy passes through fp32, but every other instruction writes exactly: the
  // same only where one of the three is no larger than fp32 can hold.
  const auto survives_fp32 = [](DType dtype) { return holds(DType::Float32, dtype); };
  const bool copies = producer.opcode() == Opcode::TensorCopy || producer.has_trait(op_trait::Dma);
  return copies || !is_int_type(wide) || !is_int_type(wanted) || survives_fp32(wide) ||
         (is_int_type(old) && survives_fp32(old)) || survives_fp32(wanted);
}

Name mark_after_absorbing(const Instruction &producer, const Instruction &copy) {
  if (copy.autocast().empty())
    return {};
  const DType wide = wide_dtype(producer);
  const bool author_rounded = producer.autocast().empty() && !holds(producer.dst_dtype(), wide);
  if (author_rounded)
    return {};
  const bool rounds = !holds(copy.dst_dtype(), wide);
  const bool stays_inserted_cast = producer.opcode() == Opcode::TensorCopy &&
                                   !producer.autocast().empty() && wide != copy.dst_dtype();
  return rounds || stays_inserted_cast ? copy.autocast() : Name();
}

void mutate_dst_ty(Instruction &inst, DType dtype) {
  Module &module = inst.function()->module();
  if (inst.opcode() == Opcode::Memset && inst.operand(0).dtype() != dtype) {
    const auto *number = cast<Immediate>(inst.operand(0).value());
    inst.operand(0).set(
        module.immediate(dtype, convert_code(number->dtype(), dtype, number->bits())));
  }
  if (inst.dst_dtype() == dtype)
    return;
  if (!inst.has_dst()) {
    inst.set_result_type(module.types().with_dtype(inst.type(), dtype));
    return;
  }
  Tensor *tensor = inst.dst()->tensor();
  tensor->retype(module.types().with_dtype(tensor->type(), dtype));
}

std::uint64_t sbuf_bytes_per_partition(const Tensor &tensor, DType dtype, const Target &target) {
  const Type &type = *tensor.type();
  const auto rows = static_cast<std::uint64_t>(type.npartitions());
  const auto partitions = static_cast<std::uint64_t>(target.partitions);
  const std::uint64_t row_bytes =
      static_cast<std::uint64_t>(type.num_elements()) / rows * sizeinbytes(dtype);
  return saturating_multiply(row_bytes, (rows - 1) / partitions + 1);
}

std::uint64_t sbuf_bytes_per_partition(const Function &function) {
  std::uint64_t sum = 0;
  for (const Tensor *tensor = function.first_tensor(); tensor != nullptr; tensor = tensor->next())
    if (tensor->space() == Space::Sbuf)
      sum = saturating_add(
          sum, sbuf_bytes_per_partition(*tensor, tensor->dtype(), function.module().target()));
  return sum;
}

std::uint64_t cast_bytes(const Instruction &cast) {
  const Use *dst = cast.dst();
  const Type &tile = dst == nullptr             ? *cast.type()
                     : dst->access() != nullptr ? *dst->access()->box()
                                                : *dst->value()->type();
  const std::uint64_t tile_bytes = saturating_multiply(
      sizeinbytes(cast.dst_dtype()), static_cast<std::uint64_t>(tile.num_elements()));
  const auto npartitions = static_cast<std::uint64_t>(tile.npartitions());
  return saturating_multiply(tile_bytes / npartitions, num_dynamic_instances(cast));
}

std::string describe(const Instruction &inst) {
  const std::string_view word = mnemonic(inst.opcode());
  const bool takes_an = std::string_view("aeio").find(word.front()) != std::string_view::npos;
  if (inst.name().empty())
    return fmt::format("{} {}", takes_an ? "an" : "a", word);
  return fmt::format("'{}' ({})", quoted_name(inst.function()->module().names(), '%', inst.name()),
                     word);
}

} // namespace nir
