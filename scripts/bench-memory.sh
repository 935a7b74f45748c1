#!/usr/bin/env bash
# Checks that every command stays within --memory plus the constant BEYOND_BUDGET of crates/base/src/budget.rs.
#
#   scripts/bench-memory.sh [INPUT...]
#
# INPUT: anything that `lookalike run` reads; by default the sample corpora. The script runs every command with budgets
# from 64MiB to 1GiB, and with the least memory that a refusal names, with one and two threads. It prints a table and
# exits with status 1 if a peak was above its limit. The peak is the kernel's peak resident set; if mapped pages take it
# above the limit, only anonymous pages count (scripts/peak-memory.py).
# LOOKALIKE_BIN, WORK, BUDGETS and THREADS replace the program, the directory, the budgets and the threads.
set -euo pipefail
cd "$(dirname "$0")/.."
work=${WORK:-target/bench-memory}
bin=${LOOKALIKE_BIN:-}
if [ -z "$bin" ]; then
    cargo build --profile dist --locked --quiet
    bin=${CARGO_TARGET_DIR:-target}/dist/lookalike
fi
[ $# -gt 0 ] || set -- sample-corpora/trec-web sample-corpora/warc sample-corpora/files
mkdir -p "$work"
# A copy, because a file of the corpus cannot be a test set.
cp sample-corpora/trec-web/a.gz "$work/test-set.gz"
beyond=$(sed -n 's/^pub const BEYOND_BUDGET: ByteSize = ByteSize::mib(\([0-9]*\));$/\1/p' crates/base/src/budget.rs)
[ -n "$beyond" ] || { echo "crates/base/src/budget.rs has no BEYOND_BUDGET" >&2; exit 1; }
echo "each peak is to be at most --memory and $beyond MiB; load $(cut -d' ' -f1 /proc/loadavg)"
echo
echo "| input | command | threads | --memory MiB | peak MiB | anonymous | mapped | |"
echo "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"
failed=0

mib() { # a size as lookalike writes it, in MiB
    case $1 in
        *GiB) echo $((${1%GiB} * 1024)) ;;
        *MiB) echo "${1%MiB}" ;;
        *) echo "not a whole number of MiB: $1" >&2; exit 1 ;;
    esac
}

# within NAME MEMORY COMMAND...: a line of the table. A budget that is refused is told, and the least that the
# refusal names is tried instead, until it does.
within() {
    local name=$1 memory=$2 least status; shift 2
    while :; do
        status=0
        scripts/peak-memory.py "$work/peak" "$bin" "$@" --memory "$memory" --quiet >"$work/out.txt" 2>"$work/err.txt" || status=$?
        [ "$status" = 0 ] && break
        least=$(sed -n 's/.*is too small: .* needs at least \([0-9]*[MG]iB\)$/\1/p' "$work/err.txt")
        [ -n "$least" ] && [ "$(mib "$least")" -gt "$(mib "$memory")" ] || { cat "$work/err.txt" >&2; exit 1; }
        memory=$least
    done
    local peak anonymous mapped verdict=
    read -r peak anonymous mapped <"$work/peak"
    if [ $((peak / 1024)) -gt $(($(mib "$memory") + beyond)) ]; then
        verdict="mapped pages"
        if [ $((anonymous / 1024)) -gt $(($(mib "$memory") + beyond)) ]; then
            verdict="TOO MUCH"
            failed=1
        fi
    fi
    printf '| %s | %s | %d | %d | %d | %d | %d | %s |\n' "$label" "$name" "$threads" "$(mib "$memory")" \
        $((peak / 1024)) $((anonymous / 1024)) $((mapped / 1024)) "$verdict"
}

for input; do
    label=$(echo "$input" | sed 's|.*sample-corpora/||; s|.*/\([^/]*\)/trecweb$|\1|')
    for threads in ${THREADS:-1 2}; do
        for memory in ${BUDGETS:-1MiB 64MiB 128MiB 256MiB 512MiB 1GiB}; do
            out=$work/out
            rm -rf "$out" "$out-count"
            # The largest document takes part in the least of ingest: a small budget is for small ones.
            largest=64MiB
            [ "$(mib "$memory")" -ge 256 ] || largest=2MiB
            means="--threads $threads"
            within "ingest" "$memory" stage ingest "$input" -o "$out" --max-document $largest $means
            within "join, runs on disk" "$memory" stage join "$out" --threshold 0.5 --spill always --join prefix $means
            cp -r "$out" "$out-count"
            within "join again, count" "$memory" stage join "$out-count" --threshold 0.6 --join count $means
            within "join again, 1/4 verified" "$memory" stage join "$out-count" --threshold 0.6 --sampling 1/4 --verified $means
            within "join again, no pairs" "$memory" stage join "$out-count" --threshold 0.6 --pairs none $means
            within "cluster" "$memory" stage cluster "$out-count" $means
            within "cluster" "$memory" stage cluster "$out" $means
            within "evaluate" "$memory" evaluate "$out-count" --truth "$out"
            within "study" "$memory" lab study "$out" --ratios 1/4,1/16 $means
            within "plan" "$memory" plan "$out" --precision 0.9 --ratios 1/4,1/16 $means
            within "report" "$memory" report "$out"
            within "query by shingles" "$memory" query "$out" "$input" --threshold 0.5 --top 0 $means
            rm -rf "$out" "$out-count"
            within "ingest --keep-text" "$memory" stage ingest "$input" -o "$out" --keep-text --max-document $largest $means
            for method in super-shingles minhash i-match deco:selection=full,score=s3; do
                within "method ${method%%:*}" "$memory" lab method "$method" "$out" $means
            done
            within "compare" "$memory" lab compare "$out" --method super-shingles --method minhash $means
            within "query by super-shingles" "$memory" query "$out" "$input" --method super-shingles --top 0 $means
            rm -rf "$out"
            within "perturb" "$memory" lab perturb "$input" -o "$out" --recipe chowdhury --max-document $largest
            rm -rf "$out"
            within "run" "$memory" run "$input" -o "$out" --max-document $largest $means
            within "add" "$memory" add "$out" sample-corpora/files $means
            within "passages" "$memory" passages "$out" $means
            rm -rf "$out" "$out-count"
            within "dedup" "$memory" dedup "$input" -o "$out" --max-document $largest $means
            rm -rf "$out" "$out.work"
            within "contamination" "$memory" contamination "$input" --test-set "$work/test-set.gz" -o "$out" --max-document $largest $means
        done
    done
done
rm -rf "$work/out" "$work/out-count" "$work/out.work"
[ "$failed" = 0 ] || { echo "a peak was above its budget and $beyond MiB" >&2; exit 1; }
