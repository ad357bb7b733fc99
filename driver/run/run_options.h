#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "ir/eval/eval_inputs.h"
#include "ir/eval/evaluator.h"

namespace nir {

enum class RunPrint : std::uint8_t { Values, Digest, Nothing };

// `--input NAME=FILE`.
struct GivenInput {
  std::string name; // without sigil
  std::string path;
};

struct RunOptions {
  std::vector<std::string> files; // one; with `compare` two
  bool compare = false;
  std::string function; // without sigil; empty: the only one
  std::vector<GivenInput> inputs;
  std::uint64_t seed = 0;
  InputKind kind = InputKind::Random;
  RunPrint print = RunPrint::Digest;
  std::string output = "-";
  std::string output_dir; // of .npy files; empty: none
  EvalOptions eval;
};

// The error is the status with which the program ends, everything having been said.
tl::expected<RunOptions, int> parse_run_options(int argc, char **argv);

} // namespace nir
