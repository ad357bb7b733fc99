#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "ir/core/module.h"

namespace nir {

// What a synthetic module is made of.
struct GeneratorOptions {
  std::string_view shape = "roundtrip"; // a name of all_shapes()
  // About how many instructions; units are finished, so it may be a little more.
  std::uint64_t size = 1000;
  std::uint64_t seed = 0;
  Target target = default_target();
  // Of `random`: in legal form (language reference, Legal form), or with work for legalize-dtype.
  bool legal = false;
  // Of `random`: no dimension above max_small_extent, so that running the module is cheap. Where it
  // is not given, modules below small_size are small.
  std::optional<bool> small{};
};

// A family of modules.
struct ShapeInfo {
  std::string_view name;
  std::string_view doc;
};
std::span<const ShapeInfo> all_shapes();

constexpr std::uint64_t max_generator_size = 100'000'000;
constexpr std::uint64_t small_size = 1000;
constexpr std::int64_t max_small_extent = 8;

// A well-formed module of the shape; nullptr where the shape is unknown. The same options give the
// same module on every machine. Time and memory are linear in the size.
std::unique_ptr<Module> generate(const GeneratorOptions &options);

} // namespace nir
