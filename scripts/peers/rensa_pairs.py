"""Near-duplicates with rensa: R-MinHash of whole sets, bands, candidates checked by estimate.

    rensa_pairs.py TEXT.jsonl OUT-DIR --threshold T --shingle-size W --slots N --bands N

Its batch calls are used throughout: one from_token_sets, insert_many and query_all for a batch.
Exact duplicates are set aside by MD5 before, as lookalike does, which spares rensa their sketches
and makes it find all identical pairs.
"""
import argparse

from rensa import RMinHash, RMinHashLSH

import text

# Shingles in a batch: 4 MB of text or so; larger ones cost memory and are no faster.
BATCH = 500_000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input")
    parser.add_argument("out")
    parser.add_argument("--threshold", type=float, required=True)
    parser.add_argument("--shingle-size", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--bands", type=int, required=True)
    args = parser.parse_args()

    index = RMinHashLSH(args.threshold, args.slots, args.bands)
    md5s, numbers, sketches, pairs = [], [], [], []
    documents = text.representatives(args.input, args.shingle_size, md5s)
    for batch in text.batches(documents, BATCH):
        first = len(sketches)
        made = RMinHash.from_token_sets([shingles for _, shingles in batch], args.slots, 42)
        numbers.extend(number for number, _ in batch)
        sketches.extend(made)
        index.insert_many(made, first)
        for key, (sketch, candidates) in enumerate(zip(made, index.query_all(made)), first):
            for other in set(candidates):
                if other < key:
                    estimate = sketch.jaccard(sketches[other])
                    if estimate >= args.threshold:
                        pairs.append((numbers[other], numbers[key], estimate))
    text.write(args.out, md5s, pairs)


if __name__ == "__main__":
    main()
