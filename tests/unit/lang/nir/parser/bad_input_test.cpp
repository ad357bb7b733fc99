// Nothing that a text holds makes the toolkit crash, hang or believe something false: a text is a
// module that goes through everything, or it has located errors.

#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "passes/pipeline/opt_levels.h"
#include "tests/unit/support/module_text.h"

namespace nir::test {
namespace {

// -O1, and what else the passes can be asked to do.
const std::string &pipeline_of(std::uint64_t round) {
  static const std::vector<std::string> pipelines = {
      opt_level_pipeline(1),
      "neuron-eliminate-casts{src-match=any}",
      "legalize-dtype,fixpoint(neuron-eliminate-casts{src-match=any},cast-op-elimination,"
      "fold-noop-casts,drop-dead-tensors,dce)",
      "neuron-eliminate-casts{src-match=forbid,excess-precision=off},dce,cast-op-elimination",
      "drop-dead-tensors,dce,neuron-eliminate-casts{only-autocast},fold-noop-casts",
  };
  return pipelines[round % pipelines.size()];
}

// Everything that must hold of any text at all.
void expect_holds(std::string text, std::uint64_t round) {
  const std::string name = "round " + std::to_string(round);
  TextModule parsed(std::move(text), name);
  if (!parsed.module) {
    expect_located_errors(parsed);
    return;
  }
  EXPECT_FALSE(parsed.diagnostics.has_errors()) << parsed.messages();
  expect_round_trip(*parsed.module, name);
  if (expect_pipeline_holds(*parsed.module, pipeline_of(round), name))
    expect_round_trip(*parsed.module, name);
}

class Truncated : public testing::TestWithParam<const char *> {};

TEST_P(Truncated, AtEveryByteIsAModuleOrAnError) {
  const std::string text =
      read_text(std::filesystem::path(NIR_SOURCE_DIR) / "docs" / "examples" / GetParam());
  ASSERT_FALSE(text.empty());
  std::size_t num_modules = 0;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const TextModule cut(text.substr(0, size));
    if (!cut.module) {
      expect_located_errors(cut);
      continue;
    }
    ++num_modules;
    // What is left is a module where the comments in front, the header or a function just ended.
    const TextModule whole(to_string(*cut.module));
    EXPECT_TRUE(whole.module) << "cut at " << size;
  }
  EXPECT_LT(num_modules, text.size() / 2);
  EXPECT_TRUE(TextModule(text).module);
}

INSTANTIATE_TEST_SUITE_P(Examples, Truncated,
                         testing::Values("softmax.nir", "dma_cast.nir", "swiglu_mlp.nir"),
                         [](const auto &param) {
                           const std::string_view name = param.param;
                           return std::string(name.substr(0, name.find('.')));
                         });

// Changes texts at random. What it makes depends on the seed alone.
class Mutator {
public:
  Mutator(std::uint64_t seed, const std::vector<std::string> &texts)
      : random_(seed), texts_(texts) {}

  // One of the texts, changed in a few places.
  std::string next() {
    std::string text = pick(texts_);
    for (std::size_t left = 1 + below(4); left > 0; --left)
      change(text);
    return text;
  }

private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  std::size_t place_in(const std::string &text) { return below(text.size() + 1); }
  template <class T> const T &pick(const std::vector<T> &items) {
    return items[below(items.size())];
  }
  std::string piece_of(const std::string &text, std::size_t longest) {
    return text.substr(place_in(text), below(longest));
  }

  void change(std::string &text) {
    // Words of the language and numbers on the edge of something.
    static const std::vector<std::string> tokens = {"func",
                                                    "module",
                                                    "tensor",
                                                    "for",
                                                    "in",
                                                    "step",
                                                    "strict",
                                                    "as",
                                                    "dram",
                                                    "sbuf",
                                                    "psum",
                                                    "input",
                                                    "output",
                                                    "const",
                                                    "splat",
                                                    "dense",
                                                    "hex",
                                                    "call",
                                                    "opaque",
                                                    "true",
                                                    "inf",
                                                    "-nan(0x7fc00001)",
                                                    "nan",
                                                    "tensor_copy",
                                                    "tensor_tensor",
                                                    "activation",
                                                    "memset",
                                                    "matmul",
                                                    "load",
                                                    "store",
                                                    "select",
                                                    "iota",
                                                    "concat",
                                                    "offloaded_memcast",
                                                    "exp",
                                                    "add",
                                                    "fixed",
                                                    "autocast = \"p\"",
                                                    "exact_ints",
                                                    "{",
                                                    "}",
                                                    "[",
                                                    "]",
                                                    "(",
                                                    ")",
                                                    ":",
                                                    ",",
                                                    "=",
                                                    "->",
                                                    "..",
                                                    "*",
                                                    "+",
                                                    "-",
                                                    "%0",
                                                    "%i",
                                                    "%x",
                                                    "$x",
                                                    "$y",
                                                    "@f",
                                                    "\"",
                                                    "\\",
                                                    "//",
                                                    "// -----",
                                                    "\n",
                                                    "0",
                                                    "-1",
                                                    "1",
                                                    "2",
                                                    "16",
                                                    "128",
                                                    "4294967296",
                                                    "9223372036854775807",
                                                    "-9223372036854775808",
                                                    "18446744073709551616",
                                                    "0x1.8p3",
                                                    "1e-5",
                                                    "1e999",
                                                    "float64",
                                                    "float32",
                                                    "bfloat16",
                                                    "float16",
                                                    "float8_e8m0fnu",
                                                    "float8_e4m3fn_x4",
                                                    "float4_e2m1fn",
                                                    "int32",
                                                    "uint64",
                                                    "int64",
                                                    "uint8",
                                                    " as uint16",
                                                    "float32[]",
                                                    "int8[128, 512]",
                                                    std::string("\0", 1),
                                                    "\xff",
                                                    "\xc3\xa9",
                                                    "\xed\xa0\x80",
                                                    "\xf0\x9f\x98\x80"};
    switch (below(9)) {
    case 0: // a bit
      if (!text.empty())
        text[below(text.size())] ^= static_cast<char>(1 << below(8));
      return;
    case 1: // a byte goes
      if (!text.empty())
        text.erase(below(text.size()), 1);
      return;
    case 2: // a piece goes
      text.erase(place_in(text), below(100));
      return;
    case 3: // a piece stands elsewhere as well
      text.insert(place_in(text), piece_of(text, 100));
      return;
    case 4: // a piece of another text
      text.insert(place_in(text), piece_of(pick(texts_), 200));
      return;
    case 5: // the end goes
      text.resize(place_in(text));
      return;
    case 6: // a whole line stands elsewhere as well
      return copy_line(text);
    case 7: // a word becomes another
      return replace_word(text, pick(tokens));
    default:
      text.insert(place_in(text), ' ' + pick(tokens) + ' ');
    }
  }

  void copy_line(std::string &text) {
    const std::size_t begin = text.rfind('\n', place_in(text));
    if (begin == std::string::npos)
      return;
    const std::size_t end = std::min(text.find('\n', begin + 1), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::size_t to = text.find('\n', place_in(text));
    if (to != std::string::npos)
      text.insert(to, line);
  }

  void replace_word(std::string &text, const std::string &word) {
    constexpr std::string_view breaks = " \n,:[](){}=*";
    const std::size_t begin = text.find_first_not_of(breaks, place_in(text));
    if (begin == std::string::npos)
      return;
    const std::size_t end = std::min(text.find_first_of(breaks, begin), text.size());
    text.replace(begin, end - begin, word);
  }

  std::mt19937_64 random_;
  const std::vector<std::string> &texts_;
};

std::uint64_t from_environment(const char *name, std::uint64_t fallback) {
  const char *text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

// Longer by hand: NIR_FUZZ_ROUNDS=100000 NIR_FUZZ_SEED=7.
TEST(Mutated, TextsAreModulesOrErrors) {
  std::vector<std::string> texts;
  for (const auto &path : example_files())
    texts.push_back(read_text(path));
  for (const auto &path : module_files(NIR_CORPUS_DIR)) {
    std::string text = read_text(path);
    if (text.size() < 20'000)
      texts.push_back(std::move(text));
  }
  ASSERT_FALSE(texts.empty());
  const std::uint64_t rounds = from_environment("NIR_FUZZ_ROUNDS", 1500);
  const std::uint64_t seed = from_environment("NIR_FUZZ_SEED", 1);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::string text = Mutator(seed * 1'000'000'007 + round, texts).next();
    expect_holds(text, round);
    if (testing::Test::HasFailure())
      FAIL() << "round " << round << " of seed " << seed << ":\n" << text;
  }
}

// Small functions that use every opcode reach much deeper than the examples do.
TEST(Mutated, SmallTextsAreModulesOrErrors) {
  const std::vector<std::string> texts = {
      R"(func @f {
  tensor $x : float32[8, 4] sbuf
  tensor $y : bfloat16[8, 4] sbuf
  tensor $z : float32[8, 4] sbuf
  %a = activation exp $x : bfloat16[8, 4]
  %b = tensor_copy %a : float32[8, 4]
  tensor_tensor add %b, $x -> $z
  tensor_copy %a -> $y
  %c = tensor_copy $y : float32[8, 4]
  tensor_tensor max %c, $z -> $x
  for %i in 0..4 {
    %d = tensor_copy $x[%i * 2 : 2, 0 : 4] : bfloat16[2, 4]
    %e = tensor_scalar %d, multiply 1.5, add 2.0 {reverse0} : float16[2, 4]
    tensor_copy %e {fixed} -> $y[%i * 2 : 2, 0 : 4]
  }
}
)",
      R"(func @callee {
  tensor $a : float32[8, 4] dram input
  tensor $b : bfloat16[8, 4] dram output
  %a = load $a : float32[8, 4]
  %c = tensor_copy %a : bfloat16[8, 4]
  store %c -> $b
}
func @f strict {
  tensor $x : float32[8, 4] dram
  tensor $y : bfloat16[8, 4] dram output
  tensor $k : float64[8, 4] sbuf const = splat(0.1)
  %k = tensor_copy $k : float32[8, 4]
  store %k -> $x
  call @callee($x, $y)
  opaque "f"(%k, $x) {k = [1, 2.5, "s"], flag, w = word}
}
)",
      R"(func @f {
  tensor $x : float32[8, 4] dram
  tensor $y : bfloat16[8, 4] dram
  tensor $z : float16[8, 4] dram
  tensor $o : float32[8, 4] dram output
  %a = iota : float32[8, 4]
  store %a -> $x
  offloaded_memcast $x -> $y
  offloaded_memcast $y -> $z
  %l = load $z : float32[8, 4]
  offloaded_memcast $z -> $o
  offloaded_transpose $x {perm = [0, 1]} -> $x
}
)",
      R"(func @f {
  tensor $p : float32[4, 4] psum
  tensor $u : uint8[8, 4] sbuf
  %i = iota {dim = 1} : int32[8, 4]
  %j = iota : int64[8, 4]
  %k = tensor_tensor add %i, %j : int64[8, 4]
  %l = tensor_copy %k {exact_ints} : int8[8, 4]
  %m = memset 1.5 : float8_e4m3fn[8, 4]
  %n = tensor_tensor multiply %m, %l : bfloat16[8, 4]
  %s = select $u, %m, %n : float32[8, 4]
  matmul %n, %l {accumulate} -> $p
  %t = transpose %s {perm = [1, 0]} : float32[4, 8]
  %c = concat %t, %t {dim = 1} : float32[4, 16]
  %v = slice %c {start = [0, 1], size = [2, 3], stride = [2, 4]} : float32[2, 3]
  %r = reshape %v : float32[6]
  %w = broadcast %r {dims = [1]} : float32[2, 6]
  %q = tensor_reduce max %w {axes = [1]} : bfloat16[2, 1]
  opaque "g"(%q, $u as int8)
}
)"};
  const std::uint64_t rounds = from_environment("NIR_FUZZ_ROUNDS", 15000);
  const std::uint64_t seed = from_environment("NIR_FUZZ_SEED", 2);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::string text = Mutator(seed * 1'000'000'007 + round, texts).next();
    expect_holds(text, round);
    if (testing::Test::HasFailure())
      FAIL() << "round " << round << " of seed " << seed << ":\n" << text;
  }
}

} // namespace
} // namespace nir::test
