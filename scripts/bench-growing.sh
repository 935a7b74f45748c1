#!/usr/bin/env bash
# What additions cost: a run over most files of a generated crawl, ten additions of 1 % each (the first makes an index), and
# a run over all files, whose results must be those of the collection that has grown. Then a stream of pages is looked up.
#
#     scripts/bench-growing.sh DIR [BYTES]
#
# DIR is new; it gets the crawl of BYTES (13GB if they are not given) and both output directories. For 13GB it needs 22 GB of
# disk and five minutes. docs/measurements.md has the figures.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -ge 1 ] && [ ! -e "$1" ] || { echo "usage: scripts/bench-growing.sh NEW-DIR [BYTES]" >&2; exit 2; }
place=$1
bytes=${2:-13GB}
# The program alone: with the examples it has other features.
cargo build --locked --profile dist --quiet
cargo build --locked --release --quiet --example generate-crawl
program=$PWD/target/dist/lookalike
mkdir "$place"
target/release/examples/generate-crawl --bytes "$bytes" --seed 1 --out "$place/crawl" --gzip
mapfile -t files < <(find "$place/crawl/bundles" -type f | sort)
step=$((${#files[@]} / 95))
[ "$step" -gt 0 ] || { echo "BYTES is too small for ten additions of one file" >&2; exit 2; }
first=$((${#files[@]} - 10 * step))

measure() { # what, then the command
    local what=$1
    shift
    /usr/bin/time -o "$place/time" -f "%U %S %M %O" "$@" >"$place/log" 2>&1 || { cat "$place/log" >&2; exit 1; }
    awk -v what="$what" '{ printf "%-32s %7.2f CPU s (%.2f user) %6d MiB %6d MB written\n",
        what, $1 + $2, $1, $3 / 1024, $4 * 512 / 1e6 }' "$place/time"
}
measure "run, $first files" "$program" run "${files[@]:0:first}" -o "$place/grown" --memory 2GiB -q
for n in 0 1 2 3 4 5 6 7 8 9; do
    measure "add, $step files" "$program" add "$place/grown" "${files[@]:first + n * step:step}" --memory 2GiB -q
done
measure "run, ${#files[@]} files" "$program" run "${files[@]}" -o "$place/whole" --memory 2GiB -q
for name in pairs.tsv clusters.jsonl exact-duplicates.tsv rejects.jsonl; do
    cmp "$place/grown/$name" "$place/whole/$name"
done
# The names of files that are given one by one depend on which are given.
columns() { cut -f 1-7,9- "$1/documents.tsv"; }
cmp <(columns "$place/grown") <(columns "$place/whole")
echo "the results are those of one run"

measure "index of all shingles" "$program" stage index "$place/grown" --memory 2GiB -q
some=()
for n in 10 200 400 640; do some+=("${files[n * ${#files[@]} / 665]}"); done
for memory in 64MiB 256MiB; do
    measure "query, ${#some[@]} files, $memory" "$program" query "$place/grown" "${some[@]}" --threads 1 --memory "$memory"
done
