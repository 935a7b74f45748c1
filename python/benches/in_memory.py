"""CPU seconds of finding near-duplicates among texts of an Arrow table, with one core.

    taskset -c 1 python benches/in_memory.py TEXTS.jsonl --megabytes 300 lookalike rensa

TEXTS.jsonl has an object with the member `text` on each line. Each system runs in a process of its own,
which makes the same table first. Shingles are runs of ten words for all of them; rensa and datasketch use
128 permutations and report the pairs whose estimated resemblance reaches the threshold. They also list
the pairs of equal texts, of which lookalike lists only those with the first one.
"""

import argparse
import json
import multiprocessing
import re
import resource
import time

import pyarrow

THRESHOLD = 0.85
WORDS = re.compile(r"\w+")


def shingles(text):
    words = WORDS.findall(text.lower())
    return [" ".join(words[at : at + 10]) for at in range(max(1, len(words) - 9))]


def lookalike(table):
    import lookalike

    pairs = pyarrow.table(lookalike.find_pairs(table, threshold=THRESHOLD, threads=1))
    return zip(pairs["id_a"].to_pylist(), pairs["id_b"].to_pylist())


def pairs_of(index, sketches):
    for number, sketch in enumerate(sketches):
        index.insert(number, sketch)
    for b, sketch in enumerate(sketches):
        for a in index.query(sketch):
            if a < b and sketch.jaccard(sketches[a]) >= THRESHOLD:
                yield a, b


def rensa(table):
    from rensa import RMinHash, RMinHashLSH

    def sketch(text):
        made = RMinHash(num_perm=128, seed=42)
        made.update(shingles(text))
        return made

    sketches = [sketch(text) for text in table["text"].to_pylist()]
    return pairs_of(RMinHashLSH(threshold=THRESHOLD, num_perm=128, num_bands=16), sketches)


def datasketch(table):
    from datasketch import MinHash, MinHashLSH

    def sketch(text):
        made = MinHash(num_perm=128)
        made.update_batch([shingle.encode() for shingle in shingles(text)])
        return made

    sketches = [sketch(text) for text in table["text"].to_pylist()]
    return pairs_of(MinHashLSH(threshold=THRESHOLD, num_perm=128), sketches)


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(system, path, megabytes, answer):
    texts, size = [], 0
    with open(path) as file:
        for line in file:
            texts.append(json.loads(line)["text"])
            size += len(texts[-1].encode())
            if size >= megabytes * 1e6:
                break
    table = pyarrow.table({"text": texts})
    del texts
    before, begin = cpu(), time.monotonic()
    pairs = set(globals()[system](table))
    used, wall = cpu() - before, time.monotonic() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    answer.send((pairs, table.num_rows, size, used, wall, peak))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts")
    parser.add_argument("systems", nargs="+", choices=["lookalike", "rensa", "datasketch"])
    parser.add_argument("--megabytes", type=float, default=300)
    arguments = parser.parse_args()
    print("| system | texts | MB | CPU s | CPU s a MB | wall s | peak MiB | pairs |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for system in arguments.systems:
        receive, send = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=measured, args=(system, arguments.texts, arguments.megabytes, send)
        )
        process.start()
        pairs, rows, size, used, wall, peak = receive.recv()
        process.join()
        megabytes = size / 1e6
        print(
            f"| {system} | {rows:,} | {megabytes:.0f} | {used:.1f} | {used / megabytes:.4f} |"
            f" {wall:.1f} | {peak:,} | {len(pairs):,} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
