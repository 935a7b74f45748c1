#!/usr/bin/env bash
# Runs one collection and prints its time, memory and disk by stage.
#
#   scripts/bench-scale.sh INPUT WORK-DIRECTORY [FLAGS...]
#
# FLAGS go to `lookalike run`; without any, --memory 2GiB. Needs /usr/bin/time (Debian package `time`)
# and python3. Disk is the largest size of the output directory, sampled every second.
set -euo pipefail
cd "$(dirname "$0")/.."
input=${1:?usage: scripts/bench-scale.sh INPUT WORK-DIRECTORY [FLAGS...]}
work=${2:?usage: scripts/bench-scale.sh INPUT WORK-DIRECTORY [FLAGS...]}
shift 2
[ $# -gt 0 ] || set -- --memory 2GiB
mkdir -p "$work"
cargo build --profile dist --locked --quiet
bin=${CARGO_TARGET_DIR:-target}/dist/lookalike
rm -rf "$work/out"
echo "- machine: $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs), $(nproc) cores, $(awk '/MemTotal/{printf "%.0f GiB", $2/1048576}' /proc/meminfo), load $(cut -d' ' -f1 /proc/loadavg)"
echo "- \`lookalike run $input $*\`"
/usr/bin/time -o "$work/time" -f '%e %U %S %M' "$bin" run "$input" -o "$work/out" --quiet "$@" &
run=$!
most=0
while kill -0 $run 2>/dev/null; do
    # Files come and go while they are counted.
    now=$(du -sb "$work/out" 2>/dev/null | cut -f1 || true)
    [ "${now:-0}" -gt $most ] && most=$now
    sleep 1
done
wait $run
python3 - "$work/time" "$work/out/summary.json" "$most" <<'PY'
import json, sys
wall, user, system, peak = map(float, open(sys.argv[1]).read().split())
s = json.load(open(sys.argv[2]))
most = int(sys.argv[3])
gb = s["ingest"]["bytes"] / 1e9
shingles = s["catalogue"]["shingles"]
print(f"- {s['ingest']['documents']:,} documents, {gb:.2f} GB of pages from {s['input_bytes'] / 1e9:.2f} GB of files; "
      f"{s['catalogue']['exact_duplicates']:,} exact duplicates, {shingles:,} distinct shingles")
cpu = user + system
print(f"- wall {wall:.1f} s, CPU {cpu:.1f} s ({cpu / gb:.2f} a GB of pages), peak resident {peak / 1024:.0f} MiB, "
      f"peak disk {most / 1e9:.2f} GB")
sort, merge, join = s["sort"], s["merge"], s["join"]
print(f"- {sort['runs']} runs, {sort['bytes'] / max(sort['records'], 1):.2f} bytes a record, {merge['generations']} generation(s); "
      f"{merge['singles']:,} fingerprints of one document, {merge['entries']:,} postings, longest list {merge['longest']:,}, "
      f"{merge['pair_tokens']:,} pair tokens stood for")
if "prefix" in join:
    p = join["prefix"]
    chosen = s["selected"]
    print(f"- {chosen['keys']:,} of {s['sample']['sampled']:,} fingerprints sorted, {chosen['pruned']:,} documents pruned")
    print(f"- join: {p['probes']:,} probes, {p['candidates']:,} candidates, {p['verified']:,} verified")
print(f"- {join['pairs']:,} pairs; {s['cluster']['clusters']:,} clusters, largest {s['cluster']['largest']:,}")
print("\n| stage | wall s | CPU s | CPU s a GB |\n| --- | ---: | ---: | ---: |")
for stage in ("ingest", "catalogue", "sample", "sort", "merge", "join", "cluster"):
    c = s["costs"].get(stage, {"wall_seconds": 0, "cpu_seconds": 0})
    print(f"| {stage} | {c['wall_seconds']:.1f} | {c['cpu_seconds']:.1f} | {c['cpu_seconds'] / gb:.2f} |")
PY
