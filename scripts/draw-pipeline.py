#!/usr/bin/env python3
"""Draw the pipeline for docs/guide/concepts.md: docs/pipeline-light.svg and docs/pipeline-dark.svg.

All figures are read from the output of scripts/bench-run.sh in docs/measurements.md (linuxdocs-medium,
--memory 256MiB).

    scripts/draw-pipeline.py
"""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"

THEMES = {
    "light": {
        "page": "#ffffff",
        "card": "#f6f8fa",
        "line": "#d0d7de",
        "text": "#1f2328",
        "faint": "#59636e",
        "strong": "#0550ae",
        "parts": ["#0969da", "#54aeff", "#1b7c83", "#8c959f"],
    },
    "dark": {
        "page": "#0d1117",
        "card": "#161b22",
        "line": "#3d444d",
        "text": "#f0f6fc",
        "faint": "#9198a1",
        "strong": "#79c0ff",
        "parts": ["#1f6feb", "#58a6ff", "#39c5cf", "#656c76"],
    },
}

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
    """The picture in the colours of a theme."""
    cards = [
        ("Read", short(found["documents"]), "documents", f"{found['gigabytes']} GB of pages"),
        ("Shingle", short(found["shingles"]), "shingles", "ten words in a row"),
        ("Sort and merge", short(found["postings"]), "postings", "of shared shingles"),
        ("Filter", short(found["prefixes"]), "postings", "of the rarest shingles"),
        ("Verify", short(found["candidates"]), "candidates", "full sets compared"),
        ("Result", short(found["pairs"]), "pairs", "none missing or false"),
    ]
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-16 -8 {WIDTH + 32} {HEIGHT + 16}" width="{WIDTH + 32}"'
        f' height="{HEIGHT + 16}" role="img" font-family="system-ui, -apple-system, \'Segoe UI\', Roboto,'
        ' \'Helvetica Neue\', Arial, sans-serif">',
        "<title>From documents to pairs: what each stage of lookalike leaves to the next</title>",
        f'<rect x="-16" y="-8" width="{WIDTH + 32}" height="{HEIGHT + 16}" rx="10" fill="{theme["page"]}"/>',
    ]

    def text(x, y, size, colour, what, weight=400, anchor="middle"):
        out.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}"'
            f' text-anchor="{anchor}" fill="{colour}">{what}</text>'
        )

    for i, (stage, number, noun, note) in enumerate(cards):
        left, middle = i * (CARD + GAP), i * (CARD + GAP) + CARD / 2
        last = i == len(cards) - 1
        out.append(
            f'<rect x="{left + 0.75:.1f}" y="8.75" width="{CARD - 1.5}" height="{CARD_HEIGHT}" rx="10"'
            f' fill="{theme["card"]}" stroke="{theme["strong"] if last else theme["line"]}"'
            ' stroke-width="1.5"/>'
        )
        text(middle, 35, 14, theme["faint"], stage, 600)
        text(middle, 77, 25, theme["strong"] if last else theme["text"], number, 700)
        text(middle, 99, 14, theme["text"], noun)
        text(middle, 127, 12, theme["faint"], note)
        if not last:
            x, y = left + CARD + GAP / 2, 8 + CARD_HEIGHT / 2
            out.append(
                f'<path d="M{x - 4:.1f} {y - 7:.1f} l7 7 l-7 7" fill="none" stroke="{theme["faint"]}"'
                ' stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/>'
            )

    parts = [
        ("read and shingle", seconds["ingest"]),
        ("sort and merge", seconds["sort"] + seconds["merge"]),
        ("filter and verify", seconds["join"]),
        ("the rest", seconds["catalogue"] + seconds["sample"] + seconds["cluster"]),
    ]
    total = sum(part for _, part in parts)
    text(0, 186, 14, theme["text"], "CPU seconds by stage", 600, "start")
    out.append(f'<clipPath id="bar"><rect x="0" y="199" width="{WIDTH}" height="18" rx="5"/></clipPath>')
    out.append('<g clip-path="url(#bar)">')
    x, legend = 0.0, []
    for colour, (name, part) in zip(theme["parts"], parts):
        width = WIDTH * part / total
        out.append(f'<rect x="{x:.1f}" y="199" width="{width:.1f}" height="18" fill="{colour}"/>')
        legend.append((colour, f"{name} {part:.1f} s"))
        x += width
    out.append("</g>")
    x = 0.0
    for colour, label in legend:
        out.append(f'<rect x="{x:.1f}" y="235" width="11" height="11" rx="2.5" fill="{colour}"/>')
        text(x + 17, 245, 13, theme["faint"], label, 400, "start")
        x += 50 + 7.1 * len(label)
    text(WIDTH, 245, 13, theme["faint"], "two cores, --memory 256MiB", 400, "end")
    return "\n".join(out + ["</svg>", ""])


def main():
    found, seconds = measured()
    for name, theme in THEMES.items():
        path = DOCS / f"pipeline-{name}.svg"
        path.write_text(draw(theme, found, seconds), encoding="utf-8")


if __name__ == "__main__":
    main()
