#!/usr/bin/env bash
# Flips each bit of every byte of every kind of file that lookalike writes, and cuts the file at every length.
#
#     every-bit.sh             all of it, with how many damages were done to each kind
#     every-bit.sh TEST...     the tests of these names
#     LOOKALIKE_EVERY_BIT=one every-bit.sh …     one bit of every byte, in turn from the first to the eighth
#
# Runs the tests of tests/reliability/corruption*.rs in full, which takes long; `cargo test` runs a part of them.
# Directories are made below TMPDIR, by default in memory if the system has such a place.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then
    TMPDIR=$(mktemp -d /dev/shm/every-bit.XXXXXX)
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
fi
start=$SECONDS
export LOOKALIKE_THOROUGH=1
[ $# -gt 0 ] || set -- corruption
LOOKALIKE_EVERY_BIT=${LOOKALIKE_EVERY_BIT:-1} cargo test --locked --no-fail-fast --test reliability -- --nocapture "$@"
echo "$((SECONDS - start)) s" >&2
