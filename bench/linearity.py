#!/usr/bin/env python3
"""Nanoseconds an instruction by phase, as modules grow, as a Markdown table.

  bench/linearity.py [--shapes roundtrip,nest] [--sizes 10000,100000,1000000] [--runs 3] [--bin build/bin]

Every shape of nir-gen at every size goes through nir-opt -O1 and -O2, one run at a time, and what
--time-passes says is divided by the instructions read. The fastest of the runs counts. Growth is the
time an instruction at the largest size over that at 100,000 (at the smallest where that is larger):
below it the start of the program weighs.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIZES = "10000,100000,1000000,10000000"
REFERENCE = 100_000
# Column: the level, and the phase of the report.
COLUMNS = {"parse": (1, "parse"), "-O1": (1, "passes"), "-O2": (2, "passes"), "verify": (1, "verify"), "print": (1, "print")}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench/linearity.py: {' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done


def phases(report):
    found = re.findall(r"^\s*([0-9.]+)\s+[0-9.]+%\s+(\w+)$", report, re.MULTILINE)
    return {name: float(seconds) for seconds, name in found if name != "total"}


def measure(tools, path, runs):
    """The least seconds of each column."""
    best = {}
    for level in sorted({level for level, _ in COLUMNS.values()}):
        for _ in range(runs):
            seconds = phases(run(tools / "nir-opt", path, f"-O{level}", "--time-passes", "-o", "/dev/null").stderr)
            for column, (wanted, phase) in COLUMNS.items():
                if wanted == level:
                    best[column] = min(best.get(column, float("inf")), seconds[phase])
    return best


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
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "module.nir"
        for shape in shapes:
            rows = []
            for size in sizes:
                run(options.bin / "nir-gen", shape, "--size", size, "-o", path)
                count = count_statements(path)
                seconds = measure(options.bin, path, options.runs)
                rows.append((size, {name: value * 1e9 / count for name, value in seconds.items()}))
                print(f"| {shape} | {count:,} | " + " | ".join(f"{rows[-1][1][name]:.0f}" for name in COLUMNS) + " |", flush=True)
            base = next((row for size, row in rows if size >= REFERENCE), rows[0][1])
            growth = {name: rows[-1][1][name] / base[name] if base[name] else 1.0 for name in COLUMNS}
            print("| | growth | " + " | ".join(f"{growth[name]:.2f}" for name in COLUMNS) + " |", flush=True)


if __name__ == "__main__":
    main()
