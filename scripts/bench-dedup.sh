#!/usr/bin/env bash
# Measures `lookalike dedup` on one core, beside a plain copy through the same decompressor and compressor.
#
#   scripts/bench-dedup.sh TEXT.jsonl [WORK-DIRECTORY]
#
# TEXT.jsonl: one object a line with id and text, as scripts/bench-peers.sh makes (text-full.jsonl). It is cut into 16
# shards behind zstd once for a work directory. Needs /usr/bin/time (Debian package `time`), taskset, zstd.
# CPU seconds are user + system of all processes, memory is the kernel's peak resident set.
set -euo pipefail
cd "$(dirname "$0")/.."
text=${1:?usage: scripts/bench-dedup.sh TEXT.jsonl [WORK-DIRECTORY]}
work=${2:-target/bench-dedup}
for tool in /usr/bin/time taskset zstd; do
    command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 1; }
done
cargo build --release --locked --quiet
bin=${CARGO_TARGET_DIR:-target}/release/lookalike
if [ ! -e "$work/shards" ]; then
    mkdir -p "$work/cut"
    split -n l/16 -d --additional-suffix=.jsonl "$text" "$work/cut/part-"
    zstd -q --rm "$work"/cut/*.jsonl
    mv "$work/cut" "$work/shards"
fi
bytes=$(stat -c %s "$text")
cat "$work"/shards/* >/dev/null # into the page cache

# measure NAME COMMAND...
measure() {
    local name=$1; shift
    /usr/bin/time -o "$work/time" -f '%e %U %S %M' taskset -c 0 "$@" >"$work/printed"
    awk -v name="$name" -v bytes="$bytes" \
        '{printf "| %-26s | %7.2f | %7.2f | %12.4f | %8d |\n", name, $1, $2 + $3, ($2 + $3) * 1e6 / bytes, $4 / 1024}' "$work/time"
}

echo "machine: $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs), load $(cut -d' ' -f1 /proc/loadavg)"
echo "input: $bytes bytes of JSON lines in $(find "$work/shards" -type f | wc -l) shards behind zstd"
echo
echo "| on one core                |  wall s |   CPU s | CPU s per MB | peak MiB |"
echo "| -------------------------- | ------: | ------: | -----------: | -------: |"
rm -rf "$work"/{kept,removed,run,kept-2,removed-2,copied}
measure "dedup" "$bin" dedup "$work/shards" -o "$work/kept" --removed "$work/removed" --work "$work/run" \
    --threads 1 --memory 512MiB
cp "$work/printed" "$work/ledger"
measure "dedup --from (writing)" "$bin" dedup --from "$work/run" -o "$work/kept-2" --removed "$work/removed-2" \
    --threads 1 --memory 512MiB
mkdir "$work/copied"
measure "zstd -dc, zstd -3" bash -c 'for shard in "$0"/*; do
    zstd -dcq "$shard" | zstd -3 -q --single-thread >"$1/${shard##*/}"; done' "$work/shards" "$work/copied"
echo
cat "$work/ledger"
diff -r "$work/kept" "$work/kept-2"
rm -rf "$work"/{again,again.work}
"$bin" dedup "$work/kept" -o "$work/again" --quiet --json | grep '"kept"'
