#!/usr/bin/env python3
"""Runs the benchmarks and compares them with what was saved.

  bench/compare.py [--save] [--filter REGEX] [--tolerance 1.15] [--repetitions 5] [--min-time 0.2]
                   [--bin build/bin] [--baseline bench/baseline.json]

Prints a table of medians of processor time and of their ratios to the baseline. The exit status is 1
where something takes longer than `--tolerance` times what it took, 2 where nothing could be run, else 0.
With --save the result becomes the baseline instead.

A baseline holds for one kind of machine, which stands in it: times of another one say little, and then
the table says so and nothing fails.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def die(message):
    print(f"bench/compare.py: {message}", file=sys.stderr)
    sys.exit(2)


def machine():
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def medians(report):
    """Nanoseconds by benchmark, of what Google Benchmark has written: of processor time, or where a
    benchmark keeps its own clock, of that."""
    clock = lambda row: "real_time" if row["run_name"].endswith("manual_time") else "cpu_time"
    return {
        row["run_name"]: row[clock(row)] * NANOSECONDS[row["time_unit"]]
        for row in report["benchmarks"]
        if row.get("aggregate_name") == "median"
    }


def run(program, options):
    command = [
        program,
        "--benchmark_format=json",
        f"--benchmark_repetitions={options.repetitions}",
        "--benchmark_report_aggregates_only=true",
        f"--benchmark_min_time={options.min_time}",
        f"--benchmark_filter={options.filter}",
    ]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        die(f"{program.name}: exit status {done.returncode}\n{done.stderr}")
    # A filter that nothing matches gives no JSON.
    return medians(json.loads(done.stdout)) if done.stdout.lstrip().startswith("{") else {}


def run_all(options):
    programs = sorted(path for path in options.bin.glob("*_bench") if os.access(path, os.X_OK))
    if not programs:
        die(f"there are no benchmarks in {options.bin}: run ./dev build")
    times = {}
    for program in programs:
        print(f"running {program.name}", file=sys.stderr)
        for name, nanoseconds in run(program, options).items():
            times[f"{program.name}/{name}"] = nanoseconds
    if not times:
        die(f"no benchmark matches '{options.filter}'")
    return times


def readable(nanoseconds):
    for unit in ("s", "ms", "us"):
        if nanoseconds >= NANOSECONDS[unit]:
            return f"{nanoseconds / NANOSECONDS[unit]:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def compare(old, new, tolerance):
    """Prints the table. Returns the names of what got slower than is tolerated."""
    width = max(len(name) for name in new)
    print(f"{'benchmark':{width}}  {'before':>9}  {'now':>9}  ratio")
    slower = []
    for name, now in new.items():
        before = old.get(name)
        if before is None:
            print(f"{name:{width}}  {'-':>9}  {readable(now):>9}  new")
            continue
        ratio = now / before
        flag = "  slower" if ratio > tolerance else ""
        if flag:
            slower.append(name)
        print(f"{name:{width}}  {readable(before):>9}  {readable(now):>9}  {ratio:5.2f}{flag}")
    return slower


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--filter", default=".")
    parser.add_argument("--tolerance", type=float, default=1.15)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--min-time", type=float, default=0.2, help="seconds a repetition")
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "bin")
    parser.add_argument("--baseline", type=Path, default=ROOT / "bench" / "baseline.json")
    options = parser.parse_args()
    if options.save and options.filter != ".":
        die("--save takes all benchmarks, not those of a --filter")
    if not options.save and not options.baseline.exists():
        die(f"{options.baseline} is missing: make one with --save")

    times = run_all(options)
    if options.save:
        saved = {"machine": machine(), "nanoseconds": times}
        options.baseline.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")
        print(f"saved {len(times)} medians in {options.baseline}")
        return 0
    baseline = json.loads(options.baseline.read_text(encoding="utf-8"))
    slower = compare(baseline["nanoseconds"], times, options.tolerance)
    if baseline["machine"] != machine():
        print(f"\nThe baseline is of another machine, so its times say little:\n  {baseline['machine']}\nand this one is\n  {machine()}")
        return 0
    if slower:
        print(f"\n{len(slower)} of {len(times)} took more than {options.tolerance} times as long")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
