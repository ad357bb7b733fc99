#!/usr/bin/env python3
"""compare_builds.py OLD_BIN NEW_BIN INPUT... [-j N]

Runs every tool of two builds on the same inputs (files, or folders whose *.nir, *.test, *.nirb and
*.hlo are meant) and compares standard output, standard error and status byte for byte. For a change
that must change nothing: a move of files, another data structure. Status 1 where anything differs.
"""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

COMMANDS = [
    ["nir-opt", "{}"],
    ["nir-opt", "{}", "-O1", "--stats", "--remarks=applied,missed"],
    ["nir-opt", "{}", "-O2", "--fp32-cast=all", "--explain", "--stats=json"],
    ["nir-opt", "{}", "-O2", "--fp32-cast=none", "--excess-precision=off", "--verify-each"],
    ["nir-opt", "{}", "-O2", "-j", "2", "--print-changed"],
    ["nir-opt", "{}", "--passes=legalize-dtype,fixpoint(cast-op-elimination,dce)", "--check-changed"],
    ["nir-opt", "{}", "--emit=binary"],
    ["nir-opt", "{}", "--split-input-file", "--dot=-"],
    ["nir-opt", "{}", "--shrink-dims=4", "-O1", "--check=2"],
    ["nir-run", "{}", "--opaque=hash"],
]
GENERATED = [
    ["nir-gen", shape, "--size", "2000"]
    for shape in ("fanout", "nest", "attention", "mlp", "roundtrip", "tensors", "functions")
] + [["nir-gen", "random", "--size", "300", "--seed", str(seed)] for seed in range(20)]
HELP = [[tool, "--help"] for tool in ("nir-opt", "nir-run", "nir-gen", "nir-reduce")] + [
    ["nir-opt", "--list-passes"], ["nir-opt", "--version"]]
TIMEOUT = 300


def inputs_below(path):
    if os.path.isfile(path):
        return [path]
    endings = (".nir", ".test", ".nirb", ".hlo")
    return [os.path.join(folder, name) for folder, _, names in os.walk(path)
            for name in names if name.endswith(endings)]


def run(bin_dir, command):
    try:
        done = subprocess.run([os.path.join(bin_dir, command[0]), *command[1:]], timeout=TIMEOUT,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        return "timeout", b"", b""
    return done.returncode, done.stdout, done.stderr.replace(bin_dir.encode(), b"BIN")


def difference(old, new, command):
    before, after = run(old, command), run(new, command)
    if before == after:
        return None
    parts = [name for name, a, b in zip(("status", "output", "errors"), before, after) if a != b]
    return f"{' '.join(command)}: {', '.join(parts)} differ"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    options = parser.parse_args()
    old, new = os.path.abspath(options.old), os.path.abspath(options.new)

    files = sorted({file for path in options.inputs for file in inputs_below(path)})
    with tempfile.TemporaryDirectory() as scratch:
        for i, command in enumerate(GENERATED):
            file = os.path.join(scratch, f"{i}.nir")
            with open(file, "wb") as out:
                out.write(run(old, command)[1])
            files.append(file)
        commands = [[word.format(file) for word in command] for file in files
                    for command in COMMANDS] + GENERATED + HELP
        with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
            found = [text for text in pool.map(lambda c: difference(old, new, c), commands) if text]
    print("\n".join(found[:50]))
    print(f"{len(commands)} commands on {len(files)} inputs: {len(found)} differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
