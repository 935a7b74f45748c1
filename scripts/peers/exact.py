"""Checks lookalike's results on a text against an independent exact program.

    exact.py TEXT.jsonl OUT-DIR --threshold T --shingle-size W --lookalike DIR

DIR is the output of `lookalike run` on TEXT.jsonl. The definitions are those of oracle.py: its
tokens, MD5s, sets of strings and exact fractions. Only its comparison of all with all is replaced,
by a prefix join: two sets at or above the threshold share one of their |A| - ceil(T |A|) + 1 rarest
shingles, in one order for all. (Bayardo, Ma & Srikant 2007; Chaudhuri, Ganti & Kaushik 2006.)
Every candidate is verified by intersecting the two sets. Prints JSON and fails on any difference.
"""
import argparse
import collections
import fractions
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import oracle  # noqa: E402  (it is found by the line above)


def candidates(documents, threshold):
    """Pairs of documents that share a shingle of their prefixes, the earlier first."""
    frequency = collections.Counter(s for d in documents for s in d.shingles)
    by_shingle = collections.defaultdict(list)
    for number, document in enumerate(documents):
        count = len(document.shingles)
        prefix = count - math.ceil(threshold * count) + 1
        rarest = sorted(document.shingles, key=lambda s: (frequency[s], s))[:prefix]
        others = set()
        for shingle in rarest:
            others.update(by_shingle[shingle])
            by_shingle[shingle].append(number)
        for other in others:
            yield documents[other], document


def rows(path, columns):
    """Some columns of a result file, as a set."""
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    places = [lines[0].index(column) for column in columns.split()]
    return {tuple(line[place] for place in places) for line in lines[1:]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input")
    parser.add_argument("out")
    parser.add_argument("--threshold", type=fractions.Fraction, required=True)
    parser.add_argument("--shingle-size", type=int, required=True)
    parser.add_argument("--lookalike", required=True)
    args = parser.parse_args()

    documents = oracle.collection(args.input, args.shingle_size)
    duplicates = {
        (d.docno, d.representative.docno, d.md5)
        for d in documents if d.representative is not d and d.shingles
    }
    alone = [d for d in documents if d.representative is d and d.shingles]
    pairs = set()
    verified = 0
    for a, b in candidates(alone, args.threshold):
        verified += 1
        shared = len(a.shingles & b.shingles)
        union = len(a.shingles) + len(b.shingles) - shared
        if shared * args.threshold.denominator >= args.threshold.numerator * union:
            pairs.add((a.docno, b.docno, str(shared), str(len(a.shingles)), str(len(b.shingles))))

    ours = rows(f"{args.lookalike}/pairs.tsv", "docno_a docno_b shared shingles_a shingles_b")
    our_duplicates = rows(
        f"{args.lookalike}/exact-duplicates.tsv", "docno representative md5"
    )
    result = {
        "documents": len(documents),
        "verified": verified,
        "pairs": len(pairs),
        "missing": len(pairs - ours),
        "wrong": len(ours - pairs),
        "duplicates": len(duplicates),
        "duplicates_missing": len(duplicates - our_duplicates),
        "duplicates_wrong": len(our_duplicates - duplicates),
    }
    text = json.dumps(result, indent=1)
    print(text)
    with open(f"{args.out}/exact.json", "w", encoding="utf-8") as file:
        file.write(text + "\n")
    wrong = [name for name in result if name.endswith(("missing", "wrong")) and result[name]]
    if wrong:
        sys.exit(f"differs from the independent program: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
