#!/usr/bin/env python3
"""Makes a corpus with known quotations, and scores what `lookalike passages --gap` finds in it.

    scripts/reuse-corpus.py make OUT TEXT... [--seed N] [--each N]
    lookalike passages OUT/corpus.jsonl -o DIR --gap 20 ...
    scripts/reuse-corpus.py score OUT DIR

TEXT are plain texts, also as .gz. Their sentences become documents of about 400 words, each sentence once
(so give one edition of a book). Quotations
of 20 to 300 words are copied into other documents, in any order, with 0 to 20 % of their characters wrong, and half
of them with one to three gaps of 1 to 12 words on either side. OUT/truth.tsv lists them. A quotation is found if one
reuse of the two documents has at least half of it in the copy. A reuse is right if at least half of it lies in a
quotation of the two documents.
"""
import argparse, collections, gzip, json, pathlib, random, re

LENGTHS = [20, 50, 100, 200, 300]
RATES = [0, 2, 5, 10, 15, 20]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def words_of(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def wrong(word, rate, chance):
    out = ""
    for letter in word:
        if chance.random() * 100 >= rate:
            out += letter
            continue
        kind = chance.random()
        out += "" if kind < 0.1 else chance.choice(LETTERS) + (letter if kind < 0.2 else "")
    return out


def make(out, texts, seed, each):
    chance = random.Random(seed)
    sentences = {}
    for path in texts:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
        for sentence in re.split(r"[.!?]\s", text):
            if len(words := words_of(sentence)) >= 5:
                sentences.setdefault(" ".join(words), words)
    sentences = list(sentences.values())
    chance.shuffle(sentences)
    documents = [[]]
    for sentence in sentences:
        documents[-1].extend(sentence)
        if len(documents[-1]) >= 400:
            documents.append([])
    half = len(documents) // 2
    sources, copies = documents[:half], documents[half:]
    fresh = [word for document in copies for word in document]
    quotations = [(length, rate) for length in LENGTHS for rate in RATES] * each
    chance.shuffle(quotations)
    parts = collections.defaultdict(list)
    for length, rate in quotations:
        source = chance.randrange(len(sources))
        at = chance.randrange(len(sources[source]) - length + 1) if len(sources[source]) > length else 0
        quoted = [wrong(word, rate, chance) for word in sources[source][at:at + length]]
        if length >= 50 and chance.random() < 0.5:
            for _ in range(chance.randint(1, 3)):
                cut = chance.randrange(10, len(quoted) - 10)
                gap = chance.randint(1, 12)
                more = chance.choices(fresh, k=gap) if chance.random() < 0.5 else []
                quoted[cut:cut + (0 if more else min(gap, len(quoted) - cut - 10))] = more
        quoted = [word for word in quoted if word]
        parts[chance.randrange(len(copies))].append((source, at, length, rate, quoted))
    truth = []
    for number, own in parts.items():
        filler, text = copies[number], []
        for n, (source, at, length, rate, quoted) in enumerate(own):
            text += filler[n * 60:(n + 1) * 60]
            truth.append((f"s{source}", at, at + length, f"c{number}", len(text), len(text) + len(quoted), length, rate))
            text += quoted
        copies[number] = text + filler[len(own) * 60:]
    out.mkdir(parents=True, exist_ok=True)
    named = [(f"s{n}", text) for n, text in enumerate(sources)] + [(f"c{n}", text) for n, text in enumerate(copies)]
    with open(out / "corpus.jsonl", "w") as file:
        file.writelines(json.dumps({"id": name, "text": " ".join(text)}) + "\n" for name, text in named)
    with open(out / "truth.tsv", "w") as file:
        file.writelines("\t".join(map(str, row)) + "\n" for row in truth)
    print(len(named), "documents,", len(truth), "quotations")


def score(out, found):
    truth, planted, of_source = (collections.defaultdict(list) for _ in range(3))
    for line in open(out / "truth.tsv"):
        a, begin_a, end_a, b, begin_b, end_b, length, rate = line.split("\t")
        begin_a, end_a, begin_b, end_b = map(int, (begin_a, end_a, begin_b, end_b))
        truth[a, b].append((begin_b, end_b, int(length), int(rate)))
        planted[a, b].append((begin_b, end_b))
        # Two copies of one passage share it, too.
        for begin, end, other, at, to in of_source[a]:
            if begin < end_a and begin_a < end and other != b:
                planted[b, other].append((at, to))
                planted[other, b].append((begin_b, end_b))
        of_source[a].append((begin_a, end_a, b, begin_b, end_b))
    name = "reuse.tsv" if (found / "reuse.tsv").exists() else "matches.tsv"
    rows = [line.rstrip("\n").split("\t") for line in open(found / name) if not line.startswith("#")]
    head, rows = rows[0], [dict(zip(rows[0], row)) for row in rows[1:]]
    reuses, right = collections.defaultdict(list), 0
    for row in rows:
        begin = int(row["begin_b"])
        end = int(row["end_b"]) if "end_b" in row else begin + int(row["tokens"])
        pair = row["docno_a"], row["docno_b"]
        reuses[pair].append((begin, end))
        inside = sum(max(0, min(end, to) - max(begin, at)) for at, to in planted[pair])
        right += 2 * inside >= end - begin
    table = collections.defaultdict(lambda: [0, 0])
    for pair, own in truth.items():
        for at, to, length, rate in own:
            cell = table[length, rate]
            cell[1] += 1
            cell[0] += any(2 * (min(end, to) - max(begin, at)) >= to - at for begin, end in reuses[pair])
    print("words", *(f"{rate:>5}%" for rate in RATES))
    for length in LENGTHS:
        cells = (table[length, rate] for rate in RATES)
        print(f"{length:>5}", *(f"{cell[0] / max(cell[1], 1):6.3f}" for cell in cells))
    long = {rate: [sum(table[length, rate][n] for length in LENGTHS[1:]) for n in (0, 1)] for rate in RATES}
    print("50 up", *(f"{found / max(all_, 1):6.3f}" for found, all_ in long.values()))
    print(f"precision {right / max(len(rows), 1):.4f} of {len(rows)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "score"])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("paths", type=pathlib.Path, nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=20)
    given = parser.parse_args()
    if given.what == "make":
        make(given.out, given.paths, given.seed, given.each)
    else:
        score(given.out, given.paths[0])


if __name__ == "__main__":
    main()
