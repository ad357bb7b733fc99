# Golden tests: lit runs the RUN lines of each .nir and .test file, FileCheck compares.
#
# The tools (nir-opt, nir-gen, ...) and FileCheck, not, count, split-file are on PATH.
#   %examples  the folder docs/examples
#   %corpus    the folder of large modules, for tests that say `REQUIRES: corpus`
#   REQUIRES: terminal  for tests that need a pseudo-terminal, which not every container has
# Folders named Inputs hold no tests.

import os

import lit.formats

config.name = "nir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(__file__)
config.suffixes = [".nir", ".test"]
config.excludes = ["Inputs"]

config.environment["PATH"] = os.pathsep.join(
    [config.nir_bin_dir, config.nir_llvm_bin_dir, os.environ["PATH"]]
)

config.substitutions.append(
    ("%examples", os.path.join(config.nir_source_dir, "docs", "examples"))
)
if os.path.isdir(config.nir_corpus_dir):
    config.available_features.add("corpus")
    config.substitutions.append(("%corpus", config.nir_corpus_dir))

try:
    for descriptor in os.openpty():
        os.close(descriptor)
    config.available_features.add("terminal")
except OSError:
    pass
