"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const source = $("data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  source.remove();
  const FIRST_ROWS = 25, PAGE = 100, ROWS = 50, LINKED = 40;
  const [NUMBER, DOCNO, FILE, RECORD, WORDS, FIRST, SCORE, TITLE, URL_, DATE, BEGINS] = Array(11).keys();
  const [SIZE, EXACT, ID, MEMBERS, LINKS] = Array(5).keys();

  // Characters that are invisible and change how the text around them reads are shown as their codes.
  const ODD = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;
  const show = (text) => String(text ?? "").replace(ODD, (c) => "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0"));
  const count = (n) => n.toLocaleString("en-US");
  const many = (n, what) => count(n) + "\u00a0" + what + (n === 1 ? "" : "s");
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

  /** An element; children that are null are left out, strings are text. */
  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key === "onclick") element.addEventListener("click", value);
      else if (value === true) element.setAttribute(key, "");
      else if (value !== null && value !== false && value !== undefined) element.setAttribute(key, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };
  const drawn = (name, attributes, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const isAddress = (url) => /^https?:\/\/[^\s]+$/i.test(url) && show(url) === url;
  const link = (url, text) => isAddress(url)
    ? make("a", { href: url, rel: "noopener noreferrer nofollow" }, text) : text;

  // The words that were searched for, marked.
  let words = [];
  const marked = (text) => {
    text = show(text);
    const holder = make("bdi");
    if (!words.length) { holder.append(text); return holder; }
    const lower = text.toLowerCase();
    if (lower.length !== text.length) { holder.append(text); return holder; }
    let at = 0;
    while (at < text.length) {
      let from = -1, length = 0;
      for (const word of words) {
        const found = lower.indexOf(word, at);
        if (found >= 0 && (from < 0 || found < from || (found === from && word.length > length))) { from = found; length = word.length; }
      }
      if (from < 0) break;
      holder.append(text.slice(at, from), make("mark", null, text.slice(from, from + length)));
      at = from + length;
    }
    holder.append(text.slice(at));
    return holder;
  };

  const clusters = data.clusters;
  const place = (member) => show(data.names[member[FILE]] || "") + (member[RECORD] ? ":" + member[RECORD] : "");
  const name = (member) => member[TITLE] || member[DOCNO];
  const lowest = [], highest = [], chain = [];
  clusters.forEach((cluster, n) => {
    let low = Infinity, high = -Infinity, below = false;
    for (const member of cluster[MEMBERS].slice(1)) {
      if (member[SCORE]) { const s = +member[SCORE]; if (s < low) low = s; if (s > high) high = s; }
      else below = true;
    }
    for (let at = 2; at < cluster[LINKS].length; at += 3) {
      const s = +cluster[LINKS][at];
      if (s < low) low = s;
      if (s > high) high = s;
    }
    lowest[n] = low; highest[n] = high; chain[n] = below;
  });

  // What is searched, by document, made at the first search.
  let texts = null;
  const prepare = () => {
    texts = clusters.map((cluster) => cluster[MEMBERS].map((member) =>
      [member[DOCNO], member[URL_], member[TITLE], place(member), member[BEGINS]].join("\n").toLowerCase()));
  };

  let order = [], shown = 0;
  const list = $("list"), more = $("more"), matches = $("matches");

  const filter = () => {
    words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length && !texts) prepare();
    const least = Math.max(2, +$("least").value || 2), kind = $("kind").value, most = $("most").value;
    order = [];
    let documents = 0;
    clusters.forEach((cluster, n) => {
      if (cluster[SIZE] < least || most !== "" && !(lowest[n] <= +most)) return;
      const near = cluster[SIZE] - cluster[EXACT] > 1;
      if (kind === "near" && !near || kind === "exact" && near || kind === "chain" && !chain[n]) return;
      if (words.length) {
        const found = texts[n].filter((text) => words.every((word) => text.includes(word))).length;
        if (!found) return;
        documents += found;
      }
      order.push(n);
    });
    const by = {
      size: (a, b) => a - b,
      low: (a, b) => lowest[a] - lowest[b] || a - b,
      high: (a, b) => highest[b] - highest[a] || a - b,
      name: (a, b) => compare(name(clusters[a][MEMBERS][0] || []), name(clusters[b][MEMBERS][0] || [])) || a - b,
    }[$("order").value];
    order.sort(by);
    matches.textContent = words.length
      ? `${many(documents, "document")} in ${many(order.length, "cluster")}`
      : `${many(order.length, "cluster")} of ${count(clusters.length)}`;
    list.replaceChildren();
    shown = 0;
    page();
    if (words.length && order.length === 1) list.querySelector("button")?.click();
  };

  /** Three decimals; only 1 is written as 1.000. Numbers of common features are whole. */
  const short = (value) => data.whole ? count(+value) : (+value > 0.999 && +value < 1 ? 0.999 : +value).toFixed(3);

  const range = (n) => {
    if (!isFinite(lowest[n])) return clusters[n][SIZE] - clusters[n][EXACT] > 1 ? data.below : "equal";
    return lowest[n] === highest[n] ? short(lowest[n]) : short(lowest[n]) + "\u2013" + short(highest[n]);
  };

  const page = () => {
    const rows = order.slice(shown, shown + (shown ? PAGE : FIRST_ROWS)).map((n) => {
      const cluster = clusters[n], found = words.length
        ? cluster[MEMBERS].filter((_, at) => words.every((word) => texts[n][at].includes(word)))[0] : null;
      const first = cluster[MEMBERS][0] || [], member = found || first;
      const what = make("span", { class: "what" }, marked(name(member)));
      if (name(member) !== member[DOCNO]) what.append(" ", make("span", { class: "soft" }, marked(member[DOCNO])));
      else if (member[BEGINS]) what.append(" ", make("span", { class: "soft" }, "“", marked(member[BEGINS]), "…”"));
      if (found && words.every((word) => !(name(member) + member[DOCNO]).toLowerCase().includes(word))) {
        const more = [member[URL_], place(member), member[BEGINS]].find((text) => text && words.some((word) => text.toLowerCase().includes(word)));
        if (more) what.append(" ", make("span", { class: "soft" }, marked(more)));
      }
      const item = make("li");
      const button = make("button", { type: "button", class: "cluster-line", "aria-expanded": "false", onclick: () => toggle(item, button, n) },
        what, make("span", { class: "range-of soft small", title: data.noun }, range(n)),
        make("span", { class: "size small" }, count(cluster[SIZE]), make("span", { class: "narrow" }, "\u00a0documents")));
      item.append(button);
      return item;
    });
    list.append(...rows);
    shown += rows.length;
    more.hidden = shown >= order.length;
    more.textContent = `Show more of the ${many(order.length, "cluster")}`;
  };

  const toggle = (item, button, n) => {
    const body = item.querySelector(".body");
    if (body) { body.remove(); button.setAttribute("aria-expanded", "false"); return; }
    button.setAttribute("aria-expanded", "true");
    item.append(opened(n));
  };

  const opened = (n) => {
    const cluster = clusters[n], members = cluster[MEMBERS];
    const near = cluster[SIZE] - cluster[EXACT] - 1;
    const body = make("div", { class: "body" },
      make("p", { class: "small soft" }, `Cluster ${cluster[ID]} in clusters.jsonl: ${count(near)} near, ${count(cluster[EXACT])} exact. The ${data.noun} of each member is with document 1, the representative.`));
    body.append(table(cluster, n));
    if (members.length < cluster[SIZE]) body.append(make("p", { class: "note" }, `The page has the first ${count(members.length)} of ${many(cluster[SIZE], "document")}; clusters.jsonl has all.`));
    const different = members.map((member, at) => at).filter((at) => members[at][FIRST] === at);
    if (different.length > 2 && cluster[LINKS].length) body.append(...why(cluster, different));
    if (members.length > 1) body.append(...comparison(members));
    return body;
  };

  const table = (cluster, n) => {
    const head = ["", "document", data.noun, "words", "date", "address", "file and record"];
    const body = make("tbody");
    const all = cluster[MEMBERS].map((member, at) => at);
    const hits = words.length ? all.filter((at) => words.every((word) => texts[n][at].includes(word))) : [];
    const rest = hits.length ? all.filter((at) => !hits.includes(at) || at === 0) : all;
    const sequence = hits.length ? [...new Set([0, ...hits, ...rest])] : all;
    let done = 0;
    const add = () => {
      for (const at of sequence.slice(done, done + ROWS)) body.append(row(cluster[MEMBERS][at], at));
      done += ROWS;
      button.hidden = done >= sequence.length;
      button.textContent = `Show more of the ${many(sequence.length, "member")}`;
    };
    const button = make("button", { type: "button", onclick: () => add() });
    add();
    return make("div", null, make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Members" },
      make("table", null, make("thead", null, make("tr", null, ...head.map((text, at) => make(text ? "th" : "td", { scope: text ? "col" : null, class: at === 2 || at === 3 ? "n" : null }, text)))), body)), button);
  };

  const row = (member, at) => {
    const exact = member[FIRST] !== at;
    const score = at === 0 ? "representative" : exact && member[FIRST] === 0 ? "equal"
      : (member[SCORE] ? short(member[SCORE]) : data.below) + (exact ? `, equals ${member[FIRST] + 1}` : "");
    const address = make("td", { class: "long" });
    if (member[URL_]) {
      address.append(link(member[URL_], marked(member[URL_])));
      const capture = replayed(member);
      if (capture) address.append(" ", link(capture, "capture"));
    }
    const called = make("td", { class: "long" }, marked(name(member)));
    if (name(member) !== member[DOCNO]) called.append(make("br"), make("span", { class: "soft" }, marked(member[DOCNO])));
    return make("tr", null, make("td", { class: "n soft" }, String(at + 1)), called,
      make("td", { class: "n" }, score), make("td", { class: "n" }, count(member[WORDS])),
      make("td", { class: "date" }, show((member[DATE] || "").replace("T", " ").replace("Z", ""))), address, make("td", { class: "long" }, marked(place(member))));
  };

  const replayed = (member) => {
    if (!data.replay || !member[DATE]) return null;
    const digits = member[DATE].replace(/[^0-9]/g, "");
    if (digits.length < 14) return null;
    const filled = data.replay.split("{timestamp}").join(digits.slice(0, 14)).split("{url}").join(member[URL_]);
    return isAddress(filled) ? filled : null;
  };

  // The pairs that make it a cluster, as a drawing and, for readers who do not see it, as a list.
  const why = (cluster, different) => {
    const links = [];
    for (let at = 0; at < cluster[LINKS].length; at += 3) links.push(cluster[LINKS].slice(at, at + 3));
    const heading = make("h3", null, "Why they belong together");
    const sentence = links.length >= different.length * (different.length - 1) / 2
      ? "Every pair of different texts reaches the threshold."
      : `Each line is a pair that reaches the threshold. Texts without a line between them are connected through others.`;
    if (different.length > LINKED) {
      const rows = links.slice(0, LINKED).map(([a, b, s]) => make("li", null, `${a + 1} and ${b + 1}: ${short(s)}`));
      return [heading, make("p", null, "These pairs connect the members" + (links.length > LINKED ? `, the first ${LINKED} of ${count(links.length)}:` : ":")), make("ul", { class: "small" }, ...rows)];
    }
    const size = different.length, wide = 420, high = size < 7 ? 220 : 320, around = high / 2 - 28;
    const at = new Map(different.map((member, k) => {
      const angle = -Math.PI / 2 + 2 * Math.PI * k / size;
      return [member, [wide / 2 + around * 1.5 * Math.cos(angle), high / 2 + around * Math.sin(angle)]];
    }));
    const svg = drawn("svg", { class: "links", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": links.map(([a, b, s]) => `${a + 1} and ${b + 1}: ${short(s)}`).join("; ") });
    for (const [a, b] of links) {
      if (!at.has(a) || !at.has(b)) continue;
      const [x, y] = at.get(a), [u, v] = at.get(b);
      svg.append(drawn("line", { x1: x, y1: y, x2: u, y2: v }));
    }
    if (links.length <= 12) for (const [a, b, s] of links) {
      if (!at.has(a) || !at.has(b)) continue;
      const [x, y] = at.get(a), [u, v] = at.get(b);
      svg.append(drawn("text", { x: x * .6 + u * .4, y: y * .6 + v * .4 + 4, "text-anchor": "middle" }, short(s)));
    }
    for (const [member, [x, y]] of at) {
      svg.append(drawn("circle", { cx: x, cy: y, r: 7, class: member === 0 ? "first" : "" }));
      const left = x < wide / 2 - 1;
      svg.append(drawn("text", { x: x + (left ? -11 : 11), y: y + 4, "text-anchor": left ? "end" : "start" }, String(member + 1)));
    }
    return [heading, make("p", null, sentence), svg];
  };

  const quoted = (text) => /^[\w@%+=:,.\/-]+$/.test(text) && !text.startsWith("-") ? text : "'" + text.split("'").join("'\\''") + "'";
  const directory = data.directory || "DIR";

  // Two members side by side: as on this page, or by the command.
  const comparison = (members) => {
    const choose = (label, chosen) => {
      const select = make("select", { "aria-label": label }, ...members.slice(0, 500).map((member, at) =>
        make("option", { value: at, selected: at === chosen }, `${at + 1}  ${show(member[DOCNO])}  ${show(member[TITLE])}`.slice(0, 90))));
      select.addEventListener("change", update);
      return select;
    };
    const out = make("div");
    const update = () => {
      const [a, b] = [first, second].map((select) => members[+select.value]).sort((x, y) => x[NUMBER] - y[NUMBER]);
      const pair = $(`pair-${a[NUMBER]}-${b[NUMBER]}`);
      if (pair) {
        const copy = make("div", { class: "pair" });
        copy.append(...pair.querySelector(".in").cloneNode(true).childNodes);
        out.replaceChildren(copy);
        return;
      }
      const which = (member) => member[RECORD] ? (data.names[member[FILE]] || "") + ":" + member[RECORD] : member[DOCNO];
      const command = `lookalike diff ${quoted(directory)} ${quoted(which(a))} ${quoted(which(b))}`;
      const button = make("button", { type: "button", onclick: () => {
        const done = () => { button.textContent = "Copied"; };
        const select = () => { const range = document.createRange(); range.selectNodeContents(code); getSelection().removeAllRanges(); getSelection().addRange(range); };
        if (navigator.clipboard) navigator.clipboard.writeText(command).then(done, select); else select();
      } }, "Copy");
      const code = make("code", { class: "command" }, show(command));
      out.replaceChildren(make("p", null, "This command shows the two texts side by side" + (data.directory ? ":" : "; DIR is the output directory:")), code, button,
        make("p", { class: "small soft" }, `With lookalike report --split ${quoted(directory)}, pages have the texts of every cluster.`));
    };
    const first = choose("First document", 0), second = choose("Second document", Math.max(1, members.findIndex((member, at) => at > 0 && member[FIRST] === at)));
    update();
    return [make("h3", null, "Compare two members"), make("div", { class: "tools" }, make("label", { class: "wide both" }, "First", first), make("label", { class: "wide both" }, "Second", second)), out];
  };

  // A link to a pair opens it.
  const FIND = "find=";
  const openTarget = () => {
    let hash = location.hash.slice(1);
    try { hash = decodeURIComponent(hash); } catch { return; }
    if (hash.startsWith(FIND)) { $("search").value = hash.slice(FIND.length); filter(); $("clusters").scrollIntoView(); return; }
    const target = hash && $(hash);
    if (target && target.tagName === "DETAILS") target.open = true;
  };

  let waiting = 0;
  // The address of the page then leads to what was found.
  const remember = () => {
    const text = $("search").value.trim();
    try { history.replaceState(null, "", text ? "#" + FIND + encodeURIComponent(text) : location.pathname); } catch { /* not everywhere */ }
  };
  $("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => { filter(); remember(); }, 120); });
  for (const id of ["least", "most", "kind", "order"]) $(id).addEventListener("input", filter);
  more.addEventListener("click", page);
  addEventListener("hashchange", openTarget);
  $("tools").hidden = false;
  $("columns").hidden = false;
  $("largest").hidden = true;
  filter();
  openTarget();
})();
