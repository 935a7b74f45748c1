#!/usr/bin/env bash
# Measures the joins in their worst cases, on generated collections, and prints a table.
#
#   scripts/bench-worst.sh [WORK-DIRECTORY]
#
# Needs /usr/bin/time (Debian package `time`) and python3. CPU seconds are user + system of the join
# and of writing the results, from shared postings; memory is the kernel's peak resident set.
set -euo pipefail
cd "$(dirname "$0")/.."
work=${1:-target/bench-worst}
memory=512MiB
mkdir -p "$work"
cargo build --profile dist --locked --quiet
bin=${CARGO_TARGET_DIR:-target}/dist/lookalike

# make NAME: writes $work/NAME.jsonl
make() {
    [ -e "$work/$1.jsonl" ] || python3 - "$1" >"$work/$1.tmp" <<'PY'
import json, random, sys
name = sys.argv[1]
r = random.Random(1)
def own(words):
    return " ".join(f"{r.getrandbits(40):x}" for _ in range(words))
def put(n, text):
    print(json.dumps({"id": str(n), "text": text}))
if name == "template":            # ten thousand pages that differ in a number
    before, after = own(250), own(250)
    for n in range(10_000):
        put(n, f"{before} {n} {after}")
elif name == "choices":           # ... and in what each of them leaves out
    phrases = [own(4) for _ in range(125)]
    for n in range(10_000):
        put(n, " ".join(p for p in phrases if r.random() > 1 / 100))
elif name == "boilerplate":       # one paragraph in every document
    paragraph = own(100)
    for n in range(100_000):
        put(n, f"{paragraph} {own(100)}")
elif name == "lines":             # short lines of which most is the same
    line = own(30)
    for n in range(100_000):
        put(n, f"{line} {n} {r.randrange(1000)}")
elif name == "distinct":
    for n in range(100_000):
        put(n, own(200))
elif name == "same":
    text = own(200)
    for n in range(100_000):
        put(n, text)
PY
    [ -e "$work/$1.jsonl" ] || mv "$work/$1.tmp" "$work/$1.jsonl"
}

echo "machine: $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs), $(nproc) cores; --memory $memory; load $(cut -d' ' -f1 /proc/loadavg)"
echo
echo "| collection | threshold | join | CPU s | peak MiB | probes or tokens | verified | pairs |"
echo "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"
# row NAME THRESHOLD WHAT FLAGS...
row() {
    local name=$1 threshold=$2 what=$3; shift 3
    local out=$work/$name.out
    if ! timeout "${limit:-600}" /usr/bin/time -o "$work/time" -f '%U %S %M' "$bin" stage join "$out" --threshold "$threshold" \
        --memory $memory --quiet "$@"; then
        echo "| $name | $threshold | $what | more than ${limit:-600} s of wall time | | | | |"
        return
    fi
    /usr/bin/time -a -o "$work/time" -f '%U %S %M' "$bin" stage cluster "$out" --memory $memory --quiet
    python3 - "$work/time" "$out/summary.json" "$name" "$threshold" "$what" <<'PY'
import json, sys
times = [line.split() for line in open(sys.argv[1])]
cpu = sum(float(t[0]) + float(t[1]) for t in times)
peak = max(int(t[2]) for t in times) / 1024
join = json.load(open(sys.argv[2]))["join"]
if "prefix" in join:
    work, verified = join["prefix"]["probes"], f"{join['prefix']['verified']:,}"
else:
    work, verified = join["count"]["pair_tokens"], ""
name, threshold, what = sys.argv[3:]
pairs = f"{join['pairs']:,}" if "none" not in what else ""
print(f"| {name} | {threshold} | {what} | {cpu:.2f} | {peak:.0f} | {work:,} | {verified} | {pairs} |")
PY
}
for name in template choices boilerplate lines distinct same; do
    make $name
    rm -rf "$work/$name.out"
    "$bin" stage ingest "$work/$name.jsonl" -o "$work/$name.out" --memory $memory --quiet
    # The postings are made once, apart.
    "$bin" stage join "$work/$name.out" --threshold 1 --memory $memory --quiet
    for threshold in 0.1 0.85 1; do
        case $name-$threshold in
        # Fifty million pairs, several gigabytes of them: listed at one threshold only.
        template-0.1 | choices-0.1 | boilerplate-0.1 | lines-0.1 | lines-0.85) listed= ;;
        *) listed=yes ;;
        esac
        if [ $listed ]; then
            row $name $threshold prefix --join prefix
            [ $name-$threshold = lines-0.85 ] || row $name $threshold count --join count
        fi
        row $name $threshold "prefix, --pairs none" --pairs none
    done
    rm -rf "$work/$name.out"
done
