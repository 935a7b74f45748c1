#!/usr/bin/env bash
# How much faster enough cores would make a run, measured without them.
#
#   scripts/bench-cores.sh INPUT [WORK-DIRECTORY] [THREADS...]
#
# Runs INPUT with 1, 2, 8 and 32 threads (or as given) and prints for each stage the CPU time, the part of it that no
# number of cores divides (the thread that runs the stage, or its busiest worker), and their ratio: the speed-up that
# enough cores would allow. The time that threads wait for disks or for each other is in neither.
set -euo pipefail
cd "$(dirname "$0")/.."
input=${1:?usage: scripts/bench-cores.sh INPUT [WORK-DIRECTORY] [THREADS...]}
work=${2:-target/bench-cores}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- 1 2 8 32
cargo build --profile dist --locked --quiet
bin=${CARGO_TARGET_DIR:-target}/dist/lookalike
mkdir -p "$work"
echo "machine: $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"
echo "input: $input, $(du -sLb "$input" | cut -f1) bytes on disk; --memory 4GiB"
for threads; do
    rm -rf "$work/out-$threads"
    "$bin" run "$input" -o "$work/out-$threads" --threads "$threads" --memory 4GiB --quiet >/dev/null
    python3 - "$work/out-$threads/summary.json" "$threads" <<'PY'
import json, sys
costs = json.load(open(sys.argv[1]))["costs"]
print(f"\n| {sys.argv[2]} threads | CPU s | undivided s | speed-up at most |\n| --- | ---: | ---: | ---: |")
rows = [(stage, c["cpu_seconds"], c["undivided_seconds"]) for stage, c in costs.items()]
rows.sort(key=lambda row: -row[1])
rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
for stage, cpu, undivided in rows:
    if cpu >= 0.01:
        print(f"| {stage} | {cpu:.2f} | {undivided:.2f} | {cpu / max(undivided, 1e-9):.1f} |")
PY
done
first=$1
for threads; do cmp "$work/out-$first/pairs.tsv" "$work/out-$threads/pairs.tsv"; done
