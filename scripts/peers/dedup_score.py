"""Scores deduplicated output by the exact pairs of all documents.

    dedup_score.py RUN KEPT

RUN: the directory of `lookalike run` over the whole input, whose pairs bench-peers.sh compares with an independent exact
program. KEPT: the kept documents, JSON lines behind zstd (id) or Parquet (column id). Prints, tab-separated: documents
removed; removals without a kept document that reaches the threshold; pairs of kept documents that reach it.
"""
import collections
import glob
import io
import sys

import orjson
import zstandard


def kept_names(directory):
    for path in sorted(glob.glob(f"{directory}/**/*.*", recursive=True)):
        if path.endswith(".parquet"):
            import pyarrow.parquet

            yield from pyarrow.parquet.read_table(path, columns=["id"])["id"].to_pylist()
        elif path.endswith(".zst"):
            with open(path, "rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
                for line in io.BufferedReader(stream, 1 << 20):
                    yield orjson.loads(line)["id"]


def rows(path, columns):
    with open(path, encoding="utf-8") as file:
        lines = (line.rstrip("\n").split("\t") for line in file if not line.startswith("#"))
        header = next(lines)
        places = [header.index(column) for column in columns.split()]
        for line in lines:
            yield [line[place] for place in places]


def main():
    run, kept_directory = sys.argv[1:]
    kept = list(kept_names(kept_directory))
    names = {name for name, in rows(f"{run}/documents.tsv", "docno")}
    assert len(set(kept)) == len(kept) and names.issuperset(kept), "names repeat, or are not those of the input"
    representative = dict(rows(f"{run}/exact-duplicates.tsv", "docno representative"))
    # Kept documents of each class of exact duplicates.
    count = collections.Counter(representative.get(name, name) for name in kept)
    survivors = set(count)
    pairs = sum(n * (n - 1) // 2 for n in count.values())
    for a, b in rows(f"{run}/pairs.tsv", "docno_a docno_b"):
        pairs += count[a] * count[b]
        for one, other in ((a, b), (b, a)):
            if count[one] > 0:
                survivors.add(other)
    removed = names.difference(kept)
    alone = sum(representative.get(name, name) not in survivors for name in removed)
    print(len(removed), alone, pairs, sep="\t")


if __name__ == "__main__":
    main()
