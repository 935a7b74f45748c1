#!/usr/bin/env python3
"""Draw the pipeline for docs/guide/concepts.md: docs/pipeline-light.svg and docs/pipeline-dark.svg.

All figures are read from the output of scripts/bench-run.sh in docs/measurements.md (linuxdocs-medium,
--memory 256MiB).

    scripts/draw-pipeline.py
"""

import re

from drawing import DOCS, Picture, write

# The colours of the stages, from the first to the last.
PARTS = ["#0969da", "#54aeff", "#1b7c83", "#8c959f"]
WIDTH, HEIGHT, CARD, CARD_HEIGHT, GAP = 1000, 262, 148, 138, 22.4


def measured():
    """The figures of the run, by name; CPU seconds by stage."""
    page = (DOCS / "measurements.md").read_text(encoding="utf-8")
    part = page.split("<!-- made by: scripts/bench-run.sh linuxdocs-medium/trecweb -->")[1]
    part = part.split("<!-- end -->")[0]
    pattern = (
        r"(?P<documents>\d+) documents, (?P<gigabytes>[\d.]+) GB of pages, (?P<shingles>\d+) distinct"
        r"(?s:.*)--memory 256MiB: .*? join: (?P<prefixes>\d+) of (?P<postings>\d+) (?:postings|fingerprints) in prefixes, "
        r"\d+ probes, (?P<candidates>\d+) candidates, (?P<pairs>\d+) pairs\n(?P<stages>(?: +.*CPU\n)+)"
    )
    found = re.search(pattern, part)
    stages = re.findall(r"(\w+) +[\d.]+ s wall +([\d.]+) s CPU", found["stages"])
    return found, {stage: float(seconds) for stage, seconds in stages}


def short(number):
    """A count in at most six characters."""
    number = int(number)
    return f"{number / 1e6:.1f} M" if number >= 1e6 else f"{number:,}"


def draw(theme, found, seconds):
    """The stages as cards, and the CPU time of each."""
    cards = [
        ("Read", short(found["documents"]), "documents", f"{found['gigabytes']} GB of pages"),
        ("Shingle", short(found["shingles"]), "shingles", "ten words in a row"),
        ("Sort and merge", short(found["postings"]), "postings", "of shared shingles"),
        ("Filter", short(found["prefixes"]), "postings", "of the rarest shingles"),
        ("Verify", short(found["candidates"]), "candidates", "full sets compared"),
        ("Result", short(found["pairs"]), "pairs", "none missing or false"),
    ]
    title = "From documents to pairs: what each stage of lookalike leaves to the next"
    picture = Picture(theme, title, WIDTH + 32, HEIGHT + 16)
    picture.add('<g transform="translate(16 8)">')
    for i, (stage, number, noun, note) in enumerate(cards):
        left, middle = i * (CARD + GAP), i * (CARD + GAP) + CARD / 2
        last = i == len(cards) - 1
        picture.box(left + 0.75, 8.75, CARD - 1.5, CARD_HEIGHT, theme["card"], theme["marks"][0] if last else theme["line"])
        picture.text(middle, 35, 14, stage, "faint", 600, "middle")
        picture.text(middle, 77, 25, number, theme["marks"][0] if last else "text", 700, "middle")
        picture.text(middle, 99, 14, noun, anchor="middle")
        picture.text(middle, 127, 12, note, "faint", anchor="middle")
        if not last:
            x, y = left + CARD + GAP / 2, 8 + CARD_HEIGHT / 2
            picture.line(f"M{x - 4:.1f} {y - 7:.1f} l7 7 l-7 7", theme["faint"], 2)

    parts = [
        ("read and shingle", seconds["ingest"]),
        ("sort and merge", seconds["sort"] + seconds["merge"]),
        ("filter and verify", seconds["join"]),
        ("the rest", seconds["catalogue"] + seconds["sample"] + seconds["cluster"]),
    ]
    total = sum(part for _, part in parts)
    picture.text(0, 186, 14, "CPU seconds by stage", weight=600)
    begin = start = 0.0
    for colour, (name, part) in zip(PARTS, parts):
        width = WIDTH * part / total
        picture.add(f'<rect x="{begin:.1f}" y="199" width="{width:.1f}" height="18" fill="{colour}"/>')
        label = f"{name} {part:.1f} s"
        picture.add(f'<rect x="{start:.1f}" y="235" width="11" height="11" rx="2.5" fill="{colour}"/>')
        picture.text(start + 17, 245, 13, label, "faint")
        begin, start = begin + width, start + 50 + 7.1 * len(label)
    picture.text(WIDTH, 245, 13, "two cores, --memory 256MiB", "faint", anchor="end")
    picture.add("</g>")
    return picture


def main():
    found, seconds = measured()
    write("pipeline", lambda theme: draw(theme, found, seconds))


if __name__ == "__main__":
    main()
