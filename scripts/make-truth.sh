#!/usr/bin/env bash
# Makes a ground truth that anybody can check and use: all pairs of documents with a resemblance of 0.5 or more, in a
# collection that public packages contain.
#
#   scripts/make-truth.sh [DIRECTORY]
#
# The documents are the documentation of nine projects of Python in several versions, from the source archives that
# scripts/truth-packages.txt names with their checksums. scripts/oracle.py compares all of them by brute force as well, and
# has to find the same pairs. Needs python3 with venv, and the network.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-target/truth}
work=$out.work
program=${LOOKALIKE:-}
if [ -z "$program" ]; then
    cargo build --release --locked --quiet
    program=${CARGO_TARGET_DIR:-target}/release/lookalike
fi
mkdir -p "$out" "$work/archives"

python=$work/venv/bin/python
if [ ! -x "$python" ]; then
    python3 -m venv "$work/venv"
    # What pip asks for the name and the version of an archive.
    "$python" -m pip install --quiet --disable-pip-version-check setuptools wheel flit_core hatchling incremental \
        hatch-fancy-pypi-readme setuptools_scm cython
fi
while read -r package hash; do
    [ -n "$package" ] && [ "${package:0:1}" != "#" ] || continue
    [ ! -e "$work/archives/$hash" ] || continue
    printf '%s --hash=sha256:%s\n' "$package" "$hash" >"$work/one.txt"
    rm -rf "$work/one"
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --no-build-isolation \
        --dest "$work/one" --require-hashes -r "$work/one.txt"
    mv "$work"/one/* "$work/archives/$hash"
done <scripts/truth-packages.txt

"$python" scripts/truth.py texts scripts/truth-packages.txt "$work/archives" "$work/texts.jsonl"
rm -rf "$work/run"
"$program" run "$work/texts.jsonl" -o "$work/run" --id-field id --markup never --threshold 0.5 --quiet
"$python" scripts/truth.py pairs "$work/texts.jsonl" "$work/run" "$out"

# The same by brute force: three CPU minutes, 2 GB.
for list in pairs exact; do
    "$python" scripts/oracle.py --threshold 0.5 --list $list "$work/texts.jsonl" >"$work/$list.tsv"
done
"$python" scripts/truth.py check "$work/pairs.tsv" "$work/exact.tsv" "$out"
(cd "$out" && sha256sum documents.tsv pairs.tsv DATASHEET.md >SHA256SUMS)
"$python" scripts/score-truth.py "$out" pairs "$out/pairs.tsv" --threshold 0.5
