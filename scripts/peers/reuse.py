#!/usr/bin/env python3
"""Finds the quotations of scripts/reuse-corpus.py with text-matcher, for its `score`.

    scripts/peers/reuse.py OUT DIR [--others N]

text-matcher compares two texts at a time. OUT has the corpus. The pairs with a quotation are compared, and N others
(default 600), and DIR/reuse.tsv gets the matches. The time of all pairs is estimated from these.
"""
import argparse, contextlib, io, json, pathlib, random, resource, time

from text_matcher.matcher import Matcher, Text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("found", type=pathlib.Path)
    parser.add_argument("--others", type=int, default=600)
    given = parser.parse_args()
    with open(given.out / "corpus.jsonl") as file:
        plain = {record["id"]: record["text"] for record in map(json.loads, file)}
    texts = {name: Text(text, name, removeStopwords=False) for name, text in plain.items()}
    with open(given.out / "truth.tsv") as file:
        pairs = sorted({(row[0], row[3]) for row in (line.split("\t") for line in file)})
    chance, names, quoted = random.Random(1), sorted(plain), len(pairs)
    while len(pairs) < quoted + given.others:
        pair = tuple(chance.sample(names, 2))
        if pair not in pairs and pair[::-1] not in pairs:
            pairs.append(pair)
    given.found.mkdir(parents=True, exist_ok=True)
    begun = time.process_time()
    with open(given.found / "reuse.tsv", "w") as file:
        print("docno_a\tdocno_b\tbegin_a\tend_a\tbegin_b\tend_b", file=file)
        for a, b in pairs:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    _, *places = Matcher(texts[a], texts[b]).match()
            except IndexError:
                continue  # it fails at some pairs without a match
            for (begin_a, end_a), (begin_b, end_b) in zip(*places):
                word = lambda name, at: plain[name].count(" ", 0, at)
                ends = word(a, begin_a), word(a, end_a - 1) + 1, word(b, begin_b), word(b, end_b - 1) + 1
                print(a, b, *ends, sep="\t", file=file)
    each = (time.process_time() - begun) / len(pairs)
    every = len(names) * (len(names) - 1) // 2
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{len(pairs)} pairs, {each * 1000:.2f} ms each: {each * every:.0f} CPU s for all {every}; {peak} MiB")


if __name__ == "__main__":
    main()
