// legalize-dtype: brings a module into legal form (language reference, Legal form). First float64
// goes, then operands that disagree get casts.
//
// Requires: a well-formed module. Preserves: the interface, result dtypes other than float64, every
// mark. Establishes legal form.
//
// It works in two phases. The first only looks, and reports everything in the module that cannot be
// made legal; where it found anything, nothing is changed. The second cannot fail.
//
// float64. Values, internal and const tensors become float32. What that does to rules that speak of
// dtypes:
//   - tensor_copy, load and store between float64 and float32 keep their dtype from then on; they
//     stay, as copies (fold-noop-casts folds them);
//   - an offloaded_memcast must change dtype, so one between float64 and float32 becomes an
//     offloaded_memcpy with the same marks;
//   - an offloaded_bitcast and a reinterpreting access must keep the number of bytes: an error,
//     unless both sides of the bitcast shrink;
//   - numbers: a memset's is of the destination's dtype and is rounded once; tensor_scalar's is
//     float32 already.
//
// Casts. A cast is made where its first user stands, right before it, with the source position and
// `loc` of that user. Of a value, later users of the same dtype in that block or one inside it take
// the same cast; a user elsewhere gets its own. So at most one cast per value and dtype is in scope
// anywhere: as long as one is, none is added, and only the newest has to be remembered. An access
// is cast for each use, because its tensor may be written in between.
//
// Termination and cost: each phase is one walk in program order with O(1) look-ups a use (O(log
// nesting depth) where a cast might be shared). Casts have no float64 and agree with their users,
// so a second run finds nothing.
//
// Numbers. An instruction computes in fp32 and casts pass through fp32, so no value held in float64
// has more than fp32's precision but what was copied from a const, and that one is rounded where a
// cast would have rounded it: float64 goes without changing any result, and no narrowing mark is
// due. A cast from a 32- or 64-bit integer to an integer carries `exact_ints`; to a float, where
// promotion or the matmul demands it, it loses bits above 2^24, and gets a warning.

#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include "ir/name/name_text.h"
#include "ir/numeric/float_format.h"
#include "ir/numeric/promotion.h"
#include "ir/print/printer.h"
#include "passes/core/pass.h"
#include "passes/rewrite/mutate.h"

namespace nir {
namespace {

constexpr std::string_view pass_name = "legalize-dtype";

// The dtype in which a float64 object is held afterwards.
DType host_free(DType dtype) { return dtype == DType::Float64 ? DType::Float32 : dtype; }
bool is_float64(const Use &use) { return use.dtype() == DType::Float64; }

// The dtype in which two paired operands meet. Two scales are refused although they are equal: a
// scale is no value to compute with.
tl::expected<DType, std::string> meeting_dtype(const Use &a, const Use &b) {
  const DType t0 = host_free(a.dtype());
  const DType t1 = host_free(b.dtype());
  if (t0 == DType::Float8E8m0fnu && t1 == DType::Float8E8m0fnu)
    return tl::unexpected(no_promotion_path(t0, t1));
  return promote_type(t0, t1);
}

// What of one function the second phase has to look at.
struct Work {
  bool has_float64 = false;              // then at everything
  std::vector<Instruction *> mixed = {}; // else at those whose operands disagree

  bool empty() const { return !has_float64 && mixed.empty(); }
};

// The first phase: reports what cannot be made legal, each obstacle once, where it stands.
class Checker {
public:
  Checker(Module &module, DiagnosticEngine &diagnostics)
      : module_(module), diagnostics_(diagnostics) {}

  // Whether all of the module can be made legal. Adds the functions in which there is something
  // to do.
  bool check(std::vector<std::pair<Function *, Work>> &todo) {
    for (Function *function : module_.functions()) {
      work_ = {};
      check(*function);
      if (!work_.empty())
        todo.emplace_back(function, std::move(work_));
    }
    return legal_;
  }

private:
  void check(Function &function) {
    for (Tensor *tensor = function.first_tensor(); tensor != nullptr; tensor = tensor->next()) {
      work_.has_float64 |= tensor->dtype() == DType::Float64;
      if (tensor->is_interface() && tensor->dtype() == DType::Float64)
        error(tensor->source(), fmt::format("float64 {} {} cannot be made legal: the interface of "
                                            "a function keeps its dtypes",
                                            to_string(tensor->role()), name_of(*tensor)));
    }
    for (Stmt &stmt : function.statements())
      if (Instruction *inst = dyn_cast<Instruction>(&stmt))
        check(*inst);
  }

  void check(Instruction &inst) {
    check_result(inst);
    for (const Use &use : inst.uses_of_operands())
      check_float64_use(inst, use);
    if (inst.opcode() == Opcode::OffloadedBitcast)
      check_bitcast(inst);
    if (inst.opcode() == Opcode::OffloadedMemcast && inst.operand(0).dtype() == inst.dst_dtype())
      work_.mixed.push_back(&inst);
    if (inst.opcode() == Opcode::Matmul)
      check_matmul(inst);
    if (const std::span<Use> pair = inst.matched_operands(); !pair.empty())
      check_pair(pair);
  }

  void check_result(const Instruction &inst) {
    if (inst.is_bare() || inst.dst_dtype() != DType::Float64)
      return;
    work_.has_float64 = true;
    if (inst.opcode() == Opcode::Opaque && inst.defines_value())
      error(inst.source(), fmt::format("float64 result of opaque \"{}\" cannot be made legal: its "
                                       "format is fixed",
                                       inst.opaque_name()));
    else if (inst.is_fixed())
      error(inst.source(), fmt::format("float64 that {} writes cannot become float32: it is fixed",
                                       describe(inst)));
  }

  void check_float64_use(const Instruction &inst, const Use &use) {
    if (use.value() == nullptr)
      return;
    const bool shrinks = use.value()->dtype() == DType::Float64;
    work_.has_float64 |= shrinks;
    if (isa<Immediate>(use.value()))
      return;
    if (shrinks && inst.has_trait(op_trait::NeverDead))
      blocked(inst, use, fmt::format("it is given to {}", mnemonic(inst.opcode())));
    else if (shrinks && use.reinterprets())
      blocked(inst, use, fmt::format("an access reads its bytes as {}", dtype2str(use.dtype())));
    else if (is_float64(use) && use.reinterprets())
      refuse(inst, use,
             fmt::format("access to {} as float64 cannot be made legal: it reinterprets {}",
                         name_of(*use.value()), dtype2str(use.value()->dtype())));
  }

  // Both sides may shrink together; one alone would change the number of bytes.
  void check_bitcast(const Instruction &inst) {
    const Use &src = inst.operand(0);
    const Use &dst = *inst.dst();
    if (is_float64(src) == is_float64(dst) || src.reinterprets() || dst.reinterprets())
      return;
    blocked(inst, is_float64(src) ? src : dst, "its bytes are reinterpreted by offloaded_bitcast");
  }

  void check_matmul(Instruction &inst) {
    const Target &target = module_.target();
    for (const Use &use : inst.operands()) {
      const DType dtype = host_free(use.dtype());
      if (const auto wanted = target.matmul_operand_dtype(dtype))
        check_cast(inst, use, *wanted);
      else
        refuse(inst, use,
               fmt::format("matmul operand '{}' is {}, which target {} cannot multiply",
                           to_string(use), dtype2str(dtype), target.name));
    }
  }

  void check_pair(std::span<Use> pair) {
    const auto dtype = meeting_dtype(pair[0], pair[1]);
    if (!dtype)
      return error(pair[0].user()->source(), dtype.error());
    for (const Use &use : pair)
      check_cast(*pair[0].user(), use, *dtype);
  }

  // A wider dtype may need more bytes than a type can have.
  void check_cast(Instruction &inst, const Use &use, DType dtype) {
    if (host_free(use.dtype()) == dtype)
      return;
    if (work_.mixed.empty() || work_.mixed.back() != &inst)
      work_.mixed.push_back(&inst);
    if (const auto type = module_.types().get(dtype, use.shape()); !type)
      refuse(*use.user(), use,
             fmt::format("operand '{}' of {} cannot be cast to {}: {}", to_string(use),
                         mnemonic(use.user()->opcode()), dtype2str(dtype), type.error()));
  }

  // A float64 object that must stay as it is. Those of the interface have had their error.
  void blocked(const Instruction &inst, const Use &use, std::string_view reason) {
    if (use.is_access() && use.tensor()->is_interface())
      return;
    refuse(inst, use,
           fmt::format("float64 {} {} cannot become float32: {}",
                       use.is_access() ? "tensor" : "value", name_of(*use.value()), reason));
  }

  // An error about one operand. A statement that names its object several times has one.
  void refuse(const Instruction &inst, const Use &use, std::string message) {
    const Instruction *&last = refused_[use.value()];
    if (last == &inst)
      return;
    last = &inst;
    error(inst.source(), std::move(message));
  }

  std::string name_of(const Value &value) const {
    if (value.name().empty())
      return "without a name";
    return fmt::format("'{}'",
                       quoted_name(module_.names(), isa<Tensor>(&value) ? '$' : '%', value.name()));
  }

  void error(SourceOffset at, std::string message) {
    legal_ = false;
    diagnostics_.error(SourceRange::at(at), std::move(message));
  }

  Module &module_;
  DiagnosticEngine &diagnostics_;
  Work work_; // of the function at hand
  // Of an object, the last statement with an error about it. Asked only, never walked.
  std::unordered_map<const Value *, const Instruction *> refused_;
  bool legal_ = true;
};

enum Statistic : unsigned { CastsInserted, BytesInserted };
constexpr PassStatistic statistics[] = {
    {"Number of casts inserted", "casts"},
    {"Number of bytes of casts inserted", "bytes"},
};

// The casts of one function's values.
class CastCache {
public:
  // The newest cast of the value to the dtype; nullptr where there is none.
  Instruction *&slot(const Value &value, DType dtype) { return casts_[{&value, dtype}]; }

private:
  using Key = std::pair<const Value *, DType>;
  struct Hash {
    std::size_t operator()(const Key &key) const {
      const std::size_t address = std::hash<const Value *>()(key.first);
      return address * num_dtypes + dtype_index(key.second);
    }
  };
  std::unordered_map<Key, Instruction *, Hash> casts_; // asked only, never walked
};

// The second phase, for one function.
class Legalizer {
public:
  Legalizer(Function &function, PassContext &context)
      : function_(function), module_(function.module()), context_(context) {}

  // Whether it changed anything.
  bool run(const Work &work) {
    if (!work.has_float64) {
      for (Instruction *inst : work.mixed)
        legalize(*inst);
      return changed_;
    }
    for (Tensor *tensor = function_.first_tensor(); tensor != nullptr; tensor = tensor->next())
      shrink(*tensor);
    for (Stmt &stmt : function_.statements())
      if (Instruction *inst = dyn_cast<Instruction>(&stmt))
        legalize(*inst);
    return changed_;
  }

private:
  void shrink(Tensor &tensor) {
    if (tensor.dtype() != DType::Float64)
      return;
    tensor.retype(module_.types().with_dtype(tensor.type(), DType::Float32));
    if (tensor.init() != nullptr)
      shrink(tensor.init()->bytes);
    changed_ = true;
  }

  // In place: the data of a large const is never held twice.
  static void shrink(std::vector<std::uint8_t> &bytes) {
    const std::size_t count = bytes.size() / sizeof(std::uint64_t);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t wide = 0;
      std::memcpy(&wide, &bytes[i * sizeof wide], sizeof wide);
      const auto narrow =
          static_cast<std::uint32_t>(convert_code(DType::Float64, DType::Float32, wide));
      std::memcpy(&bytes[i * sizeof narrow], &narrow, sizeof narrow);
    }
    bytes.resize(count * sizeof(std::uint32_t));
    bytes.shrink_to_fit();
  }

  void legalize(Instruction &inst) {
    if (inst.defines_value() && inst.dtype() == DType::Float64) {
      inst.set_result_type(module_.types().with_dtype(inst.type(), DType::Float32));
      changed_ = true;
    }
    for (Use &use : inst.operands())
      if (const Immediate *number = dyn_cast<Immediate>(use.value()))
        shrink(use, *number);
    if (inst.opcode() == Opcode::OffloadedMemcast && inst.operand(0).dtype() == inst.dst_dtype())
      return replace_by_memcpy(inst);
    if (inst.opcode() == Opcode::Matmul)
      return cast_matmul_operands(inst);
    if (const std::span<Use> pair = inst.matched_operands(); !pair.empty())
      cast_pair(pair);
  }

  void shrink(Use &use, const Immediate &number) {
    if (number.dtype() != DType::Float64)
      return;
    const std::uint64_t code = convert_code(DType::Float64, DType::Float32, number.bits());
    use.set(module_.immediate(DType::Float32, code));
    changed_ = true;
  }

  // Erases `memcast`, both sides of which have become float32.
  static void replace_by_memcpy(Instruction &memcast) {
    const Operand src{memcast.operand(0).value(), memcast.operand(0).access()};
    InstructionDesc desc{.opcode = Opcode::OffloadedMemcpy, .operands = {&src, 1}};
    desc.dst = {memcast.dst()->value(), memcast.dst()->access()};
    desc.flags = memcast.is_fixed() ? inst_flag::Fixed : std::uint16_t{0};
    desc.autocast = memcast.autocast();
    desc.attrs = memcast.attrs();
    desc.source = memcast.source();
    memcast.parent()->insert_instruction(desc, &memcast);
    memcast.erase();
  }

  void cast_matmul_operands(Instruction &matmul) {
    for (Use &use : matmul.operands())
      cast_to(use, module_.target().matmul_operand_dtype(use.dtype()).value());
  }

  void cast_pair(std::span<Use> pair) {
    const DType dtype = meeting_dtype(pair[0], pair[1]).value();
    for (Use &use : pair)
      cast_to(use, dtype);
  }

  // Makes the operand one of `dtype`.
  void cast_to(Use &use, DType dtype) {
    if (use.dtype() == dtype)
      return;
    changed_ = true;
    if (use.is_access())
      return use.set(insert_cast(use, dtype));
    Instruction *&cast = casts_.slot(*use.value(), dtype);
    const bool in_scope =
        cast != nullptr && ancestor_in_block(use.user(), cast->parent()) != nullptr;
    if (!in_scope)
      cast = insert_cast(use, dtype);
    use.set(cast);
  }

  // A cast of the operand, right before its user.
  Instruction *insert_cast(const Use &use, DType dtype) {
    Instruction &user = *use.user();
    const Operand src{use.value(), use.access()};
    InstructionDesc desc{.opcode = Opcode::TensorCopy, .operands = {&src, 1}};
    desc.type = module_.types().get(dtype, use.shape()).value();
    desc.autocast = module_.intern(pass_name);
    desc.attrs = loc_of(user);
    desc.source = user.source();
    const bool wide_int = is_int32_dtypes(use.dtype()) || is_int64_dtypes(use.dtype());
    if (wide_int && is_int_type(dtype))
      desc.flags = inst_flag::ExactInts;
    else if (wide_int)
      warn_of_lost_bits(use, dtype);
    Instruction *cast = user.parent()->insert_instruction(desc, &user);
    context_.count(CastsInserted);
    context_.count(BytesInserted, cast_bytes(*cast));
    return cast;
  }

  void warn_of_lost_bits(const Use &use, DType dtype) {
    context_.diagnostics().warning(
        SourceRange::at(use.user()->source()),
        fmt::format(
            "{} operand '{}' is cast from {} to {}: integers above 2^24 lose their low bits",
            mnemonic(use.user()->opcode()), to_string(use), dtype2str(use.dtype()),
            dtype2str(dtype)));
  }

  // The attributes of a cast for `user`: its `loc`, if any.
  const AttrList *loc_of(const Instruction &user) {
    const AttrValue *loc = user.attr(AttrKey::Loc);
    if (loc == nullptr)
      return nullptr;
    Attr attr;
    attr.key = AttrKey::Loc;
    attr.value = *loc;
    return AttrList::create(module_.arena(), {&attr, 1});
  }

  Function &function_;
  Module &module_;
  PassContext &context_;
  CastCache casts_;
  bool changed_ = false;
};

class LegalizeDType final : public Pass {
public:
  bool run(Module &module, PassContext &context) override {
    std::vector<std::pair<Function *, Work>> todo;
    if (!Checker(module, context.diagnostics()).check(todo))
      return false;
    bool changed = false;
    for (const auto &[function, work] : todo)
      changed |= Legalizer(*function, context).run(work);
    return changed;
  }
};

} // namespace

namespace passes {

extern const PassInfo pass_legalize_dtype;
const PassInfo pass_legalize_dtype = {
    .name = pass_name,
    .description = "Brings a module into legal form: no float64, casts where operands disagree",
    .options = {},
    .statistics = statistics,
    .create = [](const PassOptions &) -> std::unique_ptr<Pass> {
      return std::make_unique<LegalizeDType>();
    },
    .establishes_legal_form = true,
};

} // namespace passes
} // namespace nir
