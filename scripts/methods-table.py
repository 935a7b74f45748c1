#!/usr/bin/env python3
"""Prints a compare.json as tables in Markdown; of several, the table of docs/laboratory/methods-compared.md: the least and
the greatest precision and recall, and the cost on the last collection. Needs nothing but Python."""

import json
import sys


def share(value):
    return "–" if value is None else f"{100 * value:.1f}"


def ranges(paths):
    """One row for each method, over all of the collections."""
    several = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            several.append(json.load(file)["methods"])
    truths = [a["truth"] for a in several[0][0]["against"]]
    head = ["method"] + [f"{what} {truth}, %" for truth in truths for what in ("P", "R")]
    head += ["CPU s", "peak MiB", "disk MiB"]
    print("| " + " | ".join(head) + " |")
    print("| --- |" + " ---: |" * (len(head) - 1))
    for rows in zip(*several, strict=True):
        assert len({row["method"] for row in rows}) == 1, "the collections were compared by different methods"
        last = rows[-1]
        cells = [f"`{last['method']}`"]
        for n in range(len(truths)):
            for what in ("precision", "recall"):
                shares = [share(value) for value in sorted(row["against"][n][what] or 0 for row in rows)]
                cells.append(shares[0] if shares[0] == shares[-1] else f"{shares[0]}–{shares[-1]}")
        cells += [f"{last['cpu_seconds']:.1f}", f"{last['peak_bytes'] >> 20:,}", f"{last['disk_bytes'] / 2**20:.1f}"]
        print("| " + " | ".join(cells) + " |")


if len(sys.argv) > 2:
    ranges(sys.argv[1:])
    sys.exit()
with open(sys.argv[1], encoding="utf-8") as file:
    found = json.load(file)

documents, representatives = found["documents"], found["representatives"]
print(f"{documents:,} documents, {representatives:,} of them no exact duplicates; pairs found by any method: "
      f"{found['agreement']['any']:,}, by all: {found['agreement']['by_methods'][-1]:,}.")
print()
truths = [a["truth"] for a in found["methods"][0]["against"]]
head = ["method", "ignored", "keys/doc", "pairs", "alone", "clusters", "in them", "largest"]
head += [f"{what} {truth}, %" for truth in truths for what in ("P", "R")]
head += ["CPU s", "peak MiB", "disk MiB"]
print("| " + " | ".join(head) + " |")
print("| --- |" + " ---: |" * (len(head) - 1))
for n, row in enumerate(found["methods"]):
    cells = [f"`{row['method']}`", f"{row['ignored']:,}", f"{row['keys'] / max(representatives, 1):.1f}",
             f"{row['pairs']:,}", f"{found['agreement']['alone'][n]:,}", f"{row['clusters']:,}",
             f"{row['documents']:,}", f"{row['largest']:,}"]
    for against in row["against"]:
        cells += [share(against["precision"]), share(against["recall"])]
    cells += [f"{row['cpu_seconds']:.1f}", f"{row['peak_bytes'] >> 20:,}", f"{row['disk_bytes'] / 2**20:.1f}"]
    print("| " + " | ".join(cells) + " |")
families = found.get("families")
if families:
    members = sum(row["documents"] for row in families["rows"])
    print()
    print(f"{families['copies']:,} copies of {families['originals']:,} originals.")
    print()
    edits = sorted({point[0] for curve in families["curves"] for point in curve["points"]})
    shown = [e for e in (1, 5, 10, 20, 50) if e in edits] if len(edits) <= 50 else []
    head = ["method", "found, %", "clusters of an original"] + [f"similarity, {e} edits" for e in shown]
    head += ["mean of distinct", "distinct above 0.5"]
    print("| " + " | ".join(head) + " |")
    print("| --- |" + " ---: |" * (len(head) - 1))
    for n, row in enumerate(found["methods"]):
        together = sum(family["found"][n] for family in families["rows"])
        clusters = sum(family["clusters"][n] for family in families["rows"])
        points = {point[0]: point[2] for point in families["curves"][n]["points"]}
        distinct = families["distributions"][n]
        cells = [f"`{row['method']}`", f"{100 * together / members:.1f}", f"{clusters / families['originals']:.1f}"]
        cells += [f"{points[e]:.3f}" for e in shown]
        cells += [f"{sum(distinct['similar']) / max(distinct['pairs'], 1):.4f}",
                  f"{sum(s > 0.5 for s in distinct['similar']):,} of {distinct['pairs']:,}"]
        print("| " + " | ".join(cells) + " |")
