#!/usr/bin/env python3
"""Measure `--tokens code` on clones of functions made by rule, or its speed by language.

    scripts/bench-code.py PROGRAM DIRECTORY...
    scripts/bench-code.py --speed PROGRAM DIRECTORY...

PROGRAM is the command `lookalike`. The functions come from the C, Rust and Python sources below the
directories. For each of some functions of at least 6 lines and 50 tokens, three clones are made, of
the types that the literature on clones uses:

- type 1: other white space, no comments;
- type 2: also other names, the same for the same one, and other numbers and strings;
- type 3: also one to three of ten lines left out, repeated elsewhere or taken from another function.

A pair of a function and its clone is true. Any pair of two functions is false, though some of them
may resemble each other. The table has the recall of each type, and the share of all false pairs
that are found, over all languages.

With `--speed`, the sources of each language below the directories, up to 32 MB, are ingested on one thread as words and as
code, six times in turn. The table has the least CPU time of each in MB of text a second.
"""

import ast
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

FUNCTIONS = 200
SIZES = [3, 4, 5, 7, 10, 15, 20]
THRESHOLDS = [0.3, 0.5, 0.7]
KEYWORDS = set(
    "auto break case char const continue default do double else enum extern float for goto if int "
    "long register return short signed sizeof static struct switch typedef union unsigned void "
    "volatile while bool true false NULL include define ifdef ifndef endif "
    "as async await crate dyn fn impl in let loop match mod move mut pub ref self Self super trait "
    "type unsafe use where i8 i16 i32 i64 u8 u16 u32 u64 usize isize str "
    "False None True and assert class def del elif except finally from global import is lambda "
    "nonlocal not or pass raise try with yield".split()
)
BRACES = r"//[^\n]*|/\*.*?\*/"
TOKEN = {
    "c": re.compile(BRACES + r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|\d[\w.]*", re.S),
    "rust": re.compile(BRACES + r"|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\\n])'|[A-Za-z_]\w*|\d\w*", re.S),
    "python": re.compile(
        r"#[^\n]*|[rbf]?\"\"\".*?\"\"\"|[rbf]?'''.*?'''|[rbf]?\"(?:\\.|[^\"\\\n])*\"|[rbf]?'(?:\\.|[^'\\\n])*'"
        r"|[A-Za-z_]\w*|\d[\w.]*",
        re.S,
    ),
}
ENDING = {".c": "c", ".rs": "rust", ".py": "python"}
BEGIN = {
    "c": re.compile(r"^[A-Za-z][\w *]*\([^;{}()]*\)\s*\{", re.M),
    "rust": re.compile(r"^ *(?:pub(?:\([a-z]+\))? )?fn \w+[^;{}]*\{", re.M),
}


def functions(text, language):
    if language == "python":
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                yield "\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno])
        return
    for begin in BEGIN[language].finditer(text):
        depth, at = 0, begin.end() - 1
        for at in range(begin.end() - 1, min(len(text), begin.end() + 20000)):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            if depth == 0:
                yield text[begin.start() : at + 1]
                break


def gather(directories):
    found = {language: {} for language in TOKEN}
    for directory in directories:
        for place, folders, names in os.walk(directory):
            folders.sort()
            for name in sorted(names):
                language = ENDING.get(os.path.splitext(name)[1])
                if not language:
                    continue
                try:
                    text = open(os.path.join(place, name), encoding="utf-8").read(1 << 20)
                except (OSError, UnicodeDecodeError):
                    continue
                for function in functions(text, language):
                    lines = [line for line in function.splitlines() if line.strip()]
                    tokens = re.findall(r"\w+|[^\w\s]", function)
                    if len(lines) >= 6 and 50 <= len(tokens) <= 2000:
                        # One function of each sequence of names and signs.
                        key = tuple(re.sub(r"\w+", "x", token) for token in tokens)
                        found[language].setdefault(hash(key), function)
    return found


def layout(function, language, chance):
    text = TOKEN[language].sub(
        lambda m: "" if m[0].startswith(("//", "/*")) or language == "python" and m[0][0] == "#" else m[0],
        function,
    )
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if language == "python":
        return [line.replace("    ", "\t") for line in lines]
    return [" " * chance.randrange(9) + line.strip() for line in lines]


def renamed(text, language, chance):
    names = {}

    def change(match):
        word = match[0]
        if word[0].isdigit():
            return str(chance.randrange(1000))
        if word[0] in "\"'" or word[-1] in "\"'":
            return word[0] + f"text {chance.randrange(100)}" + word[-1] if len(word) > 3 and word[1] not in "\"'" else word
        if word in KEYWORDS or word.startswith(("//", "/*", "#")):
            return word
        return names.setdefault(word, f"name{len(names) + 1}_{chance.randrange(1000)}")

    return TOKEN[language].sub(change, text)


def edited(lines, others, chance):
    lines = list(lines)
    for _ in range(max(1, round(len(lines) * chance.uniform(0.1, 0.3)))):
        at = chance.randrange(1, max(2, len(lines) - 1))
        kind = chance.randrange(3)
        if kind == 0 and len(lines) > 4:
            del lines[at]
        elif kind == 1:
            lines.insert(at, chance.choice(lines))
        else:
            lines.insert(at, chance.choice(others))
    return lines


def documents(found, language, chance):
    bases = sorted(found.values())
    chance.shuffle(bases)
    bases = bases[:FUNCTIONS]
    plain = [layout(base, language, chance) for base in bases]
    made = []
    for at, (base, lines) in enumerate(zip(bases, plain)):
        second = renamed("\n".join(lines), language, chance)
        other = renamed("\n".join(plain[(at + 1) % len(plain)]), language, chance).splitlines()
        third = edited(second.splitlines(), other, chance)
        made += [
            (f"{at}:0", base),
            (f"{at}:1", "\n".join(lines)),
            (f"{at}:2", second),
            (f"{at}:3", "\n".join(third)),
        ]
    return made


def rows(path):
    lines = [line.rstrip("\n") for line in open(path) if not line.startswith("#")]
    head = lines[0].split("\t")
    return [dict(zip(head, line.split("\t"))) for line in lines[1:]]


def resemblances(program, file, flags, place):
    out = os.path.join(place, "out")
    command = [program, "run", file, "-o", out, "--threshold", "0.3", "--quiet", *flags]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    members = {}
    for row in rows(os.path.join(out, "documents.tsv")):
        members[row["docno"]] = [row["docno"]]
    for row in rows(os.path.join(out, "exact-duplicates.tsv")):
        members[row["representative"]].append(row["docno"])
        del members[row["docno"]]
    found = {}
    for all_of in members.values():
        for i, a in enumerate(all_of):
            for b in all_of[i + 1 :]:
                found[frozenset((a, b))] = 1.0
    for row in rows(os.path.join(out, "pairs.tsv")):
        for a in members[row["docno_a"]]:
            for b in members[row["docno_b"]]:
                found[frozenset((a, b))] = float(row["resemblance"])
    subprocess.run(["rm", "-r", out], check=True)
    return found


ENDINGS = {
    "c": (".c", ".h", ".cc", ".cpp", ".hpp"),
    "java": (".java",),
    "python": (".py",),
    "javascript": (".js", ".mjs", ".ts"),
    "rust": (".rs",),
    "go": (".go",),
    "sql": (".sql",),
    "shell": (".sh",),
    "latex": (".tex", ".sty", ".cls", ".ltx"),
}


def sources(directories, endings):
    """Different texts of a language, up to 32 MB."""
    size, seen = 0, set()
    for directory in directories:
        for place, folders, names in os.walk(directory):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(place, name)
                if not name.endswith(endings) or not os.path.isfile(path):
                    continue
                try:
                    text = open(path, encoding="utf-8").read(1 << 20)
                except (OSError, UnicodeDecodeError):
                    continue
                if len(text) > 200 and text not in seen:
                    seen.add(text)
                    size += len(text.encode())
                    yield text
                if size > 32e6:
                    return


def seconds(command):
    """The CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def speed(program, directories):
    print("| language | MB | `words`, MB/s | `code:LANGUAGE`, MB/s | `code:LANGUAGE:drop`, MB/s |")
    print("| --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as place:
        file, out = os.path.join(place, "in.jsonl"), os.path.join(place, "out")
        for language, endings in ENDINGS.items():
            size = 0
            with open(file, "w") as made:
                for at, text in enumerate(sources(directories, endings)):
                    size += len(text.encode())
                    made.write(json.dumps({"id": str(at), "text": text}, ensure_ascii=False) + "\n")
            if size == 0:
                continue
            kinds = ["words", f"code:{language}", f"code:{language}:drop"]
            least = {kind: float("inf") for kind in kinds}
            for _ in range(6):
                for kind in kinds:
                    command = [program, "ingest", file, "-o", out, "--threads", "1", "--tokens", kind, "--quiet"]
                    least[kind] = min(least[kind], seconds(command))
                    subprocess.run(["rm", "-r", out], check=True)
            speeds = " | ".join(f"{size / 1e6 / least[kind]:.0f}" for kind in kinds)
            print(f"| {language} | {size / 1e6:.1f} | {speeds} |", flush=True)


def main():
    if sys.argv[1] == "--speed":
        return speed(sys.argv[2], sys.argv[3:])
    program, directories = sys.argv[1], sys.argv[2:]
    chance = random.Random(1)
    found = gather(directories)
    made = {language: documents(found[language], language, chance) for language in TOKEN}
    counts = ", ".join(f"{len(made[language]) // 4} functions of {language}" for language in TOKEN)
    print(f"{counts}; three clones of each\n")
    settings = [
        ("words", lambda language: ["--tokens", "words"]),
        ("code", lambda language: ["--tokens", f"code:{language}:drop"]),
        (
            "code, identifiers",
            lambda language: ["--tokens", f"code:{language}:drop", "--fold", "identifiers"],
        ),
        (
            "code, identifiers, literals",
            lambda language: ["--tokens", f"code:{language}:drop", "--fold", "identifiers,literals"],
        ),
    ]
    print("| tokens | shingle size | threshold | type 1 | type 2 | type 3 | false pairs |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as place:
        file = os.path.join(place, "in.jsonl")
        for name, flags in settings:
            for size in SIZES:
                counts = {threshold: [0] * 4 for threshold in THRESHOLDS}
                bases = false = 0
                for language, all_of in made.items():
                    with open(file, "w") as out:
                        for docno, text in all_of:
                            out.write(json.dumps({"id": docno, "text": text}) + "\n")
                    given = [*flags(language), "--shingle-size", str(size)]
                    n = len(all_of) // 4
                    bases += n
                    false += n * (n - 1) // 2
                    for pair, value in resemblances(program, file, given, place).items():
                        (a, x), (b, y) = sorted(docno.split(":") for docno in pair)
                        if a == b and "0" in (x, y):
                            kind = int(max(x, y))
                        elif a != b and x == y == "0":
                            kind = 0
                        else:
                            continue
                        for threshold in THRESHOLDS:
                            if value >= threshold:
                                counts[threshold][kind] += 1
                for threshold in THRESHOLDS:
                    wrong, *right = counts[threshold]
                    recall = " | ".join(f"{n / bases:.3f}" for n in right)
                    print(f"| {name} | {size} | {threshold} | {recall} | {100 * wrong / false:.3f} % |")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
