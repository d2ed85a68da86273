"use strict";
// Tables: a click on a heading, or Enter on it, sorts; another one turns the order round.
(() => {
  const number = (cell) => Number(cell.dataset.value.replace("inf", "Infinity"));

  function compared(one, other, numeric) {
    return numeric
      ? number(one) - number(other)
      : one.dataset.value.localeCompare(other.dataset.value, "en", { numeric: true });
  }

  function sort(heading) {
    const order = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const each of heading.parentElement.cells) each.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", order);
    const body = heading.closest("table").tBodies[0];
    const cell = (row) => row.cells[heading.cellIndex];
    const there = (row) => "value" in cell(row).dataset;
    const sign = order === "ascending" ? 1 : -1;
    const numeric = heading.classList.contains("number");
    const rows = [...body.rows];
    const sorted = rows.filter(there).sort((a, b) => sign * compared(cell(a), cell(b), numeric));
    // Missing values come last in either order.
    body.append(...sorted, ...rows.filter((row) => !there(row)));
  }

  for (const button of document.querySelectorAll("thead button")) {
    button.addEventListener("click", () => sort(button.closest("th")));
  }
})();

// Tables that are wider than their place say so: not every screen shows a scroll bar. On a phone
// each of their rows is a card, with its headings.
(() => {
  const PHONE = 640; // pixels

  function label(table) {
    const headings = [...table.tHead.rows[0].cells].map((each) => each.innerText.replace(/[\s↕↑↓]+$/, ""));
    for (const row of table.tBodies[0].rows) {
      [...row.cells].forEach((cell, i) => { cell.dataset.heading = headings[i]; });
    }
  }

  function mark() {
    for (const box of document.querySelectorAll(".scroll")) {
      const { classList } = box.parentElement;
      classList.remove("cards");
      const wide = box.scrollWidth > box.clientWidth;
      const cards = wide && window.innerWidth <= PHONE;
      if (cards) label(box.querySelector("table"));
      classList.toggle("cards", cards);
      classList.toggle("wide", wide && !cards);
    }
  }
  mark();
  window.addEventListener("resize", mark);
  document.addEventListener("toggle", mark, true);
})();

// What is folded opens for a link into it, and on paper.
(() => {
  const open = (each) => { each.open = true; };
  function unfold() {
    let each = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!each) return;
    for (let up = each; up; up = up.parentElement) if (up.tagName === "DETAILS") open(up);
    each.scrollIntoView();
  }
  window.addEventListener("hashchange", unfold);
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(open));
  unfold();
})();

// Brushes: a figure leaves of its table the rows whose first cell is a key inside its brushes.
const brushes = (() => {
  const kept = new Map(); // table -> brush -> keys inside it

  function key(cell) {
    return cell.classList.contains("number") ? Number(cell.dataset.value) : cell.dataset.value;
  }

  function show(table) {
    const sets = [...(kept.get(table)?.values() ?? [])];
    const rows = [...table.querySelector("table").tBodies[0].rows];
    for (const row of rows) row.hidden = !sets.every((keys) => keys.has(key(row.cells[0])));
    const left = rows.filter((row) => !row.hidden).length;
    const note = table.querySelector(".brushed");
    note.hidden = sets.length === 0;
    note.querySelector("[role=status]").textContent =
      sets.length === 0 ? "" : `Brushed: ${left} of ${rows.length} rows.`;
  }

  // Between the two ends in every brushed field; null where nothing is brushed.
  function inside(specification, extents) {
    const ends = Object.entries(extents);
    if (ends.length === 0) return null;
    const rows = Object.values(specification.datasets).flat();
    const held = (row) => ends.every(([field, [low, high]]) => row[field] >= low && row[field] <= high);
    return new Set(rows.filter((row) => "key" in row && held(row)).map((row) => row.key));
  }

  // A figure that is drawn anew has lost its brushes.
  function listen(figure, specification, view) {
    if (!figure.dataset.filters) return;
    const table = document.getElementById(figure.dataset.filters);
    if (!kept.has(table)) kept.set(table, new Map());
    const names = specification.params.map((each) => each.name);
    for (const name of names.filter((each) => each.split("_")[0] === "brush")) {
      const brush = `${figure.id} ${name}`;
      kept.get(table).delete(brush);
      view.addSignalListener(name, (_, extents) => {
        const keys = inside(specification, extents);
        if (keys === null) kept.get(table).delete(brush);
        else kept.get(table).set(brush, keys);
        show(table);
      });
    }
    show(table);
  }

  function onClear(draw) {
    for (const table of document.querySelectorAll("figure.filtered")) {
      const figures = [...document.querySelectorAll(`[data-filters="${table.id}"]`)];
      const brushed = (figure) => [...(kept.get(table)?.keys() ?? [])].some((b) => b.startsWith(`${figure.id} `));
      table.querySelector(".brushed button").addEventListener("click", () => {
        for (const figure of figures.filter(brushed)) draw(figure);
      });
    }
  }

  return { listen, onClear };
})();

// Figures: drawn as wide as the page allows, and again when that changes.
(() => {
  const NARROWEST_PANEL = 120; // pixels; below it, axis labels run into each other
  const LEGEND_INDENT = 80; // pixels of the axis and the symbol to the left of a legend's label
  const look = JSON.parse(document.getElementById("look").textContent);
  const views = new Map();

  // Panels are set in columns, a single chart takes the width as a whole.
  function panels(specification) {
    const many = specification.concat ?? (specification.facet && specification.spec);
    return many && specification.columns ? specification.columns : 0;
  }

  function withPanels(specification, columns, width) {
    const sized = (each) => ({ ...each, width });
    if (specification.concat) return { ...specification, columns, concat: specification.concat.map(sized) };
    return { ...specification, columns, spec: sized(specification.spec) };
  }

  async function embedded(box, specification, width) {
    const config = structuredClone(look);
    config.legend.columns = Math.max(1, Math.floor(width / 230));
    config.legend.labelLimit = Math.min(config.legend.labelLimit, width - LEGEND_INDENT);
    views.get(box)?.finalize();
    const result = await vegaEmbed(box, specification, {
      mode: "vega-lite",
      renderer: "svg",
      actions: false,
      ast: true, // expressions are interpreted: the page allows no code from text
      config,
      tooltip: { disableDefaultStyle: true },
    });
    views.set(box, result);
    return box.querySelector("svg").viewBox.baseVal.width;
  }

  async function draw(box, specification) {
    const width = Math.min(box.clientWidth, specification.usermeta?.widest ?? Infinity);
    const most = panels(specification);
    if (most === 0) {
      const whole = specification.autosize ? { ...specification, width } : specification;
      await embedded(box, whole, width);
      return;
    }
    let columns = Math.max(1, Math.min(most, Math.floor(width / (NARROWEST_PANEL + 30))));
    let panel = Math.floor(width / columns) - 60;
    // Only a drawing shows how much room axes and gaps take; the next one uses what is left.
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const sized = withPanels(specification, columns, panel);
      const rest = (await embedded(box, sized, width)) - columns * panel;
      const better = Math.floor((width - rest) / columns) - 1;
      if (better < NARROWEST_PANEL && columns > 1) {
        columns -= 1;
        panel = Math.floor(width / columns) - 60;
      } else if (Math.abs(better - panel) <= 2) {
        return;
      } else {
        panel = Math.max(better, 60);
      }
    }
  }

  async function show(figure) {
    const box = figure.querySelector(".drawing");
    try {
      const specification = JSON.parse(figure.querySelector("script").textContent);
      await draw(box, specification);
      brushes.listen(figure, specification, views.get(box).view);
    } catch (error) {
      box.className = "problem";
      box.textContent = `This figure could not be drawn: ${error.message}`;
      console.error(error);
    }
    figure.dataset.drawnAt = String(box.clientWidth);
  }

  const figures = [...document.querySelectorAll("figure.chart")];
  // The page opens with the first figure; the others follow, and a reader can scroll meanwhile.
  const pause = () => new Promise((resume) => { setTimeout(resume); });
  let queue = Promise.resolve();
  function showAll() {
    for (const figure of figures) {
      queue = queue.then(() => {
        const width = figure.querySelector(".drawing, .problem").clientWidth;
        // What is folded has no width yet.
        return width === 0 || figure.dataset.drawnAt === String(width) ? null : show(figure).then(pause);
      });
    }
  }
  brushes.onClear((figure) => {
    queue = queue.then(() => show(figure));
  });
  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(showAll, 200);
  });
  document.addEventListener("toggle", showAll, true);
  showAll();
})();
