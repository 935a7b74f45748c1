// Opens pages in headless Chromium and checks them; see check-pages.sh.
//
//     node check-pages.mjs CHROMIUM SCREENSHOTS PAGE...
//
// For each page, at four widths, light and dark: axe-core finds nothing, nothing is wider than the window, the script
// reports no error, and nothing is loaded from elsewhere. On pages with a script: the search finds a document by its
// name, a cluster opens by keyboard, and the time until the list is there is printed. A page whose documents try to
// run scripts sets window.attacked if one of them does.

import fs from "node:fs";
import path from "node:path";
import puppeteer from "puppeteer-core";

const [chromium, screenshots, ...pages] = process.argv.slice(2);
const axe = fs.readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox"] });
let failures = 0;
const fail = (page, what) => { failures += 1; console.log(`FAILED ${page}: ${what}`); };

for (const file of pages) {
  const name = path.basename(path.dirname(file)) + "-" + path.basename(file, ".html");
  for (const [width, scheme] of [[390, "light"], [768, "light"], [1280, "light"], [1920, "light"], [1280, "dark"], [390, "dark"]]) {
    const page = await browser.newPage();
    const where = `${name} at ${width} px, ${scheme}`;
    page.on("pageerror", (error) => fail(where, error.message));
    page.on("console", (message) => { if (message.type() === "error") fail(where, message.text()); });
    page.on("request", (request) => { if (!request.url().startsWith("file:")) fail(where, `loads ${request.url()}`); });
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    const start = Date.now();
    await page.goto("file://" + path.resolve(file), { waitUntil: "load", timeout: 120000 });
    const opened = Date.now() - start;
    if (await page.evaluate("window.attacked === true")) fail(where, "a script of a document ran");
    const tools = await page.$("#tools:not([hidden])");
    if (tools) {
      if (width === 1280 && scheme === "light") console.log(`${name}: opened in ${opened} ms`);
      // The last cluster of the list is found by the name of its second document.
      const docno = await page.evaluate(() => {
        const line = [...document.querySelectorAll("button.cluster-line .what")].pop();
        return line && (line.querySelector(".soft") || line).textContent;
      });
      if (docno) {
        await page.focus("#search");
        await page.keyboard.type(docno.split(/\s/)[0]);
        await new Promise((done) => setTimeout(done, 600));
        const found = await page.$$eval("button.cluster-line", (lines) => lines.length);
        if (!found) fail(where, `the search for ${docno} finds nothing`);
        await page.focus("button.cluster-line");
        if (await page.$eval("button.cluster-line", (line) => line.getAttribute("aria-expanded") === "false")) {
          await page.keyboard.press("Enter");
        }
        if (!(await page.$(".body table"))) fail(where, "a cluster does not open by keyboard");
      }
    }
    const wide = await page.evaluate("document.documentElement.scrollWidth");
    if (wide > width) fail(where, `${wide} px wide`);
    // Not the whole of a long page: axe takes minutes for a million elements.
    const elements = await page.evaluate("document.querySelectorAll('*').length");
    if (elements < 100000) {
      await page.evaluate(axe + ";0");
      const found = await page.evaluate(async (rules) => {
        const results = await axe.run(document, { runOnly: rules });
        return results.violations.map((rule) => `${rule.id}: ${rule.help}: ${rule.nodes.length} times, as in ${rule.nodes[0].html.slice(0, 200)}`);
      }, RULES);
      for (const one of found) fail(where, one);
    } else if (width === 1280) console.log(`${name}: not checked by axe-core, ${elements} elements`);
    if (screenshots) {
      const height = await page.evaluate("Math.min(document.documentElement.scrollHeight, 6000)");
      await page.screenshot({ path: path.join(screenshots, `${name}-${width}-${scheme}.png`), clip: { x: 0, y: 0, width, height } });
    }
    await page.close();
  }
}
await browser.close();
console.log(failures ? `${failures} failures` : `${pages.length} pages are good`);
process.exit(failures ? 1 : 0);
