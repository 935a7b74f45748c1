#!/usr/bin/env python3
"""Pairs by grapheme clusters against pairs by words, for scripts without spaces between words.

    scripts/bench-scripts.py [PLACE]

Takes texts in Thai, Khmer, Burmese and Lao from packages, which it downloads and unpacks below PLACE (target/bench-scripts),
cuts them into words with the dictionaries of ICU, and makes documents of 200 to 1,000 words with edited copies: at each of
several rates, words are replaced, left out or put in. The ground truth are the pairs of different texts with a resemblance of
0.85 by shingles of ten words. The table has the precision and recall of `--tokens words` with the best size of shingles: the
one with the greatest smaller value of the two. The last column has the resemblances by words between which all pairs lie that
are wrong or missed.

Needs apt-get (with current lists), pip, and PyICU (package python3-icu). LOOKALIKE names the program (target/release/lookalike).
"""

import csv
import glob
import gettext
import html
import json
import os
import random
import re
import shutil
import subprocess
import sys
import zipfile

import icu

PLACE = sys.argv[1] if len(sys.argv) > 1 else "target/bench-scripts"
PROGRAM = os.environ.get("LOOKALIKE", "target/release/lookalike")
PACKAGES = ["firefox-esr-l10n-th", "firefox-esr-l10n-km", "firefox-esr-l10n-my", "libreoffice-l10n-th", "libreoffice-help-km"]
# The letters of each script, and the files with its texts.
SCRIPTS = {
    "Thai": ("th", "\u0e01-\u0e4e", ["firefox-esr-l10n-th/**/*.xpi", "libreoffice-l10n-th/**/*.mo"]),
    "Khmer": ("km", "\u1780-\u17dd", ["firefox-esr-l10n-km/**/*.xpi", "libreoffice-help-km/**/*.html"]),
    "Burmese": ("my", "\u1000-\u103f", ["firefox-esr-l10n-my/**/*.xpi"]),
    "Lao": ("lo", "\u0e81-\u0ece", ["laonlp/**/lao-eng-dictionary.csv"]),
}
SIZES = range(18, 31)
# An edit every this number of words.
EVERY = [20, 40, 80, 160, 320, 640, 1280]
ORIGINALS = 200
THRESHOLD = 0.85


def unpack():
    files = f"{PLACE}/files"
    if os.path.isdir(files):
        return
    os.makedirs(f"{PLACE}/packages", exist_ok=True)
    subprocess.run(["apt-get", "download", "-q", *PACKAGES], cwd=f"{PLACE}/packages", check=True)
    subprocess.run(["pip", "download", "-q", "--no-deps", "laonlp"], cwd=f"{PLACE}/packages", check=True)
    os.makedirs(files)
    for path in glob.glob(f"{PLACE}/packages/*.deb"):
        subprocess.run(["dpkg", "-x", path, f"{files}/{os.path.basename(path).split('_')[0]}"], check=True)
    for path in glob.glob(f"{PLACE}/packages/*.whl"):
        zipfile.ZipFile(path).extractall(f"{files}/laonlp")


def texts_in(path):
    """The texts of a file, without markup."""
    if path.endswith(".mo"):
        with open(path, "rb") as file:
            catalogue = gettext.GNUTranslations(file)._catalog
        yield from (text for text in catalogue.values() if isinstance(text, str))
    elif path.endswith(".xpi"):
        archive = zipfile.ZipFile(path)
        for name in sorted(archive.namelist()):
            if name.endswith((".ftl", ".properties")):
                for line in archive.read(name).decode("utf-8", "replace").splitlines():
                    yield line.partition("=")[2]
    elif path.endswith(".csv"):
        # Words alone: ten of them are a line.
        with open(path, encoding="utf-8", newline="") as file:
            words = [row["LaoWord"] for row in csv.DictReader(file)]
        random.Random(0).shuffle(words)
        yield from ("".join(words[at:at + 10]) for at in range(0, len(words), 10))
    else:
        with open(path, encoding="utf-8") as file:
            yield from re.split(r"<(?:p|h\d|td|li|body)\b", file.read())


def cut(breaks, text):
    """The pieces of a text at the boundaries of its words."""
    breaks.setText(text)
    points = [0, *breaks]
    # ICU counts UTF-16 units; these texts have no characters beyond the basic plane.
    return [text[a:b] for a, b in zip(points, points[1:])]


def sentences(language, letters, patterns):
    """Different texts that are mostly in the script, as lists of words and what is between them."""
    breaks = icu.BreakIterator.createWordInstance(icu.Locale(language))
    seen = set()
    for pattern in patterns:
        for path in sorted(glob.glob(f"{PLACE}/files/{pattern}", recursive=True)):
            for text in texts_in(path):
                text = html.unescape(re.sub(r"<[^>]*>", " ", text))
                text = re.sub(r"[\U00010000-\U0010ffff\u200b-\u200d\ufeff]|\s+", " ", text).strip()
                if text in seen or len(re.findall(f"[{letters}]", text)) < max(20, len(text) / 2):
                    continue
                seen.add(text)
                yield cut(breaks, text)


def is_word(piece):
    return any(c.isalnum() for c in piece)


def edited(pieces, every, vocabulary, chance):
    out = []
    for piece in pieces:
        if not is_word(piece) or chance.random() >= 1 / every:
            out.append(piece)
            continue
        how = chance.randrange(3)
        if how < 2:
            out.append(chance.choice(vocabulary))
        if how == 1:
            out.append(piece)
    return out


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments, "--quiet"], check=True, stdout=subprocess.PIPE, text=True).stdout


def pairs(texts, out, threshold, *arguments):
    """The listed pairs of different texts, with their resemblances."""
    shutil.rmtree(out, ignore_errors=True)
    run("run", texts, "-o", out, "--threshold", str(threshold), *arguments)
    with open(f"{out}/pairs.tsv", encoding="utf-8") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        return {frozenset((row["docno_a"], row["docno_b"])): float(row["resemblance"]) for row in rows}


def write(path, documents, text):
    with open(path, "w", encoding="utf-8") as file:
        for name, pieces in documents:
            print(json.dumps({"id": name, "text": text(pieces)}, ensure_ascii=False), file=file)


def measure(script):
    language, letters, patterns = SCRIPTS[script]
    work = f"{PLACE}/{language}"
    os.makedirs(work, exist_ok=True)
    chance = random.Random(script)
    lines = list(sentences(language, letters, patterns))
    chance.shuffle(lines)
    # With repetitions, so that frequent words are put in often.
    vocabulary = [piece for line in lines for piece in line if re.search(f"[{letters}]", piece)]
    breaks = icu.BreakIterator.createWordInstance(icu.Locale(language))
    originals, line = [], 0
    while len(originals) < ORIGINALS:
        length, pieces = chance.randint(200, 1000), []
        while sum(map(is_word, pieces)) < length and line < len(lines):
            pieces += [*lines[line], "\n"]
            line += 1
        if line == len(lines):
            break
        originals.append(pieces)
    documents = []
    for number, pieces in enumerate(originals):
        documents.append((f"{number}", pieces))
        # Fewer originals have more copies.
        for copy in range(round(ORIGINALS / len(originals))):
            documents += [(f"{number}-{copy}-{every}", edited(pieces, every, vocabulary, chance)) for every in EVERY]
    joined = "".join
    # The edited text is segmented again, because an edit can change the words around it.
    words = lambda pieces: " ".join(piece.lower() for piece in cut(breaks, joined(pieces)) if is_word(piece))
    write(f"{work}/text.jsonl", documents, joined)
    write(f"{work}/words.jsonl", documents, words)
    icu_clusters = icu.BreakIterator.createCharacterInstance(icu.Locale(language))
    clusters = sum(len(cut(icu_clusters, piece)) for piece in vocabulary) / len(vocabulary)
    by_words = pairs(f"{work}/words.jsonl", f"{work}/by-words", 0.5, "--tokens", "whitespace")
    true = {pair for pair, resemblance in by_words.items() if resemblance >= THRESHOLD}
    best = None
    for size in SIZES:
        found = set(pairs(f"{work}/text.jsonl", f"{work}/by-clusters", THRESHOLD, "--shingle-size", str(size)))
        precision, recall = len(found & true) / len(found), len(found & true) / len(true)
        others = [by_words.get(pair, 0) for pair in found ^ true]
        row = [size, len(documents), len(true), precision, recall, min(others), max(others)]
        print(script, *row, file=sys.stderr)
        if best is None or min(row[3:5]) > min(best[3:5]):
            best = row
        if recall < 0.95:
            # Larger shingles find less.
            break
    return [clusters, *best]


unpack()
print("| script | clusters in a word | `--shingle-size` | documents | true pairs | precision | recall | wrong or missed |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
for script in SCRIPTS:
    clusters, size, documents, true, precision, recall, least, most = measure(script)
    print(f"| {script} | {clusters:.2f} | {size} | {documents:,} | {true:,} | {precision:.3f} | {recall:.3f} "
          f"| {least:.3f} to {most:.3f} |")
