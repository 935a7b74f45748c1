"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const rows = [...document.querySelectorAll("main .version")];
  const texts = rows.map((row) => row.dataset.words.toLowerCase());
  const filter = () => {
    const words = $("words").value.toLowerCase().split(/\s+/), kind = $("kind").value;
    let shown = 0;
    rows.forEach((row, n) => {
      row.hidden = !(!kind || row.dataset.kind === kind) || !words.every((word) => texts[n].includes(word));
      shown += !row.hidden;
    });
    $("shown").textContent = `${shown} of ${rows.length} shown`;
  };
  $("filter").hidden = false;
  for (const id of ["words", "kind"]) $(id).addEventListener("input", filter);
  filter();
})();
