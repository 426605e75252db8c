"use strict";
// The page's behaviour: lists the items of an opened check, filters, sorts, switches the theme.
(() => {
  const PAGE = 6;
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

  // Dark or light: as the system has it, until the reader switches.
  const system = matchMedia("(prefers-color-scheme: dark)");
  byId("theme")?.addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme || (system.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme === "dark" ? "light" : "dark";
  });

  // At -2 the text is the source with its edits; at -1 it is missing.
  const textOf = (c, side, i, texts) => {
    const at = c[side][i];
    if (at !== -2) return at >= 0 ? texts[at] : null;
    const signs = [...texts[c.source[i]]];
    for (const [start, end, put] of [...c[`${side}_edits`][i]].reverse()) signs.splice(start, end - start, put);
    return signs.join("");
  };
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
  const told = (list, name, score, source, text, edits, says) => {
    const term = make("dt", `${name} `);
    if (score !== null && score !== undefined) term.append(make("span", score.toFixed(3), "score"));
    const found = make("dd");
    for (const [kind, piece] of pieces(source, text, edits)) {
      found.append(kind === "same" ? piece : make(kind, piece), kind === "del" ? " " : "");
    }
    if (says) found.append(" ", make("span", says[0], `tag ${says[1]}`));
    list.append(term, found);
  };
  // A word as a shell takes it.
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
  const SAME = ["says the same", "yes"];
  const OTHER = ["says something else", "no"];
  const example = (c, i, texts, options) => {
    const found = make("div", undefined, "example card");
    const source = texts[c.source[i]];
    const list = make("dl");
    if (c.side) found.append(make("p", c.side[i], "soft"));
    found.append(list);
    told(list, c.question ? "query" : "sentence", null, source, source, []);
    const [near, far] = [textOf(c, "near", i, texts) ?? "", textOf(c, "far", i, texts)];
    if (far !== null) {
      const isWrong = c.far_score[i] >= c.near_score[i];
      const sides = [
        [c.far_score[i], far, c.far_edits[i], OTHER],
        [c.near_score[i], near, c.near_edits[i], SAME],
      ];
      if (!isWrong) sides.reverse();
      const names = isWrong && c.far_score[i] === c.near_score[i] ? ["as near", "as near"] : ["nearer", "farther"];
      sides.forEach(([score, text, edits, tag], k) => {
        const plain = tag === SAME ? ["right answer", "yes"] : ["wrong answer", "no"];
        told(list, names[k], score, source, text, edits, c.question ? plain : tag);
      });
    } else {
      const tag = c.label[i] === 1 ? SAME : c.label[i] === 0 ? OTHER : null;
      told(list, "compared with", c.near_score[i], source, near, c.near_edits[i], tag);
      if (c.far_score[i] !== null) told(list, "in the other order", c.far_score[i], source, "", []);
    }
    const why = ["near_why", "far_why"].map((name) => (c[name] && c[name][i] >= 0 ? texts[c[name][i]] : "")).filter(Boolean);
    if (why.length) found.append(make("p", `Why the edit holds: ${why.join("; ")}`, "soft"));
    const of = ["slice", "domain"].map((name) => (c[name] && c[name][i] >= 0 ? texts[c[name][i]] : "")).filter(Boolean);
    of.forEach((part) => found.append(make("span", part, "tag")));
    const again = make("p", "See it again: ", "soft");
    const command = make("code");
    for (const word of ["encheck", "show", quoted(c.item[i]), ...options.split(" ")]) {
      command.append(word.length < 40 ? make("span", word, "word") : word, " ");  // "-" and "-model" stay together
    }
    again.append(command);
    found.append(again);
    return found;
  };
  const control = (label, input) => {
    const found = make("label", `${label} `);
    found.append(input);
    return found;
  };
  // The values to filter items by: a part of the data, a domain, an edit that several items share.
  const editOf = (c, i, texts) => {
    const side = c.far[i] !== -1 ? "far" : "near";
    if (c[`${side}_edits`][i].length !== 1) return "";
    const [start, end, put] = c[`${side}_edits`][i][0];
    const out = [...texts[c.source[i]]].slice(start, end).join("").trim();
    return out.length + put.length > 40 ? "" : `${out || "(nothing)"} \u2192 ${put.trim() || "(nothing)"}`;
  };
  const partsOf = (c, texts) => ({
    slice: c.slice ? c.slice.map((at) => (at >= 0 ? texts[at] : "")) : [],
    domain: c.domain ? c.domain.map((at) => (at >= 0 ? texts[at] : "")) : [],
    edit: c.item.map((_, i) => editOf(c, i, texts)),
  });
  const optionsOf = (values, least) => {
    const counts = new Map();
    values.filter(Boolean).forEach((value) => counts.set(value, (counts.get(value) || 0) + 1));
    const found = [...counts].filter(([, count]) => count >= least).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    return found.slice(0, 30);
  };
  const refill = (select, found, all) => {
    select.replaceChildren(new Option("all", ""), ...found.map(([value, count]) => new Option(`${value} (${count})`, value)));
    select.parentElement.hidden = !found.length || (found.length === 1 && found[0][1] === all);
  };
  // The most typical item is the one whose margin is the median.
  const typical = (c, found) => {
    const sorted = found.map((i) => c.right[i]).sort((a, b) => a - b);
    const middle = sorted[Math.floor(sorted.length / 2)];
    return [...found].sort((a, b) => Math.abs(c.right[a] - middle) - Math.abs(c.right[b] - middle) || a - b);
  };
  const list = async (check) => {
    const place = check.querySelector(":scope > .body > .items");
    if (!place || place.dataset.listed) return;
    place.dataset.listed = "yes";
    const { cases, texts } = await unpacked();
    const mine = JSON.parse(check.dataset.cases);
    const choose = make("select");
    mine.forEach(([, name], k) => choose.append(new Option(name, k)));
    const order = make("select");
    order.append(new Option("most wrong first", "wrong"), new Option("most typical first", "typical"));
    const parts = { slice: make("select"), domain: make("select"), edit: make("select") };
    const search = Object.assign(make("input"), { type: "search" });
    const wrong = Object.assign(make("input"), { type: "checkbox" });
    const output = make("output", "", "soft");
    const box = make("div", undefined, "cards");
    const more = Object.assign(make("button", "show more"), { type: "button" });
    const bar = make("div", undefined, "filters");
    if (mine.length > 1) bar.append(control("series", choose));
    bar.append(control("order", order));
    Object.entries(parts).forEach(([name, select]) => bar.append(control(name, select)));
    bar.append(control("with the words", search));
    if (cases[mine[0][0]].far.some((at) => at !== -1)) bar.append(control("only mistakes", wrong));
    bar.append(output);
    place.append(make("h4", "Items"), bar, box, more);
    let [found, values] = [[], {}];
    const now = () => cases[mine[choose.value || 0][0]];
    const next = () => {
      const [key, , options] = mine[choose.value || 0];
      const shown = box.childElementCount;
      found.slice(shown, shown + PAGE).forEach((i) => box.append(example(cases[key], i, texts, options)));
      more.hidden = box.childElementCount >= found.length;
    };
    const refresh = () => {
      const c = now();
      const wanted = search.value.toLowerCase();
      const has = (i) => ["source", "near", "far"].some((side) => textOf(c, side, i, texts)?.toLowerCase().includes(wanted));
      const isOf = (i) => Object.entries(parts).every(([name, select]) => !select.value || values[name][i] === select.value);
      found = c.item.map((_, i) => i).filter((i) => (!wanted || has(i)) && (!wrong.checked || c.wrong[i]) && isOf(i));
      if (order.value === "typical") found = typical(c, found);
      const cut = c.all > c.item.length ? `, the worst of ${c.all}: items.parquet has the others` : "";
      output.textContent = `${found.length} of ${c.item.length} items${cut}`;
      box.replaceChildren();
      next();
    };
    const chosen = () => {
      values = partsOf(now(), texts);
      Object.entries(parts).forEach(([name, select]) => refill(select, optionsOf(values[name], name === "edit" ? 3 : 1), values[name].length));
      refresh();
    };
    choose.addEventListener("input", chosen);
    [order, ...Object.values(parts), search, wrong].forEach((input) => input.addEventListener("input", refresh));
    more.addEventListener("click", next);
    chosen();
  };
  const isSeen = (check) => check.open && !check.parentElement.closest("details:not([open])");
  document.querySelectorAll("details.check").forEach((check) => {
    check.addEventListener("toggle", () => isSeen(check) && list(check));
    if (isSeen(check)) list(check);
  });
  document.querySelectorAll("details.property").forEach((property) => {
    const opened = () => [...property.querySelectorAll("details.check")].filter(isSeen).forEach(list);
    property.addEventListener("toggle", () => property.open && opened());
  });

  // Show one picture of a check at a time.
  document.querySelectorAll(".switch").forEach((group) => {
    const buttons = [...group.querySelectorAll("button")];
    const choose = (chosen) =>
      buttons.forEach((one) => {
        one.setAttribute("aria-pressed", one === chosen);
        byId(one.getAttribute("aria-controls")).hidden = one !== chosen;
      });
    buttons.forEach((button) => button.addEventListener("click", () => choose(button)));
    choose(buttons[0]);
  });

  // Copy commands, if the browser allows it.
  document.querySelectorAll(".copy").forEach((button) => {
    button.hidden = !navigator.clipboard;
    button.setAttribute("aria-label", `copy: ${button.previousElementSibling.textContent}`);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.previousElementSibling.textContent);
      button.textContent = "copied";
    });
  });

  // A link to a check opens it and its property.
  const follow = () => {
    const target = location.hash.length > 1 && byId(decodeURIComponent(location.hash.slice(1)));
    if (target && target.matches("details")) {
      for (let at = target; at; at = at.parentElement.closest("details")) at.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", follow);
  follow();

  // Filters: keep a property if its name or one of its checks has the words, and one of its verdicts is ticked.
  const form = byId("filters");
  const filter = () => {
    const wanted = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const kinds = new Set([...form.querySelectorAll("[name=verdict]:checked")].map((box) => box.value));
    const has = (text) => wanted.every((word) => text.toLowerCase().includes(word));
    const isKind = (row) => row.dataset.kinds.split(" ").some((kind) => kinds.has(kind));
    const rows = [...document.querySelectorAll("details.property")];
    rows.forEach((row) => {
      const own = has(row.querySelector(":scope > summary").textContent);
      const checks = [...row.querySelectorAll("details.check")];
      checks.forEach((check) => (check.hidden = !isKind(check) || !(own || has(check.querySelector("summary").textContent))));
      row.hidden = checks.every((check) => check.hidden);
    });
    document.querySelectorAll(".family").forEach((family) => {
      family.hidden = [...family.querySelectorAll("details.property")].every((row) => row.hidden);
    });
    byId("count").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} properties`;
  };
  // Sort by family or weakest first: the rows move into the first family, and back.
  const homes = new Map([...document.querySelectorAll("details.property")].map((row) => [row, row.parentElement]));
  const arrange = (isWeakest) => {
    document.querySelectorAll(".block").forEach((block) => {
      const rows = [...homes.keys()].filter((row) => block.contains(row));
      block.classList.toggle("weakest", isWeakest);
      if (!isWeakest) return rows.forEach((row) => homes.get(row).append(row));
      rows.sort((a, b) => a.dataset.order - b.dataset.order).forEach((row) => block.querySelector(".family").append(row));
    });
  };
  if (form) {
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    const all = (isOpen) => () =>
      document.querySelectorAll("details.property:not([hidden])").forEach((row) => {
        row.open = isOpen;
        row.querySelectorAll("details.check:not([hidden])").forEach((check) => (check.open = isOpen));
      });
    byId("unfold").addEventListener("click", all(true));
    byId("fold").addEventListener("click", all(false));
    byId("weakest").addEventListener("click", () => {
      const isWeakest = byId("weakest").getAttribute("aria-pressed") !== "true";
      byId("weakest").setAttribute("aria-pressed", isWeakest);
      arrange(isWeakest);
      filter();
    });
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
