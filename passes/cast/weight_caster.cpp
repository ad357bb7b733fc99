#include "passes/cast/weight_caster.h"

#include <string>

#include <fmt/format.h>

#include "ir/numeric/cast_engine.h"
#include "ir/support/saturating.h"
#include "passes/core/pass.h"
#include "passes/rewrite/mutate.h"

namespace nir {
namespace {

ConstData cast_data(const ConstData &data, DType from, DType to, bool exact_ints) {
  const std::size_t count = data.bytes.size() / sizeinbytes(from);
  ConstData result{data.form, std::vector<std::uint8_t>(count * sizeinbytes(to))};
  cast_array(from, to, data.bytes.data(), result.bytes.data(), count, {.exact_ints = exact_ints});
  return result;
}

bool fits(const Type &type, DType dtype) {
  return type.num_elements() <= INT64_MAX / static_cast<std::int64_t>(sizeinbytes(dtype));
}

std::int64_t sbuf_bytes(const Tensor &tensor, DType dtype) {
  if (tensor.space() != Space::Sbuf)
    return 0;
  const Target &target = tensor.function()->module().target();
  return static_cast<std::int64_t>(sbuf_bytes_per_partition(tensor, dtype, target));
}

} // namespace

const char *WeightCaster::why_stays(const Tensor &weight, DType dtype, bool exact_ints,
                                    bool moves_last) {
  const auto castable = [](DType of) { return !is_host_only(of) && !is_x4_dtype(of); };
  if (!castable(weight.dtype()) || !castable(dtype))
    return "packed x4 and host-only dtypes are never cast";
  if (weight.space() == Space::Psum)
    return "the tensor is in psum";
  if (!fits(*weight.type(), dtype))
    return "the type would be too large";
  if (find(weight, dtype, exact_ints) != nullptr)
    return nullptr;
  const std::int64_t freed = moves_last ? sbuf_bytes(weight, weight.dtype()) : 0;
  return budget_.overflows(sbuf_bytes(weight, dtype) - freed) ? PartitionBudget::overflow : nullptr;
}

Tensor &WeightCaster::cast(Tensor &weight, DType dtype, bool exact_ints) {
  if (Tensor *known = find(weight, dtype, exact_ints))
    return *known;
  Module &module = function_.module();
  ConstData *data =
      module.add_const_data(cast_data(*weight.init(), weight.dtype(), dtype, exact_ints));
  Tensor *result = function_.add_tensor(fresh_name(weight, dtype),
                                        module.types().with_dtype(weight.type(), dtype),
                                        weight.space(), Role::Const, data, weight.source());
  std::vector<Cast> &casts = casts_[&weight];
  if (casts.empty())
    cast_.push_back(&weight);
  casts.push_back({dtype, exact_ints, result});
  budget_.add(sbuf_bytes(*result, dtype));
  bytes_cast_ =
      saturating_add(bytes_cast_, static_cast<std::uint64_t>(result->type()->size_in_bytes()));
  return *result;
}

Tensor *WeightCaster::find(const Tensor &weight, DType dtype, bool exact_ints) const {
  const auto known = casts_.find(&weight);
  if (known == casts_.end())
    return nullptr;
  // Only between integers do exact_ints make a difference.
  const bool matters = is_int_type(weight.dtype()) && is_int_type(dtype);
  for (const Cast &cast : known->second)
    if (cast.dtype == dtype && (cast.exact_ints == exact_ints || !matters))
      return cast.result;
  return nullptr;
}

// `w.bfloat16`, or the first of `w.bfloat16.1`, … that no tensor of the function has. Each weight
// is cast at most once per dtype, so all searches together look at each name once.
Name WeightCaster::fresh_name(const Tensor &weight, DType dtype) {
  Module &module = function_.module();
  if (names_.empty())
    for (const Tensor *tensor = function_.first_tensor(); tensor != nullptr;
         tensor = tensor->next())
      names_.insert(module.names().str(tensor->name()));
  const std::string base =
      fmt::format("{}.{}", module.names().str(weight.name()), dtype2str(dtype));
  std::string name = base;
  for (unsigned i = 1; !names_.insert(name).second; ++i)
    name = fmt::format("{}.{}", base, i);
  return module.intern(name);
}

// Whether the tensor, which has lost all its readers to one cast of it, stays in the cast's place.
bool WeightCaster::takes_over(const Tensor &weight) const {
  const std::vector<Cast> &casts = casts_.at(&weight);
  return weight.init()->form == InitForm::Splat && casts.size() == 1 &&
         !erased_.contains(casts.front().result);
}

// A cast may itself have been cast, and comes later in the list than what it was made from: from
// the last on, so that the first of a chain ends with what the chain's end holds.
void WeightCaster::finish() {
  for (auto at = cast_.rbegin(); at != cast_.rend(); ++at) {
    Tensor &weight = **at;
    if (!weight.use_empty())
      continue;
    budget_.add(-sbuf_bytes(weight, weight.dtype()));
    if (!takes_over(weight)) {
      erased_.insert(&weight);
      weight.erase();
      continue;
    }
    Tensor &result = *casts_.at(&weight).front().result;
    weight.retype(result.type());
    *weight.init() = *result.init();
    for (Use &use : result.uses())
      use.set(&weight, use.access());
    result.erase();
  }
}

} // namespace nir
