#!/usr/bin/env python3
"""Random modules through random pipelines, until the time is over.

  fuzz.py --bin BIN [SECONDS] [--seed N] [--jobs N] [--keep FOLDER]
  fuzz.py --bin BIN --again CASE FILE

Each iteration makes a module with `nir-gen random` and runs `nir-opt` on it: one time in three with
-O1 or -O2, else with passes in random order, with random options and fixpoints; always with --verify-each,
--check-changed, and --check where nir-opt has it. The run must succeed, its result must read back as
printed, and must not depend on --shuffle-seed.

What fails is reduced with nir-reduce and kept in FOLDER/SEED-ITERATION: input.nir, reduced.nir,
message.txt, case.json, and command.sh, which shows it again. Of failures with the same message only
the first one is kept. An iteration depends on the seed and its number only.

With --again the status says whether FILE still fails as CASE (a case.json) does: 0 if so.
"""

import argparse
import concurrent.futures
import functools
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TARGETS = ("trn1", "trn2", "trn3")
MODES = ("none", "matmult", "all", "all-fp16", "all-fp8e4")
MAX_SIZE = 200
CHECK_INPUTS = 2
RUN_SECONDS = 120
REDUCE_TESTS = 4000
MAX_KEPT = 20


class Tools:
    """The programs, and what nir-opt says of its passes."""

    def __init__(self, folder):
        self.folder = folder
        self.opt, self.gen, self.reduce = (
            str(folder / f"nir-{name}") for name in ("opt", "gen", "reduce"))

    @functools.cached_property
    def has_check(self):
        return re.search(r"^ +--check[ =]", self.text(self.opt, "--help"), re.M) is not None

    @functools.cached_property
    def passes(self):
        table = self.text(self.opt, "--list-passes").splitlines()
        names = [line.split()[0] for line in table if line.startswith(" ")]
        return {name: self.options_of(name) for name in names}

    @staticmethod
    def text(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def options_of(self, name):
        """[(option, [values])]; a flag has no values. Numbers are left at their defaults."""
        found, inside = [], False
        for line in self.text(self.opt, f"--help-pass={name}").splitlines():
            if not line.startswith(" "):
                inside = line.startswith("Options")
            elif inside:
                option, _, values = line.split()[0].partition("=")
                if values == "" or "|" in values:
                    found.append((option, values.split("|") if values else []))
        return found


def random_pass(rng, tools):
    name = rng.choice(list(tools.passes))
    options = []
    for option, values in tools.passes[name]:
        if rng.random() < 0.5:
            options.append(f"{option}={rng.choice(values)}" if values else option)
    return name + (f"{{{','.join(options)}}}" if options else "")


def random_pipeline(rng, tools, depth=0):
    elements = []
    for _ in range(rng.randint(1, 5)):
        if depth < 2 and rng.random() < 0.2:
            bound = rng.choice(["", "{max=8}", "{max=64}"])
            elements.append(f"fixpoint{bound}({random_pipeline(rng, tools, depth + 1)})")
        else:
            elements.append(random_pass(rng, tools))
    return ",".join(elements)


def random_case(rng, tools):
    generate = ["random", "--size", str(rng.randint(1, MAX_SIZE)), "--seed", str(rng.getrandbits(63))]
    generate += ["--target", rng.choice(TARGETS), rng.choice(["--legal", "--not-legal"])]
    if rng.random() < 1 / 3:
        options = rng.choice((["-O1"], ["-O2", "--fp32-cast=" + rng.choice(MODES)]))
    else:
        options = ["--passes=" + random_pipeline(rng, tools)]
    options += ["--verify-each", "--check-changed"]
    if tools.has_check:
        options.append(f"--check={CHECK_INPUTS}")
    return {"generate": generate, "options": options, "shuffle": rng.randint(1, 1000)}


def run(command, cwd):
    """(status, standard output, standard error); a timeout is status "timeout"."""
    try:
        done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=RUN_SECONDS)
    except subprocess.TimeoutExpired:
        return "timeout", b"", b""
    return done.returncode, done.stdout, done.stderr


def signature(status, message):
    """What is alike of failures that are the same one: names and numbers left out."""
    lines = [line for line in message.splitlines() if "error" in line.lower()]
    first = re.sub(r"^\S+: (?=error: )", "", lines[0]) if lines else ""
    first = first.split(", but ")[0]  # then follow the values that a check found
    first = re.sub(r"[%$@](\"[^\"]*\"|[\w.]+)", "#", first)
    return f"status {status}: {re.sub(r'0x[0-9a-f]+|[0-9]+', '#', first)}"


def find_failure(tools, case, path, cwd):
    """(signature, message, runs) of what fails first; signature is None where all is well."""
    command = [tools.opt, *case["options"], str(path)]
    status, text, errors = run(command, cwd)
    message = errors.decode(errors="replace")
    if status != 0:
        return signature(status, message), message, 1
    result = cwd / "result.nir"
    result.write_bytes(text)
    status, again, errors = run([tools.opt, str(result)], cwd)
    if status != 0 or again != text:
        message = errors.decode(errors="replace")
        return "the result does not read back: " + signature(status, message), message, 2
    plain = [option for option in case["options"] if not option.startswith("--check=")]
    status, shuffled, errors = run([tools.opt, *plain, f"--shuffle-seed={case['shuffle']}", str(path)], cwd)
    if status != 0 or shuffled != text:
        message = errors.decode(errors="replace")
        return "the result depends on --shuffle-seed: " + signature(status, message), message, 3
    return None, "", 3


class Fuzzer:
    def __init__(self, tools, seed, keep):
        self.tools, self.seed, self.keep = tools, seed, keep
        self.modules = self.runs = self.failures = 0
        self.kept = {}

    def iterate(self, number):
        """(case, signature, message, runs, module text) of one iteration."""
        case = random_case(random.Random(f"{self.seed}:{number}"), self.tools)
        with tempfile.TemporaryDirectory(prefix="nir-fuzz-") as folder:
            folder = Path(folder)
            path = folder / "input.nir"
            status, text, errors = run([self.tools.gen, *case["generate"], "-o", str(path)], folder)
            if status != 0:
                message = errors.decode(errors="replace")
                return number, case, "nir-gen: " + signature(status, message), message, 1, b""
            failure, message, runs = find_failure(self.tools, case, path, folder)
            return number, case, failure, message, runs + 1, path.read_bytes()

    def record(self, number, case, failure, message, runs, text):
        self.modules += 1
        self.runs += runs
        if failure is None:
            return
        self.failures += 1
        if failure in self.kept or len(self.kept) >= MAX_KEPT:
            return
        folder = self.keep / f"{self.seed}-{number}"
        self.kept[failure] = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "input.nir").write_bytes(text)
        (folder / "message.txt").write_text(f"{failure}\n\n{message}")
        (folder / "case.json").write_text(json.dumps({**case, "failure": failure}, indent=1) + "\n")
        reproduce = shlex.join([self.tools.opt, *case["options"]])
        (folder / "command.sh").write_text(
            "#!/bin/sh\n# " + shlex.join(["nir-gen", *case["generate"]]) +
            f"\n# {failure}\nexec {reproduce} \"${{1-$(dirname \"$0\")/reduced.nir}}\"\n")
        (folder / "command.sh").chmod(0o755)
        print(f"{folder}: {failure}", flush=True)
        if text:
            self.reduce(folder)

    def reduce(self, folder):
        again = [sys.executable, __file__, "--bin", str(self.tools.folder), "--again",
                 str(folder.resolve() / "case.json")]
        status, _, errors = run_unbounded(
            [self.tools.reduce, str(folder / "input.nir"), "--test", shlex.join(again), "--max-tests",
             str(REDUCE_TESTS), "-o", str(folder / "reduced.nir")])
        if status != 0:
            print(f"{folder}: not reduced: {errors.decode(errors='replace').strip()}", flush=True)

    def summary(self, seconds):
        return (f"seed {self.seed}: {self.modules} modules, {self.runs} runs in {seconds:.1f} s: "
                f"{self.modules / seconds:.1f} modules/s, {self.runs / seconds:.1f} runs/s; "
                f"{self.failures} failures, {len(self.kept)} kept")


def run_unbounded(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, done.stdout, done.stderr


def fuzz(tools, args):
    fuzzer = Fuzzer(tools, args.seed, args.keep)
    begin = time.monotonic()
    number = 0
    pending = set()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        while pending or time.monotonic() - begin < args.seconds:
            while len(pending) < args.jobs and time.monotonic() - begin < args.seconds:
                pending.add(pool.submit(fuzzer.iterate, number))
                number += 1
            done, pending = concurrent.futures.wait(
                pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                fuzzer.record(*future.result())
            if sys.stderr.isatty():
                line = fuzzer.summary(time.monotonic() - begin)
                print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print(fuzzer.summary(time.monotonic() - begin))
    return 1 if fuzzer.failures else 0


def still_fails(tools, case_file, path):
    case = json.loads(Path(case_file).read_text())
    with tempfile.TemporaryDirectory(prefix="nir-fuzz-") as folder:
        failure, _, _ = find_failure(tools, case, Path(path).resolve(), Path(folder))
    return 0 if failure == case["failure"] else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", nargs="?", type=float, default=60, metavar="SECONDS", help="default 60")
    parser.add_argument("--bin", required=True, type=Path, help="folder of the tools")
    parser.add_argument("--seed", type=int, default=None, help="default: another one each time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--again", nargs=2, metavar=("CASE", "FILE"))
    args = parser.parse_args()
    tools = Tools(args.bin.resolve())
    if args.again:
        return still_fails(tools, *args.again)
    _ = tools.has_check, tools.passes  # before threads ask
    if args.seed is None:
        args.seed = random.SystemRandom().getrandbits(32)
    return fuzz(tools, args)


if __name__ == "__main__":
    sys.exit(main())
