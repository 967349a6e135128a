// The training room of the playground: play, pause, one step; loss, predictions, and every weight's gradient on its edge.

let learner = null, learning = false, predict = null;
const settings = { task: "weights", hidden: 2, activation: "tanh", scale: 1 };

const pick = (id, label, options, change) => element("select", { id, "aria-label": label, onchange: (event) => change(event.target.value) },
  ...options.map(([value, text]) => element("option", { value }, text)));
const setting = (id, text, attributes) => {
  const field = element("input", { type: "range", id, "aria-label": text, ...attributes }), told = element("output");
  field.tell = () => write(told, id === "rate" ? general(10 ** field.valueAsNumber, 2) : general(field.valueAsNumber, 2));
  field.addEventListener("input", () => field.tell());
  field.row = element("div", { class: "leaf" }, element("label", { for: id }, text), told, field);
  return field;
};
const rate = setting("rate", "learning rate", { min: "-4", max: "1.5", step: "0.05", value: "-2" });
const momentum = setting("momentum", "momentum", { min: "0", max: "0.99", step: "0.01", value: "0" });
const noise = setting("noise", "noise", { min: "0", max: "1", step: "0.01", value: "0" });
const spreadField = setting("spread", "first weights", { min: "0.1", max: "6", step: "0.1", value: "1" });
const taskField = pick("task", "what is learned", Object.entries(TASKS).map(([key, { title }]) => [key, title]), (key) => { settings.task = key; begin(true); });
const depthField = pick("depth", "hidden layers", [["2", "2-8-8-1"], ["4", "4 hidden layers"], ["8", "8 hidden layers"]], (n) => { settings.hidden = Number(n); begin(); });
const activationField = pick("activation", "activation", ["tanh", "relu", "sigmoid"].map((name) => [name, name]), (name) => { settings.activation = name; begin(); });
const runButton = button("learn", "▶ play", "train or pause", () => { learning = !learning; runButton.textContent = learning ? "❚❚ pause" : "▶ play"; if (learning) requestAnimationFrame(frame); });
const lossFigure = element("figure", { id: "loss" }), fitFigure = element("figure", { id: "fit-figure" }), netFigure = element("figure", { id: "network" });
const said = element("p", { id: "said", role: "status", class: "big" }), lossText = element("p", { id: "loss-text" });

const room = element("main", { id: "training", hidden: "" },
  element("section", { "aria-label": "controls" }, taskField, element("div", { class: "buttons" }, runButton, button("learn-step", "one step", "one step", () => { stopLearning(); advance(1); }), button("again", "start again", "with the first weights", () => begin())),
    element("div", { id: "network-settings" }, depthField, activationField, spreadField.row), rate.row, momentum.row, noise.row, lossText, said),
  element("section", { "aria-label": "figures" }, lossFigure, fitFigure), element("section", { "aria-label": "weights" }, netFigure));

spreadField.addEventListener("change", () => begin());

function begin(fresh = false) {
  stopLearning();
  const task = TASKS[settings.task];
  settings.scale = spreadField.valueAsNumber;
  if (fresh) { rate.value = String(task.rate); momentum.value = String(task.momentum); noise.value = "0"; }
  for (const field of [rate, momentum, noise, spreadField]) field.tell();
  document.getElementById("network-settings").hidden = !task.network;
  learner = new Learner(task, settings);
  predict = learner.predictor(task.network ? { data: places_(), shape: [CELLS * CELLS, 2] } : column(grid(...boundsOf(learner.data.x.data), 120)));
  drawLearning();
}

function stopLearning() { learning = false; runButton.textContent = "▶ play"; }

function advance(steps) {
  for (let i = 0; i < steps && Number.isFinite(learner.loss[0]); i++) learner.step(10 ** rate.valueAsNumber, momentum.valueAsNumber, noise.valueAsNumber);
  drawLearning();
}

function frame() {
  if (!learning) return;
  advance(4);
  if (!Number.isFinite(learner.loss[0])) stopLearning();
  requestAnimationFrame(frame);
}

// Figures -----------------------------------------------------------------------------------------------------------------

const CELLS = 40, SQUARE = 2.2;
const places_ = () => Array.from({ length: CELLS * CELLS }, (_, i) => [((i % CELLS) / (CELLS - 1) - 0.5) * SQUARE * 2, (0.5 - Math.floor(i / CELLS) / (CELLS - 1)) * SQUARE * 2]).flat();
const boundsOf = (numbers) => [Math.min(...numbers), Math.max(...numbers)];

function drawLearning() {
  const { history, task } = learner, loss = history[history.length - 1];
  write(lossText, `step ${history.length - 1}, loss ${show(loss)}`);
  write(said, diagnosis(learner));
  const every = Math.max(1, Math.floor(history.length / 300)), kept = history.map((y, i) => [i, Math.log10(y)]).filter(([i, y]) => i % every === 0 && Number.isFinite(y));
  const low = Math.min(...kept.map(([, y]) => y)) - 0.05, high = Math.max(...kept.map(([, y]) => y)) + 0.05;
  const [svg, X, Y] = framed("the loss, on a logarithmic axis, against the steps", [0, Math.max(10, history.length - 1)], [low, high], (x) => `step ${x}`, (y) => general(10 ** y, 3));
  svg.append(curveThrough(kept, X, Y, "curve"));
  lossFigure.replaceChildren(svg, element("figcaption", { class: "muted" }, "loss"));
  if (task.network) { drawSurface(); drawNetwork(); } else { drawFit(); drawWeights(); }
}

function drawFit() {
  const x = learner.data.x.data, t = learner.data.t.data, [x0, x1] = boundsOf(x), z = predict(), xs = grid(x0, x1, 120);
  const [y0, y1] = boundsOf(t), room_ = 0.3 * (y1 - y0);
  const [svg, X, Y] = framed("the points and the prediction", [x0, x1], [y0 - room_, y1 + room_], show, (y) => general(y, 2));
  x.forEach((value, i) => svg.append(drawn("circle", { cx: X(value), cy: Y(t[i]), r: 2.2, class: "point" })));
  const inside = (y) => (y > y0 - room_ && y < y1 + room_ ? y : NaN);
  svg.append(curveThrough(xs.map((value, i) => [value, inside(z[i])]), X, Y, "curve"));
  fitFigure.replaceChildren(svg, element("figcaption", { class: "muted" }, "points, and the prediction"));
}

function drawWeights() {
  const rows = Object.entries(learner.weight).map(([name, w]) => row([name, show(w[0]), show(learner.gradient[name][0])], (i) => i === 2));
  netFigure.replaceChildren(table("weights", ["weight", "value", "gradient"], rows));
}

function drawSurface() {
  const z = predict(), surface = element("canvas", { width: CELLS, height: CELLS, class: "heat", role: "img", "aria-label": "where the network says which moon; strong colours are sure" });
  const pen = surface.getContext("2d"), colors = getComputedStyle(document.documentElement);
  z.forEach((value, i) => {
    const q = sigmoid(value);
    pen.globalAlpha = Math.min(1, Math.abs(2 * q - 1)) * 0.75 || 0;
    pen.fillStyle = colors.getPropertyValue(q > 0.5 ? "--positive" : "--negative");
    pen.fillRect(i % CELLS, Math.floor(i / CELLS), 1, 1);
  });
  const dots = drawn("svg", { viewBox: `${-SQUARE} ${-SQUARE} ${2 * SQUARE} ${2 * SQUARE}`, "aria-hidden": "true" }), x = learner.data.x.data;
  Array.from(learner.data.t.data, (t, i) => dots.append(t ? drawn("circle", { cx: x[2 * i], cy: -x[2 * i + 1], r: 0.06, class: "one" })
    : drawn("rect", { x: x[2 * i] - 0.055, y: -x[2 * i + 1] - 0.055, width: 0.11, height: 0.11, class: "other" })));
  fitFigure.replaceChildren(element("div", { class: "surface" }, surface, dots), element("figcaption", { class: "muted" }, "the network's decision: round points are one moon, square ones the other"));
}

function drawNetwork() { // width: the weight's size; colour: its gradient, against the largest of all
  const sizes = layerSizes(settings.hidden), width = 420, height = 240, svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "figure", "aria-label": "the network, its edges coloured by their gradients" });
  const at = (layer, i) => [24 + (layer * (width - 48)) / (sizes.length - 1), height / 2 + (i - (sizes[layer] - 1) / 2) * 27];
  const most = Math.max(1e-300, ...Object.keys(learner.gradient).filter((name) => name[0] === "W").flatMap((name) => Array.from(learner.gradient[name], Math.abs)).filter(Number.isFinite));
  for (let layer = 1; layer < sizes.length; layer++) {
    const w = learner.weight[`W${layer}`], g = learner.gradient[`W${layer}`];
    for (let i = 0; i < sizes[layer - 1]; i++) {
      for (let j = 0; j < sizes[layer]; j++) {
        const k = i * sizes[layer] + j, [x1, y1] = at(layer - 1, i), [x2, y2] = at(layer, j);
        svg.append(drawn("line", { x1, y1, x2, y2, class: g[k] < 0 ? "negative" : "positive", "stroke-width": (0.6 + Math.min(4, Math.abs(w[k])) || 0.6).toFixed(2), "stroke-opacity": (0.06 + 0.94 * Math.min(1, Math.sqrt(Math.abs(g[k]) / most)) || 0.06).toFixed(3) }));
      }
    }
  }
  sizes.forEach((n, layer) => { for (let i = 0; i < n; i++) { const [cx, cy] = at(layer, i); svg.append(drawn("circle", { cx, cy, r: 6, class: "neuron" })); } });
  const norms = sizes.slice(1).map((_, i) => row([`layer ${i + 1}`, general(norm(learner.weight[`W${i + 1}`]), 3), general(norm(learner.gradient[`W${i + 1}`]), 3)], (k) => k === 2));
  netFigure.replaceChildren(svg, element("figcaption", { class: "muted" }, "wide: a large weight; strong colour: a large gradient"), table("norms", ["", "weights", "gradient"], norms));
}

// Coming in and going out ----------------------------------------------------------------------------------------------------

const doorway = button("train", "training", "train a model in the page", () => enter(!document.body.classList.contains("training")));
function enter(inside) {
  document.body.classList.toggle("training", inside);
  room.hidden = !inside;
  for (const part of [area, player, side, work, gallery, search, document.getElementById("fit"), document.getElementById("share")]) part.hidden = inside;
  doorway.textContent = inside ? "formulas" : "training";
  heading.textContent = inside ? "Training" : "Playground";
  if (inside && !learner) begin(true);
  if (!inside) stopLearning();
}
area.before(room);
document.getElementById("theme").before(doorway);
if (given.training) { settings.task = taskField.value = given.training; enter(true); }
api.learner = () => learner && { lines: learner.lines, data: learner.data, weights: Object.fromEntries(Object.entries(learner.weight).map(([k, w]) => [k, Array.from(w)])),
  shapes: Object.fromEntries(Object.entries(learner.weights).map(([k, { shape }]) => [k, shape])), loss: learner.loss[0], said: said.textContent };
