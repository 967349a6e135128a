// The graph as SVG: boxes, edges, frames around scopes; what is in sight is written anew when numbers move.

const canvas = drawn("svg", { id: "canvas", role: "group", "aria-label": "the graph", tabindex: "-1" });
const world = drawn("g", { id: "world" });
const definitions = drawn("defs");
for (const [id, color] of [["up", "var(--flow)"], ["down", "var(--gradient)"]]) {
  const marker = drawn("marker", { id, viewBox: "0 0 8 8", refX: id === "up" ? 7 : 1, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" });
  marker.append(drawn("path", { d: id === "up" ? "M0 0L8 4L0 8z" : "M8 0L0 4L8 8z", style: `fill:${color}` }));
  definitions.append(marker);
}
canvas.append(definitions, world);

let boxElements = new Map(), edgeElements = new Map(), state = null;
const ALL_IN_SIGHT = 400; // boxes up to which everything is written, in sight or not

function rebuild() {
  stopPlaying();
  const before = view && view.steps[step];
  view = viewOf();
  const same = (s) => s.phase === before.phase && s.key === (before.key && (view.shownAs.get(before.key) || before.key));
  const at = before ? view.steps.findIndex(same) : -1;
  step = at >= 0 ? at : Math.min(step, view.steps.length - 1);
  slider.max = String(view.steps.length - 1);
  const layers = [drawn("g", { class: "frames" }), drawn("g", { class: "edges" }), drawn("g", { class: "boxes" })];
  boxElements = new Map();
  edgeElements = new Map();
  drawFrames(layers[0]);
  for (const edge of view.edges) layers[1].append(drawnEdge(edge));
  placeLabels();
  for (const [key, box] of view.boxes) layers[2].append(drawnBox(key, box));
  world.replaceChildren(...layers);
  if (selected !== null && !view.boxes.has(selected)) selected = view.shownAs.get(selected) || null;
  update();
}

function drawnEdge(edge) {
  const curve = curveOf(edge), made = drawn("g", { class: "edge" }), label = drawn("text");
  made.append(drawn("path", { d: curve.path, "marker-end": "url(#up)" }), label);
  edgeElements.set(edge.name, { made, label, curve, stamp: -1 });
  return made;
}

function drawnBox(key, box) {
  const [x, y, w, h] = view.at.get(key);
  const made = drawn("g", { transform: `translate(${x},${y})`, role: "button", tabindex: "-1", "data-key": key });
  const symbol = drawn("text", { class: "symbol" }), value = drawn("text", { class: "value" }), gradient = drawn("text", { class: "gradient" });
  const heat = box.value && heatOf(box.value.shape) ? drawnHeat(box, h) : null;
  made.append(drawn("rect", { x: -w / 2, y: -h / 2, width: w, height: h, rx: 9 }), symbol, value, gradient, ...(heat ? [heat.made] : []));
  boxElements.set(key, { made, symbol, value, gradient, heat, h, stamp: -1 });
  if (heat) {
    const turn = (on) => () => { heat.reversed = on; writeHeat(heat, box); };
    made.addEventListener("pointerenter", turn(true));
    made.addEventListener("pointerleave", turn(false));
  }
  return made;
}

// A chain of cubic curves from source to target, as a path and as a function of its length.
function curveOf(edge) {
  const given = view.curves[edge.name], points = [];
  if (given) for (let i = 0; i < given.length; i += 2) points.push([given[i], given[i + 1]]);
  else {
    const s = view.at.get(edge.source), t = view.at.get(edge.target);
    const many = view.inputs.get(edge.target), i = many.indexOf(edge);
    const x0 = s[0], y0 = s[1] - s[3] / 2, x1 = t[0] + ((i + 1) / (many.length + 1) - 0.5) * t[2] * 0.7, y1 = t[1] + t[3] / 2;
    const m = (y0 + y1) / 2;
    points.push([x0, y0], [x0, m], [x1, m], [x1, y1]);
  }
  let path = `M${points[0]}`;
  for (let i = 1; i + 2 < points.length; i += 3) path += `C${points[i]} ${points[i + 1]} ${points[i + 2]}`;
  const pieces = Math.max(1, Math.floor((points.length - 1) / 3));
  const at = (t) => {
    const k = Math.min(pieces - 1, Math.floor(t * pieces)), u = t * pieces - k, v = 1 - u;
    const [a, b, c, d] = points.slice(3 * k, 3 * k + 4);
    if (!d) return a;
    return [0, 1].map((i) => v * v * v * a[i] + 3 * v * v * u * b[i] + 3 * v * u * u * c[i] + u * u * u * d[i]);
  };
  return { path, at };
}

// Each label stands on its own edge or beside it, at the first place where it covers no box and no other label, however
// its number moves; a label that finds no such place takes the one that covers least.
const LABEL_WIDTH = 7.2, LABEL_HEIGHT = 16, LABEL_ROOM = 9, MAX_LABEL = 26;
const PLACES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82, 0.1, 0.9];
const ANCHORS = [[0, "middle"], [1, "start"], [-1, "end"]];
function placeLabels() {
  const taken = view.edges.length > ALL_IN_SIGHT ? null : [...view.at.values()].map(([x, y, w, h]) => [x, y, w / 2, h / 2]);
  for (const edge of view.edges) {
    const { label, curve } = edgeElements.get(edge.name);
    const place = taken && edge.carried.length ? freePlace(edge, curve, taken) : { at: curve.at(0.5), anchor: "middle" };
    label.setAttribute("x", place.at[0]);
    label.setAttribute("y", place.at[1] + 4);
    label.setAttribute("text-anchor", place.anchor);
  }
}

function freePlace(edge, curve, taken) {
  const half = (LABEL_WIDTH * Math.min(MAX_LABEL, Math.max(LABEL_ROOM, amountOf(edge).length))) / 2, tall = LABEL_HEIGHT / 2;
  const covered = (x, y) => taken.reduce((sum, [X, Y, W, H]) =>
    sum + Math.max(0, Math.min(x + half, X + W) - Math.max(x - half, X - W)) * Math.max(0, Math.min(y + tall, Y + H) - Math.max(y - tall, Y - H)), 0);
  let least = Infinity, best = null;
  for (const t of PLACES) {
    for (const [aside, anchor] of ANCHORS) {
      const [x, y] = curve.at(t), middle = x + aside * (half + 6), cover = covered(middle, y);
      if (cover < least) { least = cover; best = { at: [x + aside * 6, y], anchor, middle }; }
      if (!cover) break;
    }
    if (!least) break;
  }
  taken.push([best.middle, best.at[1], half, tall]);
  return best;
}

function drawFrames(layer) {
  const bounds = new Map();
  for (const [key, box] of view.boxes) {
    const [x, y, w, h] = view.at.get(key);
    box.groups.forEach((group, depth) => {
      if (folded.has(group)) return;
      const pad = 10 + 9 * (box.groups.length - depth);
      const old = bounds.get(group) || [Infinity, Infinity, -Infinity, -Infinity];
      bounds.set(group, [Math.min(old[0], x - w / 2 - pad), Math.min(old[1], y - h / 2 - pad - 8), Math.max(old[2], x + w / 2 + pad), Math.max(old[3], y + h / 2 + pad)]);
    });
  }
  for (const [key, [left, top, right, bottom]] of bounds) {
    const made = drawn("g", { class: "frame", "data-group": key });
    made.append(drawn("rect", { x: left, y: top, width: right - left, height: bottom - top, rx: 12 }));
    const label = drawn("text", { x: left + 10, y: top + 15 }, "▾ " + shorten(groups.get(key).name, 40));
    label.addEventListener("click", () => toggleFold(key));
    made.append(label);
    layer.append(made);
  }
}

// Everything after a step, a selection or a search; numbers that moved alone are written by `refresh`.
function update() {
  state = knowledge();
  shownTangents = seed === null ? null : tangentsFrom(seed);
  const current = view.steps[step];
  const touched = new Set();
  if (current.key) {
    touched.add(current.key);
    if (current.phase === "backward") for (const edge of view.inputs.get(current.key)) if (edge.carried.length) touched.add(edge.source);
  }
  for (const [key, box] of view.boxes) {
    const { made } = boxElements.get(key);
    const isNow = key === current.key || (current.phase === "backward" && touched.has(key));
    const marks = [key === view.root && "root", isNow && "now", key === selected && "selected", query && !matching(box) && "dim", movable(box) && "movable"];
    set(made, "class", ["box", box.kind, ...marks.filter(Boolean)].join(" "));
    set(made, "tabindex", key === (selected || view.root) ? "0" : "-1");
  }
  const flowing = new Set([...state.arrived.values()].flat().map((edge) => edge.name));
  for (const edge of view.edges) {
    const parts = edgeElements.get(edge.name), path = parts.made.firstChild;
    parts.flows = flowing.has(edge.name);
    const fresh = current.key === edge.target && (current.phase === "forward" || (current.phase === "backward" && parts.flows));
    set(parts.made, "class", `edge${parts.flows ? " flowing" : ""}${seed !== null && tangentAlong(edge) !== null ? " rising" : ""}${fresh ? " now" : ""}${query ? " dim" : ""}`);
    path.removeAttribute(parts.flows ? "marker-end" : "marker-start");
    set(path, parts.flows ? "marker-start" : "marker-end", parts.flows ? "url(#down)" : "url(#up)");
  }
  slider.value = String(step);
  slider.setAttribute("aria-valuetext", `step ${step} of ${view.steps.length - 1}`);
  write(count, `step ${step} of ${view.steps.length - 1}`);
  stamp++;
  refresh();
}

// The numbers in sight, and the panel. What is out of sight is written when it comes into it.
function refresh() {
  if (seed !== null) shownTangents = tangentsFrom(seed);
  const [left, top, right, bottom] = sight(), all = view.boxes.size <= ALL_IN_SIGHT, numbersSeen = all || scale >= 0.45;
  if (all || scale >= 0.22) {
    for (const [key, box] of view.boxes) {
      const [x, y, w, h] = view.at.get(key);
      if (all || (x + w / 2 > left && x - w / 2 < right && y + h / 2 > top && y - h / 2 < bottom)) writeBox(key, box);
    }
  }
  if (numbersSeen) {
    for (const edge of view.edges) {
      const parts = edgeElements.get(edge.name);
      if (parts.stamp === stamp) continue;
      const x = Number(parts.label.getAttribute("x")), y = Number(parts.label.getAttribute("y"));
      if (!all && !(x > left - 90 && x < right + 90 && y > top - 9 && y < bottom + 9)) continue;
      parts.stamp = stamp;
      const rising = seed === null ? null : tangentAlong(edge);
      write(parts.label, parts.flows ? shorten(amountOf(edge), MAX_LABEL) : rising === null ? "" : signed(rising));
    }
  }
  explain(view.steps[step], state);
  describe();
}

function writeBox(key, box) {
  const parts = boxElements.get(key);
  if (parts.stamp === stamp) return;
  parts.stamp = stamp;
  const isOperation = box.kind === "operation" || box.kind === "group";
  const value = state.known.has(key) && box.value ? box.value.text : "";
  const named = box.name ? box.name + (value ? " = " + value : "") : "";
  const top = isOperation ? box.symbol : named || value || box.symbol;
  const gradient = gradientText(box, state);
  write(parts.symbol, shorten(top, 34));
  write(parts.value, shorten(isOperation ? named || value : "", 34));
  const tangent = seed === null ? "" : tangentText(box);
  write(parts.gradient, tangent || (gradient ? shorten(`${box.name ? box.derivative : "gradient"} = ${gradient}`, 40) : ""));
  set(parts.gradient, "class", tangent ? "tangent" : "gradient");
  const lines = [parts.symbol, parts.value, parts.gradient].filter((line) => line.textContent);
  const raised = parts.heat ? parts.heat.height / 2 + 3 : 0;
  lines.forEach((line, i) => set(line, "y", String(5 - raised + (i - (lines.length - 1) / 2) * 17)));
  if (parts.heat) {
    parts.heat.shown = value !== "";
    parts.heat.arrived = gradient !== "";
    writeHeat(parts.heat, box);
  }
  set(parts.made, "aria-label", `${nameOf(box)}${value ? ", value " + value : ""}${gradient ? ", gradient " + gradient : ""}`);
}

// The view -----------------------------------------------------------------------------------------------------------

let scale = 1, panX = 0, panY = 0;
function transform() {
  set(world, "transform", `translate(${panX},${panY}) scale(${scale})`);
  set(world, "class", scale < 0.22 ? "far farther" : scale < 0.45 ? "far" : "");
  if (view.boxes.size > ALL_IN_SIGHT) soon();
}
const sight = () => [-panX / scale, -panY / scale, (canvas.clientWidth - panX) / scale, (canvas.clientHeight - panY) / scale];
function extent() {
  let l = Infinity, t = Infinity, r = -Infinity, b = -Infinity;
  for (const [x, y, w, h] of view.at.values()) { l = Math.min(l, x - w / 2); r = Math.max(r, x + w / 2); t = Math.min(t, y - h / 2); b = Math.max(b, y + h / 2); }
  return [l - 30, t - 30, r + 30, b + 30];
}
function fit() {
  const [l, t, r, b] = extent(), width = canvas.clientWidth || 800, height = canvas.clientHeight || 600;
  scale = Math.min(width / (r - l), height / (b - t), 1.6);
  panX = width / 2 - (scale * (l + r)) / 2;
  panY = height / 2 - (scale * (t + b)) / 2;
  transform();
}
function home() {
  fit();
  if (scale < 0.3) {
    scale = 0.8;
    const [x, y] = view.at.get(view.root);
    panX = canvas.clientWidth / 2 - scale * x;
    panY = 60 - scale * y;
    transform();
  }
}
function fitIfLost() {
  const [l, t, r, b] = extent();
  if (panX + scale * r < 50 || panY + scale * b < 50 || panX + scale * l > canvas.clientWidth - 50 || panY + scale * t > canvas.clientHeight - 50) home();
}
function zoom(by, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const next = Math.max(0.01, Math.min(6, scale * by));
  panX = x - ((x - panX) * next) / scale;
  panY = y - ((y - panY) * next) / scale;
  scale = next;
  transform();
}
function bringIntoView(key) {
  const [x, y] = view.at.get(key);
  if (scale < 0.5) scale = 0.9;
  panX = canvas.clientWidth / 2 - scale * x;
  panY = canvas.clientHeight / 2 - scale * y;
  transform();
}
