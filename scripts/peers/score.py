"""Scores a peer's pairs against lookalike's, over all pairs of documents.

    score.py LOOKALIKE-DIR DOCUMENTS.jsonl PEER-DIR...

DOCUMENTS.jsonl: what `lookalike check inspect` prints of the documents of LOOKALIKE-DIR; their MD5s say
which documents are identical. Pairs of representatives are expanded to all documents that they
stand for, in the peer's results by the peer's own MD5s. Writes score.json into each PEER-DIR.

A pair is `identical` if lookalike's MD5s are equal. Precision is 1 where nothing was found, recall 1
where there was nothing to find. An empty document is in no pair.
"""
import collections
import hashlib
import itertools
import json
import sys

import numpy as np

EMPTY = hashlib.md5(b"").hexdigest()


def expand(md5s, pairs):
    """Sorted keys a * n + b, a < b, of all pairs of documents."""
    groups = collections.defaultdict(list)
    for number, md5 in enumerate(md5s):
        if md5 != EMPTY:
            groups[md5].append(number)
    keys = []
    n = len(md5s)
    for group in groups.values():
        if len(group) > 1:
            keys.append(np.fromiter((a * n + b for a, b in itertools.combinations(group, 2)), np.int64))
    for a, b in pairs:
        left = np.asarray(groups[md5s[a]], np.int64)[:, None]
        right = np.asarray(groups[md5s[b]], np.int64)[None, :]
        keys.append((np.minimum(left, right) * n + np.maximum(left, right)).ravel())
    return np.unique(np.concatenate(keys)) if keys else np.empty(0, np.int64)


def cells(path):
    """The cells of a TSV file, without its comments."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                yield line.rstrip("\n").split("\t")


def measures(found, truth):
    right = len(np.intersect1d(found, truth, assume_unique=True))
    return {
        "found": len(found),
        "true": len(truth),
        "right": right,
        "precision": right / len(found) if len(found) else 1.0,
        "recall": right / len(truth) if len(truth) else 1.0,
    }


def main():
    ours, documents, *peers = sys.argv[1:]
    numbers, md5s = {}, []
    with open(documents, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                row = json.loads(line)
                numbers[row["docno"]] = len(md5s)
                md5s.append(row["md5"])
    if len(numbers) != len(md5s):
        sys.exit(f"{documents}: a docno is not unique")
    n = len(md5s)
    group = np.unique(md5s, return_inverse=True)[1]

    def differing(keys):
        return keys[group[keys // n] != group[keys % n]]

    table = cells(f"{ours}/pairs.tsv")
    next(table)  # its column names
    truth = expand(md5s, [(numbers[row[0]], numbers[row[1]]) for row in table])
    for peer in peers:
        theirs = [None] * n
        for docno, md5 in cells(f"{peer}/documents.tsv"):
            theirs[numbers[docno]] = md5
        if None in theirs:
            sys.exit(f"{peer}: documents are missing")
        pairs = [(numbers[row[0]], numbers[row[1]]) for row in cells(f"{peer}/pairs.tsv")]
        found = expand(theirs, pairs)
        score = {
            "documents": n,
            "same_md5": sum(a == b for a, b in zip(md5s, theirs)),
            "all": measures(found, truth),
            "not_identical": measures(differing(found), differing(truth)),
        }
        with open(f"{peer}/score.json", "w", encoding="utf-8") as file:
            file.write(json.dumps(score, indent=1) + "\n")


if __name__ == "__main__":
    main()
