#!/usr/bin/env bash
# The long version of the tests that break things on purpose.
#
#   scripts/torture.sh [cases|spark|kills|faults|rot|inputs|memory|fuzz]...     (all, if none is named)
#
# cases   every test takes all of its cases (one_in in tests/common), where .ci/run takes one in several
# spark   the tests of the Python module on Spark and Sail
# kills   every operation that changes something on the disk, killed before or after, with the power cut
#         there and with files garbled; then KILLS (default 1000) kills at random moments, seed SEED
# faults  every operation on a file fails in every way that fits it
# rot     every bit of every file of small runs flipped, every length cut (scripts/every-bit.sh)
# inputs  input made to do harm, in full size (scripts/torture-inputs.sh)
# memory  every command at many budgets (scripts/bench-memory.sh)
# fuzz    every target for FUZZ_SECONDS (default 3600) (scripts/fuzz.sh)
set -euo pipefail
cd "$(dirname "$0")/.."

KILLS=${KILLS:-1000}
SEED=${SEED:-$(date +%s)}
FUZZ_SECONDS=${FUZZ_SECONDS:-3600}
export LOOKALIKE_THOROUGH=1
[ $# -gt 0 ] || set -- cases spark kills faults rot inputs memory fuzz

long() { # the test binary, the module in it, then settings of the environment
    local binary=$1 module=$2
    shift 2
    env "$@" cargo test --locked --features faults,remote --test "$binary" -- --nocapture "$module::"
}

for part; do
    printf '\n== %s\n' "$part"
    begin=$(date +%s)
    case $part in
    cases) cargo test --locked --features faults,remote ;;
    spark) scripts/test-python.sh --spark ;;
    kills) long program torture LOOKALIKE_TORTURE_ALL=1 LOOKALIKE_TORTURE_KILLS="$KILLS" \
        LOOKALIKE_TORTURE_SEED="$SEED" LOOKALIKE_TORTURE_CUTS=20 ;;
    faults) long reliability faults LOOKALIKE_EVERY_FAULT=1 ;;
    rot) scripts/every-bit.sh ;;
    inputs)
        cargo build --locked --release
        scripts/torture-inputs.sh
        ;;
    memory) scripts/bench-memory.sh ;;
    fuzz) scripts/fuzz.sh all "$FUZZ_SECONDS" ;;
    *)
        echo "not a part: $part" >&2
        exit 2
        ;;
    esac
    printf '== %s: %s s\n' "$part" "$(($(date +%s) - begin))"
done
