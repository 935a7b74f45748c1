"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("pairs").textContent), kept = $("judged"), key = "lookalike " + data.deduplication;
  const WORDS = { 1: "near-duplicates", 0: "different", "": "not judged" };
  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element[key] = value;
    element.append(...children);
    return element;
  };

  // What this browser remembers counts, and else what is in the page, which may have been saved with judgements.
  let judged = JSON.parse(kept.textContent);
  try { judged = JSON.parse(localStorage.getItem(key)) || judged; } catch { /* not everywhere */ }
  // A pair of two samples is judged once.
  const ids = Object.keys(data.pairs), pair = (id) => data.pairs[id].join("\t");
  const says = () => { $("judged-pairs").textContent = `${ids.filter((id) => pair(id) in judged).length} of ${ids.length} pairs judged`; };
  const show = (id) => {
    const place = $("judge-" + id), now = String(judged[pair(id)] ?? "");
    const choices = Object.entries(WORDS).map(([grade, words]) => {
      const choice = make("input", { type: "radio", name: "judge-" + id, checked: now === grade });
      choice.addEventListener("change", () => {
        if (grade === "") delete judged[pair(id)]; else judged[pair(id)] = +grade;
        try { localStorage.setItem(key, JSON.stringify(judged)); } catch { /* the page can still be saved */ }
        ids.filter((other) => other !== id && pair(other) === pair(id)).forEach(show);
        says();
      });
      return make("label", {}, choice, words);
    });
    place.replaceChildren(make("legend", {}, "Your judgement:"), ...choices);
    place.hidden = false;
  };
  const download = (name, type, text) => {
    const address = URL.createObjectURL(new Blob([text], { type }));
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  };
  const status = make("span", { id: "judged-pairs" }), table = make("button", { type: "button" }, "Save the judgements as a table");
  status.setAttribute("role", "status");
  const page = make("button", { type: "button" }, "Save this page with them");
  const about = "You can judge the pairs below: whether the two texts are near-duplicates. This browser remembers what you say. The table is for ";
  const section = make("section", { id: "judgements", ariaLabel: "Judgements" },
    make("p", {}, about, make("code", {}, "lookalike evaluate RUN --judged judged.tsv"), "."), make("div", { className: "options" }, status, table, page));
  $("judgements")?.remove();
  kept.after(section);
  table.addEventListener("click", () => {
    const pairs = [...new Set(ids.map(pair))].filter((names) => names in judged);
    const rows = pairs.map((names) => `${names}\t${judged[names]}\n`);
    download("judged.tsv", "text/tab-separated-values", "docno_a\tdocno_b\tjudgement\n" + rows.join(""));
  });
  page.addEventListener("click", () => {
    kept.textContent = JSON.stringify(judged).replaceAll("<", "\\u003c");
    download(location.pathname.split("/").pop() || "page.html", "text/html", "<!DOCTYPE html>" + document.documentElement.outerHTML);
  });
  ids.filter((id) => $("judge-" + id)).forEach(show);
  says();
})();
