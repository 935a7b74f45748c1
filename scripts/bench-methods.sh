#!/usr/bin/env bash
# Runs the methods of the papers side by side and prints tables of each collection. The last one, over all collections,
# is in docs/laboratory/methods-compared.md.
#
#   scripts/bench-methods.sh NAME=INPUT...
#
# NAME is the name of the collection, INPUT anything that `lookalike run` reads. If NAME ends in `+`, the script also
# makes and compares two corpora with known near-duplicates (`lookalike lab perturb`): Chowdhury's copies among the documents
# of the collection, and Cherkasova's copies of its first hundred. It works in BENCH_METHODS (target/bench-methods).
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed -n '2,9p' >&2; exit 2; }
work=${BENCH_METHODS:-target/bench-methods}
bin=${LOOKALIKE:-target/dist/lookalike}
[ -n "${LOOKALIKE:-}" ] || cargo build --profile dist --locked --quiet
mkdir -p "$work"

# As in the papers; variants where a paper compares them.
methods=(
    shingles shingles:preset=broder97 shingles:preset=heintze shingles:preset=shivakumar2 shingles:preset=shivakumar4
    super-shingles super-shingles:k=4 super-shingles:k=10 megashingles
    i-match i-match:variant=doc-l-90 i-match:preset=kolcz,lexicons=0 i-match:preset=kolcz,lexicons=1
    i-match:preset=kolcz,lexicons=5 i-match:preset=kolcz
    syntactic deco deco:score=s1 deco:score=s2 deco:score=s4
    mod min sketch bsw bsw:keep=chunk minhash minhash:one-permutation=true cosine
)

show() { # NAME DIRECTORY [EDITS]
    local name=$1 out=$2 edits=${3:-}
    "$bin" lab compare "$out" --methods "${methods[@]}" ${edits:+--edits "$edits"} --quiet >&2
    echo "### $name"
    echo
    scripts/methods-table.py "$out/compare/compare.json"
    echo
}

echo "machine: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"
echo
compared=()
for pair in "$@"; do
    name=${pair%%=*} input=${pair#*=}
    plain=${name%+}
    compared+=("$work/$plain/compare/compare.json")
    rm -rf "$work/$plain" "$work/$plain-"*
    "$bin" stage ingest "$input" -o "$work/$plain" --keep-text --quiet >/dev/null
    show "$plain" "$work/$plain"
    [ "$name" != "$plain" ] || continue
    made=$work/$plain-chowdhury
    "$bin" lab perturb "$input" --recipe chowdhury -o "$made" --quiet
    "$bin" stage ingest "$made"/{originals,copies,background}.jsonl -o "$made-out" --keep-text --quiet >/dev/null
    show "$plain, with Chowdhury's copies" "$made-out" "$made/edits.jsonl"
    for edit in insert remove; do
        made=$work/$plain-$edit
        "$bin" lab perturb "$input" --recipe cherkasova --originals 100 --edit "$edit" -o "$made" --quiet
        "$bin" stage ingest "$made"/{originals,copies}.jsonl -o "$made-out" --keep-text --quiet >/dev/null
        show "$plain, its first hundred with 1 to 50 words ${edit%e}ed" "$made-out" "$made/edits.jsonl"
    done
done
if [ $# -gt 1 ]; then
    echo "### All collections"
    echo
    scripts/methods-table.py "${compared[@]}"
fi
