#!/usr/bin/env bash
# Draws the pictures of the report page in the README, docs/report-light.png and docs/report-dark.png.
#
#     scripts/draw-page.sh
#
# Needs Chromium. The page is that of the sample collection, with one cluster found and opened.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo build --release --locked --quiet
lookalike=${CARGO_TARGET_DIR:-target}/release/lookalike
"$lookalike" run sample-corpora/trec-web -o "$work/out" --quiet
"$lookalike" report "$work/out" --title "Near-duplicates in the PostgreSQL manual" --quiet
# The scheme is a number of Blink: 0 is dark, 1 is light.
for scheme in 0:dark 1:light; do
    chromium --headless --no-sandbox --hide-scrollbars --disable-gpu --window-size=1100,1010 \
        --blink-settings="preferredColorScheme=${scheme%%:*}" --virtual-time-budget=3000 \
        --screenshot="docs/report-${scheme#*:}.png" "file://$work/out/report.html#find=PG-000093" 2>/dev/null
done
