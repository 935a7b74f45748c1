#!/usr/bin/env bash
# Measures `lookalike contamination`: what it finds of items that are embedded in long documents, its CPU time beside
# that of `ingest` of the same corpus, and its memory.
#
#   scripts/bench-contamination.sh INPUT [WORK-DIRECTORY]
#
# INPUT: what `lookalike run` reads. Its texts become JSON lines, into which the script plants items: made of words of
# the corpus, set with other line breaks, case and punctuation, each in several documents, whole or its first half. As
# many items are planted nowhere. Both commands run RUNS times (3), alternately, on one thread. Needs python3.
# The script fails if an item is missed or found where it was not planted.
set -euo pipefail
cd "$(dirname "$0")/.."
input=${1:?usage: scripts/bench-contamination.sh INPUT [WORK-DIRECTORY]}
work=${2:-target/bench-contamination}
built=${CARGO_TARGET_DIR:-target}/dist
cargo build --profile dist --locked --quiet --bin lookalike --example pages-to-text
rm -rf "$work"
mkdir -p "$work"
"$built/examples/pages-to-text" "$input" >"$work/text.jsonl" 2>/dev/null
python3 - "$work" <<'END'
import json, os, random, sys

work = sys.argv[1]
seed, items, copies = 1, 2000, 5
draw = random.Random(seed)

documents = [json.loads(line) for line in open(f"{work}/text.jsonl", encoding="utf-8")]
vocabulary = [w for d in draw.sample(documents, min(2000, len(documents))) for w in d["text"].split() if w.isalpha() and w.isascii()]
long = [n for n, d in enumerate(documents) if len(d["text"]) > 5000] or list(range(len(documents)))

def other(words):
    """The words as another writer would set them."""
    lines, line = [], ""
    width = draw.randrange(30, 90)
    for n, word in enumerate(words):
        word = draw.choice([word.lower(), word.upper(), word.capitalize()])
        line += word + draw.choice([" ", " ", " ", ", ", "; ", " - ", ". "])
        if len(line) > width:
            lines.append(line.rstrip(" "))
            line = ""
    return "\n".join(lines + [line])

planted, question_of, places = set(), {}, {}
for n in range(2 * items):
    words = [draw.choice(vocabulary) for _ in range(draw.randrange(26, 61))]
    question_of[f"q{n}"] = words
    if n >= items:
        continue
    for at in draw.sample(long, min(copies, len(long))):
        whole = draw.random() < 0.5
        part = words if whole else words[: max(13, len(words) // 2)]
        length = len(documents[at]["text"])
        places.setdefault(at, []).append((draw.randrange(length + 1), other(part)))
        planted.add((f"q{n}", documents[at]["id"]))
for at, texts in places.items():
    text = documents[at]["text"]
    # The last one first, so that none is put into another one.
    for place, new in sorted(texts, reverse=True):
        space = text.find(" ", place)
        space = space if 0 <= space else len(text)
        text = f"{text[:space]}\n\n{new}\n\n{text[space:]}"
    documents[at]["text"] = text
os.makedirs(f"{work}/corpus")
with open(f"{work}/corpus/text.jsonl", "w", encoding="utf-8") as out:
    for document in documents:
        out.write(json.dumps(document, ensure_ascii=False) + "\n")
with open(f"{work}/test.jsonl", "w", encoding="utf-8") as out:
    for name, words in question_of.items():
        answer = [draw.choice(vocabulary) for _ in range(8)]
        out.write(json.dumps({"id": name, "question": " ".join(words), "answer": " ".join(answer)}) + "\n")
size = os.path.getsize(f"{work}/corpus/text.jsonl")
words = sum(len(words) for words in question_of.values())
print(f"{len(documents):,} documents, {size / 1e6:.1f} MB of JSON; {2 * items:,} items of {words:,} words in `question`, "
      f"and 8 in `answer`; {items:,} planted, {len(planted):,} times")
with open(f"{work}/planted.json", "w", encoding="utf-8") as out:
    json.dump(sorted(planted), out)
END
# A process of its own: what a process starts with counts for the peak of its children.
python3 - "${LOOKALIKE:-$built/lookalike}" "$work" "${RUNS:-3}" <<'END'
import json, os, statistics, subprocess, sys

binary, work, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])

def measured(*arguments):
    out = f"{work}/out"
    subprocess.run(["rm", "-rf", out], check=True)
    process = subprocess.Popen([binary, *arguments, "-o", out, "--threads", "1", "--quiet"], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{arguments} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024

corpus, test = f"{work}/corpus", ["--test-set", f"{work}/test.jsonl", "--fields"]
commands = {
    "`ingest`": ["ingest", corpus],
    "`contamination`, `question`": ["contamination", corpus, *test, "question"],
    "`contamination`, `question,answer`": ["contamination", corpus, *test, "question,answer"],
}
figures = {name: [] for name in commands}
for _ in range(runs):
    for name, command in commands.items():
        figures[name].append(measured(*command))
of_ingest = statistics.median(cpu for cpu, _ in figures["`ingest`"])
print()
print("| command | CPU s | of `ingest` | peak MiB |")
print("| --- | ---: | ---: | ---: |")
for name, values in figures.items():
    cpu = statistics.median(cpu for cpu, _ in values)
    print(f"| {name} | {cpu:.2f} | {cpu / of_ingest:.2f} | {max(peak for _, peak in values):.0f} |")

subprocess.run([binary, *commands["`contamination`, `question`"], "-o", f"{work}/found", "--most", "1000", "--quiet"],
               check=True, stdout=subprocess.DEVNULL)
planted = {tuple(pair) for pair in json.load(open(f"{work}/planted.json", encoding="utf-8"))}
found = set()
for line in open(f"{work}/found/contaminated.jsonl", encoding="utf-8"):
    line = json.loads(line)
    found.update((line["item"], document["docno"]) for document in line["listed"])
right = len(found & planted)
print()
print(f"recall {right / len(planted):.4f}, precision {right / max(1, len(found)):.4f} of {len(found):,} items found in a document")
if found != planted:
    sys.exit("what is found is not what was planted")
END
