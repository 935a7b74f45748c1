#!/usr/bin/env bash
# Checks that the program writes what FORMAT.md says.
#
#     check-format.sh          over the fixtures of every kind, runs over a sample corpus, a collection
#                              that has grown, and one that was compared with another
#     check-format.sh DIR...   over existing output directories
#
# scripts/read-format.py, written from FORMAT.md alone, checks each directory as a whole; then every part
# is printed by it and by `lookalike check inspect`, and the two texts are compared. LOOKALIKE names the
# program (default: target/release/lookalike).
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
program=${LOOKALIKE:-$root/target/release/lookalike}
reader=$root/scripts/read-format.py
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

[ -x "$program" ] || { echo "no $program: cargo build --release, or set LOOKALIKE" >&2; exit 1; }

compared=0
# Prints every part below $1 with both readers, $2 records of each.
compare() {
    local parts=()
    while IFS= read -r -d '' part; do
        parts+=("$part")
    done < <(find "$1" -type f \( -name '*.docs' -o -name '*.fps' -o -name '*.rejects' \
        -o -name '*.col' -o -name '*.names' -o -name '*.run' -o -name '*.post' \
        -o -name '*.pairs' -o -name '*.text' -o -name '*.index' -o -name '*.facts' -o -name '*.sorted' \) -print0 | sort -z)
    [ "${#parts[@]}" -gt 0 ] || { echo "no parts below $1" >&2; exit 1; }
    python3 "$reader" --records "$2" "${parts[@]}" >"$scratch/reader"
    for part in "${parts[@]}"; do
        "$program" check inspect --most "$2" "$part"
    done >"$scratch/program"
    if ! diff "$scratch/reader" "$scratch/program" >"$scratch/difference"; then
        echo "below $1 (<: read-format.py, >: lookalike check inspect)" >&2
        head -n 20 "$scratch/difference" >&2
        exit 1
    fi
    compared=$((compared + ${#parts[@]}))
}

directories=("$@")
if [ "${#directories[@]}" -eq 0 ]; then
    # Runs are gone when a run has ended, and small collections have few blocks: fixtures have both.
    compare "$root/tests/fixtures" 1000000
    for fingerprint in 64 md5; do
        out=$scratch/$fingerprint
        "$program" run --quiet --keep-text --fingerprint "$fingerprint" -o "$out" \
            "$root/sample-corpora/trec-web" "$root/sample-corpora/broken" >/dev/null
        "$program" stage index --quiet "$out" >/dev/null
        directories+=("$out")
    done
    # Few documents are new each time, so pairs are added and the index gets levels.
    months=$scratch/months
    mkdir -p "$months/1" "$months/2" "$months/3" "$months/4"
    cp "$root"/sample-corpora/trec-web/*.gz "$months/1"
    "$program" lab perturb --quiet --recipe cherkasova --edits 3 -o "$scratch/edited" \
        "$root/sample-corpora/trec-web/b.gz"
    head -n 12 "$scratch/edited/copies.jsonl" >"$months/2/two.jsonl"
    tail -n 3 "$scratch/edited/copies.jsonl" >"$months/3/three.jsonl"
    tail -n 6 "$scratch/edited/copies.jsonl" >"$months/4/four.jsonl"
    "$program" run --quiet -o "$scratch/grown" "$months/1" >/dev/null
    "$program" stage index --quiet "$scratch/grown" >/dev/null
    for month in 2 3; do
        "$program" add --quiet "$scratch/grown" "$months/$month" >/dev/null
    done
    ls "$scratch"/grown/index/1-*.index "$scratch"/grown/collection/2-*.docs >/dev/null
    "$program" run --quiet -o "$scratch/against" --against "$scratch/grown" "$months/4" >/dev/null
    directories+=("$scratch/grown" "$scratch/against")
fi
for directory in "${directories[@]}"; do
    python3 "$reader" --check "$directory" >/dev/null
    compare "$directory" 2000
done
echo "$compared parts read twice, no difference" >&2
