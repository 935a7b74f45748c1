#!/usr/bin/env python3
"""Measure how far an edit lowers the resemblance of texts of different lengths, and draw it for docs/guide/threshold.md:
docs/threshold-light.svg, docs/threshold-dark.svg and the table of the page.

    scripts/draw-threshold.py [PROGRAM]        PROGRAM is lookalike, by default the one on the path

The texts are the first 15 to 2,000 words of the pages in sample-corpora/trec-web. Each gets three edited copies, in which
one word, one sentence (20 words) or one paragraph (100 words) in the middle is replaced by words that no page has.
`lookalike run` compares them, and pairs.tsv has the resemblance. Needs nothing but Python.
"""

import gzip
import html
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from drawing import DOCS, Picture, write

BUNDLES = DOCS.parent / "sample-corpora/trec-web"
LENGTHS = [15, 30, 60, 100, 200, 300, 500, 1000, 2000]
SIZES = [10, 5]
EDITS = {"one word": 1, "one sentence (20 words)": 20, "one paragraph (100 words)": 100}
LEAST = "0.01"

def pages_of(bundle):
    """The words of each page in a bundle of TREC."""
    text = gzip.decompress(bundle.read_bytes()).decode("utf-8", "replace")
    for page in re.findall(r"(?s)</DOCHDR>(.*?)</DOC>", text):
        page = re.sub(r"(?s)<(script|style|head)\b.*?</\1>|<!--.*?-->|<[^>]*>", " ", page)
        yield re.findall(r"[A-Za-z0-9]+", html.unescape(page))


def texts():
    """Every text and its edited copies, by name: a length, an edit and a page."""
    pages = [page for bundle in sorted(BUNDLES.glob("*.gz")) for page in pages_of(bundle)]
    seen = set()
    for length in LENGTHS:
        for number, words in enumerate(pages):
            text = words[:length]
            key = " ".join(text).lower()
            if len(text) < length or key in seen:
                continue
            seen.add(key)
            yield f"{length}/none/{number}", text
            for edit, size in EDITS.items():
                # A paragraph is not a part of a text that is hardly longer.
                if length < 2 * size:
                    continue
                begin = (length - size) // 2
                new = [f"new{number}word{i}" for i in range(size)]
                yield f"{length}/{edit}/{number}", text[:begin] + new + text[begin + size :]


def measured(program):
    """The resemblance of each text and its edited copies, by shingle size, edit and length."""
    found = {}
    with tempfile.TemporaryDirectory() as place:
        inputs = Path(place) / "texts.jsonl"
        named = dict(texts())
        lines = (json.dumps({"id": name, "text": " ".join(words)}) for name, words in named.items())
        inputs.write_text("\n".join(lines) + "\n", encoding="utf-8")
        for size in SIZES:
            out = Path(place) / f"out-{size}"
            command = [program, "run", inputs, "-o", out, "--threshold", LEAST, "--shingle-size", str(size), "--quiet"]
            subprocess.run(command, check=True)
            pairs = {}
            for line in (out / "pairs.tsv").read_text(encoding="utf-8").splitlines():
                if line.startswith(("#", "docno_a")):
                    continue
                a, b, resemblance = line.split("\t")[:3]
                (length, before, page), (length_b, edit, page_b) = a.split("/"), b.split("/")
                if (length, page) == (length_b, page_b) and before == "none":
                    pairs[b] = float(resemblance)
            for name in named:
                length, edit, _ = name.split("/")
                if edit != "none":
                    # A pair below the least threshold is not listed.
                    found.setdefault((size, edit, int(length)), []).append(pairs.get(name, 0.0))
    return found


def table(found):
    """The medians as a table in Markdown."""
    heads = [f"{edit.split(' (')[0]}, {size}" for edit in EDITS for size in SIZES]
    lines = ["| words | " + " | ".join(heads) + " |", "| ---: |" + " ---: |" * len(heads)]
    for length in LENGTHS:
        cells = []
        for edit in EDITS:
            for size in SIZES:
                values = found.get((size, edit, length))
                cells.append(f"{statistics.median(values):.2f}" if values else "")
        lines.append(f"| {length:,} | " + " | ".join(cells) + " |")
    pages = {length: len(found[SIZES[0], "one word", length]) for length in LENGTHS}
    counts = f"Medians of {min(pages.values())} to {max(pages.values())} texts of each length."
    return "\n".join([*lines, "", counts])


def draw(theme, found):
    """The chart: a panel for each shingle size."""
    width, height, left, top, panel, tall, gap = 1000, 420, 62, 70, 420, 270, 66
    title = "Resemblance after an edit in the middle, by the length of the text"
    picture = Picture(theme, title, width, height)
    low, high = math.log(LENGTHS[0]), math.log(LENGTHS[-1])
    for number, size in enumerate(SIZES):
        begin = left + number * (panel + gap)

        def x(length, begin=begin):
            return begin + panel * (math.log(length) - low) / (high - low)

        def y(resemblance):
            return top + tall * (1 - resemblance)

        picture.text(begin, 34, 16, f"--shingle-size {size}" + (" (default)" if size == 10 else ""), weight=600)
        for tick in (0, 0.25, 0.5, 0.75, 1):
            picture.line(f"M{begin:.1f} {y(tick):.1f}h{panel}", theme["line"])
            picture.text(begin - 8, y(tick) + 4.5, 12, f"{tick:g}", "faint", anchor="end")
        picture.line(f"M{begin:.1f} {y(0.85):.1f}h{panel}", theme["text"], 1.2, dashed=True)
        picture.text(begin + 4, y(0.85) - 5, 12, "default threshold 0.85")
        for length in LENGTHS:
            picture.text(x(length), top + tall + 18, 12, f"{length:,}", "faint", anchor="middle")
        picture.text(begin + panel / 2, top + tall + 38, 12, "words in the text", "faint", anchor="middle")
        for colour, edit in zip(theme["marks"], EDITS):
            values = {length: found[size, edit, length] for length in LENGTHS if (size, edit, length) in found}
            middle = {length: statistics.median(all_of) for length, all_of in values.items()}
            band = [f"{x(length):.1f},{y(max(all_of)):.1f}" for length, all_of in values.items()]
            band += [f"{x(length):.1f},{y(min(all_of)):.1f}" for length, all_of in reversed(values.items())]
            picture.add(f'<polygon points="{" ".join(band)}" fill="{colour}" opacity="0.15"/>')
            points = " ".join(f"{x(length):.1f},{y(value):.1f}" for length, value in middle.items())
            picture.add(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.2"/>')
            for length, value in middle.items():
                picture.add(f'<circle cx="{x(length):.1f}" cy="{y(value):.1f}" r="3.2" fill="{colour}"/>')
    start = left
    for colour, edit in zip(theme["marks"], EDITS):
        picture.add(f'<circle cx="{start + 5}" cy="{height - 17}" r="5" fill="{colour}"/>')
        picture.text(start + 17, height - 12, 13, f"{edit} replaced")
        start += 60 + 7 * len(f"{edit} replaced")
    picture.text(width - 28, 34, 12, "line: median; band: least to greatest", "faint", anchor="end")
    return picture


def main():
    found = measured(sys.argv[1] if len(sys.argv) > 1 else "lookalike")
    write("threshold", lambda theme: draw(theme, found))
    page = DOCS / "guide/threshold.md"
    mark, end = "<!-- made by: scripts/draw-threshold.py -->\n", "\n<!-- end -->"
    before, rest = page.read_text(encoding="utf-8").split(mark)
    page.write_text(before + mark + table(found) + end + rest.split(end, 1)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
