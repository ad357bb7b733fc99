// The reference evaluation, omitted roundings, limits and errors.
#include "ir/eval/eval_inputs.h"
#include "tests/unit/support/eval_module.h"

namespace nir::test {
namespace {

EvalOptions reference() {
  EvalOptions options;
  options.reference = true;
  return options;
}

TEST(EvalReference, NothingIsRoundedBetween) {
  EXPECT_EQ(results("tensor $a : bfloat16[1] sbuf const = dense(1.0)\n"
                    "tensor $y : bfloat16[1] sbuf output\n"
                    "%b = tensor_scalar $a, add 0x1p-40 : bfloat16[1]\n"
                    "tensor_scalar %b, subtract 1.0, multiply 0x1p40 -> $y\n",
                    reference()),
            "1.0");
}

TEST(EvalReference, OutputsAreFloat64) {
  const EvalModule module(
      in_f("tensor $y : float8e4[1] sbuf output\n tensor $n : int8[1] sbuf output\n"
           "memset 1.0 -> $y\n memset 3 -> $n\n"));
  const auto outputs = evaluate(module.function(), {}, reference());
  ASSERT_TRUE(outputs);
  EXPECT_EQ((*outputs)[0].type->dtype(), DType::Float64);
  EXPECT_EQ((*outputs)[1].type->dtype(), DType::Int8);
  EXPECT_EQ(tensor_text((*outputs)[0]), "1.0");
  EXPECT_EQ(tensor_text((*outputs)[1]), "3");
}

TEST(EvalReference, NeitherClampsNorOverflows) {
  EXPECT_EQ(results(over("tensor_tensor multiply $a, $b", "float8e4", "240.0, 2.0", "240.0, 3.0",
                         "float8e4"),
                    reference()),
            "57600.0 6.0");
  EXPECT_EQ(results(over("tensor_tensor multiply $a, $b", "float32", "3e38", "10.0", "float32"),
                    reference())
                .substr(0, 8),
            "3.000000");
}

TEST(EvalReference, IntegersAreExact) {
  EXPECT_EQ(results(over("tensor_copy $a", "int32", "16777217, -5", "", "int64"), reference()),
            "16777217 -5");
  EXPECT_EQ(results(over("tensor_tensor add $a, $b", "int8", "127", "1", "int8"), reference()),
            "-128");
  EXPECT_EQ(results(over("activation identity $a", "float32", "2.5, nan, -nan, 1e9", "", "int8"),
                    reference()),
            "2 127 127 127");
}

TEST(EvalReference, Matmul) {
  EXPECT_EQ(results("tensor $a : float32[3, 1] sbuf const = dense(16777216.0, 1.0, 1.0)\n"
                    "tensor $b : float32[3, 1] sbuf const = splat(1.0)\n"
                    "tensor $y : float32[1, 1] psum output\n matmul $a, $b -> $y\n",
                    reference()),
            "16777218.0");
}

TEST(EvalReference, AViewSeesTheDtypesBytes) {
  EXPECT_EQ(results("tensor $t : bfloat16[1] sbuf\n tensor $y : uint16[1] sbuf output\n"
                    "tensor $z : bfloat16[1] sbuf output\n"
                    "memset 1.0 -> $t\n tensor_copy $t as uint16 -> $y\n"
                    "memset 0x4000 -> $z as uint16\n",
                    reference()),
            "16256 | 2.0");
}

TEST(EvalReference, SelectAndTranspose) {
  EXPECT_EQ(results("tensor $p : uint8[2, 1] sbuf const = dense(0, 1)\n"
                    "tensor $t : bfloat16[2, 1] sbuf\n tensor $y : bfloat16[1, 2] sbuf output\n"
                    "memset 1.0 -> $t\n"
                    "%v = tensor_scalar $t, add 0x1p-20 : bfloat16[2, 1]\n"
                    "%s = select $p, %v, $t : bfloat16[2, 1]\n"
                    "transpose %s {perm = [1, 0]} -> $y\n",
                    reference()),
            "1.0 1.0000009536743164");
}

// @f with the roundings of the named values left out.
std::string without(std::initializer_list<std::string_view> values, std::string_view body) {
  const EvalModule module(in_f(body));
  RoundingOverride omitted;
  for (const std::string_view name : values)
    omitted.instructions.insert(module.value(name));
  EvalOptions options;
  options.omitted = &omitted;
  return evaluated(module, options);
}

constexpr std::string_view pair = "tensor $a : float32[2] sbuf const = dense(1.0, 0x1.002p0)\n"
                                  "tensor $y : float32[2] sbuf output\n"
                                  "%n = tensor_tensor add $a, $a : bfloat16[2]\n"
                                  "%w = tensor_copy %n : float32[2]\n"
                                  "tensor_copy %w -> $y\n";

TEST(EvalOmitted, AValueIsHeldInFp32) {
  EXPECT_EQ(without({}, pair), "2.0 2.0");
  EXPECT_EQ(without({"n"}, pair), "2.0 2.0009766");
}

TEST(EvalOmitted, OtherInstructionsStillRound) {
  EXPECT_EQ(without({"n"}, "tensor $a : float32[1] sbuf const = dense(0x1.002p0)\n"
                           "tensor $y : float32[1] sbuf output\n"
                           "%n = tensor_copy $a : bfloat16[1]\n"
                           "%s = slice %n {start = [0], size = [1]} : bfloat16[1]\n"
                           "tensor_copy %s -> $y\n"),
            "1.0");
}

TEST(EvalOmitted, ATensorIsHeldInFp32AndOtherStoresRound) {
  const EvalModule module(in_f("tensor $a : float32[1] sbuf const = dense(0x1.002p0)\n"
                               "tensor $t : bfloat16[2] sbuf\n tensor $y : float32[2] sbuf output\n"
                               "tensor_copy $a -> $t[0 : 1]\n tensor_copy $a -> $t[1 : 1]\n"
                               "tensor_copy $t -> $y\n"));
  RoundingOverride omitted;
  omitted.instructions.insert(cast<Instruction>(module.function().body().first()));
  EvalOptions options;
  options.omitted = &omitted;
  EXPECT_EQ(evaluated(module, options), "1.0004883 1.0");
}

TEST(EvalOmitted, AnOutputKeepsItsDtype) {
  const EvalModule module(in_f("tensor $a : float32[1] sbuf const = dense(0x1.002p0)\n"
                               "tensor $y : bfloat16[1] sbuf output\n tensor_copy $a -> $y\n"));
  RoundingOverride omitted;
  omitted.instructions.insert(cast<Instruction>(module.function().body().first()));
  EvalOptions options;
  options.omitted = &omitted;
  EXPECT_EQ(evaluated(module, options), "1.0");
}

TEST(EvalOmitted, ACalleesTensorIsSharedWithItsCaller) {
  const EvalModule module("func @g {\n tensor $a : float32[1] sbuf input\n"
                          " tensor $o : bfloat16[1] sbuf output\n tensor_copy $a -> $o\n}\n"
                          "func @f {\n tensor $a : float32[1] sbuf const = dense(0x1.002p0)\n"
                          " tensor $t : bfloat16[1] sbuf\n tensor $y : float32[1] sbuf output\n"
                          " call @g($a, $t)\n tensor_copy $t -> $y\n}\n");
  RoundingOverride omitted;
  omitted.instructions.insert(cast<Instruction>(module.function("g").body().first()));
  EvalOptions options;
  options.omitted = &omitted;
  EXPECT_EQ(evaluated(module, options), "1.0004883");
}

TEST(EvalOmitted, IntegersKeepTheirs) {
  EXPECT_EQ(without({"n"}, "tensor $a : float32[1] sbuf const = dense(2.5)\n"
                           "tensor $y : float32[1] sbuf output\n"
                           "%n = tensor_copy $a : int8[1]\n tensor_copy %n -> $y\n"),
            "2.0");
}

TEST(EvalLimits, AGraphThatDoesNotFitIsRefused) {
  const EvalModule module(in_f("tensor $y : float32[1000] sbuf output\n"
                               "%a = memset 1.0 : float32[1000]\n tensor_copy %a -> $y\n"));
  EvalOptions options;
  options.memory_limit = 5000;
  EXPECT_EQ(required_memory(module.function(), options).value(), 12000u);
  EXPECT_EQ(evaluated(module, options),
            "error: @f needs up to 12000 bytes of memory, the limit is 5000");
}

TEST(EvalLimits, ValuesAreFreedAfterTheirLastUse) {
  std::string body = "tensor $y : float32[1000] sbuf output\n%v0 = memset 1.0 : float32[1000]\n";
  for (int i = 0; i < 1000; ++i)
    body += fmt::format("%v{} = tensor_scalar %v{}, add 1.0 : float32[1000]\n", i + 1, i);
  const EvalModule module(in_f(body + "tensor_copy %v1000 -> $y\n"));
  EXPECT_EQ(required_memory(module.function()).value(), 16000u);
  EvalOptions options;
  options.memory_limit = 16000;
  EXPECT_EQ(evaluated(module, options).substr(0, 14), "1001.0 1001.0 ");
}

TEST(EvalLimits, InternalTensorsAreFreedToo) {
  std::string body = "tensor $y : float32[1000] sbuf output\n";
  for (int i = 0; i < 100; ++i)
    body += fmt::format(
        "tensor $t{0} : float32[1000] sbuf\n memset 1.0 -> $t{0}\n tensor_copy $t{0} -> $y\n", i);
  EXPECT_EQ(required_memory(EvalModule(in_f(body)).function()).value(), 12000u);
}

TEST(EvalLimits, HugeTensorsSaturate) {
  std::string body;
  for (int i = 0; i < 4; ++i)
    body += fmt::format("tensor $t{} : int8[9000000000000000000] dram output\n", i);
  const EvalModule module(in_f(body));
  EXPECT_EQ(required_memory(module.function()).value(), ~std::uint64_t{0});
  EXPECT_EQ(evaluated(module).substr(0, 7), "error: ");
}

TEST(EvalLimits, ASplatTakesNoMemory) {
  EXPECT_EQ(
      required_memory(EvalModule(in_f("tensor $t : float32[1000000000000] dram const = splat(1.0)\n"
                                      "%v = load $t[0 : 1] : float32[1]\n"))
                          .function())
          .value(),
      4u);
}

TEST(EvalLimits, StopsWhenTold) {
  const EvalModule module(
      in_f("tensor $t : int32[1] sbuf\n"
           "for %i in 0..9000000000000000000 { tensor_scalar $t, add 1 -> $t }\n"));
  const std::atomic<bool> stop = true;
  EvalOptions options;
  options.stop = &stop;
  EXPECT_EQ(evaluated(module, options), "error: the evaluation was interrupted");
}

TEST(EvalLimits, InputsMustFitTheInterface) {
  const EvalModule module(
      in_f("tensor $x : float32[2] sbuf input\n tensor $y : float32[2] sbuf output\n"
           "tensor_copy $x -> $y\n"));
  EXPECT_EQ(evaluated(module), "error: found 0 inputs, expected 1");
  const Type *type = module.function().first_tensor()->type();
  const HostTensor good = host_tensor(type, {0x3f800000, 0x40000000});
  EXPECT_EQ(evaluated(module, {}, std::span(&good, 1)), "1.0 2.0");
  const HostTensor shorter = host_tensor(type, {0});
  EXPECT_EQ(evaluated(module, {}, std::span(&shorter, 1)),
            "error: input $x has 4 bytes, expected 8");
  const HostTensor other{module.module->types().with_dtype(type, DType::Int32), good.bytes};
  EXPECT_EQ(evaluated(module, {}, std::span(&other, 1)),
            "error: input $x is int32[2], expected float32[2]");
}

TEST(EvalThreads, ChangeNoBit) {
  const EvalModule module(in_f("tensor $x : float32[2000, 1000] sbuf input\n"
                               "tensor $y : bfloat16[1000, 2000] sbuf output\n"
                               "tensor $s : float32[1, 1000] sbuf output\n"
                               "%e = activation exp $x : float32[2000, 1000]\n"
                               "transpose %e {perm = [1, 0]} -> $y\n"
                               "tensor_reduce add %e {axes = [0]} -> $s\n"));
  const HostTensor input =
      make_input(module.function().first_tensor()->type(), "x", 1, InputKind::Random);
  EvalOptions options;
  const std::string one = evaluated(module, options, std::span(&input, 1), true);
  options.threads = 4;
  EXPECT_EQ(evaluated(module, options, std::span(&input, 1), true), one);
}

} // namespace
} // namespace nir::test
