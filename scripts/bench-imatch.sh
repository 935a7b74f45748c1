#!/usr/bin/env bash
# Runs I-Match with each of the 52 variants of Chowdhury et al. 2002 and prints the columns of the paper's Table IX.
#
#   scripts/bench-imatch.sh INPUT [WORK-DIRECTORY]
#
# INPUT: what `lookalike run` reads. Needs /usr/bin/time (Debian package `time`) and python3. The first variant
# also makes the lexicon, which the other variants use.
set -euo pipefail
cd "$(dirname "$0")/.."
input=${1:?usage: scripts/bench-imatch.sh INPUT [WORK-DIRECTORY]}
work=${2:-target/bench-imatch}
bin=${LOOKALIKE:-target/dist/lookalike}
[ -n "${LOOKALIKE:-}" ] || cargo build --profile dist --locked --quiet
mkdir -p "$work"
rm -rf "$work/out"
"$bin" stage ingest "$input" -o "$work/out" --keep-text --quiet >/dev/null

variants=(syntactic:filters=nosc+stem)
for kind in doc-h doc-l idf-h idf-l; do
    for x in 10 20 30 40 50 60 70 80 90; do variants+=("i-match:variant=$kind-$x"); done
done
for kind in docr-o docr-i idfr-o idfr-i; do
    for a in 10 20 30 40; do variants+=("i-match:variant=$kind-$a-$((100 - a))"); done
done
variants+=(i-match:preset=kolcz,lexicons=0 i-match:preset=kolcz cosine)

echo "input: $input, $(du -sbL "$input" | cut -f1) bytes on disk"
echo
echo "| method | filtered | pairs | clusters | documents in them | max cluster | CPU s |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
for spec in "${variants[@]}"; do
    /usr/bin/time -o "$work/time" -f '%U %S' "$bin" lab method "$spec" "$work/out" --quiet >/dev/null
    made=$work/out/methods/$(sed 's/[^A-Za-z0-9.=-]/_/g' <<<"$spec")
    python3 - "$spec" "$made" "$work/time" <<'END'
import json, sys
spec, made, time = sys.argv[1:]
summary = json.load(open(f"{made}/summary.json"))
rows = [l.rstrip("\n").split("\t") for l in open(f"{made}/documents.tsv", encoding="utf-8") if not l.startswith("# ")]
equal = sum(1 for l in open(f"{made}/exact-duplicates.tsv", encoding="utf-8") if not l.startswith("# ")) - 1
# A representative without a key takes no part.
none = sum(1 for r in rows[1:] if r[3] == "0") - equal
pairs = sum(1 for l in open(f"{made}/pairs.tsv", encoding="utf-8") if not l.startswith("# ")) - 1
sizes = []
for line in open(f"{made}/clusters.jsonl", encoding="utf-8"):
    # Exact duplicates went first; those that stay are what the method found.
    size = sum(member["kind"] in ("representative", "near") for member in json.loads(line)["members"])
    if size > 1:
        sizes.append(size)
cpu = sum(map(float, open(time).read().split()))
print(f"| `{spec}` | {none} | {pairs} | {len(sizes)} | {sum(sizes)} | {max(sizes, default=0)} | {cpu:.2f} |")
END
done
