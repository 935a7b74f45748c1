#!/usr/bin/env python3
"""Score what a tool found against a ground truth of scripts/make-truth.sh.

    score-truth.py TRUTH pairs FILE       two ids a line: a pair
    score-truth.py TRUTH clusters FILE    an id and its cluster a line
    score-truth.py TRUTH removed FILE     an id a line: what a deduplication removed
    score-truth.py TRUTH kept FILE        an id a line: what it kept

Columns are separated by tabs or commas, and further columns are ignored. A line whose first cell is no id is counted
and left out. `--threshold 0.85` chooses the pairs that count (0.85). Needs nothing but Python.
"""
import argparse
import collections
import csv

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("truth")
parser.add_argument("kind", choices=["pairs", "clusters", "removed", "kept"])
parser.add_argument("file")
parser.add_argument("--threshold", type=float, default=0.85)
args = parser.parse_args()


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        separator = "\t" if "\t" in file.readline() else ","
        file.seek(0)
        yield from (row for row in csv.reader(file, delimiter=separator, quoting=csv.QUOTE_MINIMAL) if row)


ids = {row[0] for row in table(f"{args.truth}/documents.tsv")} - {"id"}
near = collections.defaultdict(set)
true = set()
for a, b, resemblance, *_ in table(f"{args.truth}/pairs.tsv"):
    if a in ids and float(resemblance) >= args.threshold:
        true.add(frozenset((a, b)))
        near[a].add(b)
        near[b].add(a)

found = [row for row in table(args.file) if row[0] not in ("id", "id_a")]
known = [row for row in found if row[0] in ids and (args.kind != "pairs" or row[1] in ids)]
if len(known) < len(found):
    unknown = next(row for row in found if row not in known)
    print(f"{len(found) - len(known)} lines without an id of the truth, such as {','.join(unknown)[:80]}")


def share(part, whole):
    return f"{part / whole if whole else 1:.6f} ({part} of {whole})"


if args.kind in ("pairs", "clusters"):
    pairs = {frozenset(row[:2]) for row in known if row[0] != row[1]}
    if args.kind == "clusters":
        clusters = collections.defaultdict(list)
        for id, cluster, *_ in known:
            clusters[cluster].append(id)
        pairs = {frozenset((a, b)) for of in clusters.values() for i, a in enumerate(of) for b in of[i + 1:] if a != b}
    print(f"precision {share(len(pairs & true), len(pairs))}\nrecall    {share(len(pairs & true), len(true))}")
else:
    named = {row[0] for row in known}
    kept = named if args.kind == "kept" else ids - named
    removed = ids - kept
    right = sum(not near[id].isdisjoint(kept) for id in removed)
    left = sum(a in kept and b in kept for a, b in map(tuple, true))
    print(f"removed, and near to a kept document {share(right, len(removed))}\npairs left in what is kept {left}")
