#!/usr/bin/env python3
"""Holds README.md and docs/**/*.md to what is true.

  check_docs.py --root ROOT links            every link and anchor leads somewhere
  check_docs.py --root ROOT excerpts         blocks that quote a file stand in it, word for word
  check_docs.py --root ROOT --bin BIN console [--update]
                                             console blocks show what their commands print

The first word behind a fence says what a block is, a second one names a file:

  ```nir FILE       the text is written to FILE for the commands of the document
  ```wrong FILE     likewise, of a module that is not well-formed
  ```cpp FILE       (any other language) the text is a part of FILE, relative to the root
  ```console        lines with `$ ` are commands, the others what they print, on both streams

Commands run in a folder of their own with the tools on PATH, `docs` as in the repository, and a
`dev` that knows `opt` and `gen`. docs/testing.md says the same for readers.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FENCE = re.compile(r"^```(.*)$")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*)$")
COMMAND_SECONDS = 120
INPUTS = ("nir", "wrong")  # kinds of blocks whose FILE is an input of commands

DEV = """#!/bin/sh
tool=$1
shift
exec "nir-$tool" "$@"
"""


def documents(root):
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


class Block:
    """A fenced block: its info words and the half-open range of its lines."""

    def __init__(self, info, begin, end):
        words = info.split()
        self.kind = words[0] if words else ""
        self.file = words[1] if len(words) > 1 else None
        self.begin, self.end = begin, end


def blocks_of(lines):
    blocks, begin, info = [], None, ""
    for i, line in enumerate(lines):
        match = FENCE.match(line)
        if not match:
            continue
        if begin is None:
            begin, info = i + 1, match[1]
        else:
            blocks.append(Block(info, begin, i))
            begin = None
    return blocks


def prose_of(lines):
    """(number, line) of the lines outside fenced blocks."""
    inside = set()
    for block in blocks_of(lines):
        inside.update(range(block.begin - 1, block.end + 1))
    return [(i + 1, line) for i, line in enumerate(lines) if i not in inside]


def anchors_of(path):
    """The anchors that GitHub gives to the headings of a document."""
    anchors = {}
    for _, line in prose_of(path.read_text().splitlines()):
        if match := HEADING.match(line):
            text = re.sub(r"[^\w\- ]", "", match[1].replace("`", "").lower()).replace(" ", "-")
            count = anchors.get(text, 0)
            anchors[text] = count + 1
            if count:
                anchors[f"{text}-{count}"] = 1
    return anchors


def check_links(root):
    errors = []
    for document in documents(root):
        for number, line in prose_of(document.read_text().splitlines()):
            for link in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                if re.match(r"^[a-z]+:", link):
                    continue
                name, _, anchor = link.partition("#")
                target = (document.parent / name).resolve() if name else document
                where = f"{document.relative_to(root)}:{number}"
                if not target.exists():
                    errors.append(f"{where}: no such file: {link}")
                elif anchor and anchor not in anchors_of(target):
                    errors.append(f"{where}: no such heading: {link}")
    return errors


def check_excerpts(root):
    errors = []
    for document in documents(root):
        lines = document.read_text().splitlines()
        for block in blocks_of(lines):
            if block.file is None or block.kind in INPUTS:
                continue
            where = f"{document.relative_to(root)}:{block.begin}"
            source = root / block.file
            text = "\n".join(lines[block.begin : block.end]) + "\n"
            if not source.exists():
                errors.append(f"{where}: no such file: {block.file}")
            elif text not in source.read_text():
                errors.append(f"{where}: the block does not stand in {block.file}")
    return errors


def run_command(command, folder, bin_dir):
    environment = dict(os.environ, PATH=f"{bin_dir}{os.pathsep}{os.environ['PATH']}", LC_ALL="C")
    result = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=COMMAND_SECONDS,
    )
    return [line.rstrip() for line in result.stdout.decode(errors="replace").splitlines()]


def rerun(lines, folder, bin_dir):
    """The lines of a console block as its commands print them now."""
    out = []
    for line in lines:
        if line.startswith("$ "):
            out += [line, *run_command(line[2:], folder, bin_dir)]
    return out


def set_up_folder(root, folder, document_lines):
    (folder / "docs").symlink_to(root / "docs")
    (folder / "dev").write_text(DEV)
    (folder / "dev").chmod(0o755)
    for block in blocks_of(document_lines):
        if block.kind in INPUTS and block.file is not None:
            text = "\n".join(document_lines[block.begin : block.end]) + "\n"
            (folder / block.file).write_text(text)


def difference(where, old, new):
    shown = "\n".join(difflib.unified_diff(old, new, "documented", "printed", lineterm=""))
    return f"{where}: the output has changed (./dev docs takes it over)\n{shown}"


def check_console(root, bin_dir, update):
    errors = []
    for document in documents(root):
        lines = document.read_text().splitlines()
        blocks = [block for block in blocks_of(lines) if block.kind == "console"]
        if not blocks:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            set_up_folder(root, folder, lines)
            results = [rerun(lines[b.begin : b.end], folder, bin_dir) for b in blocks]
        # From the last block on, so that line numbers stay good.
        for block, printed in reversed(list(zip(blocks, results))):
            documented = lines[block.begin : block.end]
            if printed == documented:
                continue
            if update:
                lines[block.begin : block.end] = printed
            else:
                where = f"{document.relative_to(root)}:{block.begin}"
                errors.insert(0, difference(where, documented, printed))
        if update:
            text = "\n".join(lines) + "\n"
            if text != document.read_text():
                document.write_text(text)
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--bin", type=Path)
    parser.add_argument("--update", action="store_true", help="take over what commands print")
    parser.add_argument("what", choices=["links", "excerpts", "console"])
    given = parser.parse_args()
    root = given.root.resolve()
    if given.what == "links":
        errors = check_links(root)
    elif given.what == "excerpts":
        errors = check_excerpts(root)
    else:
        if given.bin is None:
            parser.error("console needs --bin")
        errors = check_console(root, given.bin.resolve(), given.update)
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
