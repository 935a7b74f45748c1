#!/usr/bin/env bash
# Measures lookalike beside two programs of the same purpose, rensa and datasketch, in one run:
# what each costs, and how many of the pairs it finds.
#
#   scripts/bench-peers.sh INPUT [WORK-DIRECTORY]
#
# INPUT: pages, anything that `lookalike run` reads. Needs /usr/bin/time (Debian package `time`),
# taskset, python3 with venv, and the network the first time, for scripts/peers/requirements.txt.
# The report goes to standard output and to WORK-DIRECTORY/peers.md. Pages are reduced to text once
# for a work directory; if they changed, start in a new one.
#
# How it is kept fair:
# - All read the same text, as JSON lines, from the page cache, and all end with a list of pairs on
#   disk. CPU seconds are user + system of the whole process: JSON, tokens and shingles included.
#   Memory is the kernel's peak resident set. One process, pinned to one core, but for the row that
#   says otherwise; ratios are to lookalike on one core.
# - All have the same tokens and shingles; the column "same MD5" counts the documents of which both
#   sides have the same canonical text.
# - The peers' Python is written for speed (scripts/peers/text.py), and they use their batch calls.
# - Exact duplicates are set aside by MD5 for all. So the peers sketch each text once, and find all
#   identical pairs; pairs that are not identical are scored apart.
# - rensa's and datasketch's candidates count if their estimate is at the threshold or above.
#
# The truth is lookalike's own list of pairs. Therefore the smallest cut is first compared with an
# independent exact program (scripts/peers/exact.py, on the definitions of scripts/oracle.py), to the
# last shared shingle; a difference ends the run.
set -euo pipefail
cd "$(dirname "$0")/.."

threshold=0.85
shingle_size=10
memory=512MiB
slots=128 # of a sketch
bands=16  # of rensa's index, each of slots / bands rows; datasketch chooses its own
core=0    # where one-core measurements are pinned
# Cuts of the text, in MB (10^6 bytes). One that is not smaller than the whole is left out.
check_mb=20
datasketch_mb=60
middle_mb=300

input=${1:?usage: scripts/bench-peers.sh INPUT [WORK-DIRECTORY]}
work=${2:-target/bench-peers}
for tool in /usr/bin/time taskset python3; do
    command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 1; }
done
say() { printf '%s: %s\n' "$(date +%T)" "$*" >&2; }

say "building"
cargo build --profile dist --locked --quiet --bin lookalike --example pages-to-text
built=${CARGO_TARGET_DIR:-target}/dist
mkdir -p "$work"
if [ -e "$work/input" ] && [ "$(cat "$work/input")" != "$(realpath "$input")" ]; then
    echo "$work holds the text of $(cat "$work/input"); give another work directory" >&2
    exit 1
fi
realpath "$input" >"$work/input"
python=$work/venv/bin/python
[ -x "$python" ] || python3 -m venv "$work/venv"
"$python" -m pip install --quiet --disable-pip-version-check -r scripts/peers/requirements.txt

if [ ! -e "$work/text-full.jsonl" ]; then
    say "reducing pages to text"
    "$built/examples/pages-to-text" "$input" >"$work/text.tmp"
    mv "$work/text.tmp" "$work/text-full.jsonl"
fi
full_bytes=$(stat -c %s "$work/text-full.jsonl")
for mb in $check_mb $datasketch_mb $middle_mb; do
    if [ $((mb * 1000000)) -lt "$full_bytes" ] && [ ! -e "$work/text-${mb}MB.jsonl" ]; then
        # Whole lines: head cuts one, sed takes it away again.
        head -c $((mb * 1000000)) "$work/text-full.jsonl" | sed '$d' >"$work/text.tmp"
        mv "$work/text.tmp" "$work/text-${mb}MB.jsonl"
    fi
done
# The cut of so many megabytes, or all if there is less.
cut_of() { if [ -e "$work/text-$1MB.jsonl" ]; then echo "$1MB"; else echo full; fi; }

# measure TOOL INPUT FILES COMMAND...: `wall user system peak-KiB` in $work/FILES.time, and a row
: >"$work/rows.tsv"
measure() {
    local tool=$1 name=$2 run=$3; shift 3
    say "$tool on $name"
    cat "$work/text-$name.jsonl" >/dev/null # into the page cache
    /usr/bin/time -o "$work/$run.time" -f '%e %U %S %M' "$@" 2>"$work/$run.log" >"$work/$run.txt" ||
        { cat "$work/$run.log" >&2; exit 1; }
    printf '%s\t%s\t%s\n' "$tool" "$name" "$run" >>"$work/rows.tsv"
}

lookalike() { # INPUT
    local name=$1
    local -a options=(--threshold $threshold --shingle-size $shingle_size --memory $memory --quiet)
    rm -rf "$work/ours-$name-1" "$work/ours-$name-2"
    measure "lookalike, 1 thread on 1 core" "$name" "ours-$name-1" taskset -c $core \
        "$built/lookalike" run "$work/text-$name.jsonl" -o "$work/ours-$name-1" --threads 1 "${options[@]}"
    measure "lookalike, 2 threads" "$name" "ours-$name-2" \
        "$built/lookalike" run "$work/text-$name.jsonl" -o "$work/ours-$name-2" --threads 2 "${options[@]}"
    cmp "$work/ours-$name-1/pairs.tsv" "$work/ours-$name-2/pairs.tsv"
    for part in "$work/ours-$name-1"/collection/*.docs; do
        "$built/lookalike" check inspect --most 1000000000000 "$part"
    done >"$work/documents-$name.jsonl"
}

peer() { # NAME PROGRAM INPUT FURTHER-ARGUMENTS...
    local tool=$1 program=$2 name=$3; shift 3
    local run=$program-$name
    mkdir -p "$work/$run"
    rm -f "$work/$run"/*
    measure "$tool" "$name" "$run" env RAYON_NUM_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
        taskset -c $core "$python" "scripts/peers/${program}_pairs.py" "$work/text-$name.jsonl" "$work/$run" \
        --threshold $threshold --shingle-size $shingle_size --slots $slots "$@"
    "$python" scripts/peers/score.py "$work/ours-$name-1" "$work/documents-$name.jsonl" "$work/$run"
}

load_before=$(cut -d' ' -f1-3 /proc/loadavg)
names=$(for mb in $datasketch_mb $middle_mb; do cut_of "$mb"; done; echo full)
for name in $(printf '%s\n' "$names" | awk '!seen[$0]++'); do
    lookalike "$name"
    peer "rensa" rensa "$name" --bands $bands
    if [ "$name" = "$(cut_of $datasketch_mb)" ]; then
        peer "datasketch" datasketch "$name"
    fi
done
load_after=$(cut -d' ' -f1-3 /proc/loadavg)

check=$(cut_of $check_mb)
say "checking $check against the independent program"
rm -rf "$work/ours-check"
"$built/lookalike" run "$work/text-$check.jsonl" -o "$work/ours-check" --quiet \
    --threshold $threshold --shingle-size $shingle_size --memory $memory
"$python" scripts/peers/exact.py "$work/text-$check.jsonl" "$work" --threshold $threshold \
    --shingle-size $shingle_size --lookalike "$work/ours-check" >/dev/null

{
    echo "machine: $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs), $(nproc) cores, $(awk '/MemTotal/{printf "%.0f GiB", $2/1048576}' /proc/meminfo); load before $load_before, after $load_after"
    echo "versions: $("$built/lookalike" --version) ($(git describe --always --dirty 2>/dev/null || echo no commit)), $("$python" --version), $("$python" -m pip list --format freeze 2>/dev/null | grep -E "^($(cut -d= -f1 scripts/peers/requirements.txt | paste -sd'|'))=" | paste -sd' ')"
    echo "settings: threshold $threshold, $shingle_size-word shingles; lookalike --memory $memory; sketches of $slots slots; rensa $bands bands of $((slots / bands)) rows; datasketch $(cat "$work/datasketch-$(cut_of $datasketch_mb).txt")"
    echo
    "$python" scripts/peers/report.py "$work" $threshold "$work/rows.tsv"
    echo
    "$python" - "$work/exact.json" "$check" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
print(f"Independent exact program on {sys.argv[2]} ({r['documents']} documents): {r['pairs']} pairs of "
      f"representatives, {r['missing']} missing and {r['wrong']} wrong in lookalike's list; "
      f"{r['duplicates']} exact duplicates, {r['duplicates_missing']} missing, {r['duplicates_wrong']} wrong.")
PY
} | tee "$work/peers.md"
