#include "bench/generator/replicate.h"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/core/builder.h"

namespace nir {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What stands between a name and the number of a copy: so many dots that no name of the module ends
// like that already. Then the last such place in a new name tells what it is a copy of.
std::string separator(const Module &module) {
  std::size_t most = 0;
  const auto look = [&](Name name) {
    if (name.empty() || name.is_number())
      return;
    const std::string text = module.names().str(name);
    std::size_t end = text.size();
    while (end > 0 && is_digit(text[end - 1]))
      --end;
    std::size_t begin = end;
    while (begin > 0 && text[begin - 1] == '.')
      --begin;
    most = std::max(most, end - begin);
  };
  for (const Function *function : module.functions()) {
    look(function->name());
    for (const Tensor *t = function->first_tensor(); t != nullptr; t = t->next())
      look(t->name());
    for (const Stmt &stmt : function->statements())
      look(stmt.name());
  }
  return std::string(most + 1, '.');
}

// A function as it was, before anything was added to it.
struct Original {
  Function *function;
  std::vector<const Tensor *> tensors;
  std::vector<const Stmt *> statements;
};

class Replicator {
public:
  explicit Replicator(Module &module) : module_(module), separator_(separator(module)) {
    for (Function *function : module.functions()) {
      Original &original = originals_.emplace_back();
      original.function = function;
      for (const Tensor *t = function->first_tensor(); t != nullptr; t = t->next())
        original.tensors.push_back(t);
      for (const Stmt &stmt : function->statements())
        original.statements.push_back(&stmt);
    }
  }

  void as_functions(std::uint64_t size);
  void as_chain(std::uint64_t size);

private:
  using TensorMap = std::unordered_map<const Tensor *, Tensor *>;

  static std::size_t num_statements(std::span<const Original *const> originals);
  void start_copy(std::uint64_t number) { suffix_ = separator_ + std::to_string(number); }
  Name fresh(Name name);
  Tensor *copy_tensor(const Tensor &tensor, Function &to);
  void link_tensors(const Original &original, Function &to, TensorMap &outputs);
  void copy_body(const Original &original, Function &to);
  void copy_instruction(const Instruction &inst, Block &to);
  Operand operand(const Use &use) const;
  const AttrList *attributes(const Instruction &inst) const;
  const Access *access(const Access *access) const;

  Module &module_;
  std::string separator_;
  std::vector<Original> originals_;

  // Of the copy at hand: how its names end, and what the originals have become.
  std::string suffix_;
  std::unordered_map<const Function *, Function *> functions_;
  std::unordered_map<const Value *, Value *> values_;
  TensorMap tensors_;
};

std::size_t Replicator::num_statements(std::span<const Original *const> originals) {
  std::size_t count = 0;
  for (const Original *original : originals)
    count += original->statements.size();
  return count;
}

Name Replicator::fresh(Name name) {
  return name.empty() ? name : module_.intern(module_.names().str(name) + suffix_);
}

// How many copies there must be, the original among them.
std::uint64_t num_copies(std::uint64_t size, std::size_t copied, std::size_t kept) {
  if (copied == 0 || size <= kept)
    return 1;
  return (size - kept + copied - 1) / copied;
}

void Replicator::as_functions(std::uint64_t size) {
  std::vector<const Original *> all;
  for (const Original &original : originals_)
    all.push_back(&original);
  const std::uint64_t copies = num_copies(size, num_statements(all), 0);
  for (std::uint64_t k = 1; k < copies; ++k) {
    start_copy(k);
    for (const Original &original : originals_) {
      Function *copy = module_.add_function(fresh(original.function->name()));
      copy->set_strict(original.function->is_strict());
      functions_[original.function] = copy;
    }
    for (const Original &original : originals_) {
      Function &copy = *functions_.at(original.function);
      tensors_.clear();
      for (const Tensor *tensor : original.tensors)
        tensors_[tensor] = copy_tensor(*tensor, copy);
      copy_body(original, copy);
    }
  }
}

void Replicator::as_chain(std::uint64_t size) {
  std::unordered_set<const Function *> called;
  for (const Original &original : originals_)
    for (const Stmt *stmt : original.statements)
      if (const auto *inst = dyn_cast<Instruction>(stmt); inst && inst->opcode() == Opcode::Call)
        called.insert(inst->callee());
  std::vector<const Original *> copied;
  std::vector<const Original *> kept;
  for (const Original &original : originals_) {
    (called.contains(original.function) ? kept : copied).push_back(&original);
    functions_[original.function] = original.function;
  }
  const std::uint64_t copies = num_copies(size, num_statements(copied), num_statements(kept));
  for (const Original *original : copied) {
    TensorMap outputs; // of the copy before, by those of the original
    for (const Tensor *tensor : original->tensors)
      if (tensor->role() == Role::Output)
        outputs[tensor] = const_cast<Tensor *>(tensor);
    for (std::uint64_t k = 1; k < copies; ++k) {
      start_copy(k);
      link_tensors(*original, *original->function, outputs);
      copy_body(*original, *original->function);
    }
  }
}

// Makes the tensors of a copy, but for inputs that are like an output of the copy before.
void Replicator::link_tensors(const Original &original, Function &to, TensorMap &outputs) {
  tensors_.clear();
  TensorMap own;
  std::vector<Tensor *> before; // in order of declaration
  for (const Tensor *tensor : original.tensors)
    if (tensor->role() == Role::Output)
      before.push_back(outputs.at(tensor));
  for (const Tensor *tensor : original.tensors) {
    const auto alike = std::ranges::find_if(before, [tensor](const Tensor *output) {
      return output->type() == tensor->type() && output->space() == tensor->space();
    });
    if (tensor->role() == Role::Input && alike != before.end()) {
      tensors_[tensor] = *alike;
      before.erase(alike);
      continue;
    }
    Tensor *copy = tensors_[tensor] = copy_tensor(*tensor, to);
    if (tensor->role() == Role::Output)
      own[tensor] = copy;
  }
  outputs = std::move(own);
}

Tensor *Replicator::copy_tensor(const Tensor &tensor, Function &to) {
  ConstData *init = tensor.init() == nullptr ? nullptr : module_.add_const_data(*tensor.init());
  return to.add_tensor(fresh(tensor.name()), tensor.type(), tensor.space(), tensor.role(), init);
}

void Replicator::copy_body(const Original &original, Function &to) {
  values_.clear();
  std::unordered_map<const Block *, Block *> blocks{{&original.function->body(), &to.body()}};
  for (const Stmt *stmt : original.statements) {
    Block &block = *blocks.at(stmt->parent());
    const auto *loop = dyn_cast<Loop>(stmt);
    if (loop == nullptr) {
      copy_instruction(*cast<Instruction>(stmt), block);
      continue;
    }
    Loop *copy = block.insert_loop(fresh(loop->name()), loop->lo(), loop->hi(), loop->step());
    blocks[&loop->body()] = &copy->body();
    values_[loop] = copy;
  }
}

void Replicator::copy_instruction(const Instruction &inst, Block &to) {
  std::vector<Operand> operands;
  for (const Use &use : inst.operands())
    operands.push_back(operand(use));
  InstructionDesc desc{.opcode = inst.opcode(), .operands = operands, .type = inst.type()};
  if (inst.opcode() == Opcode::Activation)
    desc.fn = static_cast<std::uint8_t>(inst.fn());
  else
    desc.op0 = static_cast<std::uint8_t>(inst.op(0));
  if (inst.opcode() == Opcode::TensorScalar && operands.size() > 2)
    desc.op1 = static_cast<std::uint8_t>(inst.op(1));
  if (const Use *dst = inst.dst())
    desc.dst = operand(*dst);
  desc.name = inst.defines_value() ? fresh(inst.name()) : Name();
  desc.flags = static_cast<std::uint16_t>(inst.flags() & ~inst_flag::HasDst);
  desc.autocast = inst.autocast();
  desc.attrs = attributes(inst);
  Instruction *copy = to.insert_instruction(desc);
  if (copy->defines_value())
    values_[&inst] = copy;
}

Operand Replicator::operand(const Use &use) const {
  if (const Tensor *tensor = use.tensor())
    return {tensors_.at(tensor), access(use.access())};
  if (isa<Immediate>(use.value()))
    return {use.value(), nullptr};
  return {values_.at(use.value()), nullptr};
}

// Accesses and attributes never change, so copies share them where they name nothing of the
// original.
const Access *Replicator::access(const Access *access) const {
  if (access == nullptr ||
      std::ranges::all_of(access->dims(), [](const AccessDim &dim) { return dim.terms.empty(); }))
    return access;
  std::vector<AccessDim> dims(access->dims().begin(), access->dims().end());
  for (AccessDim &dim : dims) {
    std::vector<AffineTerm> terms(dim.terms.begin(), dim.terms.end());
    for (AffineTerm &term : terms)
      term.loop = cast<Loop>(values_.at(term.loop));
    dim.terms = module_.arena().copy(std::span<const AffineTerm>(terms));
  }
  return Access::create(module_.arena(), access->box(), dims, access->is_whole(),
                        access->reinterprets());
}

const AttrList *Replicator::attributes(const Instruction &inst) const {
  if (inst.opcode() != Opcode::Call)
    return inst.attrs();
  std::vector<Attr> attrs(inst.attrs()->items().begin(), inst.attrs()->items().end());
  for (Attr &attr : attrs)
    if (attr.key == AttrKey::Callee)
      attr.value = AttrValue::of_function(functions_.at(inst.callee()));
  return AttrList::create(module_.arena(), attrs);
}

} // namespace

void replicate(Module &module, std::uint64_t size, ReplicateAs as) {
  Replicator replicator(module);
  if (as == ReplicateAs::Functions)
    replicator.as_functions(size);
  else
    replicator.as_chain(size);
}

} // namespace nir
