#!/usr/bin/env python3
"""Nanoseconds an instruction by phase and by pass, as modules grow, as Markdown tables.

  bench/linearity.py [--shapes roundtrip,nest] [--sizes 10000,100000,1000000] [--runs 3] [--bin build/bin]

Every shape of nir-gen at every size goes through nir-opt -O1 and -O2, one run at a time, and what
--time-passes says is divided by the instructions read. The fastest of the runs counts, which take turns
on all cores and find memory touched. Growth is the time an instruction at the largest size over that at
100,000 (at the smallest where that is larger): below it the start of the program weighs. The second
table has the passes of -O2, all their runs together, at the largest size.
"""

import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from machine import touch_memory

ROOT = Path(__file__).resolve().parents[1]
SIZES = "10000,100000,1000000,10000000"
REFERENCE = 100_000
TOUCHED = 500  # bytes an instruction, more than nir-opt takes
# Column: the level, and the phase of the report.
COLUMNS = {"parse": (1, "parse"), "-O1": (1, "passes"), "-O2": (2, "passes"), "verify": (1, "verify"), "print": (1, "print"), "all of -O1": (1, "total"), "all of -O2": (2, "total")}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench/linearity.py: {' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done


def phases(report):
    """Seconds by phase; the table of passes also ends in a total, but comes second."""
    found = re.findall(r"^\s*([0-9.]+)\s+[0-9.]+%\s+(\w+)$", report, re.MULTILINE)
    return {name: float(seconds) for seconds, name in reversed(found)}


def passes(report):
    """Seconds by pass, without its options."""
    found = re.findall(r"^\s*([0-9.]+)\s+[0-9.]+%\s+\d+\s+([\w-]+)(?:\{.*\})?$", report, re.MULTILINE)
    return {name: float(seconds) for seconds, name in found}


def keep_least(best, seconds):
    for name, value in seconds.items():
        best[name] = min(best.get(name, float("inf")), value)


def measure(tools, path, size, runs):
    """The least seconds of each column, and of each pass of -O2."""
    columns, of_passes = {}, {}
    cores = itertools.cycle(sorted(os.sched_getaffinity(0)))
    for level in sorted({level for level, _ in COLUMNS.values()}):
        for _ in range(runs):
            core = str(next(cores))
            touch_memory(TOUCHED * size)
            report = run("taskset", "-c", core, tools / "nir-opt", path, f"-O{level}", "--time-passes", "-o", "/dev/null").stderr
            seconds = phases(report)
            keep_least(columns, {column: seconds[phase] for column, (wanted, phase) in COLUMNS.items() if wanted == level})
            if level == 2:
                keep_least(of_passes, passes(report))
    return columns, of_passes


def count_statements(path):
    with open(path, encoding="utf-8") as lines:
        return sum(1 for line in lines if line[:2] == "  " and not line.lstrip().startswith(("tensor ", "}", "//")) and line.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes")
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "bin")
    options = parser.parse_args()
    shapes = options.shapes.split(",") if options.shapes else re.findall(r"^  (\w+) ", run(options.bin / "nir-gen", "--list-shapes").stdout, re.MULTILINE)
    sizes = [int(size) for size in options.sizes.split(",")]
    print("| shape | instructions | " + " | ".join(COLUMNS) + " |")
    print("|---|" + "---:|" * (len(COLUMNS) + 1))
    of_passes = {}  # shape: (at the reference, at the largest size), nanoseconds by pass
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "module.nir"
        for shape in shapes:
            rows = []
            for size in sizes:
                run(options.bin / "nir-gen", shape, "--size", size, "-o", path)
                count = count_statements(path)
                rows.append((size, *({name: value * 1e9 / count for name, value in seconds.items()} for seconds in measure(options.bin, path, size, options.runs))))
                print(f"| {shape} | {count:,} | " + " | ".join(f"{rows[-1][1][name]:.0f}" for name in COLUMNS) + " |", flush=True)
            base = next((row for row in rows if row[0] >= REFERENCE), rows[0])
            print("| | growth | " + " | ".join(f"{growth(base[1][name], rows[-1][1][name]):.2f}" for name in COLUMNS) + " |", flush=True)
            of_passes[shape] = base[2], rows[-1][2]
    print("\n| pass | " + " | ".join(shapes) + " |")
    print("|---|" + "---:|" * len(shapes))
    for name in of_passes[shapes[0]][0]:
        cells = (f"{last[name]:.1f} ({growth(base[name], last[name]):.2f})" for base, last in of_passes.values())
        print(f"| {name} | " + " | ".join(cells) + " |")


def growth(base, last):
    """What takes no time does not grow."""
    return last / base if base >= 0.05 else 1.0


if __name__ == "__main__":
    main()
