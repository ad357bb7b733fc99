// The binary form: what it says, and what becomes of damaged files.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "bench/generator/generator.h"
#include "ir/binary/binary_format.h"
#include "ir/binary/binary_reader.h"
#include "ir/binary/binary_writer.h"
#include "passes/instrument/structural_hash.h"
#include "tests/unit/support/module_text.h"

namespace nir::test {
namespace {

namespace fs = std::filesystem;

// Something of everything that the text can say.
constexpr std::string_view features = R"(module @"the module" {target = "trn3"}

func @leaf strict {
  tensor $"in put" : float32[4, 8] dram input
  tensor $7 : float32[4, 8] dram output
  tensor $007 : float32[4, 8] sbuf

  %0 = load $"in put" : float32[4, 8]
  store %0 -> $7
}

func @main {
  tensor $a : float32[4, 8] dram input
  tensor $b : float32[4, 8] dram output
  tensor $x : float32[64, 8] sbuf
  tensor $p : float32[4, 4] psum
  tensor $s : float32[1] sbuf const = splat(-nan(0x7fc00001))
  tensor $d : int16[3] sbuf const = dense(-1, 2, 32767)
  tensor $h : float8_e4m3fn_x4[2] sbuf const = hex("0102030405060708")
  tensor $q : float8_e5m2_x4[4, 1] sbuf

  call @leaf($a, $b)
  %v = load $a : float32[4, 8]
  for %i in 0..8 step 2 {
    for %"j k" in -4..4 {
      %t = tensor_copy $x[%i * 4 + %"j k" * -1 + 4 : 4, 0 : 4 : 2] as int32 {fixed, loc = "a.py:3"} : float16[4, 4]
      tensor_copy %t -> $x[%i : 4, 0 : 4]
    }
    %t = tensor_copy %v {autocast = "some pass"} : bfloat16[4, 8]
    %w = activation gelu_tanh %t {scale = nan(0x7fc12345)} : float32[4, 8]
    tensor_copy %w -> $x[%i : 4, 0 : 8]
  }
  %c = tensor_scalar %v, subtract 1.5, max nan(0x7fc00123) {reverse0} : float32[4, 8]
  %r = tensor_reduce add %c {axes = [1]} : float32[4, 1]
  %z = tensor_tensor is_lt %c, %v : uint8[4, 8]
  %u = select %z, %c, %v : float32[4, 8]
  %m = memset -0.0 : float32[4, 8]
  %8 = iota {dim = 1} : int32[4, 8]
  %l = slice %u {start = [0, 0], size = [4, 2], stride = [1, 4]} : float32[4, 2]
  %k = concat %l, %l, %l {dim = 1} : float32[4, 6]
  matmul %u, %m {lhs_contract = [1], rhs_contract = [1], accumulate} -> $p
  tensor_copy $q as float32 -> $x[0 : 4, 3 : 1]
  opaque "an \x00\xff op"(%k, $x[0 : 1, 0 : 1], $d) {a = [1, [-2.5, "s\n", [word, true, []]], [3, 4]], b = nan(0x7ff8000000000001), c = 1e-300, flag, d = false, e = "\"", loc = "x"}
  opaque "bare"()
}
)";

std::string features_text() {
  const TextModule parsed{std::string(features)};
  EXPECT_TRUE(parsed.module) << parsed.messages();
  return parsed.module ? to_string(*parsed.module) : std::string();
}

std::string features_bytes() {
  const TextModule parsed{std::string(features)};
  return to_binary(*parsed.module);
}

struct Loaded {
  explicit Loaded(std::string_view bytes, bool verify = true)
      : module(read_binary(bytes, diagnostics, {.verify = verify})) {}
  std::string messages() const {
    std::string text;
    for (const Diagnostic &diagnostic : diagnostics.diagnostics())
      text += diagnostic.message + '\n';
    return text;
  }

  DiagnosticEngine diagnostics;
  std::unique_ptr<Module> module;
};

// The binary form of a module says all that its text does, and there is one of it.
void expect_binary_round_trip(Module &module, const std::string &name, bool verify = true) {
  const std::string text = to_string(module);
  const std::string bytes = to_binary(module);
  const Loaded loaded(bytes, verify);
  ASSERT_TRUE(loaded.module) << name << ": " << loaded.messages();
  EXPECT_EQ(to_string(*loaded.module), text) << name;
  EXPECT_EQ(structural_hash(*loaded.module), structural_hash(module)) << name;
  EXPECT_TRUE(to_binary(*loaded.module) == bytes) << name;
  if (!verify)
    return;
  DiagnosticEngine broken;
  EXPECT_TRUE(nir::verify(*loaded.module, VerifyLevel::Structure, broken)) << name;
}

// The header's size and checksum as the payload wants them: what a hostile file looks like.
void fix_header(std::string &bytes) {
  namespace header = binary::header;
  const auto payload = std::string_view(bytes).substr(header::Size);
  binary::store(bytes.data() + header::PayloadSize, std::uint64_t{payload.size()});
  binary::store(bytes.data() + header::Checksum, binary::checksum_of(payload));
}

std::string error_of(std::string_view bytes) {
  const Loaded loaded(bytes);
  EXPECT_FALSE(loaded.module);
  EXPECT_EQ(loaded.diagnostics.num_errors(), 1u) << loaded.messages();
  return loaded.diagnostics.diagnostics().empty() ? ""
                                                  : loaded.diagnostics.diagnostics()[0].message;
}

// --- Round trips ---

TEST(Binary, SaysEverything) {
  const TextModule parsed{std::string(features)};
  ASSERT_TRUE(parsed.module) << parsed.messages();
  expect_binary_round_trip(*parsed.module, "features");
  expect_binary_round_trip(*parsed.module, "features", false);
}

TEST(Binary, TakesEveryFileOfTheTests) {
  const fs::path root(NIR_SOURCE_DIR);
  std::size_t count = 0;
  for (const char *folder : {"docs/examples", "tests/corpus/modules", "tests/golden/print",
                             "tests/golden/verify", "tests/golden/parse"}) {
    for (const auto &entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file())
        continue;
      const TextModule parsed(read_text(entry.path()), entry.path().string());
      if (parsed.module == nullptr)
        continue; // no module, or one with errors
      expect_binary_round_trip(*parsed.module, entry.path().string());
      ++count;
    }
  }
  EXPECT_GT(count, 40u);
}

TEST(Binary, TakesTheCorpus) {
  for (const auto &path : module_files(NIR_CORPUS_DIR)) {
    const TextModule parsed(read_text(path), path.string());
    ASSERT_TRUE(parsed.module);
    expect_binary_round_trip(*parsed.module, path.string());
  }
}

TEST(Binary, TakesGeneratedModules) {
  for (const ShapeInfo &shape : all_shapes())
    for (const std::uint64_t size : {1u, 10u, 300u})
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const auto module = generate({.shape = shape.name, .size = size, .seed = seed});
        expect_binary_round_trip(*module, std::string(shape.name));
        // A module that was built and one that was read have the same bytes but for what they
        // share.
        const TextModule parsed(to_string(*module));
        expect_binary_round_trip(*parsed.module, std::string(shape.name));
      }
}

// Modules that live side by side have other addresses each: nothing of them may show.
TEST(Binary, EqualTextsGiveEqualBytes) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::string text = to_string(*generate({.shape = "random", .size = 300, .seed = seed}));
    std::vector<std::unique_ptr<TextModule>> modules;
    for (int i = 0; i < 6; ++i) {
      modules.push_back(std::make_unique<TextModule>(text));
      EXPECT_EQ(to_binary(*modules.back()->module), to_binary(*modules.front()->module))
          << "seed " << seed;
    }
  }
}

TEST(Binary, TakesWhatHasNoName) {
  Module module;
  Function *function = module.add_function(module.intern("f"));
  const Type *type = module.types().get(DType::Float32, {}).value();
  Operand one{module.immediate(DType::Float32, 0x3f800000), nullptr};
  for (int i = 0; i < 3; ++i) {
    Loop *loop = function->body().insert_loop(Name(), 0, 1, 1);
    loop->body().insert_instruction(
        {.opcode = Opcode::Memset, .operands = {&one, 1}, .type = type});
  }
  expect_binary_round_trip(module, "nameless");
  Module empty;
  expect_binary_round_trip(empty, "empty");
}

TEST(Binary, TakesLoopsAsDeepAsTheyGo) {
  const auto nest = [](unsigned depth) {
    auto module = std::make_unique<Module>();
    Block *block = &module->add_function(module->intern("f"))->body();
    for (unsigned i = 0; i < depth; ++i)
      block = &block->insert_loop(Name::number(i), 0, 1, 1)->body();
    return module;
  };
  expect_binary_round_trip(*nest(max_loop_depth), "deep");
  EXPECT_THAT(error_of(to_binary(*nest(max_loop_depth + 1))),
              testing::HasSubstr("loops nest deeper than 1000"));
}

TEST(Binary, TakesManyOperands) {
  for (const std::size_t count : {253u, 254u, 255u, 256u, 1000u}) {
    std::string text = "func @f {\n  tensor $x : float32[1] sbuf\n\n  %0 = opaque \"f\"($x";
    for (std::size_t i = 1; i < count; ++i)
      text += ", $x";
    const TextModule parsed(text + ") : float32[1]\n}\n");
    ASSERT_TRUE(parsed.module) << parsed.messages();
    expect_binary_round_trip(*parsed.module, std::to_string(count));
  }
}

TEST(Binary, LeavesTheTargetToWhoIsAsked) {
  const std::string bytes = features_bytes();
  DiagnosticEngine diagnostics;
  EXPECT_EQ(read_binary(bytes, diagnostics)->target().name, "trn3");
  const auto module = read_binary(bytes, diagnostics, {.target = find_target("trn1")});
  EXPECT_EQ(module->target().name, "trn1");
  EXPECT_TRUE(module->prints_target());
}

// What the rules do not allow is read where nobody asks for the rules.
TEST(Binary, ChecksRulesAsTheParserDoes) {
  const SourceFile file("wrong.nir", "func @f {\n  tensor $x : float32[4] sbuf\n\n"
                                     "  %0 = tensor_copy $x, $x : float32[4]\n"
                                     "  %1 = tensor_copy $x[2 : 4] : float32[4]\n}\n");
  DiagnosticEngine diagnostics;
  const auto module = parse(file, diagnostics, {.verify = false});
  ASSERT_TRUE(module);
  expect_binary_round_trip(*module, "wrong", false);
  const std::string bytes = to_binary(*module);
  const Loaded loaded(bytes);
  EXPECT_FALSE(loaded.module);
  const auto &all = loaded.diagnostics.diagnostics();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].message, "tensor_copy takes 1 operand, found 2");
  ASSERT_EQ(all[0].notes.size(), 1u);
  EXPECT_EQ(all[0].notes[0].message, "in function @f: %0 = tensor_copy $x, $x : float32[4]");
  EXPECT_THAT(all[1].message, testing::HasSubstr("accessed up to index 5"));
}

TEST(Binary, WarnsAsTheParserDoes) {
  const TextModule parsed(
      "func @f {\n  tensor $x : int32[4] sbuf\n\n"
      "  %0 = tensor_copy $x : uint32[4]\n  %1 = tensor_copy $x : uint32[4]\n}\n");
  ASSERT_TRUE(parsed.module);
  const std::string bytes = to_binary(*parsed.module);
  const Loaded loaded(bytes);
  EXPECT_EQ(loaded.diagnostics.num_warnings(), parsed.diagnostics.num_warnings());
  EXPECT_EQ(loaded.diagnostics.num_warnings(), 2u);
}

TEST(Binary, ChecksCallsAgainstTheirCallees) {
  Module module;
  Function *function = module.add_function(module.intern("f"));
  Attr attr;
  attr.key = AttrKey::Callee;
  attr.value = AttrValue::of_function(function);
  function->body().insert_instruction(
      {.opcode = Opcode::Call, .attrs = AttrList::create(module.arena(), {&attr, 1})});
  EXPECT_THAT(error_of(to_binary(module)), testing::HasSubstr("recursive call of @f"));
}

TEST(BinaryWriter, RefusesWhatRefersToNothing) {
  Module module;
  Function *function = module.add_function(module.intern("f"));
  const Operand nothing;
  function->body().insert_instruction({.opcode = Opcode::Opaque, .operands = {&nothing, 1}});
  EXPECT_THROW(to_binary(module), std::logic_error);
}

// --- Damage ---

TEST(BinaryDamage, SaysWhatIsWrongWithTheHeader) {
  const std::string good = features_bytes();
  const auto with = [&good](std::size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    return bytes;
  };
  EXPECT_FALSE(is_binary_module(with(0, 'm')));
  EXPECT_EQ(error_of("module @m"), "at byte 0: this is no module in binary form");
  EXPECT_EQ(error_of(with(5, '\n')), "at byte 5: the line end in the signature was changed, as "
                                     "copying a file as text does");
  EXPECT_EQ(error_of(with(8, 2)), "at byte 8: the version of the form is 2, expected 1");
  EXPECT_EQ(error_of(with(12, 1)), "at byte 12: the reserved bytes of the header are not 0");
  EXPECT_EQ(error_of(with(16, static_cast<char>(good[16] ^ 1))),
            "at byte 16: it was written by a version whose opcodes, attributes, dtypes or targets "
            "are others");
  EXPECT_EQ(error_of(good.substr(0, 30)),
            "the file is cut short: it has 30 bytes, and the header alone 40");
  EXPECT_EQ(error_of(good.substr(0, 50)),
            fmt::format("the file is cut short: it has 10 bytes behind the header, expected {}",
                        good.size() - 40));
  EXPECT_EQ(error_of(good + "x"),
            fmt::format("at byte {}: bytes follow the end of the module", good.size()));
  EXPECT_THAT(error_of(with(60, static_cast<char>(good[60] ^ 1))),
              testing::StartsWith("the file is damaged: its checksum is 0x"));
}

TEST(BinaryDamage, EveryCutIsRefused) {
  const std::string good = features_bytes();
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(Loaded(std::string_view(good).substr(0, size)).module) << size;
    std::string cut = good.substr(0, size);
    if (size < binary::header::Size)
      continue;
    fix_header(cut);
    EXPECT_FALSE(Loaded(cut).module) << size << " with the right checksum";
    EXPECT_FALSE(Loaded(cut, false).module) << size << " with the right checksum, unchecked";
  }
}

TEST(BinaryDamage, EveryChangedByteIsRefused) {
  std::string bytes = features_bytes();
  for (char &byte : bytes) {
    for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
      byte = static_cast<char>(byte ^ flip);
      EXPECT_FALSE(Loaded(bytes).module);
      byte = static_cast<char>(byte ^ flip);
    }
  }
}

// With the checksum made right again a change is refused with a reason, or it is another module.
void expect_safe(std::string_view bytes, bool verify) {
  const Loaded loaded(bytes, verify);
  if (!loaded.module) {
    ASSERT_TRUE(loaded.diagnostics.has_errors());
    return;
  }
  const std::string text = to_string(*loaded.module);
  const std::string again = to_binary(*loaded.module);
  const Loaded second(again, verify);
  ASSERT_TRUE(second.module) << second.messages();
  EXPECT_EQ(to_string(*second.module), text);
  if (!verify)
    return;
  DiagnosticEngine broken;
  EXPECT_TRUE(nir::verify(*loaded.module, VerifyLevel::Structure, broken));
  const TextModule parsed(text);
  EXPECT_TRUE(parsed.module) << parsed.messages();
}

TEST(BinaryDamage, HostileBytesDoNoHarm) {
  const std::string good = features_bytes();
  for (std::size_t at = binary::header::Size; at < good.size(); ++at) {
    const auto byte = static_cast<std::uint8_t>(good[at]);
    std::vector<int> values{0, 0x7f, 0x80, 0xff, byte + 1, byte - 1};
    for (int bit = 0; bit < 8; ++bit)
      values.push_back(byte ^ 1 << bit);
    for (const int value : values) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(value);
      fix_header(bytes);
      expect_safe(bytes, true);
      expect_safe(bytes, false);
      if (testing::Test::HasFailure())
        FAIL() << "byte " << at << " is " << value;
    }
  }
}

TEST(BinaryDamage, HostileNumbersDoNoHarm) {
  const std::string good = features_bytes();
  for (std::size_t at = binary::header::Size; at < good.size(); ++at) {
    for (const std::string_view number :
         {std::string_view("\xff\xff\xff\xff\x0f"),
          std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
          std::string_view("\xff\xff\xff\xff\xff\xff\xff\x7f", 8),
          std::string_view("\0\0\0\x80", 4)}) {
      std::string written = good;
      written.replace(at, std::min(number.size(), good.size() - at), number);
      fix_header(written);
      expect_safe(written, true);
      std::string inserted = good;
      inserted.replace(at, 1, number);
      fix_header(inserted);
      expect_safe(inserted, false);
      if (testing::Test::HasFailure())
        FAIL() << "at byte " << at;
    }
  }
}

TEST(BinaryDamage, FeaturesAreWhatTheyPrint) { EXPECT_EQ(features_text(), features); }

} // namespace
} // namespace nir::test
