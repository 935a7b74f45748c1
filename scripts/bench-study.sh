#!/usr/bin/env bash
# Compares the cost of a whole study with that of one exact run over the same collection.
#
#   scripts/bench-study.sh INPUT WORK [MEMORY]
#
# Replaces WORK/out. Prints the output of `lookalike lab study`, and the ratio of the two costs.
set -euo pipefail
input=${1:?input}
work=${2:?directory to work in}
memory=${3:-1GiB}
cd "$(dirname "$0")/.."
cargo build --profile dist --quiet
lookalike=$PWD/target/dist/lookalike
mkdir -p "$work"
if [ -e "$work/out" ]; then
    mv "$work/out" "$work/gone"
    rm -rf "$work/gone"
fi
echo "machine: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1 | cut -d' ' -f1-2), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"
/usr/bin/time -f '%e %U %S %M' -o "$work/exact" "$lookalike" run "$input" -o "$work/out" --memory "$memory" --quiet
/usr/bin/time -f '%e %U %S %M' -o "$work/study" "$lookalike" lab study "$work/out" --memory "$memory" 2>/dev/null
python3 - "$work/exact" "$work/study" <<'P'
import sys
exact, study = ([float(x) for x in open(p).read().split()] for p in sys.argv[1:])
print(f"\none exact run at 0.85: {exact[0]:.1f} s, {exact[1] + exact[2]:.1f} CPU s, peak {exact[3] / 1024:.0f} MiB")
print(f"the study: {study[0]:.1f} s, {study[1] + study[2]:.1f} CPU s, peak {study[3] / 1024:.0f} MiB: "
      f"{study[0] / exact[0]:.1f} times the wall time, {(study[1] + study[2]) / (exact[1] + exact[2]):.1f} times the CPU time")
P
