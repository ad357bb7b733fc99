// Random functions: tensors, values in sight, accesses, and how an instruction delivers its result.

#include "bench/generator/generator_mix.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "ir/numeric/float_format.h"
#include "ir/numeric/literal.h"

namespace nir {
namespace {

constexpr unsigned recent_values = 12;
constexpr unsigned pick_attempts = 6;
constexpr unsigned max_nesting = 4;
constexpr std::uint64_t max_instances = 256;
constexpr std::uint64_t max_dense_elements = 64;

constexpr DType common_dtypes[] = {DType::Float32,  DType::Float32,  DType::Float32,
                                   DType::Float32,  DType::Bfloat16, DType::Bfloat16,
                                   DType::Bfloat16, DType::Float16};

// A dtype that instructions compute on and that every tensor may have.
bool computes(DType dtype) {
  return is_int_type(dtype) ||
         (is_float_type(dtype) && dtype != DType::Float4E2m1fn && dtype != DType::Float64);
}

bool is_on_chip(const Tensor &tensor) { return tensor.space() != Space::Dram; }

} // namespace

RandomFunction::RandomFunction(Emitter &emitter, const std::vector<Callee> &callees)
    : e_(emitter), random_(emitter.random()), callees_(callees),
      rows_(e_.small() ? random_.between(1, max_small_extent / 2)
                       : random_.pick<std::int64_t>({1, 3, 8, 16, 128})),
      columns_(e_.small() ? random_.between(1, max_small_extent / 2)
                          : random_.pick<std::int64_t>({1, 2, 5, 8, 24})) {
  e_.begin_function()->set_strict(random_.one_in(12));
  declare_tensors();
}

void RandomFunction::fill(std::uint64_t size) {
  const std::uint64_t end = e_.count() + size;
  while (e_.count() < end)
    step();
  while (e_.loop_depth() != 0)
    close_loop();
  store_outputs();
}

void RandomFunction::declare_tensors() {
  const auto declare_some = [this](std::int64_t min, std::int64_t max, Role role,
                                   std::initializer_list<Space> spaces) {
    for (std::int64_t i = random_.between(min, max); i > 0; --i) {
      const Kind kind = random_.pick_from(tensor_kinds);
      declare(kind, random_.pick(spaces), role);
    }
  };
  declare_some(1, 4, Role::Input, {Space::Dram, Space::Dram, Space::Dram, Space::Sbuf});
  declare_some(1, 3, Role::Output, {Space::Dram, Space::Dram, Space::Dram, Space::Sbuf});
  declare_some(0, 2, Role::Const, {Space::Dram, Space::Sbuf});
  declare_some(2, 8, Role::Internal,
               {Space::Dram, Space::Sbuf, Space::Sbuf, Space::Sbuf, Space::Psum});
  product_ = declare_type(type_of(Kind::Square, DType::Float32), Space::Psum, Role::Internal);
}

// Of whole tiles of the kind, so that an access has something to choose from.
Tensor *RandomFunction::declare(Kind kind, Space space, Role role) {
  std::vector<std::int64_t> shape = shape_of(kind);
  shape[0] *= random_.between(1, e_.small() ? 2 : 4);
  if (kind != Kind::Column)
    shape[1] *= random_.between(1, e_.small() ? 2 : 3);
  DType dtype = random_dtype();
  if (space == Space::Psum)
    dtype = random_.pick({DType::Float32, DType::Float32, DType::Float32r, DType::Int32});
  const bool may_be_wide = !e_.legal() && role == Role::Internal && space != Space::Psum;
  if (may_be_wide && random_.one_in(20))
    dtype = DType::Float64;
  const Type *type = e_.builder().type(dtype, shape);
  Tensor *tensor =
      declare_type(type, space, role, role == Role::Const ? random_init(type) : nullptr);
  tensors_.push_back({tensor, kind});
  return tensor;
}

Tensor *RandomFunction::declare_type(const Type *type, Space space, Role role, ConstData *init) {
  return e_.tensor(type, space, role, {}, init);
}

ConstData *RandomFunction::random_init(const Type *type) {
  ConstData data;
  const auto elements = static_cast<std::uint64_t>(type->num_elements());
  data.form = elements > max_dense_elements
                  ? InitForm::Splat
                  : random_.pick({InitForm::Splat, InitForm::Dense, InitForm::Hex});
  const std::uint64_t count = data.form == InitForm::Splat ? 1 : elements;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t code = random_code(type->dtype());
    for (unsigned byte = 0; byte < sizeinbytes(type->dtype()); ++byte)
      data.bytes.push_back(static_cast<std::uint8_t>(code >> (8 * byte)));
  }
  return e_.module().add_const_data(std::move(data));
}

void RandomFunction::open_loop() {
  if (e_.loop_depth() >= max_nesting || instances() > max_instances / 4)
    return;
  std::array<std::size_t, num_kinds> sizes;
  for (unsigned i = 0; i < num_kinds; ++i)
    sizes[i] = pools_[i].size();
  scopes_.push_back(sizes);
  const std::int64_t trips = random_.between(1, 4);
  const std::int64_t step = random_.between(1, 3);
  e_.begin_loop(trips, step, random_.between(-2, 3));
}

void RandomFunction::close_loop() {
  if (e_.loop_depth() == 0)
    return;
  for (unsigned i = 0; i < num_kinds; ++i)
    pools_[i].resize(scopes_.back()[i]);
  scopes_.pop_back();
  e_.end_loop();
}

std::uint64_t RandomFunction::instances() const {
  return e_.loop_depth() == 0 ? 1 : e_.loops().back()->dynamic_instances();
}

std::vector<std::int64_t> RandomFunction::shape_of(Kind kind) const {
  switch (kind) {
  case Kind::Matrix:
    return {rows_, columns_};
  case Kind::Column:
    return {rows_, 1};
  case Kind::Flipped:
    return {columns_, rows_};
  case Kind::Wide:
    return {rows_, 2 * columns_};
  case Kind::Square:
    return {columns_, columns_};
  case Kind::Cube:
    return {2, rows_, columns_};
  case Kind::Scalar:
    return {};
  }
  return {};
}

const Type *RandomFunction::type_of(Kind kind, DType dtype) {
  return e_.builder().type(dtype, shape_of(kind));
}

DType RandomFunction::random_dtype() {
  if (!random_.one_in(3))
    return random_.pick_from(common_dtypes);
  while (true) {
    const auto dtype = static_cast<DType>(random_.below(num_dtypes));
    if (computes(dtype))
      return dtype;
  }
}

DType RandomFunction::dtype_of_size(unsigned bytes) {
  while (true) {
    const auto dtype = static_cast<DType>(random_.below(num_dtypes));
    if (computes(dtype) && sizeinbytes(dtype) == bytes)
      return dtype;
  }
}

// Mostly a small number, sometimes any bits that text can stand for.
std::uint64_t RandomFunction::random_code(DType dtype) {
  if (random_.one_in(4)) {
    const unsigned bits = 8 * sizeinbytes(dtype);
    const std::uint64_t code = random_.next() & (~std::uint64_t{0} >> (64 - bits));
    if (text_reads_back(dtype, code))
      return code;
  }
  const auto number = static_cast<float>(random_.between(-16, 16)) / 4;
  return encode_from_fp32(dtype, std::bit_cast<std::uint32_t>(number));
}

Value *RandomFunction::value(Kind kind) {
  const std::vector<Value *> &values = pool(kind);
  if (values.empty())
    return fresh(kind, random_dtype());
  if (random_.one_in(4))
    return random_.pick_from(values);
  const std::size_t recent = std::min<std::size_t>(values.size(), recent_values);
  return values[values.size() - 1 - random_.below(recent)];
}

Value *RandomFunction::value_of(Kind kind, DType dtype) {
  for (unsigned i = 0; i < pick_attempts && !pool(kind).empty(); ++i)
    if (Value *candidate = value(kind); candidate->dtype() == dtype)
      return candidate;
  if (random_.one_in(2))
    return fresh(kind, dtype);
  Instruction *copy = e_.copy(value(kind), dtype);
  keep(copy, kind);
  return copy;
}

// Any dtype, where somebody will cast what the target does not multiply.
Operand RandomFunction::matmul_operand(Kind kind) {
  const Operand any = operand(kind);
  if (!e_.legal() || e_.module().target().multiplies(dtype_of(any)))
    return any;
  return operand_of(kind, random_.pick({DType::Float32, DType::Bfloat16, DType::Float16}));
}

// A value from nothing.
Value *RandomFunction::fresh(Kind kind, DType dtype) {
  const Operand number{e_.module().immediate(dtype, random_code(dtype)), nullptr};
  Instruction *inst =
      define({.opcode = Opcode::Memset, .operands = {&number, 1}}, type_of(kind, dtype));
  keep(inst, kind);
  return inst;
}

std::optional<RandomFunction::TensorPlace> RandomFunction::find_tensor(Kind kind,
                                                                       const TensorTest &test) {
  for (unsigned i = 0; i < pick_attempts; ++i) {
    const TensorPlace &place = random_.pick_from(tensors_);
    if (place.kind == kind && test(*place.tensor))
      return place;
  }
  return std::nullopt;
}

Operand RandomFunction::operand(Kind kind) {
  if (random_.one_in(5))
    if (const auto place = find_tensor(kind, is_on_chip))
      return access(*place, true);
  return {value(kind), nullptr};
}

Operand RandomFunction::operand_of(Kind kind, DType dtype) {
  const auto fits = [dtype](const Tensor &tensor) {
    return is_on_chip(tensor) && tensor.dtype() == dtype;
  };
  if (random_.one_in(5))
    if (const auto place = find_tensor(kind, fits))
      return access(*place, false);
  return {value_of(kind, dtype), nullptr};
}

// float64 goes away before code runs, and then has another size.
bool RandomFunction::may_view(const Tensor &tensor) const {
  return tensor.dtype() != DType::Float64 && random_.one_in(16);
}

// A box of the kind's shape somewhere in the tensor, moving with the loops around.
Operand RandomFunction::access(const TensorPlace &place, bool may_reinterpret) {
  Tensor *tensor = place.tensor;
  const std::vector<std::int64_t> sizes = shape_of(place.kind);
  std::vector<AccessDim> dims;
  bool whole = true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const AccessDim &dim = dims.emplace_back(random_dim(tensor->shape()[i], sizes[i]));
    whole = whole && dim.terms.empty() && dim.size == tensor->shape()[i];
  }
  const bool reinterprets = may_reinterpret && may_view(*tensor);
  const DType dtype = reinterprets ? dtype_of_size(sizeinbytes(tensor->dtype())) : tensor->dtype();
  if (dtype == tensor->dtype())
    return e_.builder().access(tensor, dims);
  const Type *box = e_.builder().type(dtype, sizes);
  return {tensor, Access::create(e_.module().arena(), box, dims, whole, true)};
}

// The room that box and stride leave is shared by the loops' terms, either way, and a constant.
AccessDim RandomFunction::random_dim(std::int64_t extent, std::int64_t size) {
  AccessDim dim{.size = size};
  if (size > 1 && (size - 1) * 2 < extent && random_.one_in(4))
    dim.stride = 2;
  std::int64_t room = extent - 1 - (size - 1) * dim.stride;
  std::vector<AffineTerm> terms;
  for (const Loop *loop : e_.loops()) {
    const std::int64_t factor = random_.pick<std::int64_t>({1, 1, 2, -1, size, -2});
    const std::int64_t at_first = factor * loop->lo();
    const std::int64_t at_last = factor * loop->last_value();
    const std::int64_t spread = std::abs(at_last - at_first);
    if (spread > room || terms.size() == 2 || random_.one_in(2))
      continue;
    room -= spread;
    dim.constant -= std::min(at_first, at_last);
    terms.push_back({loop, factor});
  }
  dim.constant += random_.between(0, room);
  dim.terms = e_.module().arena().copy(std::span<const AffineTerm>(terms));
  return dim;
}

DType RandomFunction::dtype_of(const Operand &operand) {
  const bool viewed = operand.access != nullptr && operand.access->reinterprets();
  return viewed ? operand.access->view() : operand.value->dtype();
}

std::span<const std::int64_t> RandomFunction::shape_of(const Operand &operand) {
  return operand.access != nullptr ? operand.access->shape() : operand.value->shape();
}

void RandomFunction::attribute(AttrKey key, AttrValue value) {
  if (is_default(key, value))
    return;
  Attr attr;
  attr.key = key;
  attr.value = value;
  attrs_.push_back(attr);
}

void RandomFunction::list_attribute(AttrKey key, std::initializer_list<std::int64_t> values) {
  const std::span<const std::int64_t> list(values.begin(), values.size());
  attribute(key, AttrValue::of_ints(e_.module().arena().copy(list)));
}

// Marks, and the attributes that were collected.
void RandomFunction::finish(InstructionDesc &desc) {
  if (random_.one_in(40) && desc.dst.value == nullptr && desc.type != nullptr &&
      desc.type->dtype() != DType::Float64)
    desc.flags |= inst_flag::Fixed;
  const bool narrows = desc.opcode == Opcode::Activation || desc.opcode == Opcode::TensorScalar;
  if ((desc.opcode == Opcode::TensorCopy && random_.one_in(8)) || (narrows && random_.one_in(20)))
    desc.autocast = e_.module().intern("legalize-dtype");
  if (random_.one_in(50))
    attribute(AttrKey::Loc, AttrValue::of_string(e_.module().arena().copy("random.py:1")));
  if (!attrs_.empty())
    desc.attrs = AttrList::create(e_.module().arena(), attrs_);
  attrs_.clear();
  cost_ += instances();
}

Instruction *RandomFunction::define(InstructionDesc desc, const Type *type) {
  desc.type = type;
  finish(desc);
  return e_.add(e_.builder().create(desc));
}

bool RandomFunction::deliver_into_tensor(InstructionDesc &desc, Kind kind, DType dtype) {
  const OpcodeInfo &opcode = info(desc.opcode);
  const bool keeps = opcode.has(op_trait::KeepsDType);
  const bool is_integer = (desc.flags & inst_flag::ExactInts) != 0;
  const auto fits = [&](const Tensor &tensor) {
    const bool writable = tensor.role() == Role::Internal || tensor.role() == Role::Output;
    return writable && is_on_chip(tensor) && (!keeps || tensor.dtype() == dtype) &&
           (!is_integer || is_int_type(tensor.dtype()));
  };
  const auto place = find_tensor(kind, fits);
  if (!place)
    return false;
  desc.dst = access(*place, false);
  finish(desc);
  e_.add(e_.builder().create(desc));
  return true;
}

void RandomFunction::deliver(InstructionDesc desc, Kind kind, DType dtype) {
  const bool makes_number = desc.opcode == Opcode::Memset; // which is of the destination's dtype
  if (!makes_number && random_.one_in(4) && deliver_into_tensor(desc, kind, dtype))
    return;
  const bool keeps = info(desc.opcode).has(op_trait::KeepsDType);
  const bool may_be_wide = !e_.legal() && !keeps && desc.flags == 0 && random_.one_in(60);
  keep(define(desc, type_of(kind, may_be_wide ? DType::Float64 : dtype)), kind);
}

} // namespace nir
