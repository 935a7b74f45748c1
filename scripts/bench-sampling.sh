#!/usr/bin/env bash
# Measures what sampling saves and costs: an exact, a sampled (1/16), a verified and a planned run over one collection.
#
#   scripts/bench-sampling.sh WORK INPUT [MEMORY] [COUNT]
#
# WORK: a directory for all files, which are kept. INPUT is read once. With a fourth argument `count`, the script also
# runs `--join count`, as in the papers; that takes long on collections with thousands of pages of one template.
# Prints a table in Markdown. Precision and recall are over pairs of representatives at 0.85.
set -euo pipefail
work=${1:?directory to work in}
input=${2:?input}
memory=${3:-2GiB}
count=${4:-}
cd "$(dirname "$0")/.."
cargo build --profile dist --quiet
lookalike=$PWD/target/dist/lookalike
mkdir -p "$work"
out=$work/out
"$lookalike" stage ingest "$input" -o "$out" --memory "$memory" --quiet

save() { # what evaluate reads of a run
    rm -rf "${work:?}/$1"
    mkdir -p "$work/$1"
    cp "$out"/{pairs.tsv,documents.tsv,exact-duplicates.tsv,clusters.jsonl,rejects.jsonl,manifest.json,summary.json,inputs.jsonl} "$work/$1/"
}

variant() { # name, then what to ask
    local name=$1
    shift
    # Each from the collection on, as if it were the only one asked.
    "$lookalike" stage join "$out" --sampling 1/1024 --threshold 1 --quiet
    /usr/bin/time -f '%M' -o "$work/peak" "$lookalike" stage join "$out" "$@" --memory "$memory" --quiet
    "$lookalike" stage cluster "$out" --memory "$memory" --quiet
    save "$name"
    "$lookalike" evaluate "$work/$name" --truth "$work/exact" --memory "$memory" --json > "$work/$name.json"
    python3 - "$name" "$work/$name/summary.json" "$work/$name.json" "$work/peak" <<'P' | tee -a "$work/rows.md"
import json, sys
name, summary, evaluated, peak = sys.argv[1:]
summary, evaluated = json.load(open(summary)), json.load(open(evaluated))
peak = int(open(peak).read().split()[-1]) // 1024
costs = [summary["costs"][s] for s in ("sample", "sort", "merge", "join") if s in summary["costs"]]
plan = summary["costs"].get("plan", {})
spilled = (summary["sort"] or {}).get("bytes", 0) + summary["join"]["spilled_bytes"]
postings = summary["disk_bytes"].get("postings", 0)
sampled, shingles = summary["sample"]["sampled"], summary["sample"]["shingles"]
counts = evaluated["pairs"][0]["representatives"]["all"]
show = lambda x: "-" if x is None else f"{x:.4f}"
print(f"| {name} | {sampled / shingles * 100:.2f} % | {sum(c['wall_seconds'] for c in costs):.1f} "
      f"| {sum(c['cpu_seconds'] for c in costs):.1f} | {plan.get('cpu_seconds', 0):.1f} | {spilled / 1e6:,.0f} | {postings / 1e6:,.0f} "
      f"| {peak:,} | {summary['join']['pairs']:,} | {show(counts['precision'])} | {show(counts['recall'])} |")
P
}

rm -f "$work/rows.md"
echo "| variant | shingles | wall s | CPU s | planning CPU s | spilled MB | postings MB | peak MiB | pairs | precision | recall |" | tee "$work/rows.md"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |" | tee -a "$work/rows.md"
"$lookalike" stage join "$out" --memory "$memory" --quiet
"$lookalike" stage cluster "$out" --memory "$memory" --quiet
save exact
variant exact-again --join auto
[ "$count" = count ] && variant counted --join count
variant one-in-16 --sampling 1/16
variant one-in-16-verified --sampling 1/16 --verified --candidates 0.7
variant one-in-4 --sampling 1/4
variant planned-0.85 --precision 0.85
variant planned-0.95 --precision 0.95
python3 - "$out/summary.json" <<'P'
import json, sys
costs = json.load(open(sys.argv[1]))["costs"]
cost = costs["ingest"]
print(f"\nreading took {cost['wall_seconds']:.1f} s, {cost['cpu_seconds']:.1f} CPU s")
P
