"""The parts of scripts/bench-joins.sh: sets, the joins of other programs, and the table.

    joins.py make NAME SHARE FILE                     draws the sets of NAME, SHARE of the published number
    joins.py PROGRAM FILE PAIRS THRESHOLD             joins them: `searched` or `simjoined`
    joins.py compare FILE THRESHOLD OURS PAIRS JSON   compares pairs with those of lookalike
    joins.py table DIRECTORY DATA THRESHOLDS          prints what bench-joins.sh measured, as Markdown

FILE: JSON lines with id (the number of the line, from 0) and text (the tokens, numbers, in ascending order).
PAIRS: two ids a line, the smaller first.
"""
import fractions
import json
import math
import pathlib
import statistics
import sys

# What Mann, Augsten & Bouros 2016 publish of their data sets: number of sets, mean and largest size, tokens; and the
# exponent of Zipf's law, which is our choice. Of the published numbers, the tokens of BMS-POS, KOSARAK and FLICKR were
# compared with a second source (github.com/ekzhu/set-similarity-search-benchmarks), the others with none.
PUBLISHED = {
    "UNIFORM": (100_000, 10.0, 25, 209, 0),
    "ZIPF": (100_000, 50.0, 84, 100_000, 1),
    "DBLP": (100_000, 82.7, 869, 6_900, 1),
    "BMS-POS": (320_000, 9.3, 164, 1_657, 1),
    "KOSARAK": (610_000, 11.9, 2_497, 41_270, 1),
    "ENRON": (250_000, 135.3, 3_162, 1_100_000, 1),
    "FLICKR": (1_200_000, 10.1, 102, 810_000, 1),
    "AOL": (10_000_000, 3.0, 245, 3_900_000, 1),
}
SYNTHETIC = ("UNIFORM", "ZIPF")
COPIES = 0.1  # of the sets of the others are edited copies of the set before
CHANGED = 0.35  # the largest share of the tokens of a copy that are drawn again; resemblance about 0.48


def sizes(random, name, count):
    """Sizes of so many sets: by Poisson's law for the synthetic sets, which fits their published maxima; for
    the others log-normal, with the spread that fits mean and maximum."""
    import numpy as np

    published, mean, largest, _, _ = PUBLISHED[name]
    if name in SYNTHETIC:
        return np.clip(random.poisson(mean, count), 1, largest)
    z = statistics.NormalDist().inv_cdf(1 - 1 / published)
    spread = z - math.sqrt(z * z - 2 * math.log(largest / mean))
    drawn = random.lognormal(math.log(mean) - spread * spread / 2, spread, count)
    return np.clip(np.rint(drawn), 1, largest).astype(np.int64)


def fill(draw, keys, wanted, tokens):
    """Draws tokens until each set has as many distinct ones as wanted. `keys`: set * tokens + token, sorted."""
    import numpy as np

    for _ in range(50):
        missing = wanted - np.bincount(keys // tokens, minlength=len(wanted))
        if missing.max() <= 0:
            break
        owner = np.repeat(np.arange(len(wanted)), np.maximum(missing, 0))
        keys = np.union1d(keys, owner * tokens + draw(len(owner)))
    return keys


def make(name, share, path):
    import numpy as np

    published, _, _, tokens, exponent = PUBLISHED[name]
    count = round(published * share)
    random = np.random.default_rng(list(name.encode()))
    law = np.cumsum(1.0 / np.arange(1, tokens + 1) ** exponent)
    names = random.permutation(tokens)

    def draw(number):
        return np.minimum(np.searchsorted(law, random.random(number) * law[-1]), tokens - 1)

    seen, written = set(), 0
    with open(path, "w", encoding="ascii") as out:
        for _ in range(40):
            batch = min(50_000, max(1_000, 2 * (count - written)))
            wanted = sizes(random, name, batch)
            if name in SYNTHETIC:
                keys = fill(draw, np.empty(0, np.int64), wanted, tokens)
            else:
                copy = random.random(batch) < COPIES
                copy[0] = False
                wanted[copy] = 0
                keys = fill(draw, np.empty(0, np.int64), wanted, tokens)
                changed = random.random(batch) * CHANGED
                kept = [keys]
                starts = np.searchsorted(keys, np.arange(batch + 1) * tokens)
                last = 0
                for number in range(batch):
                    if copy[number]:
                        original = keys[starts[last]:starts[last + 1]] - last * tokens
                        wanted[number] = len(original)
                        stays = original[random.random(len(original)) >= changed[number]]
                        kept.append(stays + number * tokens)
                    else:
                        last = number
                keys = fill(draw, np.sort(np.concatenate(kept)), wanted, tokens)
            starts = np.searchsorted(keys, np.arange(batch + 1) * tokens)
            drawn = keys % tokens
            for number in range(batch):
                text = " ".join(map(str, np.sort(names[drawn[starts[number]:starts[number + 1]]])))
                if text not in seen:  # the published sets are without duplicates
                    seen.add(text)
                    out.write(f'{{"id":"{written}","text":"{text}"}}\n')
                    written += 1
                    if written == count:
                        return


def read(path):
    import orjson

    with open(path, "rb") as file:
        return [orjson.loads(line)["text"] for line in file]


def searched(path, out, threshold):
    """SetSimilaritySearch."""
    import SetSimilaritySearch

    sets = [text.split() for text in read(path)]
    with open(out, "w", encoding="ascii") as file:
        for a, b, _ in SetSimilaritySearch.all_pairs(sets, "jaccard", threshold):
            file.write(f"{b}\t{a}\n")


def simjoined(path, out, threshold):
    """py_stringsimjoin. It joins a table with itself and finds each pair twice, and each set with itself."""
    import pandas
    import py_stringmatching
    import py_stringsimjoin

    texts = read(path)
    table = pandas.DataFrame({"id": range(len(texts)), "text": texts})
    words = py_stringmatching.WhitespaceTokenizer(return_set=True)
    found = py_stringsimjoin.jaccard_join(
        table, table, "id", "id", "text", "text", words, threshold, out_sim_score=False, show_progress=False
    )
    found = found[found["l_id"] < found["r_id"]]
    found[["l_id", "r_id"]].to_csv(out, sep="\t", header=False, index=False)


def ids(path):
    """The pairs of a file as (smaller id, larger id)."""
    pairs = set()
    with open(path, encoding="ascii") as file:
        for line in file:
            cells = line.split("\t", 2)
            if cells[0].isdigit():
                a, b = int(cells[0]), int(cells[1])
                pairs.add((a, b) if a < b else (b, a))
    return pairs


def compare(path, threshold, ours, theirs, out):
    """How many pairs differ, and how many of these have exactly the threshold. Integers decide who is right."""
    ours, theirs = ids(ours), ids(theirs)
    least = fractions.Fraction(threshold)
    wanted = ours ^ theirs
    result = {"ours": len(ours), "theirs": len(theirs), "lacks": 0, "more": 0, "at": 0, "wrong": 0}
    if wanted:
        texts = read(path)
    for a, b in wanted:
        left, right = set(texts[a].split()), set(texts[b].split())
        resemblance = fractions.Fraction(len(left & right), len(left | right))
        result["lacks" if (a, b) in ours else "more"] += 1
        result["at"] += resemblance == least
        result["wrong"] += (resemblance >= least) != ((a, b) in ours)  # of lookalike
    pathlib.Path(out).write_text(json.dumps(result))



PROGRAMS = {
    "lookalike": "lookalike",
    "ppjoin": "PPJoin, C++",
    "simjoined": "py_stringsimjoin",
    "searched": "SetSimilaritySearch",
}


def described(path):
    """Number of sets, mean and largest size, tokens."""
    lengths, tokens = [], set()
    for text in read(path):
        words = text.split()
        lengths.append(len(words))
        tokens.update(words)
    return f"{len(lengths):,} sets, mean {sum(lengths) / len(lengths):.1f}, largest {max(lengths):,}, {len(tokens):,} tokens"


def lines(path):
    return path.read_text(encoding="ascii").splitlines() if path.exists() else []


def table(work, data, thresholds):
    """A row for each data set, with the CPU seconds of each program at each threshold; memory; differences."""
    out, thresholds, differ = pathlib.Path(work) / "out", thresholds.split(), []
    peaks = {program: [] for program in PROGRAMS}
    print("CPU seconds at " + "; ".join(thresholds) + ":\n")
    print("| sets | pairs | " + " | ".join(PROGRAMS.values()) + " | join of lookalike |")
    print("| --- |" + " ---: |" * (len(PROGRAMS) + 2))
    for name in (each.split(":")[0] for each in data.split()):
        row = {title: [] for title in ("pairs", *PROGRAMS, "join")}
        for threshold in thresholds:
            summary = "".join(lines(out / f"{name}-{threshold}-lookalike.summary"))
            summary = json.loads(summary) if summary else None
            if summary and summary["ingest"]["documents"] != summary["catalogue"]["representatives"]:
                sys.exit(f"{name} contains duplicates, which lookalike does not pair")
            pairs = {summary["join"]["pairs"]} if summary else set()
            row["join"].append(f"{summary['costs']['join']['cpu_seconds']:.2f}" if summary else "–")
            for program, title in PROGRAMS.items():
                run = f"{out}/{name}-{threshold}-{program}"
                stopped = lines(pathlib.Path(f"{run}.stopped"))
                times = [list(map(float, line.split())) for line in lines(pathlib.Path(f"{run}.times"))]
                least = f"{min(user + system for user, system, _ in times):.2f}" if times else "–"
                row[program].append(stopped[0] if stopped else least)
                peaks[program] += [peak / 1024 for _, _, peak in times]
                for line in lines(pathlib.Path(f"{run}.json")):
                    result = json.loads(line)
                    if result["lacks"] or result["more"]:
                        differ.append(f"{name} at {threshold}, {title}: {result}")
                if program != "lookalike" and times and not stopped:
                    pairs.add(len(lines(pathlib.Path(f"{run}.pairs"))))
            row["pairs"].append(" or ".join(f"{number:,}" for number in sorted(pairs)) or "–")
        print(f"| {name} | " + " | ".join("; ".join(cells) for cells in row.values()) + " |")
    print("\nPeak memory, MiB: " + "; ".join(
        f"{PROGRAMS[program]} {min(peak):.0f} to {max(peak):.0f}" for program, peak in peaks.items() if peak
    ))
    print("Different pairs:" if differ else "All programs that finished found the same pairs.")
    print("\n".join(differ))
    for name in (each.split(":")[0] for each in data.split()):
        print(f"- {name}: {described(f'{work}/sets/{name}.jsonl')}")


def main():
    task, *arguments = sys.argv[1:]
    if task == "make":
        name, share, path = arguments
        make(name, float(share), path)
    elif task == "compare":
        compare(*arguments)
    elif task == "table":
        table(*arguments)
    else:
        path, out, threshold = arguments
        {"searched": searched, "simjoined": simjoined}[task](path, out, float(threshold))


main()
