#!/usr/bin/env bash
# Measures lookalike beside programs that find the same pairs exactly, on sets like those of the field's own
# benchmark (Mann, Augsten & Bouros 2016; Fier et al. 2018): CPU seconds, memory, and whether the pairs are equal.
#
#   scripts/bench-joins.sh [WORK-DIRECTORY]
#
# Needs /usr/bin/time (Debian package `time`), prlimit, taskset, g++, python3 with venv, and the network the first
# time, for scripts/peers/requirements-joins.txt. LOOKALIKE names a program that is built already. The report goes to
# standard output and to WORK-DIRECTORY/joins.md. It takes half an hour to an hour on one core. What WORK-DIRECTORY/out
# holds is not measured again.
#
# - No package contains the data sets, so scripts/peers/joins.py draws sets by their published numbers, with a seed.
#   Like theirs, they contain no duplicates.
# - All programs read the same JSON lines and write a list of pairs, pinned to one core. CPU seconds are user + system
#   of the whole process; of up to three runs the least. Memory is the kernel's peak resident set.
# - lookalike's pairs are those of `run --shingle-size 1`. It also writes its collection, clusters and tables.
# - The table has three thresholds (TABLE names others).
# - A program that needs more than `limit` CPU seconds or `room` of address space is stopped, and not started at lower
#   thresholds. DATA, THRESHOLDS, PROGRAMS, LIMIT and CORE change what runs, and where.
# - rsetsim (PyPI) would belong here, but the registry had no version of it on 30 November 2026.
set -euo pipefail
cd "$(dirname "$0")/.."

# Shares of the published numbers of sets, so that the slower programs finish.
data=${DATA:-UNIFORM:0.2 ZIPF:0.5 BMS-POS:0.2 DBLP:0.2 KOSARAK:0.1 ENRON:0.1 FLICKR:0.2 AOL:0.02}
thresholds=${THRESHOLDS:-0.95 0.9 0.8 0.7 0.6 0.5} # each lower than the one before
programs=${PROGRAMS:-lookalike ppjoin simjoined searched}
limit=${LIMIT:-30}
room=$((8 << 30))
memory=512MiB
core=${CORE:-0}

work=${1:-target/bench-joins}
for tool in /usr/bin/time prlimit taskset g++ python3; do
    command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 1; }
done
say() { printf '%s: %s\n' "$(date +%T)" "$*" >&2; }

mkdir -p "$work/sets" "$work/out"
lookalike=${LOOKALIKE:-}
if [ -z "$lookalike" ]; then
    say "building"
    cargo build --profile dist --locked --quiet --bin lookalike
    lookalike=${CARGO_TARGET_DIR:-target}/dist/lookalike
fi
g++ -O3 -march=native -std=c++17 -o "$work/ppjoin" scripts/peers/ppjoin.cpp
python=$work/venv/bin/python
if [ ! -x "$python" ]; then
    python3 -m venv "$work/venv"
    pip() { "$python" -m pip install --quiet --disable-pip-version-check "$@"; }
    pip -r scripts/peers/requirements-joins.txt
    # Its build needs the setuptools above, and no Cython.
    pip --no-build-isolation py_stringsimjoin==0.3.6
fi

# once RUN COMMAND...: a line `user system peak-KiB` in RUN.times, or a word in RUN.stopped
once() {
    local run=$1 status=0; shift
    /usr/bin/time -q -o "$run.time" -f '%U %S %M' prlimit --cpu="$limit" taskset -c "$core" "$@" >"$run.log" 2>&1 || status=$?
    if [ $status = 0 ]; then
        cat "$run.time" >>"$run.times"
    elif [ $status -gt 128 ] || grep -q "signal" "$run.time"; then
        echo ">$limit" >"$run.stopped"
    elif grep -qE "MemoryError|bad_alloc" "$run.log"; then
        echo "memory" >"$run.stopped"
    else
        cat "$run.log" >&2
        exit 1
    fi
}

# measure PROGRAM NAME THRESHOLD: up to three runs, less if they are long
measure() {
    local program=$1 name=$2 threshold=$3 run=$work/out/$2-$3-$1 sets=$work/sets/$2.jsonl repeat
    [ ! -e "$run.times" ] && [ ! -e "$run.stopped" ] || return 0
    if [ -e "$work/out/$name-$program.slow" ]; then
        cp "$work/out/$name-$program.slow" "$run.stopped"
        return
    fi
    say "$program on $name at $threshold"
    for repeat in 1 2 3; do
        case $program in
        lookalike)
            rm -rf "$run"
            once "$run" "$lookalike" run "$sets" -o "$run" --shingle-size 1 --threshold "$threshold" --threads 1 \
                --memory $memory --quiet
            ;;
        ppjoin) once "$run" prlimit --as=$room "$work/ppjoin" "$sets" "$run.pairs" "$threshold" ;;
        *) once "$run" env OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 prlimit --as=$room "$python" scripts/peers/joins.py \
            "$program" "$sets" "$run.pairs" "$threshold" ;;
        esac
        [ ! -e "$run.stopped" ] || { cp "$run.stopped" "$work/out/$name-$program.slow"; break; }
        awk '{exit $1 + $2 > 5}' "$run.times" || break
    done
    if [ "$program" = lookalike ] && [ ! -e "$run.stopped" ]; then
        mv "$run/pairs.tsv" "$run.pairs"
        mv "$run/summary.json" "$run.summary"
    fi
    rm -rf "$run"
}

load_before=$(cut -d' ' -f1-3 /proc/loadavg)
for each in $data; do
    name=${each%:*} share=${each#*:}
    sets=$work/sets/$name.jsonl
    if [ "$(cat "$work/sets/$name.share" 2>/dev/null)" != "$share" ]; then
        say "drawing $name"
        "$python" scripts/peers/joins.py make "$name" "$share" "$sets"
        echo "$share" >"$work/sets/$name.share"
    fi
    cat "$sets" >/dev/null # into the page cache
    for threshold in $thresholds; do
        for program in $programs; do measure "$program" "$name" "$threshold"; done
        ours=$work/out/$name-$threshold-lookalike.pairs
        for program in $programs; do
            run=$work/out/$name-$threshold-$program
            if [ -e "$ours" ] && [ -e "$run.pairs" ] && [ ! -e "$run.stopped" ] && [ "$program" != lookalike ]; then
                "$python" scripts/peers/joins.py compare "$sets" "$threshold" "$ours" "$run.pairs" "$run.json"
            fi
        done
    done
done

{
    echo "machine: $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs), $(nproc) cores, $(awk '/MemTotal/{printf "%.0f GiB", $2/1048576}' /proc/meminfo); load before $load_before, after $(cut -d' ' -f1-3 /proc/loadavg)"
    echo "versions: $("$lookalike" --version), $("$python" --version), $("$python" -m pip list --format freeze 2>/dev/null | grep -iE '^(SetSimilaritySearch|py.stringsimjoin|numpy|pandas)=' | paste -sd' '), $(g++ --version | head -1)"
    echo
    "$python" scripts/peers/joins.py table "$work" "$data" "${TABLE:-0.9 0.7 0.5}"
} | tee "$work/joins.md"
