#!/usr/bin/env bash
# Measures `lookalike dedup` on one core, from shards to deduplicated shards and the removed records, beside a plain copy,
# rensa's deduplicator and datatrove's MinHash pipeline, in one run.
#
#   scripts/bench-dedup.sh TEXT.jsonl [WORK-DIRECTORY]
#
# TEXT.jsonl: one object a line with id and text, as scripts/bench-peers.sh makes (text-full.jsonl). It is cut into 16
# shards behind zstd, and these into Parquet files with six more columns, once for a work directory. A cut of 20 MB serves
# datatrove, which takes some seconds a MB. Needs /usr/bin/time (Debian package `time`), taskset, zstd, python3 with venv,
# and the network the first time, for scripts/peers/requirements-dedup.txt.
#
# CPU seconds are user + system of all processes, memory is the kernel's peak resident set of one process. All read from
# the page cache, pinned to one core. Kept documents are scored by lookalike's own pairs, which bench-peers.sh compares
# with an independent exact program.
set -euo pipefail
cd "$(dirname "$0")/.."
text=${1:?usage: scripts/bench-dedup.sh TEXT.jsonl [WORK-DIRECTORY]}
work=${2:-target/bench-dedup}
threshold=0.85
for tool in /usr/bin/time taskset zstd python3; do
    command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 1; }
done
cargo build --profile dist --locked --quiet
bin=${CARGO_TARGET_DIR:-target}/dist/lookalike
mkdir -p "$work"
python=$work/venv/bin/python
[ -x "$python" ] || python3 -m venv "$work/venv"
"$python" -m pip install --quiet --disable-pip-version-check -r scripts/peers/requirements-dedup.txt

# cut INPUT SHARDS DIRECTORY
cut_into() {
    [ -e "$work/$3" ] && return
    rm -rf "$work/cut"
    mkdir "$work/cut"
    split -n "l/$2" -d --additional-suffix=.jsonl "$1" "$work/cut/part-"
    zstd -q --rm "$work"/cut/*.jsonl
    mv "$work/cut" "$work/$3"
}
cut_into "$text" 16 shards
# Whole lines: head cuts one, sed takes it away again.
[ -e "$work/small.jsonl" ] || head -c 20000000 "$text" | sed '$d' >"$work/small.jsonl"
cut_into "$work/small.jsonl" 2 small
if [ ! -e "$work/parquet" ]; then
    rm -rf "$work/made"
    "$python" scripts/peers/make_parquet.py "$work/shards" "$work/made"
    mv "$work/made" "$work/parquet"
fi

: >"$work/scores"
# measure INPUT NAME COMMAND...: a row. The bytes of text are those of the JSON lines, for Parquet too.
measure() {
    local input=$1 name=$2; shift 2
    local bytes=$all
    [ "$input" != small ] || bytes=$small
    cat "$work/$input"/* >/dev/null # into the page cache
    /usr/bin/time -o "$work/time" -f '%e %U %S %M' taskset -c 0 env RAYON_NUM_THREADS=1 OMP_NUM_THREADS=1 "$@" \
        >"$work/printed" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
    tail -n 1 "$work/time" | awk -v input="$input" -v name="$name" -v bytes="$bytes" \
        '{printf "| %-7s | %-38s | %7.2f | %7.2f | %12.4f | %8d |\n", input, name, $1, $2 + $3, ($2 + $3) * 1e6 / bytes, $4 / 1024}'
}
# score INPUT NAME RUN KEPT
score() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$("$python" scripts/peers/dedup_score.py "$work/$3" "$work/$4")" >>"$work/scores"
}
all=$(stat -c %s "$text")
small=$(stat -c %s "$work/small.jsonl")
rm -rf "$work"/out
mkdir "$work/out"

# ours INPUT
ours() {
    measure "$1" "dedup" "$bin" dedup "$work/$1" -o "$work/out/$1-kept" --removed "$work/out/$1-removed" \
        --work "$work/out/$1-run" --threads 1 --memory 512MiB --threshold $threshold
    cp "$work/printed" "$work/out/$1-ledger"
    measure "$1" "dedup --from (writing alone)" "$bin" dedup --from "$work/out/$1-run" -o "$work/out/$1-kept-2" \
        --removed "$work/out/$1-removed-2" --threads 1 --memory 512MiB
    score "$1" "lookalike" "out/$1-run" "out/$1-kept"
    diff -r --exclude=lock "$work/out/$1-kept" "$work/out/$1-kept-2"
}
rensa() {
    measure "$1" "rensa" "$python" scripts/peers/rensa_dedup.py "$work/$1" "$work/out/$1-rensa-kept" \
        "$work/out/$1-rensa-removed" --threshold $threshold --shingle-size 10 --slots 128 --bands 16
    score "$1" "rensa" "out/$1-run" "out/$1-rensa-kept"
}

echo "machine: $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs), load $(cut -d' ' -f1 /proc/loadavg)"
echo "input: $all bytes of JSON lines in 16 shards behind zstd, the same as Parquet; small: $small bytes"
echo
echo "| input   | on one core                            |  wall s |   CPU s | CPU s per MB | peak MiB |"
echo "| ------- | -------------------------------------- | ------: | ------: | -----------: | -------: |"
ours shards
mkdir "$work/out/copied"
measure shards "zstd -dc, zstd -3" bash -c 'for shard in "$0"/*; do
    zstd -dcq "$shard" | zstd -3 -q --single-thread >"$1/${shard##*/}"; done' "$work/shards" "$work/out/copied"
rensa shards
ours parquet
measure parquet "pyarrow, read and written" "$python" scripts/peers/copy_parquet.py "$work/parquet" "$work/out/parquet-copied"
ours small
rensa small
measure small "datatrove" "$python" scripts/peers/datatrove_dedup.py "$work/small" "$work/out/datatrove"
score small "datatrove" "out/small-run" "out/datatrove/kept"
echo
echo "| input   | program   | documents removed | removed without a kept one at $threshold | kept pairs at $threshold |"
echo "| ------- | --------- | ----------------: | -------------------------------: | -----------------: |"
awk -F'\t' '{printf "| %-7s | %-9s | %17d | %32d | %18d |\n", $1, $2, $3, $4, $5}' "$work/scores"
echo
cat "$work/out/shards-ledger"
"$bin" dedup "$work/out/shards-kept" -o "$work/out/again" --quiet --json | grep '"kept"'
