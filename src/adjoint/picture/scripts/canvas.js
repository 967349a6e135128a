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
let layer = null; // frames, edges, their labels, and boxes of the view
let marking = 0; // counts the updates, each of which may change how a box or an edge is marked
const ALL_IN_SIGHT = 150; // boxes up to which everything is drawn, in sight or not
const FAR = 0.45, FARTHER = 0.22; // scales below which no numbers, and no boxes of their own, are drawn
const isLarge = () => view.boxes.size > ALL_IN_SIGHT;
const isFarther = () => scale < FARTHER && isLarge();

function rebuild() {
  stopPlaying();
  const before = view && view.steps[step];
  view = viewOf();
  const same = (s) => s.phase === before.phase && s.key === (before.key && (view.shownAs.get(before.key) || before.key));
  const at = before ? view.steps.findIndex(same) : -1;
  step = at >= 0 ? at : Math.min(step, view.steps.length - 1);
  slider.max = String(view.steps.length - 1);
  layer = Object.fromEntries(["frames", "edges", "labels", "boxes"].map((name) => [name, drawn("g", { class: name })]));
  bitmap = null;
  boxElements = new Map();
  edgeElements = new Map();
  view.frames = framesOf();
  drawFrames(layer.frames);
  placeLabels();
  world.replaceChildren(...Object.values(layer));
  if (selected !== null && !view.boxes.has(selected)) selected = view.shownAs.get(selected) || null;
  update();
}

function drawnEdge(edge) {
  const curve = curveOf(edge), made = drawn("g"), tag = drawn("g"), label = drawn("text");
  const place = placeOf(edge, curve) || { at: curve.at(0.5), anchor: "middle" };
  for (const [name, value] of [["x", place.at[0]], ["y", place.at[1] + 4], ["text-anchor", place.anchor]]) label.setAttribute(name, value);
  made.append(drawn("path", { d: curve.path, "marker-end": "url(#up)" }));
  tag.append(label);
  return { made, tag, label, hidden: true, stamp: -1, marking: -1 };
}

function drawnBox(key, box) {
  const [x, y, w, h] = view.at.get(key), rect = drawn("rect", { x: -w / 2, y: -h / 2, width: w, height: h, rx: 9 });
  const made = drawn("g", { transform: `translate(${x},${y})`, role: "button", tabindex: "-1", "data-key": key });
  const symbol = drawn("text", { class: "symbol" }), value = drawn("text", { class: "value" }), gradient = drawn("text", { class: "gradient" });
  const heat = box.value && heatOf(box.value.shape) ? drawnHeat(box, h) : null;
  const shape = drawn("text", heat ? { class: "shape", x: 8 - w / 2, y: h / 2 - 9, style: "text-anchor:start" } : { class: "shape", y: h / 2 - 6 }, shapeOf(box));
  made.append(rect, symbol, value, gradient, shape, ...(heat ? [heat.made] : []));
  if (heat) {
    const turn = (on) => () => { heat.reversed = on; writeHeat(heat, box); };
    made.addEventListener("pointerenter", turn(true));
    made.addEventListener("pointerleave", turn(false));
  }
  return { made, rect, symbol, value, gradient, heat, h, hidden: true, stamp: -1, marking: -1 };
}

// A chain of cubic curves from source to target, as a path and as a function of its length. Where a box goes into another one
// more than once, along the same curve, the curves are bent apart.
const PARALLEL = 22;
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
  const beside = view.inputs.get(edge.target).filter((e) => e.source === edge.source), alike = !given || beside.every((e) => String(view.curves[e.name]) === String(given));
  const apart = alike ? 2 * PARALLEL * (beside.indexOf(edge) - (beside.length - 1) / 2) : 0;
  if (apart) for (let i = 1; i < points.length - 1; i++) points[i] = [points[i][0] + apart, points[i][1]];
  let path = `M${points[0]}`;
  for (let i = 1; i + 2 < points.length; i += 3) path += `C${points[i]} ${points[i + 1]} ${points[i + 2]}`;
  const pieces = Math.max(1, Math.floor((points.length - 1) / 3));
  const at = (t) => {
    const k = Math.min(pieces - 1, Math.floor(t * pieces)), u = t * pieces - k, v = 1 - u;
    const [a, b, c, d] = points.slice(3 * k, 3 * k + 4);
    if (!d) return a;
    return [0, 1].map((i) => v * v * v * a[i] + 3 * v * v * u * b[i] + 3 * v * u * u * c[i] + u * u * u * d[i]);
  };
  return { path, at, apart };
}

// Each label stands on its own edge or beside it, at the first place where it covers no box and no other label, however
// its number moves; a label that finds no such place takes the one that covers least, and one that would cover another label
// there is shown while its edge carries what the step tells, or an end of it is selected.
const LABEL_WIDTH = 7.8, LABEL_HEIGHT = 16, LABEL_ROOM = 9, MAX_LABEL = 26;
const labelRoom = () => Math.min(MAX_LABEL, lineRoom - 5);
const PLACES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82, 0.1, 0.9, 0.46, 0.54, 0.38, 0.62, 0.3, 0.7, 0.22, 0.78, 0.14, 0.86, 0.06, 0.94];
const ANCHORS = [[0, "middle"], [1, "start"], [-1, "end"]];
function placeLabels() {
  const taken = roomTaken();
  for (const [x, y, w, h] of view.at.values()) taken.add([x, y, w / 2, h / 2, false]);
  for (const [key, [left, top]] of view.frames) {
    const half = (7 * frameName(key).length) / 2;
    taken.add([left + 10 + half, top + 11, half, 8, false]);
  }
  view.taken = taken;
  for (const edge of view.edges) edge.place = null;
  if (!isLarge()) for (const edge of view.edges) placeOf(edge, curveOf(edge));
}

function placeOf(edge, curve) { // in a large graph found when the edge comes into sight
  if (!edge.carried.length) return null;
  edge.place = edge.place || freePlace(edge, curve, view.taken);
  return edge.place;
}

function freePlace(edge, curve, taken) {
  const tall = LABEL_HEIGHT / 2, length = Math.min(labelRoom(), amountOf(edge).length);
  const outwards = ANCHORS.filter(([aside]) => aside * curve.apart > 0); // curves that are bent apart bear their labels outside
  let least = Infinity, best = null;
  for (const letters of length < LABEL_ROOM ? [LABEL_ROOM, length] : [length]) { // first with room for other numbers
    const half = (LABEL_WIDTH * letters) / 2;
    search: for (const t of PLACES) {
      for (const [aside, anchor] of outwards.length ? outwards : ANCHORS) {
        const [x, y] = curve.at(t), middle = x + aside * (half + 6), { area, label } = taken.covered(middle, y, half, tall);
        if (area < least) { least = area; best = { at: [x + aside * 6, y], anchor, middle, half, letters, crowded: label }; }
        if (!area) break search;
      }
    }
    if (!least) break;
  }
  if (!best.crowded) taken.add([best.middle, best.at[1], best.half, tall, true]);
  return best;
}

// The rectangles that are taken: middle, half of width and height, and whether it is a label. They are found by the tiles of the
// plane that they touch.
function roomTaken() {
  const TILE = 128, tiles = new Map();
  const each = (x, y, w, h, call) => {
    for (let i = Math.floor((x - w) / TILE); i <= Math.floor((x + w) / TILE); i++) for (let j = Math.floor((y - h) / TILE); j <= Math.floor((y + h) / TILE); j++) call(`${i},${j}`);
  };
  return {
    add(one) { each(...one.slice(0, 4), (tile) => { if (tiles.has(tile)) tiles.get(tile).push(one); else tiles.set(tile, [one]); }); },
    covered(x, y, w, h) {
      const near = new Set();
      each(x, y, w, h, (tile) => { for (const one of tiles.get(tile) || []) near.add(one); });
      let area = 0, label = false;
      for (const [X, Y, W, H, is] of near) {
        const common = Math.max(0, Math.min(x + w, X + W) - Math.max(x - w, X - W)) * Math.max(0, Math.min(y + h, Y + H) - Math.max(y - h, Y - H));
        area += common;
        label = label || (is && common > 0);
      }
      return { area, label };
    },
  };
}

const MAX_FRAMES = 100; // more of them hide what is inside; then the outermost ones are drawn alone
function framesOf() {
  const bounds = new Map();
  const enclose = (key, within) => within.forEach((group, depth) => {
    if (folded.has(group)) return;
    const [x, y, w, h] = view.at.get(key), pad = 10 + 9 * (within.length - depth), old = bounds.get(group) || [Infinity, Infinity, -Infinity, -Infinity];
    bounds.set(group, [Math.min(old[0], x - w / 2 - pad), Math.min(old[1], y - h / 2 - 2 - 17 * (within.length - depth)), Math.max(old[2], x + w / 2 + pad), Math.max(old[3], y + h / 2 + pad)]);
  });
  for (const [key, box] of view.boxes) enclose(key, box.groups);
  for (const [key, box] of view.boxes) { // a leaf that scopes alone use, and that stands in the way of a frame, comes inside
    const [x, y, w, h] = view.at.get(key), within = box.kind === "group" || view.inputs.get(key).length ? [] : sharedScopes(view.uses.get(key));
    const inWay = within.findIndex((group) => {
      const [l, t, r, b] = bounds.get(group) || [0, 0, 0, 0];
      return x + w / 2 > l && x - w / 2 < r && y + h / 2 > t && y - h / 2 < b;
    });
    if (inWay >= 0) enclose(key, within);
  }
  return bounds.size > MAX_FRAMES ? new Map([...bounds].filter(([key]) => groups.get(key).parent === null)) : bounds;
}

function sharedScopes(edges) { // those around all targets, the outermost first
  const [first, ...others] = edges.map((edge) => view.boxes.get(edge.target).groups);
  return (first || []).filter((group, depth) => others.every((other) => other[depth] === group));
}

const frameName = (key) => "▾ " + shorten(groups.get(key).name, 40);
function drawFrames(layer) {
  for (const [key, [left, top, right, bottom]] of view.frames) {
    const large = bottom - top + right - left > 6000; // so many dashes take long to draw
    const made = drawn("g", { class: large ? "frame large" : "frame", "data-group": key });
    made.append(drawn("rect", { x: left, y: top, width: right - left, height: bottom - top, rx: 12 }));
    const label = drawn("text", { x: left + 10, y: top + 15 }, frameName(key));
    label.addEventListener("click", () => toggleFold(key));
    made.append(label);
    layer.append(made);
  }
}

// Everything after a step, a selection or a search; numbers that moved alone are written by `refresh`.
let touched = new Set(), flowing = new Set(); // boxes that the step works on, edges along which gradient has flowed
function update() {
  state = knowledge();
  shownTangents = seed === null ? null : tangentsFrom(seed);
  const current = view.steps[step];
  touched = new Set(current.key ? [current.key] : []);
  if (current.phase === "backward") for (const edge of view.inputs.get(current.key)) if (edge.carried.length) touched.add(edge.source);
  flowing = new Set([...state.arrived.values()].flat());
  slider.value = String(step);
  slider.setAttribute("aria-valuetext", `step ${step} of ${view.steps.length - 1}`);
  write(count, `step ${step} of ${view.steps.length - 1}`);
  stamp++;
  marking++;
  refresh();
}

const marksOf = (key, box) => [key === view.root && "root", touched.has(key) && "now", key === selected && "selected",
  query && !matching(box) && "dim", movable(box) && "movable"].filter(Boolean);

function markBox(key, box, parts) {
  if (parts.marking === marking) return;
  parts.marking = marking;
  set(parts.made, "class", ["box", box.kind, ...marksOf(key, box)].join(" "));
  set(parts.made, "tabindex", key === (selected || view.root) ? "0" : "-1");
}

function markEdge(edge, parts) {
  if (parts.marking === marking) return;
  parts.marking = marking;
  const current = view.steps[step], path = parts.made.firstChild;
  parts.flows = flowing.has(edge);
  const fresh = current.key === edge.target && (current.phase === "forward" || (current.phase === "backward" && parts.flows));
  for (const part of [parts.made, parts.tag]) set(part, "class", `edge${parts.flows ? " flowing" : ""}${seed !== null && tangentAlong(edge) !== null ? " rising" : ""}${fresh ? " now" : ""}${query ? " dim" : ""}${edge.place && edge.place.crowded && !fresh && edge.source !== selected && edge.target !== selected ? " crowded" : ""}`);
  path.removeAttribute(parts.flows ? "marker-end" : "marker-start");
  set(path, parts.flows ? "marker-start" : "marker-end", parts.flows ? "url(#down)" : "url(#up)");
}

// The numbers in sight, and the panel.
function refresh() {
  if (seed !== null) shownTangents = tangentsFrom(seed);
  writeSeen();
  explain(view.steps[step], state);
  describe();
  writeAstray();
}

// Of a large graph only what is in sight has elements, made when it first comes into sight; seen from far it is a
// bitmap. `work` counts what was made and written, which is what a frame costs.
const work_ = { made: 0, written: 0 };
function writeSeen() {
  const [left, top, right, bottom] = sight(), all = !isLarge(), farther = isFarther();
  const isSeen = (l, t, r, b) => all || (!farther && r > left && l < right && b > top && t < bottom);
  for (const [key, box] of view.boxes) {
    const [x, y, w, h] = view.at.get(key), seen = isSeen(x - w / 2, y - h / 2, x + w / 2, y + h / 2);
    const parts = shownOr(boxElements, key, seen, layer.boxes, () => drawnBox(key, box));
    if (!seen) continue;
    markBox(key, box, parts);
    writeBox(key, box, parts);
  }
  for (const edge of view.edges) {
    const [x, y] = view.at.get(edge.source), [X, Y] = view.at.get(edge.target);
    const seen = isSeen(Math.min(x, X) - 90, Math.min(y, Y) - 90, Math.max(x, X) + 90, Math.max(y, Y) + 90);
    const parts = shownOr(edgeElements, edge.name, seen, layer.edges, () => drawnEdge(edge));
    if (!seen) continue;
    markEdge(edge, parts);
    if (parts.stamp === stamp || !(all || scale >= FAR)) continue;
    parts.stamp = stamp;
    work_.written++;
    const rising = seed === null ? null : tangentAlong(edge);
    write(parts.label, parts.flows ? brief(amountOf(edge), edge.place ? edge.place.letters : labelRoom()) : rising === null ? "" : signed(rising));
  }
  writeOverview(farther);
}

// The parts of a box or an edge: in the page if it is seen, made if it never was.
function shownOr(known, key, seen, into, make) {
  let parts = known.get(key);
  if (!parts && seen) {
    known.set(key, parts = make());
    work_.made++;
  }
  if (parts && parts.hidden === seen) {
    if (seen) into.append(parts.made);
    else parts.made.remove();
    if (parts.tag) {
      if (seen) layer.labels.append(parts.tag);
      else parts.tag.remove();
    }
    parts.hidden = !seen;
  }
  return parts;
}

// A large graph seen from far is a bitmap, twice as wide and high as the window. While it is zoomed and moved the bitmap is
// scaled; it is drawn anew when it has come to rest, when it no longer covers the window, and when anything changed.
const overview = element("canvas", { id: "overview", "aria-hidden": "true" });
let bitmap = null, rest = null;
function writeOverview(farther) {
  overview.hidden = !farther;
  if (!farther) { bitmap = null; return; }
  const { width, height } = measured;
  if (bitmap && bitmap.marking === marking && bitmap.width === width && bitmap.height === height) {
    const ratio = scale / bitmap.scale, x = panX - ratio * (bitmap.x + width / 2), y = panY - ratio * (bitmap.y + height / 2);
    if (ratio < 3 && x <= 0 && y <= 0 && x + 2 * width * ratio >= width && y + 2 * height * ratio >= height) {
      overview.style.transform = `translate(${x}px,${y}px) scale(${ratio})`;
      clearTimeout(rest);
      if (ratio !== 1) rest = setTimeout(() => { if (bitmap) { bitmap.marking = -1; writeSeen(); } }, 200);
      return;
    }
  }
  bitmap = { scale, x: panX, y: panY, width, height, marking };
  drawOverview(width, height);
}

function drawOverview(width, height) {
  work_.made++;
  overview.width = 2 * width;
  overview.height = 2 * height;
  overview.style.transform = `translate(${-width / 2}px,${-height / 2}px)`;
  const pen = overview.getContext("2d"), colors = getComputedStyle(document.documentElement), color = (name) => colors.getPropertyValue(`--${name}`);
  pen.setTransform(scale, 0, 0, scale, panX + width / 2, panY + height / 2);
  pen.lineWidth = 1.2 / scale;
  for (const flows of [false, true]) {
    pen.strokeStyle = color(flows ? "gradient" : "flow");
    pen.beginPath();
    for (const edge of view.edges) {
      if (flowing.has(edge) !== flows) continue;
      const [x, y, , h] = view.at.get(edge.source), [X, Y, , H] = view.at.get(edge.target);
      pen.moveTo(x, y - h / 2);
      pen.lineTo(X, Y + H / 2);
    }
    pen.stroke();
  }
  const fills = { variable: "variable", data: "data", constant: "data", group: "group" }, lines = { variable: "variable-line", group: "group-line" };
  for (const [key, box] of view.boxes) {
    const [x, y, w, h] = view.at.get(key), marks = marksOf(key, box);
    pen.globalAlpha = marks.includes("dim") ? 0.22 : 1;
    pen.fillStyle = color(marks.includes("now") ? "now" : fills[box.kind] || "box");
    pen.strokeStyle = color(marks.includes("selected") ? "focus" : lines[box.kind] || "flow");
    pen.fillRect(x - w / 2, y - h / 2, w, h);
    pen.strokeRect(x - w / 2, y - h / 2, w, h);
  }
}

const NEAR = 8; // pixels by which a click may miss a box that is seen from far
function boxAt(x, y) { // the box at a place on the canvas, or the nearest one there
  const X = (x - panX) / scale, Y = (y - panY) / scale;
  let best = null, least = NEAR / scale;
  for (const [key, [cx, cy, w, h]] of view.at) {
    const away = Math.hypot(Math.max(0, Math.abs(X - cx) - w / 2), Math.max(0, Math.abs(Y - cy) - h / 2));
    if (away < least) { least = away; best = key; }
  }
  return best;
}

function gradientLine(box, gradient, room) { // a long name leaves the room to the number; then what it is, which its colour tells
  const lines = [box.name && `${box.derivative} = ${gradient}`, `gradient = ${gradient}`, gradient, brief(gradient, room)];
  return lines.find((line) => line && line.length <= room && !line.endsWith("…")) || shorten(lines[1], room);
}

function writeBox(key, box, parts) {
  if (parts.stamp === stamp) return;
  parts.stamp = stamp;
  work_.written++;
  const isOperation = box.kind === "operation" || box.kind === "group";
  const value = state.known.has(key) && box.value ? box.value.text : "";
  const width = view.at.get(key)[2], most = width + gapAcross - 10; // a box may grow a little as its numbers do
  const room = (letter) => Math.min(lineRoom, Math.floor((most - 12) / letter)), headRoom = room(LARGE), lineRoom_ = room(SMALL);
  const most_ = isOperation ? lineRoom_ : headRoom;
  const short = brief(value, Math.max(9, most_ - (box.name ? box.name.length + 3 : 0)));
  const named = box.name && value ? `${shorten(box.name, Math.max(6, most_ - short.length - 3))} = ${short}` : box.name || ""; // a long name leaves room to the value
  const top = isOperation ? box.symbol : named || short || box.symbol;
  const gradient = gradientText(box, state);
  write(parts.symbol, shorten(top, headRoom));
  write(parts.value, shorten(isOperation ? named || short : "", lineRoom_));
  const tangent = seed === null ? "" : tangentText(box);
  write(parts.gradient, tangent || (gradient ? gradientLine(box, gradient, lineRoom_) : ""));
  set(parts.gradient, "class", tangent ? "tangent" : "gradient");
  const lines = [parts.symbol, parts.value, parts.gradient].filter((line) => line.textContent);
  const needed = 12 + Math.max(...[parts.symbol, parts.value, parts.gradient].map((line, i) => (i ? SMALL : LARGE) * line.textContent.length));
  const wide = Math.max(width, Math.min(most, needed));
  set(parts.rect, "x", String(-wide / 2));
  set(parts.rect, "width", String(wide));
  const raised = parts.heat ? parts.heat.height / 2 + 3 : shapeRoom(box)[1] / 2;
  lines.forEach((line, i) => set(line, "y", String(5 - raised + (i - (lines.length - 1) / 2) * 17)));
  if (parts.heat) {
    parts.heat.shown = value !== "";
    parts.heat.arrived = gradient !== "";
    writeHeat(parts.heat, box);
  }
  set(parts.made, "aria-label", `${nameOf(box)}${shapeOf(box) && ", shape " + shapeOf(box)}${value ? ", value " + value : ""}${gradient ? ", gradient " + gradient : ""}`);
}

// The view -----------------------------------------------------------------------------------------------------------

let scale = 1, panX = 0, panY = 0;
let untouched = true; // nobody has moved or zoomed since the whole graph, or its beginning, was shown
function transform() {
  set(world, "transform", `translate(${panX},${panY}) scale(${scale})`);
  set(world, "class", scale < FARTHER ? "far farther" : scale < FAR ? "far" : "");
  if (isLarge()) soon(false);
}
// The part of the world that is seen. The canvas is measured when the window changes alone: asking lays the page out anew.
const measured = { width: 0, height: 0 };
function measure() { measured.width = canvas.clientWidth; measured.height = canvas.clientHeight; }
const sight = () => [-panX / scale, -panY / scale, (measured.width - panX) / scale, (measured.height - panY) / scale];
function extent() {
  let l = Infinity, t = Infinity, r = -Infinity, b = -Infinity;
  for (const [x, y, w, h] of view.at.values()) { l = Math.min(l, x - w / 2); r = Math.max(r, x + w / 2); t = Math.min(t, y - h / 2); b = Math.max(b, y + h / 2); }
  for (const { place: there } of view.edges) if (there) { l = Math.min(l, there.middle - there.half); r = Math.max(r, there.middle + there.half); }
  for (const [left, top, right, bottom] of view.frames.values()) { l = Math.min(l, left); t = Math.min(t, top); r = Math.max(r, right); b = Math.max(b, bottom); }
  return [l - 30, t - 30, r + 30, b + 30];
}
function fit() {
  const [l, t, r, b] = extent(), width = canvas.clientWidth || 800, height = (canvas.clientHeight || 600) - note.offsetHeight; // notes stand below
  scale = Math.min(width / (r - l), height / (b - t), 1.6);
  panX = width / 2 - (scale * (l + r)) / 2;
  panY = height / 2 - (scale * (t + b)) / 2;
  untouched = true;
  transform();
}
const LEGIBLE = 0.5, COMFORTABLE = 0.65; // scales below which letters are too small: on a phone, and in a wide window
function home() { // a graph that is too high for its letters is shown from its top: its whole width where that is legible, else around the root
  fit();
  if (scale >= LEGIBLE) return;
  const [left, , right] = extent(), width = canvas.clientWidth || 800, whole = width / (right - left);
  scale = whole >= (width < 600 ? LEGIBLE : COMFORTABLE) ? Math.min(0.8, whole) : 0.8;
  const [x, y] = view.at.get(view.root), most = -scale * left, least = width - scale * right;
  panX = least >= most ? (least + most) / 2 : Math.max(least, Math.min(most, width / 2 - scale * x));
  panY = 60 - scale * y;
  transform();
}
function fitIfLost() {
  const [l, t, r, b] = extent();
  if (panX + scale * r < 50 || panY + scale * b < 50 || panX + scale * l > canvas.clientWidth - 50 || panY + scale * t > canvas.clientHeight - 50) home();
}
function move(x, y) {
  panX = x;
  panY = y;
  untouched = false;
  transform();
}
// What a step works on comes into sight, if it isn't.
function follow(key) {
  if (!key || isFarther()) return;
  const [x, y, w, h] = view.at.get(key), { width, height } = measured, left = panX + scale * (x - w / 2), top = panY + scale * (y - h / 2);
  if (left < 0 || top < 0 || left + scale * w > width || top + scale * h > height) move(width / 2 - scale * x, height / 2 - scale * y);
}
function zoom(by, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const next = Math.max(0.01, Math.min(6, scale * by));
  panX = x - ((x - panX) * next) / scale;
  panY = y - ((y - panY) * next) / scale;
  scale = next;
  untouched = false;
  transform();
}
function bringIntoView(key) {
  const [x, y] = view.at.get(key);
  if (scale < 0.5) scale = 0.9;
  panX = canvas.clientWidth / 2 - scale * x;
  panY = canvas.clientHeight / 2 - scale * y;
  untouched = false;
  transform();
}
