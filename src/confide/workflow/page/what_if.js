// The panel "What if": controls for each feature of a row, and the model's answer.
document.querySelectorAll('[id^="panel-what-if"]').forEach((panel) => {
  const data = JSON.parse(panel.querySelector("script").textContent);
  const stage = panel.querySelector(".stage");
  const model = confideModel(data);
  const { columns, rows, ranges } = data;
  let values = [];
  let start = null; // the answer for the row as it is

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children); // strings become text, never markup
    return element;
  }

  function drawn(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  // Numbers as the page writes them: "," for separators, then decimals, of tens and more below zero.
  function text(value, format = data.format) {
    const [, separator, decimals] = /^(,?)\.(-?\d+)f$/.exec(format) ?? [null, "", null];
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
    if (decimals === null) return String(Number(value.toPrecision(4)));
    const unit = 10 ** -decimals, digits = Math.max(Number(decimals), 0);
    const rounded = decimals < 0 ? Math.round(value / unit) * unit : value;
    return rounded.toLocaleString("en-GB", {
      useGrouping: separator === ",", minimumFractionDigits: digits, maximumFractionDigits: digits,
      signDisplay: "negative",
    });
  }

  // Controls: each has `set(value)` and says when the reader changes it.
  const DAY = 86400000;
  const kinds = {
    date: (column) => {
      const timed = column.cycles.includes(1);
      return {
        element: make("input", { type: timed ? "datetime-local" : "date", ...(timed ? { step: 1 } : {}) }),
        read: (written) => Date.parse(timed ? `${written}Z` : written) / DAY,
        write: (days) => new Date(Math.round(days * DAY)).toISOString().slice(0, timed ? 19 : 10),
      };
    },
    time: () => ({
      element: make("input", { type: "time", step: 1 }),
      read: (written) => Date.parse(`1970-01-01T${written}Z`) / 1000,
      write: (seconds) => new Date(Math.round(seconds * 1000)).toISOString().slice(11, 19),
    }),
    category: (column, i) => ({
      element: make("select", {}, ...[...data.choices[i], "(another value)"].map((name, k) => make("option", { value: k }, name))),
      read: Number,
      write: String,
    }),
    boolean: () => ({
      element: make("select", {}, make("option", { value: 0 }, "no"), make("option", { value: 1 }, "yes")),
      read: Number,
      write: String,
    }),
  };
  // As many digits as a person would type. An unchanged row keeps its exact values: only what is
  // typed is read.
  const digits = (value) => Math.max(6, Math.floor(Math.log10(Math.abs(value) || 1)) + 3);
  const typed = (value) => String(Number.isInteger(value) ? value : Number(value.toPrecision(Math.min(digits(value), 17))));
  const number = () => ({ element: make("input", { type: "number", step: "any" }), read: Number, write: typed });

  function slider(i) {
    if (ranges[i] === null || ranges[i][0] === ranges[i][1]) return null;
    const [low, high, whole] = ranges[i];
    const fine = 10 ** Math.floor(Math.log10((high - low) / 100));
    const step = whole ? Math.max(1, fine) : fine;
    return { element: make("input", { type: "range", min: low, max: high, step: "any" }), rounded: (value) => Number((Math.round(value / step) * step).toPrecision(12)) };
  }

  function control(column, i) {
    const { element, read, write } = (kinds[column.kind] ?? number)(column, i);
    const slide = slider(i);
    const hole = column.missing || rows.values.some((row) => row[i] === null) ? make("input", { type: "checkbox" }) : null;
    const label = data.labels[i];
    for (const each of [element, slide?.element]) each?.setAttribute("aria-label", each === element ? label : `${label}, slider`);
    function set(value) {
      if (hole) hole.checked = value === null;
      for (const each of [element, slide?.element]) if (each) each.disabled = value === null;
      if (value === null) return;
      element.value = write(value);
      if (slide) slide.element.value = value;
    }
    function change(value) {
      if (Number.isNaN(value)) return; // half-written
      values[i] = value;
      set(value);
      show();
    }
    element.addEventListener("change", () => element.value !== "" && change(read(element.value)));
    slide?.element.addEventListener("input", () => change(slide.rounded(Number(slide.element.value))));
    hole?.addEventListener("change", () => change(hole.checked ? null : (rows.values[Number(picker.value)][i] ?? column.median ?? 0)));
    const box = make("div", { class: "control", "data-column": i }, make("span", { class: "name", title: label }, label), element);
    if (hole) box.append(make("label", { class: "hole" }, hole, " missing"));
    if (slide) box.append(slide.element);
    return { box, set };
  }

  // The answer: numbers, both intervals about the prediction on one axis, and the split.
  const value = make("p", { class: "value", role: "status" });
  const change = make("p", { class: "beside" });
  const picture = drawn("svg", { viewBox: "0 0 400 64", role: "img", "aria-label": "both intervals" });
  const lines = make("dl", {});
  const split = make("div", { class: "split" });
  const shares = make("dl", {});

  function picked() {
    return Number(picker.value);
  }

  function span(interval, scale, y, height, name) {
    const [left, right] = interval.map((end) => Math.min(Math.max(scale(end), 0), 400));
    return drawn("rect", { class: name, x: left, y, width: Math.max(right - left, 1), height });
  }

  function paint(answer, observed) {
    const there = [...answer.prediction, ...start.prediction, ...(observed === null ? [] : [observed])].filter(Number.isFinite);
    const [low, high] = [Math.min(...there, answer.mean), Math.max(...there, answer.mean)];
    const scale = (x) => 8 + (384 * (x - low)) / (high - low || 1);
    picture.replaceChildren(
      span(start.prediction, scale, 44, 6, "prediction before"),
      span(start.confidence, scale, 44, 6, "confidence before"),
      span(answer.prediction, scale, 14, 20, "prediction"),
      span(answer.confidence, scale, 14, 20, "confidence"),
      drawn("line", { class: "mean", x1: scale(answer.mean), x2: scale(answer.mean), y1: 8, y2: 40 }),
    );
    if (observed !== null) picture.append(drawn("circle", { class: "observed", cx: scale(observed), cy: 47, r: 5 }));
  }

  function line(name, kind, ...what) {
    return make("div", {}, make("dt", {}, make("span", { class: `key ${kind}` }), name), make("dd", {}, ...what));
  }

  function show() {
    const answer = model(values);
    start ??= answer;
    const observed = rows.observed[picked()];
    value.replaceChildren(text(answer.mean));
    const by = answer.mean - start.mean;
    change.replaceChildren(by === 0 ? `predicted ${data.target}` : `predicted ${data.target}; ${by > 0 ? "+" : "−"}${text(Math.abs(by))} by your changes`);
    paint(answer, observed);
    lines.replaceChildren(
      line(data.names.prediction, "prediction", `${text(answer.prediction[0])} to ${text(answer.prediction[1])}`),
      line(data.names.confidence, "confidence", `${text(answer.confidence[0])} to ${text(answer.confidence[1])}`),
      ...(observed === null ? [] : [line("observed in this row", "observed", text(observed, data.observed_format))]),
    );
    const sources = Object.entries(data.sources);
    const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
    split.replaceChildren(...sources.map(([key]) => {
      const part = make("span", { class: key });
      part.style.flexGrow = answer.shares[key];
      return part;
    }));
    shares.replaceChildren(...sources.map(([key, name]) => line(name, key, percent(answer.shares[key]))));
    split.setAttribute("aria-label", sources.map(([key, name]) => `${name} ${(100 * answer.shares[key]).toFixed(1)} %`).join(", "));
    stage.dataset.answer = JSON.stringify(answer);
    return answer;
  }

  function pick() {
    const row = picked();
    values = [...rows.values[row]];
    start = null;
    controls.forEach((each, i) => each.set(values[i]));
    const scale = Math.abs(rows.means[row]) + data.y_scale;
    if (!(Math.abs(show().mean - rows.means[row]) < 1e-4 * scale)) {
      stage.replaceChildren(make("p", { class: "problem" }, "This browser computes other numbers than the model: the panel is left out."));
    }
  }

  const picker = make("select", { "aria-label": "row" }, ...rows.numbers.map((n, k) => make("option", { value: k }, `row ${n}: ${text(rows.means[k])}`)));
  const controls = columns.map(control);
  const reset = make("button", { type: "button" }, "Undo changes");
  picker.addEventListener("change", pick);
  reset.addEventListener("click", pick);
  const boxes = data.order.map((i) => controls[i].box);
  const further = boxes.splice(data.shown);
  const grid = make("div", { class: "controls" }, ...boxes);
  const left = make("div", { class: "answer" }, value, change, picture, lines, make("p", { class: "beside" }, data.split), split, shares);
  const right = make("div", {}, make("p", { class: "picker" }, picker, " ", reset), grid);
  if (further.length) {
    right.append(make("details", {}, make("summary", {}, `${further.length} more features`), make("div", { class: "controls" }, ...further)));
  }
  stage.append(make("div", { class: "what-if" }, left, right));
  pick();
});
