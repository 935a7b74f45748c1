#!/usr/bin/env python3
"""Makes a corpus with known quotations, and scores what `lookalike passages --gap` finds in it.

    scripts/reuse-corpus.py make OUT TEXT... [--seed N] [--each N] [--spaces] [--letters]
    scripts/reuse-corpus.py pages OUT SCAN SCAN TEXT...
    lookalike passages OUT/corpus.jsonl -o DIR --gap 20 ...
    scripts/reuse-corpus.py score OUT DIR [OUT DIR]...

TEXT are plain texts, also as .gz. Their sentences become documents of about 400 words, each sentence once
(so give one edition of a book). Quotations
of 20 to 300 words are copied into other documents, in any order, with 0 to 20 % of their characters wrong (with
--spaces also those between words), and half of them with one to three gaps of 1 to 12 words on either side. With
--letters, each letter is a word. OUT/truth.tsv lists the quotations. A quotation is found if one reuse of the two
documents has at least half of it in both. A reuse is right if at least half of it lies in a quotation of the two
documents, in both. Several corpora are scored as one.

`pages` cuts two scans of one book into pages of 230 and 260 words, and adds those of other texts. The truth is an
alignment of the whole scans by difflib: the words that two pages share.
"""
import argparse, collections, difflib, gzip, itertools, json, pathlib, random, re

LENGTHS = [20, 50, 100, 200, 300]
RATES = [0, 2, 5, 10, 15, 20]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def words_of(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def read(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")


def wrong(text, rate, chance, spaces):
    out, letters = "", LETTERS + " " * spaces
    for letter in text:
        if letter == " " and not spaces or chance.random() * 100 >= rate:
            out += letter
            continue
        kind = chance.random()
        out += "" if kind < 0.1 else chance.choice(letters) + (letter if kind < 0.2 else "")
    return out


def make(out, texts, seed, each, spaces, letters):
    chance = random.Random(seed)
    sentences = {}
    for path in texts:
        for sentence in re.split(r"[.!?]\s", read(path)):
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
        quoted = wrong(" ".join(sources[source][at:at + length]), rate, chance, spaces).split()
        if length >= 50 and chance.random() < 0.5:
            for _ in range(chance.randint(1, 3)):
                cut = chance.randrange(10, len(quoted) - 10)
                gap = chance.randint(1, 12)
                more = chance.choices(fresh, k=gap) if chance.random() < 0.5 else []
                quoted[cut:cut + (0 if more else min(gap, len(quoted) - cut - 10))] = more
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
    if letters:
        starts = {name: list(itertools.accumulate(map(len, text), initial=0)) for name, text in named}
        named = [(name, "".join(text)) for name, text in named]
        at = lambda name, *words: (name, *(starts[name][n] for n in words))
        truth = [(*at(*row[:3]), *at(*row[3:6]), *row[6:]) for row in truth]
    with open(out / "corpus.jsonl", "w") as file:
        file.writelines(json.dumps({"id": name, "text": " ".join(text)}) + "\n" for name, text in named)
    with open(out / "truth.tsv", "w") as file:
        file.writelines("\t".join(map(str, row)) + "\n" for row in truth)
    print(len(named), "documents,", len(truth), "quotations")


def pages(out, texts):
    scans = [[word for word in re.findall(r"\S+", read(path)) if words_of(word)] for path in texts]
    length = lambda n: 230 if n == 0 else 260
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "corpus.jsonl", "w") as file:
        for n, words in enumerate(scans):
            for page, at in enumerate(range(0, len(words), length(n))):
                text = " ".join(words[at:at + length(n)])
                print(json.dumps({"id": f"{n}-{page}", "series": n, "text": text}), file=file)
    plain = [["".join(words_of(word)) for word in words] for words in scans[:2]]
    shared = collections.Counter()
    for a, b, count in difflib.SequenceMatcher(None, *plain, autojunk=False).get_matching_blocks():
        for n in range(count):
            shared[f"0-{(a + n) // length(0)}", f"1-{(b + n) // length(1)}"] += 1
    with open(out / "pages.tsv", "w") as file:
        file.writelines(f"{a}\t{b}\t{words}\n" for (a, b), words in sorted(shared.items()))


def rows_of(path):
    rows = (line.rstrip("\n").split("\t") for line in open(path) if not line.startswith("#"))
    head = next(rows)
    return [dict(zip(head, row)) for row in rows]


def score_pages(out, found):
    pairs = {(row["docno_a"], row["docno_b"]) for row in rows_of(found / "overlaps.tsv")}
    pairs = {pair for pair in pairs if pair[0].split("-")[0] != pair[1].split("-")[0]}
    shared = {tuple(row[:2]): int(row[2]) for row in (line.split("\t") for line in open(out / "pages.tsv"))}
    for least in (50, 20):
        wanted = {pair for pair, words in shared.items() if words >= least}
        print(f"pages that share {least} words: {len(pairs & wanted) / len(wanted):.3f} of {len(wanted)}")
    right = sum(shared.get(pair, 0) >= 5 for pair in pairs)
    print(f"precision {right / max(len(pairs), 1):.4f} of {len(pairs)}")


def overlap(one, other):
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def is_half(part, whole):
    """Whether `part` has at least half of `whole`, in both documents."""
    return all(2 * overlap(of, own) >= own[1] - own[0] for of, own in zip(part, whole))


def score(corpora):
    table, right, all_ = collections.defaultdict(lambda: [0, 0]), 0, 0
    for out, found in corpora:
        truth, planted, of_source = (collections.defaultdict(list) for _ in range(3))
        for line in open(out / "truth.tsv"):
            a, begin_a, end_a, b, begin_b, end_b, length, rate = line.split("\t")
            places = (int(begin_a), int(end_a)), (int(begin_b), int(end_b))
            truth[a, b].append((places, int(length), int(rate)))
            planted[a, b].append(places)
            # Two copies of one passage share it, too.
            for of_a, other, of_other in of_source[a]:
                if overlap(places[0], of_a) and other != b:
                    planted[b, other].append((places[1], of_other))
                    planted[other, b].append((of_other, places[1]))
            of_source[a].append((places[0], b, places[1]))
        reuses = collections.defaultdict(list)
        for row in rows_of(found / "reuse.tsv"):
            reuse = tuple((int(row[f"begin_{side}"]), int(row[f"end_{side}"])) for side in "ab")
            pair = row["docno_a"], row["docno_b"]
            reuses[pair].append(reuse)
            right += any(is_half(places, reuse) for places in planted[pair])
            all_ += 1
        for pair, own in truth.items():
            for places, length, rate in own:
                cell = table[length, rate]
                cell[0] += any(is_half(reuse, places) for reuse in reuses[pair])
                cell[1] += 1
    print("words", *(f"{rate:>5}%" for rate in RATES))
    for length in LENGTHS:
        cells = (table[length, rate] for rate in RATES)
        print(f"{length:>5}", *(f"{cell[0] / max(cell[1], 1):6.3f}" for cell in cells))
    long = ([sum(table[length, rate][n] for length in LENGTHS[1:]) for n in (0, 1)] for rate in RATES)
    print("50 up", *(f"{cell[0] / max(cell[1], 1):6.3f}" for cell in long))
    print(f"precision {right / max(all_, 1):.4f} of {all_}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "pages", "score"])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("paths", type=pathlib.Path, nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--spaces", action="store_true")
    parser.add_argument("--letters", action="store_true")
    given = parser.parse_args()
    if given.what == "make":
        make(given.out, given.paths, given.seed, given.each, given.spaces, given.letters)
    elif given.what == "pages":
        pages(given.out, given.paths)
    elif (given.out / "pages.tsv").exists():
        if len(given.paths) > 1:
            parser.error("pages are scored one at a time")
        score_pages(given.out, given.paths[0])
    else:
        every = [given.out, *given.paths]
        if len(every) % 2:
            parser.error("each corpus needs the directory of its search")
        score(list(zip(every[::2], every[1::2])))


if __name__ == "__main__":
    main()
