#include "passes/narrow/narrowing_edit.h"

#include <fmt/format.h>

#include "ir/numeric/cast_triple.h"
#include "ir/numeric/float_format.h"
#include "ir/print/printer.h"
#include "ir/support/saturating.h"
#include "passes/rewrite/mutate.h"
#include "passes/rewrite/rewrite_log.h"

namespace nir {
namespace {

// The attributes of a cast of what `origin` defines or reads: its `loc`, if any.
const AttrList *loc_of(const Instruction &origin, Module &module) {
  const AttrValue *loc = origin.attr(AttrKey::Loc);
  if (loc == nullptr)
    return nullptr;
  Attr attr;
  attr.key = AttrKey::Loc;
  attr.value = *loc;
  return AttrList::create(module.arena(), {&attr, 1});
}

} // namespace

bool may_write_narrow(const Instruction &inst) {
  if (inst.is_fixed() || !inst.has_trait(op_trait::MutableDst))
    return false;
  return !inst.has_trait(op_trait::Dma) || inst.function()->module().target().dma_cast;
}

bool is_float32_copy(const Instruction &inst) {
  if (inst.opcode() != Opcode::TensorCopy || !inst.defines_value() || inst.is_fixed())
    return false;
  const Use &src = inst.operand(0);
  return !src.is_access() && src.dtype() == DType::Float32 && inst.dtype() == DType::Float32;
}

bool survives_float32(DType narrow) { return triple_is_exact(narrow, DType::Float32, narrow); }

Value *narrow_source(const Instruction &inst, DType narrow) {
  if (inst.opcode() != Opcode::TensorCopy || !inst.defines_value() || inst.is_fixed())
    return nullptr;
  const Use &src = inst.operand(0);
  const bool folds = !src.is_access() && src.dtype() == narrow && holds(inst.dtype(), narrow) &&
                     survives_float32(narrow);
  return folds ? src.value() : nullptr;
}

NarrowingEdit::NarrowingEdit(Function &function, PassContext &context, NarrowingCounts &counts)
    : module_(function.module()), context_(context), counts_(counts),
      mark_(module_.intern(context.pass().name)) {}

Instruction &NarrowingEdit::cast_behind(Instruction &def, DType dtype) {
  const Type *type = module_.types().with_dtype(def.type(), dtype);
  return insert_cast({&def, nullptr}, type, def, *def.parent(), def.next());
}

void NarrowingEdit::cast_access(Use &use, DType dtype) {
  Instruction &user = *use.user();
  const Type *type = module_.types().get(dtype, use.shape()).value();
  use.set(&insert_cast({use.value(), use.access()}, type, user, *user.parent(), &user));
}

Instruction &NarrowingEdit::insert_cast(const Operand &src, const Type *type,
                                        const Instruction &origin, Block &block, Stmt *before) {
  const DType from =
      src.access != nullptr && src.access->reinterprets() ? src.access->view() : src.value->dtype();
  InstructionDesc desc{.opcode = Opcode::TensorCopy, .operands = {&src, 1}};
  desc.type = type;
  desc.autocast = mark_;
  desc.attrs = loc_of(origin, module_);
  desc.source = origin.source();
  Instruction &cast = *block.insert_instruction(desc, before);
  if (RewriteLog *log = context_.rewrites())
    log->added(cast, from);
  if (context_.wants_applied())
    context_.remark(
        RemarkClass::Inserted, origin,
        fmt::format("{} -> {}: cast inserted", dtype2str(from), dtype2str(type->dtype())));
  ++counts_.casts;
  counts_.cast_bytes = saturating_add(counts_.cast_bytes, nir::cast_bytes(cast));
  return cast;
}

void NarrowingEdit::retype(Value &object, DType dtype, bool authored) {
  if (auto *inst = dyn_cast<Instruction>(&object)) {
    retype_writer(*inst, dtype, authored);
    inst->set_result_type(module_.types().with_dtype(inst->type(), dtype));
    ++counts_.values;
    return;
  }
  auto &tensor = *cast<Tensor>(&object);
  for (const Use &use : tensor.uses())
    if (writes(use))
      retype_writer(*use.user(), dtype, authored);
  tensor.retype(module_.types().with_dtype(tensor.type(), dtype));
  ++counts_.tensors;
}

// Claims before anything is changed: a memset's claim needs the number that it had.
void NarrowingEdit::retype_writer(Instruction &writer, DType dtype, bool authored) {
  if (RewriteLog *log = context_.rewrites())
    log->added(writer, DType::Float32);
  bool number_rounds = false;
  if (writer.opcode() == Opcode::Memset) {
    const auto &number = *cast<Immediate>(writer.operand(0).value());
    const std::uint64_t code = convert_code(number.dtype(), dtype, number.bits());
    number_rounds = convert_code(dtype, number.dtype(), code) != number.bits();
    writer.operand(0).set(module_.immediate(dtype, code));
  }
  retyped_.push_back({&writer, authored, number_rounds});
}

void NarrowingEdit::bypass(Instruction &cast, Value &source, std::span<Use *const> readers) {
  remark_fold(cast);
  if (RewriteLog *log = context_.rewrites())
    log->bypassed(cast, true);
  for (Use *use : readers)
    use->set(&source);
  ++counts_.folded;
  if (cast.use_empty())
    cast.erase();
}

void NarrowingEdit::fold(Instruction &cast, Value &source) {
  remark_fold(cast);
  if (RewriteLog *log = context_.rewrites())
    log->bypassed(cast, true);
  cast.set_result_type(source.type());
  cast.replace_all_uses_with(&source);
  ++counts_.folded;
  cast.erase();
}

void NarrowingEdit::remark_fold(const Instruction &cast) {
  if (context_.wants_applied())
    context_.remark(RemarkClass::Exact, cast,
                    fmt::format("{} -> {}: folded: its readers read {}",
                                dtype2str(cast.operand(0).dtype()), dtype2str(cast.dtype()),
                                to_string(cast.operand(0))));
}

void NarrowingEdit::set_marks() {
  for (const auto &[writer, authored, number_rounds] : retyped_)
    if (number_rounds || !holds(writer->dst_dtype(), wide_dtype(*writer))) {
      const bool rounded_before = !holds(DType::Float32, wide_dtype(*writer)); // a large integer
      writer->set_autocast(authored || rounded_before ? Name() : mark_);
    }
  retyped_.clear();
}

} // namespace nir
