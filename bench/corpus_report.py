#!/usr/bin/env python3
"""Tables of what the pipelines do to the .nir graphs of a folder, as Markdown.

  bench/corpus_report.py FOLDER [--bin build/bin] [--errors]

The first table has the casts that change dtype and the bytes of their results, times the instances,
before and after each pipeline; the second the bytes moved by all instructions, as a part of what they
were; the third the first reasons for which casts stay after the last pipelines. With --errors a further
one has the mean error of each graph's float outputs against the evaluation without intermediate
rounding, in ulps, the median over the outputs, on the graph with its dimensions shrunk to 16.
"""

import argparse
import collections
import re
import statistics
import subprocess
import sys
from pathlib import Path

SUMMARY = re.compile(r"(\d+) casts? left, (\d+) bytes; (\d+) bytes moved in all")
LEFT = re.compile(r"remark: cast left: (\S+) (\S+) -> (\S+), (\d+) bytes")
NOTE = re.compile(r"note: ([a-z0-9-]+): (.*)$")
UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))

# Name and what nir-opt is given.
PIPELINES = (
    ("as it comes", ()),
    ("`-O1`", ("-O1",)),
    ("`-O2` none", ("-O2", "--fp32-cast=none")),
    ("`-O2` none, exact", ("-O2", "--fp32-cast=none", "--excess-precision=off")),
    ("`-O2` matmult", ("-O2", "--fp32-cast=matmult")),
    ("`-O2` matmult, exact", ("-O2", "--fp32-cast=matmult", "--excess-precision=off")),
    ("`-O2` all", ("-O2", "--fp32-cast=all")),
    ("`-O2` all, exact", ("-O2", "--fp32-cast=all", "--excess-precision=off")),
    ("`-O2` all, whitelist", ("-O2", "--fp32-cast=all", "ops=whitelist")),
)
EXPLAINED = ("`-O2` none", "`-O2` all")
WITH_ERRORS = ("`-O1`", "`-O2` none", "`-O2` matmult", "`-O2` all")


def amount(count):
    for size, unit in UNITS:
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} B"


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def table(header, rows):
    lines = [row(header), "|---" + "|---:" * (len(header) - 1) + "|"]
    return "\n".join(lines + [row(cells) for cells in rows])


class Tool:
    def __init__(self, folder):
        self.path = Path(folder) / "nir-opt"

    def run(self, *arguments):
        result = subprocess.run([self.path, *arguments], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"nir-opt {' '.join(map(str, arguments))}: {result.stderr[-2000:]}")
        return result

    def arguments(self, given):
        """What stands for a pipeline; `ops=whitelist` edits the text of the one before it."""
        if "ops=whitelist" not in given:
            return given
        level = [word for word in given if word != "ops=whitelist"]
        text = self.run(*level, "--print-pipeline").stdout.strip()
        return (f"--passes={text.replace('ops=engine', 'ops=whitelist')}",)


def explain(tool, graph, given):
    shown = tool.run(graph, *tool.arguments(given), "--explain", "-o", "/dev/null").stderr
    casts, bytes_of_casts, moved = map(int, SUMMARY.search(shown).groups())
    return casts, bytes_of_casts, moved, shown


def reasons(shown):
    """Of each cast left: its bytes and what the passes say, without names."""
    current = None
    found = []
    for line in shown.splitlines():
        if match := LEFT.search(line):
            current = (match.group(2), match.group(3), int(match.group(4)), [])
            found.append(current)
        elif current and (match := NOTE.search(line)):
            text = re.sub(r" \((producer|tensor).*", "", match.group(2))
            text = re.sub(r"^\S+ -> \S+: ", "", re.sub(r"'[^']*'( \(\w+\))?", "…", text))
            text = re.sub(r"\d{2,}", "N", text)
            current[3].append(f"{match.group(1)}: {text}")
    return found


def median_errors(tool, graph, given):
    shown = tool.run(graph, "--shrink-dims=16", *tool.arguments(given), "--check=2,excess", "-o", "/dev/null").stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in shown.splitlines() if line.startswith("| @")]
    floats = [cells for cells in rows if "int" not in cells[2]]
    if not floats:
        return None
    return tuple(statistics.median(float(cells[i]) for cells in floats) for i in (5, 6))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--errors", action="store_true")
    options = parser.parse_args()
    tool = Tool(options.bin)
    graphs = sorted(options.folder.rglob("*.nir"))
    if not graphs:
        sys.exit(f"{options.folder}: no .nir files")

    names = [name for name, _ in PIPELINES]
    casts, moved = [], []
    totals = collections.Counter()
    stay = {name: collections.defaultdict(lambda: [0, 0]) for name in EXPLAINED}
    for graph in graphs:
        cast_cells, moved_cells = [], []
        before = 0
        for name, given in PIPELINES:
            count, size, all_bytes, shown = explain(tool, graph, given)
            before = before or all_bytes
            cast_cells.append(f"{count}, {amount(size)}")
            moved_cells.append(f"{all_bytes / before:.4f}" if moved_cells else amount(all_bytes))
            totals.update({(name, "casts"): count, (name, "bytes"): size, (name, "moved"): all_bytes})
            if name in EXPLAINED:
                for source, wanted, cast_bytes, notes in reasons(shown):
                    for note in notes or ["no pass looked at it"]:
                        entry = stay[name][note]
                        entry[0] += 1
                        entry[1] += cast_bytes
        casts.append([f"`{graph.stem}`", *cast_cells])
        moved.append([f"`{graph.stem}`", *moved_cells])
    casts.append(["all", *(f"{totals[n, 'casts']}, {amount(totals[n, 'bytes'])}" for n in names)])
    first = totals[names[0], "moved"]
    moved.append(["all", amount(first), *(f"{totals[n, 'moved'] / first:.4f}" for n in names[1:])])
    print(table(["graph", *names], casts), end="\n\n")
    print(table(["graph", *names], moved), end="\n\n")
    for name in EXPLAINED:
        ordered = sorted(stay[name].items(), key=lambda item: (-item[1][1], item[0]))
        print(table([f"why casts stay, {name}", "casts", "bytes"], [[note, n, amount(size)] for note, (n, size) in ordered]), end="\n\n")
    if options.errors:
        rows = []
        for graph in graphs:
            cells = []
            for name, given in PIPELINES:
                if name in WITH_ERRORS and (errors := median_errors(tool, graph, given)):
                    cells += [f"{error:.4g}" for error in (errors if not cells else errors[1:])]
            rows.append([f"`{graph.stem}`", *cells])
        print(table(["graph", "as it comes", *WITH_ERRORS], rows))


if __name__ == "__main__":
    main()
