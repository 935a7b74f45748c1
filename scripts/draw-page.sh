#!/usr/bin/env bash
# Draws the pictures of the report page in the README, docs/report-light.png and docs/report-dark.png.
#
#     scripts/draw-page.sh
#
# Needs Chromium, node and npm. The page is that of the sample collection, with one cluster found and opened.
set -euo pipefail
cd "$(dirname "$0")/.."

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo build --release --locked --quiet
lookalike=${CARGO_TARGET_DIR:-target}/release/lookalike
"$lookalike" run sample-corpora/trec-web -o "$work/out" --quiet
"$lookalike" report "$work/out" --quiet
(cd "$work" && npm init -y >/dev/null &&
    PUPPETEER_SKIP_DOWNLOAD=1 npm install --silent --no-fund --no-audit puppeteer-core@25 >/dev/null)
cat >"$work/draw.mjs" <<'SCRIPT'
import puppeteer from "puppeteer-core";
const [chromium, page, docs] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox"] });
for (const scheme of ["light", "dark"]) {
  const tab = await browser.newPage();
  await tab.setViewport({ width: 1000, height: 900 });
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await tab.goto(`file://${page}#find=get%20descriptor`, { waitUntil: "load" });
  const top = await tab.$eval("#tools", (tools) => tools.getBoundingClientRect().top + scrollY - 16);
  const end = await tab.$eval("svg.links", (links) => links.getBoundingClientRect().bottom + scrollY + 16);
  const clip = { x: 0, y: top, width: 1000, height: end - top };
  await tab.screenshot({ path: `${docs}/report-${scheme}.png`, clip });
}
await browser.close();
SCRIPT
node "$work/draw.mjs" "$chromium" "$work/out/report.html" "$PWD/docs"
