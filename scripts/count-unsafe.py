#!/usr/bin/env python3
"""Counts `unsafe` and C in the packages that the program is built from, as a table for docs/unsafe.md.

    scripts/count-unsafe.py            prints the table, with all packages
    scripts/count-unsafe.py --write    puts direct packages and those with much of it into docs/unsafe.md, between its marks

What is counted: the word in Rust files that are compiled into a library (`src`, without comments, strings and
tests), and lines of C and assembly that a build script may compile. Needs cargo and the packages in its
registry; Python 3.9, Linux.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- table: scripts/count-unsafe.py --write -->", "<!-- end -->"
# Indirect packages without C that say `unsafe` fewer times have no row in docs/unsafe.md.
MANY = 300
# Comments (nested ones are rare), strings, characters.
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(#+)".*?"\1|b?r"[^"]*"|b?"(?:\\.|[^"\\])*"|b?\'(?:\\[^\n\']+|[^\\\'\n])\'', re.S
)
NATIVE = {".c", ".h", ".s", ".S", ".cc", ".cpp", ".asm"}


def packages():
    """Name, version, direct and path of all that the library and the command are built from."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    by_id = {package["id"]: package for package in found["packages"]}
    root = found["resolve"]["root"]
    # Build-time packages (procedural macros, build scripts) run on the builder's machine only.
    normal = lambda node: [d["pkg"] for d in node["deps"] if any(k["kind"] is None for k in d["dep_kinds"])]
    is_macro = lambda id: any("proc-macro" in target["kind"] for target in by_id[id]["targets"])
    ours = lambda id: by_id[id]["source"] is None
    direct, waiting, seen = set(), [root], {root}
    while waiting:
        id = waiting.pop()
        direct.update(normal(nodes[id]) if ours(id) else ())
        for other in normal(nodes[id]):
            if other not in seen and not is_macro(other):
                seen.add(other)
                waiting.append(other)
    for id in sorted((id for id in seen if not ours(id)), key=lambda id: by_id[id]["name"]):
        package = by_id[id]
        yield package["name"], package["version"], id in direct, Path(package["manifest_path"]).parent


def unsafe_in(directory):
    count = 0
    for path in (directory / "src").rglob("*.rs"):
        if {"tests", "test", "benches"} & set(path.relative_to(directory).parts) or path.stem in ("tests", "test"):
            continue
        text = NOISE.sub(" ", path.read_text(encoding="utf-8", errors="replace"))
        count += len(re.findall(r"\bunsafe\b", text))
    return count


def native_in(directory):
    lines = 0
    for path in directory.rglob("*"):
        parts = set(path.relative_to(directory).parts)
        if path.suffix in NATIVE and path.is_file() and not {"tests", "test", "examples", "doc"} & parts:
            lines += path.read_bytes().count(b"\n")
    return lines


def table(few):
    """The counts as text: of all packages, or of few, with the others in sentences."""
    lines = ["| package | direct | `unsafe` | lines of C |", "| --- | --- | ---: | ---: |"]
    none, others, total = [], [], 0
    for name, version, direct, directory in packages():
        unsafe, native = unsafe_in(directory), native_in(directory)
        total += 1
        if not unsafe and not native:
            none.append((name, direct))
        elif few and not direct and not native and unsafe < MANY:
            others.append(unsafe)
        else:
            lines.append(f"| {name} {version} | {'yes' if direct else ''} | {unsafe:,} | {native or '':{',' if native else ''}} |")
    lines.append("")
    if few:
        lines.append(f"Another {len(others)} indirect packages say `unsafe` fewer than {MANY} times each, {sum(others):,} times together.")
    named = [name if direct else f"{name} (indirect)" for name, direct in none if direct or not few]
    lines.append(f"Of {total} packages, {len(none)} contain neither{', including' if few else ':'} {', '.join(named)}.")
    return "\n".join(lines)


def main():
    write = sys.argv[1:] == ["--write"]
    text = table(few=write)
    if not write:
        print(text)
        return
    page = ROOT / "docs/unsafe.md"
    before, rest = page.read_text().split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


main()
