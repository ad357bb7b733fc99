#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/core/function.h"
#include "ir/isa/target.h"

namespace nir {

// One `.nir` file: functions and everything in them. It owns the arena in which all of it lives,
// and goes as a whole; it can be moved by pointer only.
class Module {
public:
  Module();
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  Arena &arena() { return arena_; }
  NameTable &names() { return names_; }
  const NameTable &names() const { return names_; }
  TypeTable &types() { return types_; }

  // The header `module @name {target = "…"}`, where there was one.
  bool has_header() const { return has_header_; }
  Name name() const { return name_; }
  void set_header(Name name) {
    has_header_ = true;
    name_ = name;
  }
  // The machine that the module is for; the default target where nothing says so.
  const Target &target() const { return target_; }
  void set_target(const Target &target) { target_ = target; }
  // Whether the header spells the target.
  bool prints_target() const { return prints_target_; }
  void set_prints_target(bool prints) { prints_target_ = prints; }

  // In order of definition.
  const std::vector<Function *> &functions() const { return functions_; }
  // The first function of that name; nullptr where there is none. For one thread at a time.
  Function *find_function(Name name) const;
  // A function that is not part of the module until `define` adds it.
  Function *declare_function(Name name, SourceOffset source = no_source);
  void define(Function *function) { functions_.push_back(function); }
  // declare_function and define in one.
  Function *add_function(Name name, SourceOffset source = no_source);

  // Threads that hold lanes of the arena may call these at the same time.
  Immediate *immediate(DType dtype, std::uint64_t bits);
  ConstData *add_const_data(ConstData data);

  // The interned string of `text`, for marks such as autocast.
  Name intern(std::string_view text) { return names_.intern(text); }

private:
  Arena arena_;
  std::mutex mutex_; // of numbers and const data
  NameTable names_;
  TypeTable types_;
  std::vector<Function *> functions_;
  // By Name::bits, as far as somebody has looked for one.
  mutable std::unordered_map<std::uint32_t, Function *> function_index_;
  mutable std::size_t num_indexed_ = 0; // of functions_
  std::unordered_map<std::uint64_t, Immediate *> immediates_[num_dtypes];
  std::deque<ConstData> const_data_;
  Target target_;
  Name name_;
  bool has_header_ = false;
  bool prints_target_ = false;
};

} // namespace nir
