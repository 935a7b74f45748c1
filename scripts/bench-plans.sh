#!/usr/bin/env bash
# Measures how often plans keep their promise. The script makes plans on random subsets of a collection, applies them to
# the whole collection, and compares the precision and recall of each size group with those of the plan.
#
#   scripts/bench-plans.sh DIR [SHARE] [SEEDS]
#
# DIR: output directory of an exact `lookalike run` with the threshold 0.5 or less, or of `ingest`.
# Prints a table in Markdown. No value in it is a time.
set -euo pipefail
directory=${1:?output directory of a run}
share=${2:-10%}
seeds=${3:-10}
cd "$(dirname "$0")/.."
cargo build --profile dist --quiet
lookalike=$PWD/target/dist/lookalike
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r --reflink=auto "$directory" "$work/whole"
rm -f "$work/whole/lock"

# Copies of result files suffice for evaluate; the truth of a threshold is kept.
keep() { rm -rf "$1"; cp -r --reflink=auto "$work/whole" "$1"; }

for target in "0.8 0.6" "0.8 0.85" "0.85 0.85" "0.95 0.85"; do
    read -r precision threshold <<<"$target"
    "$lookalike" stage join "$work/whole" --threshold "$threshold" --quiet
    "$lookalike" stage cluster "$work/whole" --quiet
    keep "$work/truth"
    for seed in $(seq 1 "$seeds"); do
        "$lookalike" plan "$work/whole" --precision "$precision" --threshold "$threshold" \
            --subset "$share" --plan-seed "$seed" --output "$work/plan.toml" --quiet --json > "$work/plan.json"
        "$lookalike" stage join "$work/whole" --threshold "$threshold" --sampling "$work/plan.toml" --quiet
        "$lookalike" stage cluster "$work/whole" --quiet
        "$lookalike" evaluate "$work/whole" --truth "$work/truth" --json > "$work/evaluated.json"
        python3 scripts/plans-table.py row "$precision" "$threshold" "$seed" "$work/plan.json" "$work/evaluated.json" \
            >> "$work/rows.jsonl"
    done
done
python3 scripts/plans-table.py table "$work/rows.jsonl"
