#!/usr/bin/env python3
"""The parts of scripts/make-truth.sh.

    truth.py texts PACKAGES ARCHIVES TEXTS.jsonl     the documentation in source archives, as JSON Lines
    truth.py pairs TEXTS.jsonl RUN TRUTH             the pairs of all documents, and what describes them
    truth.py check PAIRS EXACT TRUTH                 compare them with what scripts/oracle.py found

A document is a file of the documentation, and its id is its path in the archive: `Django-5.1.4/docs/index.txt`.
"""
import collections
import hashlib
import json
import pathlib
import re
import sys
import tarfile

DOCUMENT = re.compile(r"[^/]+/docs?/.*\.(txt|rst)")
FORMER = ["id_a", "id_b", "resemblance", "shared", "shingles_a", "shingles_b"]

DATASHEET = """# Near-duplicate documentation: a ground truth

All {pairs} pairs of {documents} documents with a resemblance of 0.5 or more. The documents are the documentation
(`.txt` and `.rst` files) of {projects} projects of Python in {versions} versions.

- **Motivation.** Recall can only be measured with all pairs that there are. Few collections of whole documents have
  them.
- **Composition.** `documents.tsv` has the id of each document, the SHA-256 of its text in UTF-8, its number of words and
  of distinct shingles. `pairs.tsv` has each pair of two ids, the earlier one in `documents.tsv` first.
- **Definition.** The shingles of a document are its sequences of ten words, each counted once (Broder 1997). Words are
  runs of letters and digits in lower case. Shorter documents have one shingle, of all their words. The resemblance is
  shared / (shingles_a + shingles_b - shared). Identical documents are pairs too: {identical} pairs have the same words.
- **By resemblance.** {histogram}.
- **Collection.** `scripts/make-truth.sh` of lookalike downloads the archives, whose SHA-256 are in
  `scripts/truth-packages.txt`, and makes the same bytes again. The texts are not in this directory. Their licences are
  those of the projects and permit copies.
- **Check.** All pairs were also found by brute force, by a program that shares no code with lookalike.
- **Limits.** Documents with a key or a certificate in PEM are left out. Most pairs are versions of one page. There is no
  markup, no spam, and little that is not English.
- **Use.** `scripts/score-truth.py` compares the pairs, clusters, or removed or kept ids of another tool with it. Compare
  at a threshold and with shingles of the same size, or say so.
"""


def texts(packages, archives, out):
    """Write the documents in the order of the packages and of their paths."""
    with open(out, "w", encoding="utf-8") as to:
        for line in open(packages, encoding="utf-8"):
            if line.strip() and not line.startswith("#"):
                archive = pathlib.Path(archives) / line.split()[1]
                with tarfile.open(archive) as files:
                    found = [file for file in files if file.isfile() and DOCUMENT.fullmatch(file.name)]
                    for file in sorted(found, key=lambda file: file.name):
                        text = files.extractfile(file).read().decode("utf-8", "replace")
                        # lookalike leaves keys and certificates out of a text, and other tools do not.
                        if "-----BEGIN " not in text:
                            to.write(json.dumps({"id": file.name, "text": text}) + "\n")


def rows(path):
    """The rows of a table, by the names of its columns."""
    lines = (line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8") if not line.startswith("# "))
    names = next(lines)
    return (dict(zip(names, line)) for line in lines)


def expanded(order, pairs, exact, shingles):
    """The pairs of all documents, from those of representatives and from the exact duplicates."""
    members = collections.defaultdict(list)
    for duplicate, representative in exact:
        members[representative].append(duplicate)
    of = {id: [id, *members[id]] for id in order}
    everything = {}
    for a, b, shared in pairs:
        for x in of[a]:
            for y in of[b]:
                everything[tuple(sorted((x, y), key=order.get))] = shared
    for group in list(members):
        same = of[group]
        for i, x in enumerate(same):
            for y in same[i + 1:]:
                everything[tuple(sorted((x, y), key=order.get))] = shingles[group]
    return everything


def pairs(texts, run, truth):
    """Write the truth."""
    run, truth = pathlib.Path(run), pathlib.Path(truth)
    documents = {row["docno"]: row for row in rows(run / "documents.tsv")}
    order = {id: number for number, id in enumerate(documents)}
    # Of a document that is an exact duplicate, the column is empty if it was not counted again.
    exact = [(row["docno"], row["representative"]) for row in rows(run / "exact-duplicates.tsv")]
    shingles = {id: int(row["shingles"] or 0) for id, row in documents.items()}
    shingles.update({duplicate: shingles[representative] for duplicate, representative in exact})
    found = ((row["docno_a"], row["docno_b"], int(row["shared"])) for row in rows(run / "pairs.tsv"))
    everything = expanded(order, found, exact, shingles)
    with open(truth / "documents.tsv", "w", encoding="utf-8") as to:
        to.write("id\tsha256\twords\tshingles\n")
        for line in open(texts, encoding="utf-8"):
            document = json.loads(line)
            id, digest = document["id"], hashlib.sha256(document["text"].encode()).hexdigest()
            to.write(f"{id}\t{digest}\t{documents[id]['words']}\t{shingles[id]}\n")
    histogram = collections.Counter()
    with open(truth / "pairs.tsv", "w", encoding="utf-8") as to:
        to.write("\t".join(FORMER) + "\n")
        for a, b in sorted(everything, key=lambda pair: (order[pair[0]], order[pair[1]])):
            shared, of_a, of_b = everything[a, b], shingles[a], shingles[b]
            of_both = of_a + of_b - shared
            histogram[min(10 * shared // of_both, 9) if shared < of_both else 10] += 1
            # Half up, in integers.
            millionths = (2_000_000 * shared + of_both) // (2 * of_both)
            to.write(f"{a}\t{b}\t{millionths // 10**6}.{millionths % 10**6:06}\t{shared}\t{of_a}\t{of_b}\n")
    names = {id.split("/")[0] for id in order}
    ranges = (f"{histogram[step]} from 0.{step}" for step in range(5, 10))
    (truth / "DATASHEET.md").write_text(DATASHEET.format(
        pairs=f"{len(everything):,}", documents=f"{len(order):,}", versions=len(names), identical=f"{histogram[10]:,}",
        projects=len({name.rsplit("-", 1)[0].lower() for name in names}),
        histogram=", ".join(ranges) + f" to below 1, {histogram[10]} of the same shingles"), encoding="utf-8")


def check(found, exact, truth):
    """Compare the truth with the pairs of a brute force."""
    shingles = {row["id"]: int(row["shingles"]) for row in rows(f"{truth}/documents.tsv")}
    order = {id: number for number, id in enumerate(shingles)}
    ours = {(row["id_a"], row["id_b"]): int(row["shared"]) for row in rows(f"{truth}/pairs.tsv")}
    listed = ((row["docno_a"], row["docno_b"], int(row["shared"])) for row in rows(found))
    theirs = expanded(order, listed, [(row["docno"], row["representative"]) for row in rows(exact)], shingles)
    if ours != theirs:
        sys.exit(f"{len(ours)} pairs are not the {len(theirs)} found by brute force, such as "
                 f"{next(iter(set(ours.items()) ^ set(theirs.items())))}")
    print(f"{len(ours)} pairs: the same by brute force")


if __name__ == "__main__":
    {"texts": texts, "pairs": pairs, "check": check}[sys.argv[1]](*sys.argv[2:])
