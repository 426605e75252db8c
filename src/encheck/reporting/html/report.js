"use strict";
// What the page does when it is used: draws charts and lists items of what is opened, filters, sorts, turns dark.
(() => {
  const PAGE = 20;
  const MOST_EDITS = 8;
  const byId = (id) => document.getElementById(id);
  const make = (tag, text, kind) => {
    const found = document.createElement(tag);
    if (text !== undefined) found.textContent = text;
    if (kind) found.className = kind;
    return found;
  };

  let content = null;
  const unpacked = () => {
    content ??= (async () => {
      const bytes = Uint8Array.from(atob(byId("payload").textContent.trim()), (c) => c.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      return JSON.parse(await new Response(stream).text());
    })();
    return content;
  };

  // Dark or light: as the system has it, until somebody asks otherwise.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => document.documentElement.dataset.theme || (system.matches ? "dark" : "light");
  const isDark = () => theme() === "dark";
  const config = () => {
    const ink = isDark() ? "#e6e9ef" : "#1c2330";
    const line = isDark() ? "#3a4252" : "#d8dde6";
    const words = { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
    return {
      background: null,
      view: { stroke: null },
      axis: { ...words, gridColor: line, domainColor: line, tickColor: line },
      legend: words,
      header: words,
      text: { color: ink },
      rule: { color: ink },
      font: "system-ui, sans-serif",
    };
  };
  const draw = async (plot) => {
    const { charts } = await unpacked();
    plot.dataset.drawn = theme();
    const actions = { export: true, source: false, compiled: false, editor: false };
    const options = { ast: true, renderer: "svg", actions, config: config(), downloadFileName: plot.dataset.chart };
    await window.vegaEmbed(plot, charts[plot.dataset.chart], options);
    plot.querySelector("summary")?.setAttribute("aria-label", "Save this chart");
  };
  // What is closed is drawn once it is opened, and again where it was drawn in the other theme.
  const isDue = (plot) => !plot.closest("details:not([open])") && plot.dataset.drawn !== theme();
  const drawDue = (place) => Promise.all([...place.querySelectorAll("[data-chart]")].filter(isDue).map(draw));
  const redraw = () => drawDue(document);
  byId("theme")?.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    redraw();
  });
  system.addEventListener("change", redraw);

  // Items of a case: the most wrong ones first, with the edit marked.
  const pieces = (source, text, edits) => {
    const signs = [...source];
    const replaced = edits.reduce((sum, [start, end]) => sum + end - start, 0);
    if (!edits.length || edits.length > MOST_EDITS || replaced * 2 > signs.length) return [["same", text]];
    const out = [];
    let at = 0;
    for (const [start, end, put] of edits) {
      out.push(["same", signs.slice(at, start).join("")], ["del", signs.slice(start, end).join("")], ["ins", put]);
      at = end;
    }
    out.push(["same", signs.slice(at).join("")]);
    return out.filter(([, piece]) => piece);
  };
  const line = (name, score, source, text, edits) => {
    const found = make("p");
    found.append(make("span", `${score === null ? "" : score.toFixed(3)} ${name}`, "score"));
    for (const [kind, piece] of pieces(source, text, edits)) {
      found.append(kind === "same" ? piece : make(kind, piece), kind === "del" ? " " : "");
    }
    return found;
  };
  // A word as a shell takes it.
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
  const example = (c, i, texts, options) => {
    const found = make("div", undefined, "example");
    const source = texts[c.source[i]];
    if (c.side) found.append(make("p", c.side[i], "soft"));
    found.append(line("source", null, source, source, []));
    const pair = c.label[i] === 0 ? "other" : "near";
    found.append(line(pair, c.near_score[i], source, texts[c.near[i]], c.near_edits[i]));
    if (c.far[i] >= 0) found.append(line("far", c.far_score[i], source, texts[c.far[i]], c.far_edits[i]));
    else if (c.far_score[i] !== null) found.append(line("turned round", c.far_score[i], source, "", []));
    const again = make("p", "See it again: ", "soft");
    again.append(make("code", `encheck show ${quoted(c.item[i])} ${options}`));
    found.append(again);
    return found;
  };
  const control = (label, input) => {
    const found = make("label", `${label} `);
    found.append(input);
    return found;
  };
  const list = async (check) => {
    const place = check.querySelector(":scope > .items");
    if (!place || place.childElementCount) return;
    const { cases, texts } = await unpacked();
    const mine = JSON.parse(check.dataset.cases);
    const choose = make("select");
    mine.forEach(([, name], k) => choose.append(new Option(name, k)));
    const search = Object.assign(make("input"), { type: "search" });
    const wrong = Object.assign(make("input"), { type: "checkbox" });
    const told = make("output", "", "soft");
    const box = make("div");
    const more = Object.assign(make("button", "show more"), { type: "button" });
    const bar = make("div", undefined, "filters");
    if (mine.length > 1) bar.append(control("Items of", choose));
    bar.append(control("with the words", search));
    if (cases[mine[0][0]].far.some((place) => place >= 0)) bar.append(control("only those that went wrong", wrong));
    bar.append(told);
    place.append(make("h4", "Items, the most wrong ones first"), bar, box, more);
    let found = [];
    const next = () => {
      const [key, , options] = mine[choose.value || 0];
      const shown = box.childElementCount;
      found.slice(shown, shown + PAGE).forEach((i) => box.append(example(cases[key], i, texts, options)));
      more.hidden = box.childElementCount >= found.length;
    };
    const refresh = () => {
      const c = cases[mine[choose.value || 0][0]];
      const wanted = search.value.toLowerCase();
      const has = (i) => ["source", "near", "far"].some((s) => c[s][i] >= 0 && texts[c[s][i]].toLowerCase().includes(wanted));
      found = c.item.map((_, i) => i).filter((i) => (!wanted || has(i)) && (!wrong.checked || c.wrong[i]));
      const cut = c.all > c.item.length ? `, the most wrong of ${c.all}: items.parquet has the others` : "";
      told.textContent = `${found.length} of ${c.item.length} items${cut}`;
      box.replaceChildren();
      next();
    };
    [choose, search, wrong].forEach((input) => input.addEventListener("input", refresh));
    more.addEventListener("click", next);
    refresh();
  };
  const open = (check) => Promise.all([list(check), drawDue(check)]);
  document.querySelectorAll("details.check").forEach((check) => {
    check.addEventListener("toggle", () => check.open && open(check));
    if (check.open) open(check);
  });
  [...document.querySelectorAll("[data-chart]")].filter((plot) => !plot.closest("details")).forEach(draw);

  // A link to a check opens it.
  const follow = () => {
    const target = location.hash.length > 1 && byId(decodeURIComponent(location.hash.slice(1)));
    if (target && target.matches("details")) {
      target.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", follow);
  follow();

  // Filters: the table and the sections below it show the same checks.
  const form = byId("filters");
  const filter = () => {
    const wanted = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = new Set([...form.querySelectorAll("[name=verdict]:checked")].map((box) => box.value));
    const rows = [...document.querySelectorAll("#verdicts tbody tr")];
    const kept = new Set();
    rows.forEach((row) => {
      const words = row.textContent.toLowerCase();
      const hit = wanted.every((w) => words.includes(w)) && row.dataset.verdicts.split(" ").some((v) => verdicts.has(v));
      row.hidden = !hit;
      if (hit) kept.add(row.dataset.anchor);
    });
    document.querySelectorAll("details.check").forEach((check) => (check.hidden = !kept.has(check.id)));
    byId("count").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  };
  if (form) {
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    const all = (isOpen) => () =>
      document.querySelectorAll("details.check:not([hidden])").forEach((check) => (check.open = isOpen));
    byId("unfold").addEventListener("click", all(true));
    byId("fold").addEventListener("click", all(false));
    filter();
  }

  // Sorting by a column: numbers as numbers, the rest as words.
  const value = (row, k) => row.cells[k]?.textContent.trim() ?? "";
  const order = (a, b) => {
    const [x, y] = [parseFloat(a), parseFloat(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  };
  document.querySelectorAll("table.sortable").forEach((table) => {
    [...table.tHead.rows[0].cells].forEach((head, k) => {
      if (head.classList.contains("still")) return;
      const button = make("button", head.textContent, "sort");
      button.type = "button";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        [...table.tHead.rows[0].cells].forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows].sort((a, b) => order(value(a, k), value(b, k)) * (down ? -1 : 1));
        table.tBodies[0].append(...rows);
      });
    });
  });
  document.documentElement.dataset.ready = "yes";
})();
