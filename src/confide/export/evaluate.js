"use strict";
// A model's parts (confide.export.model_parts and interval_rules) as a function of one row.
function confideModel(parts) {
  const { fround, hypot, sqrt, max, min, sin, cos } = Math;
  const types = { Float32Array, Float64Array, Int32Array };
  const arrays = {};
  for (const [name, { type, data }] of Object.entries(parts.arrays)) {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    arrays[name] = new types[type](bytes.buffer); // little-endian, as all browsers' machines are
  }

  // A value is a number (days, seconds), the number of an option, or null where it is missing.
  function encoded(values) {
    const features = new Float64Array(parts.n_features);
    parts.columns.forEach((column, i) => {
      const value = values[i];
      const means = column.means ?? null;
      const last = column.start + column.width - 1;
      if (column.indicator) features[means === null ? last : last - 1] = value === null ? 1 : 0;
      if (column.kind === "category") {
        const n = column.n_indicators;
        if (value !== null && (value < n || column.other)) features[column.start + min(value, n)] = 1;
        if (means !== null) features[last] = (value === null ? undefined : means[value]) ?? column.mean;
        return;
      }
      const known = value === null ? column.median : value;
      const isTime = column.kind === "time";
      const days = isTime ? known / 86400 : known;
      if (!isTime) features[column.start] = known;
      column.cycles.forEach((period, k) => {
        const turn = (2 * Math.PI * (((days % period) + period) % period)) / period;
        const at = column.start + 2 * k + (isTime ? 0 : 1);
        features[at] = sin(turn);
        features[at + 1] = cos(turn);
      });
    });
    return features;
  }

  function waves(inputs) {
    if (parts.clip === null) return Float64Array.from(inputs);
    const [n, m] = [inputs.length, parts.waved.length];
    const out = new Float64Array(n + 2 * parts.frequencies.length * m);
    for (let i = 0; i < n; i += 1) out[i] = fround(inputs[i] / hypot(1, inputs[i] / parts.clip));
    parts.frequencies.forEach((frequency, k) => {
      const speed = fround(2 * Math.PI * frequency);
      parts.waved.forEach((at, i) => {
        out[n + 2 * k * m + i] = sin(fround(speed * out[at]));
        out[n + (2 * k + 1) * m + i] = cos(fround(speed * out[at]));
      });
    });
    return out;
  }

  const activate = parts.activation === "silu" ? (x) => x / (1 + Math.exp(-x)) : (x) => max(x, 0);

  // What each network of a list says: a mean, and of some a log standard deviation.
  function outputs(weights, inputs) {
    const all = [];
    for (let at = 0; at < weights.length; ) {
      let x = inputs;
      parts.layers.forEach(([out, into], layer) => {
        const bias = at + out * into;
        const next = new Float64Array(out);
        for (let o = 0; o < out; o += 1, at += into) {
          let sum = weights[bias + o];
          for (let i = 0; i < into; i += 1) sum += weights[at + i] * x[i];
          next[o] = layer < parts.layers.length - 1 ? activate(sum) : sum;
        }
        at += out;
        x = next;
      });
      all.push(x);
    }
    return all;
  }

  // A sum of trees, see confide.trees.
  function trees(name, inputs) {
    const own = (part) => arrays[`${name}.${part}`];
    const [feature, threshold, left, right, value] = ["feature", "threshold", "left", "right", "value"].map(own);
    let sum = own("constant")[0];
    for (let node of own("roots")) {
      while (left[node] !== node) node = inputs[feature[node]] <= threshold[node] ? left[node] : right[node];
      sum += value[node];
    }
    return sum;
  }

  const mean = (numbers) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
  const reached = (x, reach) => (reach === null ? x : min(max(x, reach[0]), reach[1]));

  // Half the interval of t plus normal noise, cubic through four entries of a table.
  function byRatio(t, normal) {
    if (t + normal === 0) return 0;
    const [table, most] = [arrays.by_ratio, parts.rules.largest_log];
    const at = ((min(max(Math.log(t / normal), -most), most) / most + 1) / 2) * (table.length - 1);
    const first = min(max(Math.floor(at) - 1, 0), table.length - 4);
    const x = at - first;
    const [a, b, c, d] = [x, x - 1, x - 2, x - 3];
    const weights = [(-b * c * d) / 6, (a * c * d) / 2, (-a * b * d) / 2, (a * b * c) / 6];
    return hypot(t, normal) * weights.reduce((sum, weight, k) => sum + weight * table[first + k], 0);
  }

  const bound = (number, sign) => number ?? sign * Infinity; // null stands for infinity
  const standardised = (features, name) =>
    Float32Array.from(features, (x, i) => (x - arrays[`${name}x_mean`][i]) / arrays[`${name}x_scale`][i]);

  // Centre and half the width of the confidence interval, see confide.calibration.
  function confidenceOf(features, middle, epistemic) {
    const own = parts.y_scale ** 2 * epistemic;
    const twins = parts.rules.twins;
    if (!twins) return [middle, parts.rules.confidence_times * sqrt(own)];
    const inputs = standardised(features, "units.");
    const known = middle + twins.y_scale * trees("missed", inputs);
    const echoes = outputs(arrays.echo, waves(standardised(features, "echo.")));
    const echo = mean(echoes.map((x) => reached(x[0], twins.echo_reach)));
    const bias = twins.echo[0] + twins.echo[1] * echo - known;
    const simulated = twins.y_scale ** 2 * trees("squares", inputs);
    const variance = twins.by_simulations * simulated + (1 - twins.by_simulations) * twins.claim * own;
    return [middle - twins.shift * bias, bound(twins.times, 1) * sqrt(max(variance, twins.least))];
  }

  // The ends of the prediction interval from the mean, in standardised units.
  function reachOf(epistemic, aleatoric) {
    const [e, total] = [sqrt(epistemic), sqrt(epistemic + aleatoric)];
    const [below, above] = parts.rules.total_bounds ?? [0, 0];
    const least = max((parts.rules.epistemic_times ?? 0) * e, arrays.by_ratio ? byRatio(e, sqrt(aleatoric)) : 0);
    return [min(bound(below, -1) * total, -least), max(bound(above, 1) * total, least)];
  }

  function answer(values) {
    const features = encoded(values);
    const inputs = standardised(features, "");
    const seen = waves(inputs);
    const of = outputs(arrays.members, seen);
    const means = of.map((x) => reached(x[0], parts.reach));
    const centre = mean(means);
    const again = outputs(arrays.retrained, seen).map((x, i) => reached(arrays.location[i] + arrays.scale[i] * x[0], parts.reach));
    const m = parts.n_members;
    const classical = parts.net * mean(again.map((x, i) => (x - means[i % m]) ** 2));
    const optimisation = means.reduce((sum, x) => sum + (x - centre) ** 2, 0) / (m - 1) / m;
    const aleatoric = arrays["noise.roots"]
      ? trees("noise", inputs)
      : mean(of.map((x) => (Math.exp(x[1]) + 1e-3) ** 2));
    const epistemic = classical + optimisation;
    const total = epistemic + aleatoric;
    const middle = parts.y_mean + parts.y_scale * centre;
    const [about, half] = confidenceOf(features, middle, epistemic);
    const confidence = [about - half, about + half];
    const [below, above] = reachOf(epistemic, aleatoric).map((end) => middle + parts.y_scale * end);
    return {
      mean: middle,
      prediction: [min(below, confidence[0]), max(above, confidence[1])],
      confidence,
      shares: {
        aleatoric: total > 0 ? aleatoric / total : NaN,
        classical: total > 0 ? classical / total : NaN,
        optimisation: total > 0 ? optimisation / total : NaN,
      },
    };
  }

  return answer;
}
