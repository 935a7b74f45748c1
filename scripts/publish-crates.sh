#!/usr/bin/env bash
# Publishes our crates, without those that the registry has in this version: after a failure, run it again.
#
#     cargo login && scripts/publish-crates.sh
#
# The job `packages` of the workflow `release`, or `scripts/package.sh --crate`, compiles the crates before.
set -euo pipefail
cd "$(dirname "$0")/.."

publish=(cargo publish --workspace --locked --no-verify)
# Cargo refuses all crates if one is there; a dry run only warns of it.
said=$("${publish[@]}" --dry-run 2>&1) || { echo "$said" >&2; exit 1; }
there=$(sed -n 's/^warning: crate \([a-z-]*\)@.* already exists on .*/--exclude=\1/p' <<<"$said")
# shellcheck disable=SC2086 # several words
"${publish[@]}" $there
