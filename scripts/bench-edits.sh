#!/usr/bin/env bash
# Measures the share of edited copies that each method finds, as Tables III and IV of Chowdhury et al. 2002 do. The paper
# does not state its rate of edits, so the script tries several.
#
#   scripts/bench-edits.sh INPUT [WORK-DIRECTORY]
#
# INPUT: what `lookalike run` reads. Needs python3.
set -euo pipefail
cd "$(dirname "$0")/.."
input=${1:?usage: scripts/bench-edits.sh INPUT [WORK-DIRECTORY]}
work=${2:-target/bench-edits}
bin=${LOOKALIKE:-target/dist/lookalike}
[ -n "${LOOKALIKE:-}" ] || cargo build --profile dist --locked --quiet
rates=(5 10 20 40 80)
methods=(
    shingles shingles:preset=broder97 super-shingles super-shingles:k=4 megashingles i-match i-match:variant=doc-l-90
    i-match:preset=kolcz,lexicons=0 i-match:preset=kolcz,lexicons=1 i-match:preset=kolcz,lexicons=5 i-match:preset=kolcz
    mod min sketch bsw minhash cosine
)
rm -rf "$work"
mkdir -p "$work"
for rate in "${rates[@]}"; do
    made=$work/copies-$rate
    "$bin" lab perturb "$input" --recipe chowdhury --every "$rate" --originals 50 -o "$made" --quiet
    "$bin" stage ingest "$made"/{originals,copies,background}.jsonl -o "$work/$rate" --keep-text --quiet >/dev/null
    "$bin" lab compare "$work/$rate" --methods "${methods[@]}" --edits "$made/edits.jsonl" --quiet >&2
done
python3 - "$work" "${rates[@]}" <<'END'
import json, sys
work, rates = sys.argv[1], sys.argv[2:]
columns, rows = [], {}
for rate in rates:
    found = json.load(open(f"{work}/{rate}/compare/compare.json", encoding="utf-8"))
    made = json.load(open(f"{work}/copies-{rate}/perturb.json", encoding="utf-8"))
    families = found["families"]
    members = sum(row["documents"] for row in families["rows"])
    columns.append(f"{sum(made['edits'].values()) / made['copies']:.1f}")
    for n, method in enumerate(found["methods"]):
        together = 100 * sum(row["found"][n] for row in families["rows"]) / members
        clusters = sum(row["clusters"][n] for row in families["rows"]) / families["originals"]
        rows.setdefault(method["method"], []).append(f"{together:.1f} ({clusters:.1f})")
print(f"Originals: 50, of {made['average_words']:.0f} words; 10 copies of each. Found of 100 (clusters of an original).")
print()
print("| edits a copy | " + " | ".join(columns) + " |")
print("| --- |" + " ---: |" * len(columns))
for method, cells in rows.items():
    print(f"| `{method}` | " + " | ".join(cells) + " |")
END
