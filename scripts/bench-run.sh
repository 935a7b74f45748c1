#!/usr/bin/env bash
# Measures the main job on a collection and prints the tables of docs/measurements.md.
#
#   scripts/bench-run.sh INPUT [WORK-DIRECTORY]
#
# INPUT: what `lookalike run` reads. Needs /usr/bin/time (Debian package `time`), taskset, python3.
# CPU seconds are user + system of the process, memory is the kernel's peak resident set.
set -euo pipefail
cd "$(dirname "$0")/.."
input=${1:?usage: scripts/bench-run.sh INPUT [WORK-DIRECTORY]}
work=${2:-target/bench-run}
mkdir -p "$work"
cargo build --profile dist --locked --quiet
bin=target/dist/lookalike
for tool in /usr/bin/time taskset python3; do
    command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 1; }
done

# measure NAME COMMAND...: a line of the table, `wall CPU peak-MiB`, kept in $work/NAME.time
measure() {
    local name=$1 file=$work/${1//\//_}; shift
    /usr/bin/time -o "$file.time" -f '%e %U %S %M' "$@" 2>"$file.log" >"$file.txt" ||
        { cat "$file.log" >&2; exit 1; }
    awk -v name="$name" '{printf "| %-44s | %8.2f | %8.2f | %6d |\n", name, $1, $2 + $3, $4 / 1024}' "$file.time"
}

echo "machine: $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs), $(nproc) cores, $(awk '/MemTotal/{printf "%.0f GiB", $2/1048576}' /proc/meminfo), load $(cut -d' ' -f1 /proc/loadavg)"
echo "input: $input, $(du -sbL "$input" | cut -f1) bytes on disk"
cat $(find -L "$input" -type f) >/dev/null # into the page cache

echo
echo "| run                                          |   wall s |    CPU s | peak MiB |"
echo "| -------------------------------------------- | -------- | -------- | -------- |"
rm -rf "$work/out"
measure "ingest, 1 thread on 1 core" taskset -c 0 $bin stage ingest "$input" -o "$work/out" --threads 1 --memory 512MiB --quiet
rm -rf "$work/out"
measure "ingest, 2 threads" $bin stage ingest "$input" -o "$work/out" --threads 2 --memory 512MiB --quiet
for memory in 256MiB 512MiB 2GiB; do
    rm -rf "$work/out-$memory"
    measure "run, 2 threads, --memory $memory" $bin run "$input" -o "$work/out-$memory" --threads 2 --memory $memory --quiet
done
rm -rf "$work/out-1"
measure "run, 1 thread on 1 core, --memory 512MiB" taskset -c 0 $bin run "$input" -o "$work/out-1" --threads 1 --memory 512MiB --quiet
rm -rf "$work/out-spill"
measure "run, 2 threads, 512MiB, --spill always" $bin run "$input" -o "$work/out-spill" --spill always --threads 2 --memory 512MiB --quiet
cp -r "$work/out-512MiB" "$work/out-again"
for threshold in 0.8 0.5; do
    measure "join again at $threshold (postings reused)" $bin stage join "$work/out-again" --threshold $threshold --memory 512MiB --threads 2 --quiet
    cp -r "$work/out-again" "$work/out-count"
    measure "join again at $threshold with --join count" $bin stage join "$work/out-count" --threshold $threshold --join count --memory 512MiB --threads 2 --quiet
    for out in again count; do $bin stage cluster "$work/out-$out" --memory 512MiB --quiet; done
    cmp "$work/out-again/pairs.tsv" "$work/out-count/pairs.tsv"
    rm -rf "$work/out-count"
done
measure "join again at 0.5 with --pairs none" $bin stage join "$work/out-again" --threshold 0.5 --pairs none --memory 512MiB --threads 2 --quiet
rm -rf "$work/out-again"
measure "join --max-postings 1000 (counts)" $bin stage join "$work/out-512MiB" --max-postings 1000 --memory 512MiB --threads 2 --quiet
measure "join with --sampling 1/16" $bin stage join "$work/out-512MiB" --sampling 1/16 --memory 512MiB --threads 2 --quiet
measure "join with --sampling broder97" $bin stage join "$work/out-512MiB" --sampling broder97 --memory 512MiB --threads 2 --quiet
rm -rf "$work/out-md5"
measure "run with --fingerprint md5, --memory 512MiB" $bin run "$input" -o "$work/out-md5" --fingerprint md5 --threads 2 --memory 512MiB --quiet

echo
for file in pairs.tsv clusters.jsonl exact-duplicates.tsv documents.tsv rejects.jsonl; do
    cmp "$work/out-256MiB/$file" "$work/out-2GiB/$file" && cmp "$work/out-256MiB/$file" "$work/out-1/$file"
    cmp "$work/out-256MiB/$file" "$work/out-spill/$file"
done && echo "results of all budgets and threads, with runs and without, are identical"
# The header names the fingerprint; everything else must agree.
diff <(grep -v '^#' "$work/out-256MiB/pairs.tsv") <(grep -v '^#' "$work/out-md5/pairs.tsv") && echo "pairs of both fingerprints are identical"

echo
python3 - "$work" <<'PY'
import json, sys
work = sys.argv[1]
s = json.load(open(f"{work}/out-2GiB/summary.json"))
gb = s["ingest"]["bytes"] / 1e9
one = [float(x) for x in open(f"{work}/ingest, 1 thread on 1 core.time").read().split()]
two = [float(x) for x in open(f"{work}/ingest, 2 threads.time").read().split()]
print(f"{s['ingest']['documents']} documents, {gb:.3f} GB of pages, {s['catalogue']['shingles']} distinct shingles")
print(f"ingest: {(one[1] + one[2]) / gb:.1f} CPU s per GB on one core, {(two[1] + two[2]) / gb:.1f} on two; wall of two threads / one: {two[0] / one[0]:.2f}")
for budget in ("256MiB", "2GiB"):
    s = json.load(open(f"{work}/out-{budget}/summary.json"))
    p = s["join"]["prefix"]
    print(f"--memory {budget}: {s['sort']['runs']} runs; join: {s['selected']['keys']} of {s['sample']['sampled']} fingerprints in prefixes, "
          f"{p['probes']} probes, {p['candidates']} candidates, {s['join']['pairs']} pairs")
    for stage, cost in s["costs"].items():
        print(f"    {stage:<10} {cost['wall_seconds']:7.2f} s wall {cost['cpu_seconds']:7.2f} s CPU")
PY
