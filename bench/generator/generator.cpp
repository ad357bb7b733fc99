#include "bench/generator/generator.h"

#include <array>

#include "bench/generator/generator_emitter.h"

namespace nir {
namespace {

struct Row {
  ShapeInfo info;
  void (*generate)(Emitter &);
};

constexpr Row shape_table[] = {
    {{"roundtrip", "long chains in which two of three instructions are casts that can go"},
     generate_roundtrip},
    {{"attention", "heads of tiled attention with a running softmax, 12 to a function"},
     generate_attention},
    {{"mlp", "layers of tiled matmul, bias, activation and norm, 32 to a function"}, generate_mlp},
    {{"fanout", "one value that everything reads, half of it through casts"}, generate_fanout},
    {{"tensors", "many sbuf tensors, one of them with most of the accesses, and casts between"},
     generate_tensors},
    {{"functions", "functions of ten instructions, some of which call the one before"},
     generate_functions},
    {{"nest", "nests of loops, some as deep as the language allows"}, generate_nest},
    {{"random", "a valid mix of all opcodes, dtypes, loops and tensors, for fuzzing"},
     generate_random},
};

constexpr auto shape_infos = [] {
  std::array<ShapeInfo, std::size(shape_table)> infos{};
  for (std::size_t i = 0; i < infos.size(); ++i)
    infos[i] = shape_table[i].info;
  return infos;
}();

} // namespace

std::span<const ShapeInfo> all_shapes() { return shape_infos; }

std::unique_ptr<Module> generate(const GeneratorOptions &options) {
  for (const Row &row : shape_table) {
    if (row.info.name != options.shape)
      continue;
    Emitter emitter(options);
    row.generate(emitter);
    return emitter.finish();
  }
  return nullptr;
}

} // namespace nir
