#!/usr/bin/env bash
# Looks for inputs that break the program. --smoke needs only the stable compiler; the rest needs nightly Rust and
# cargo-fuzz.
#
#   scripts/fuzz.sh TARGET|all SECONDS   with AddressSanitizer, SECONDS for each target
#   scripts/fuzz.sh --smoke [SECONDS]    every target with the stable compiler, SECONDS (60) in all
#
# New inputs go to target/fuzz/found/TARGET, inputs that break something to fuzz/artifacts/TARGET.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    sed -n 's/^# \{0,1\}//p' "$0" | sed -n '2,10p' >&2
    exit 2
}

targets() { sed -n 's/^path = "fuzz_targets\/\(.*\)\.rs"$/\1/p' fuzz/Cargo.toml; }

# The targets' files lie in memory where the system has that, and are gone afterwards.
parent=${TMPDIR:-/tmp}
if [ -d /dev/shm ] && [ -w /dev/shm ]; then parent=/dev/shm; fi
TMPDIR=$(mktemp -d "$parent/lookalike-fuzz.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# A block of documents may claim 256 MiB (store/meta.rs), a decoder 128 MiB; nothing else is near it.
limits() {
    local target=$1
    printf '%s\n' -seed=1 -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=320 -max_len=65536
    printf '%s\n' -print_final_stats=1 "-artifact_prefix=fuzz/artifacts/$target/"
    if [ -e "fuzz/dictionaries/$target.dict" ]; then printf '%s\n' "-dict=fuzz/dictionaries/$target.dict"; fi
}

fuzz() {
    local target=$1 seconds=$2 arguments
    shift 2
    mkdir -p "fuzz/artifacts/$target" "fuzz/regressions/$target" "target/fuzz/found/$target"
    mapfile -t arguments < <(limits "$target")
    "$@" "${arguments[@]}" "-max_total_time=$seconds"
}

smoke() {
    local seconds=$1 host built target count
    if ! command -v "${CXX:-c++}" >/dev/null; then
        echo "LEFT OUT: the fuzz smoke needs a C++ compiler for libFuzzer" >&2
        return
    fi
    host=$(rustc -vV | sed -n 's/^host: //p')
    built=${CARGO_TARGET_DIR:-target}/fuzz
    # What cargo-fuzz gives the compiler, without the sanitizer, which takes a nightly one.
    RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares" \
        cargo build --locked --quiet --package lookalike-fuzz --target "$host" --target-dir "$built" --bins
    count=$(targets | wc -l)
    for target in $(targets); do
        mkdir -p "$TMPDIR/new"
        # The committed inputs are read and stay as they are.
        if ! fuzz "$target" $(((seconds + count - 1) / count)) "$built/$host/debug/$target" \
            "$TMPDIR/new" "fuzz/corpus/$target" "fuzz/regressions/$target" 2>"$TMPDIR/log"; then
            tail -n 60 "$TMPDIR/log" >&2
            echo "the target $target is broken; its input is in fuzz/artifacts/$target" >&2
            return 1
        fi
        sed -n "s/^Done \([0-9]*\) runs in \([0-9]*\) second.*/$target: \1 runs in \2 s/p" "$TMPDIR/log" >&2
        rm -rf "$TMPDIR/new"
    done
}

[ $# -ge 1 ] || usage
if [ "$1" = --smoke ]; then
    smoke "${2:-60}"
    exit
fi
[ $# -eq 2 ] || usage
# The release profile, with what a report of a defect needs.
export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only CARGO_PROFILE_RELEASE_STRIP=none
if [ "$1" = all ]; then chosen=$(targets); else chosen=$1; fi
for target in $chosen; do
    targets | grep -qx "$target" || usage
    echo "== $target" >&2
    # Without a target's own corpus first, cargo-fuzz would add to the committed one.
    fuzz "$target" "$2" cargo +nightly fuzz run "$target" \
        "target/fuzz/found/$target" "fuzz/corpus/$target" "fuzz/regressions/$target" --
done
