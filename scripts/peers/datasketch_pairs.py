"""Near-duplicates with datasketch: MinHash, MinHashLSH for a threshold, checked by estimate.

    datasketch_pairs.py TEXT.jsonl OUT-DIR --threshold T --shingle-size W --slots N

As its documentation advises for speed: sketches made by `MinHash.generator` and a faster hash
function than its default, SHA-1. It chooses the bands itself. Exact duplicates are set aside by MD5
before, as lookalike does.
"""
import argparse

import xxhash
from datasketch import MinHash, MinHashLSH

import text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input")
    parser.add_argument("out")
    parser.add_argument("--threshold", type=float, required=True)
    parser.add_argument("--shingle-size", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    args = parser.parse_args()

    index = MinHashLSH(threshold=args.threshold, num_perm=args.slots)
    md5s, numbers, sketches, pairs = [], [], [], []

    def shingle_lists():
        for number, shingles in text.representatives(args.input, args.shingle_size, md5s, True):
            numbers.append(number)
            yield shingles

    made = MinHash.generator(
        shingle_lists(), num_perm=args.slots, hashfunc=xxhash.xxh32_intdigest
    )
    for key, sketch in enumerate(made):
        for other in index.query(sketch):
            estimate = sketch.jaccard(sketches[other])
            if estimate >= args.threshold:
                pairs.append((numbers[other], numbers[key], estimate))
        index.insert(key, sketch, check_duplication=False)
        sketches.append(sketch)
    print(f"bands: {index.b} of {index.r} rows")
    text.write(args.out, md5s, pairs)


if __name__ == "__main__":
    main()
