"""Deduplicates shards of JSON lines with rensa's deduplicator, and writes kept and removed lines.

    rensa_dedup.py SHARDS KEPT REMOVED --threshold T --shingle-size W --slots N --bands N

Shards are JSON lines behind zstd, as are the copies. Tokens and shingles are those of text.py. A document goes if the
deduplicator does not add it: it resembles one that was added before.
"""
import argparse
import io
import os

import orjson
import zstandard
from rensa import RMinHashDeduplicator

import text

# Lines in a call of add_pairs.
BATCH = 500


def lines(path):
    """The lines of a shard, with their ends."""
    with open(path, "rb") as file:
        with zstandard.ZstdDecompressor().stream_reader(file) as stream:
            yield from io.BufferedReader(stream, 1 << 20)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards")
    parser.add_argument("kept")
    parser.add_argument("removed")
    parser.add_argument("--threshold", type=float, required=True)
    parser.add_argument("--shingle-size", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--bands", type=int, required=True)
    args = parser.parse_args()

    deduplicator = RMinHashDeduplicator(args.threshold, args.slots, True, args.bands)
    os.makedirs(args.kept)
    os.makedirs(args.removed)
    number = 0
    for name in sorted(os.listdir(args.shards)):
        with open(f"{args.kept}/{name}", "wb") as kept, open(f"{args.removed}/{name}", "wb") as removed:
            compressors = [zstandard.ZstdCompressor(level=3).stream_writer(file) for file in (removed, kept)]
            batch = []

            def write():
                nonlocal number
                entries = []
                for line in batch:
                    words = text.tokens(orjson.loads(line)["text"])
                    entries.append((str(number), text.shingles(words, " ".join(words), args.shingle_size)))
                    number += 1
                for line, added in zip(batch, deduplicator.add_pairs(entries), strict=True):
                    compressors[bool(added)].write(line)
                batch.clear()

            for line in lines(f"{args.shards}/{name}"):
                batch.append(line)
                if len(batch) == BATCH:
                    write()
            write()
            for compressor in compressors:
                compressor.close()


if __name__ == "__main__":
    main()
