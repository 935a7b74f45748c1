#!/usr/bin/env bash
# Measures what finding shared passages costs: from input to spans, and with matches.
#
#   scripts/bench-passages.sh TEXT.jsonl... [-- WORK-DIRECTORY]
#
# TEXT.jsonl: JSON lines of `id` and `text`; the example pages-to-text makes them from pages. Needs /usr/bin/time (Debian
# package `time`) and taskset. With python3 and venv it also measures a suffix array with its array of longest common
# prefixes (pydivsufsort, divsufsort and Kasai's algorithm) over the lower-cased text of the first SA_MB megabytes.
#
# One thread, pinned to one core, --memory 512MiB. CPU seconds are user + system of the process. Written: blocks that the
# process wrote, as the kernel counts them. The report goes to standard output.
set -euo pipefail
cd "$(dirname "$0")/.."

inputs=()
work=target/bench-passages
while [ $# -gt 0 ]; do
    if [ "$1" = -- ]; then
        work=${2:?a directory follows --}
        break
    fi
    inputs+=("$(realpath "$1")")
    shift
done
[ ${#inputs[@]} -gt 0 ] || { echo "usage: scripts/bench-passages.sh TEXT.jsonl... [-- WORK-DIRECTORY]" >&2; exit 1; }
SA_MB=${SA_MB:-20}

cargo build --profile dist --locked --quiet --bin lookalike
lookalike=$(realpath "${CARGO_TARGET_DIR:-target}/dist/lookalike")
mkdir -p "$work"

# The CPU seconds, MiB and written MB of a command.
measure() {
    /usr/bin/time -o "$work/time" -f '%U %S %M %O' taskset -c 0 "$@" >"$work/out.log"
    awk '{printf "%.2f %.0f %.0f", $1 + $2, $3 / 1024, $4 * 512 / 1e6}' "$work/time"
}

printf '| input | MB | step | CPU s | CPU s per MB | peak MiB | written MB |\n| --- | ---: | --- | ---: | ---: | ---: | ---: |\n'
for input in "${inputs[@]}"; do
    size=$(stat -c %s "$input")
    megabytes=$(awk -v s="$size" 'BEGIN {printf "%.0f", s / 1e6}')
    rm -rf "$work/dir"
    row() {
        local step=$1
        shift
        read -r cpu peak written <<<"$(measure "$@")"
        awk -v n="$(basename "$input")" -v m="$megabytes" -v step="$step" -v c="$cpu" -v s="$size" -v p="$peak" -v w="$written" \
            'BEGIN {printf "| %s | %s | %s | %.2f | %.4f | %s | %s |\n", n, m, step, c, c / (s / 1e6), p, w}'
    }
    flags=(--threads 1 --memory 512MiB --quiet)
    row "ingest" "$lookalike" stage ingest "$input" -o "$work/dir" "${flags[@]}"
    row "spans, 50 tokens" "$lookalike" passages "$work/dir" --no-matches "${flags[@]}"
    row "spans, 13 tokens" "$lookalike" passages "$work/dir" --length 13 --no-matches "${flags[@]}"
    row "spans and matches, 50 tokens" "$lookalike" passages "$work/dir" "${flags[@]}"
done
rm -rf "$work/dir"

python3 -c 'import venv, ensurepip' 2>/dev/null || { echo "LEFT OUT: the suffix array needs python3 with venv" >&2; exit 0; }
[ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check pydivsufsort==0.0.20
"$work/venv/bin/python" - "${inputs[0]}" "$SA_MB" <<'PYTHON'
import json
import resource
import sys
import time

from pydivsufsort import divsufsort, kasai

path, megabytes = sys.argv[1], int(sys.argv[2])
with open(path) as lines:
    text = "\0".join(json.loads(line)["text"].lower() for line in lines).encode()[: megabytes * 10**6]
begin = time.process_time()
order = divsufsort(text)
kasai(text, order)
seconds = time.process_time() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(f"\nSuffix array and common prefixes of {len(text) / 1e6:.0f} MB: {seconds:.2f} CPU s, "
      f"{seconds / (len(text) / 1e6):.4f} a MB, {peak} MiB")
PYTHON
