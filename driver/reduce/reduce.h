#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>

#include "ir/core/module.h"

namespace nir {

// Whether a module, in canonical text, still shows what one is after. It must answer the same for
// the same text.
using ReduceTest = std::function<bool(std::string_view text)>;

struct ReduceOptions {
  std::uint64_t max_tests = std::numeric_limits<std::uint64_t>::max();
  // Called before each test: what is being tried, how many statements there are, tests so far.
  std::function<void(std::string_view stage, std::size_t statements, std::uint64_t tests)>
      progress{};
};

struct ReduceResult {
  std::unique_ptr<Module> module; // nullptr where the test fails on the input already
  std::uint64_t tests = 0;
};

// Delta debugging (tools, nir-reduce): takes functions, statements, loops, tensors, operands,
// attributes, extents and marks away, many at a time and then fewer, as long as the test holds.
// Every candidate is well-formed. What is left has no single part that could go, unless the number
// of tests ran out. Deterministic where the test is.
ReduceResult reduce(std::unique_ptr<Module> module, const ReduceTest &test,
                    const ReduceOptions &options = {});

} // namespace nir
