#!/usr/bin/env bash
# Checks the pages in a browser: accessibility by axe-core, four widths, light and dark, keyboard, hostile documents.
#
#     scripts/check-pages.sh [SCREENSHOTS [PAGE...]]
#
# Makes the pages of the sample corpora, of a run without pairs and of documents that try to run scripts, unless PAGE is
# given, and writes pictures to the directory SCREENSHOTS. Says so and exits with 0 where Chromium, node or npm is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in node npm; do
    command -v "$tool" >/dev/null || { echo "LEFT OUT: $tool is missing" >&2; exit 0; }
done
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    { echo "LEFT OUT: Chromium is missing" >&2; exit 0; }

screenshots=${1:-}
[ -z "$screenshots" ] || mkdir -p "$screenshots"
shift || true
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp scripts/check-pages.mjs "$work"
(cd "$work" && npm init -y >/dev/null && PUPPETEER_SKIP_DOWNLOAD=1 npm install --silent --no-fund --no-audit \
    puppeteer-core@25 axe-core@4 >/dev/null) || { echo "LEFT OUT: the npm packages cannot be installed" >&2; exit 0; }

pages=("$@")
if [ ${#pages[@]} -eq 0 ]; then
    cargo build --release --locked --quiet
    lookalike=${CARGO_TARGET_DIR:-target}/release/lookalike
    "$lookalike" run sample-corpora -o "$work/samples" --quiet
    "$lookalike" report "$work/samples" --replay 'https://web.archive.org/web/{timestamp}/{url}' --quiet
    "$lookalike" report "$work/samples" --split --quiet
    mkdir "$work/hostile"
    python3 - "$work/hostile/a.jsonl" <<'PYTHON'
import json, sys
attack = "window.attacked=true"
hostile = [f"<script>{attack}</script>", f"</script><script>{attack}</script>", f"<img src=x onerror='{attack}'>",
           f"\"><svg onload=\"{attack}\">", f"javascript:{attack}", f"<!--<script>{attack}", "\u2028\u2029\u202e\u0000",
           f"]]>'\"`${{{attack}}}", "</bdi></td></table></main>", "\\u003cscript\\u003e"]
words = " ".join(f"w{n}" for n in range(200))
with open(sys.argv[1], "w") as out:
    for n in range(60):
        name = hostile[n % len(hostile)]
        text = f"{name} {words} {' '.join(hostile)} end{n // 3}"
        row = {"id": f"{name}{n}", "url": hostile[(n + 3) % len(hostile)], "title": hostile[(n + 5) % len(hostile)]}
        out.write(json.dumps(dict(row, text=text, date=name)) + "\n")
PYTHON
    "$lookalike" run "$work/hostile" -o "$work/attack" --quiet
    "$lookalike" report "$work/attack" --title '</title><script>window.attacked=true</script>' --quiet
    "$lookalike" report "$work/attack" --split --quiet
    # A run without pairs, a study and a comparison.
    python3 - "$work/apart.jsonl" <<'PYTHON'
import json, sys
with open(sys.argv[1], "w") as out:
    for n in range(20):
        words = [f"w{n}-{k}" if k % 9 == n % 9 or n > 3 else f"w{k}" for k in range(120)]
        out.write(json.dumps({"id": f"essay-{n}", "text": " ".join(words)}) + "\n")
PYTHON
    "$lookalike" run "$work/apart.jsonl" -o "$work/apart" --quiet
    "$lookalike" report "$work/apart" --quiet
    "$lookalike" lab study "$work/samples" --ratios 1/2,1/4 --quiet >/dev/null
    "$lookalike" run sample-corpora --keep-text -o "$work/methods" --quiet
    "$lookalike" lab compare "$work/methods" --method minhash --method i-match --truth shingles --quiet >/dev/null
    for inputs in sample-corpora/files "$work/hostile"; do
        "$lookalike" passages "$inputs" -o "$work/passages-${inputs##*/}" --length 15 --quiet
        "$lookalike" report "$work/passages-${inputs##*/}" --quiet
    done
    for inputs in sample-corpora/warc "$work/hostile"; do
        kept=$work/kept-${inputs##*/}
        "$lookalike" dedup "$inputs" -o "$kept" --quiet
        for _ in written read; do
            "$lookalike" report "$kept" --by host --review "$kept.jsonl" --quiet
        done
    done
    pages=("$work"/kept-*.report.html "$work"/{samples,attack,apart,passages-*}/report.html "$work"/{samples,attack}/report/*.html
        "$work/samples/study/study.html" "$work/methods/compare/compare.html")
fi
node "$work/check-pages.mjs" "$chromium" "$screenshots" "${pages[@]}"
