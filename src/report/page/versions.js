"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const rows = [...document.querySelectorAll("main .version")];
  const texts = rows.map((row) => row.dataset.words.toLowerCase());
  const filter = () => {
    const words = $("words").value.toLowerCase().split(/\s+/);
    const is = (row, what) => ["", row.dataset[what]].includes($(what).value);
    let shown = 0;
    rows.forEach((row, n) => {
      row.hidden = !is(row, "kind") || !is(row, "crawl") || !words.every((word) => texts[n].includes(word));
      shown += !row.hidden;
    });
    $("shown").textContent = `${shown} of ${rows.length} shown`;
  };
  $("filter").hidden = false;
  for (const id of ["words", "crawl", "kind"]) $(id).addEventListener("input", filter);
  filter();
})();
