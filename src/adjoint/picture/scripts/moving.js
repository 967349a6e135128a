// Leaves that move: dragged on the graph, typed, or pulled by a slider. The program computes what follows at once.

let running = null, wide = null, stamp = 0, origin = new Map(), expected = false, moved = false;

function load(data) { // show another graph
  graph = data;
  byKey = new Map(graph.boxes.map((box) => [box.key, box]));
  groups = new Map(graph.groups.map((group) => [group.key, group]));
  comparisons = new Map(graph.comparisons.map((c) => [c.key, c]));
  folded = new Set(graph.folded);
  offered = null;
  comparing.slot = null;
  coded = null;
  code.replaceChildren();
  comparing.section.replaceChildren();
  running = graph.program ? new Program(graph.program) : null;
  wide = null;
  origin = new Map();
  view = null;
  callNameless();
  if (running) connect();
  prepareDirections();
}

function callNameless() { // leaves without a name are called by the line that uses them first, and counted there
  const lines = new Map();
  for (const box of graph.boxes) {
    if (box.kind !== "variable" || box.name || !box.place) continue;
    if (!lines.has(box.place)) lines.set(box.place, []);
    lines.get(box.place).push(box);
  }
  for (const [place_, boxes] of lines) {
    boxes.forEach((box, i) => {
      box.called = boxes.length > 1 ? `${place_} (${i + 1})` : place_;
      box.derivative = `gradient at ${box.called}`;
    });
  }
}

function connect() { // let the picture read its numbers from the program
  const now = () => stamp;
  for (const box of graph.boxes) for (const q of [box.value, box.gradient]) if (q) attach(q, running, now);
  for (const edge of graph.edges) {
    edge.carried.forEach((q) => attach(q, running, now));
    if (edge.localSlot !== null) Object.defineProperty(edge, "local", { get() { return running.number(edge.localSlot); }, enumerable: true });
  }
  for (const slot of Object.keys(graph.still)) origin.set(Number(slot), running.slots[slot].data.slice());
}

const slotOfLeaf = (box) => (running && box.value && graph.still[box.value.slot] === null ? box.value.slot : null);
const movable = (box) => slotOfLeaf(box) !== null;
const whyStill = (box) => (running && box.value && graph.still[box.value.slot]) || null;
const isOne = (slot) => running.slots[slot].data.length === 1 || running.data.slots[slot][0] === "full"; // one number moves it

function moveTo(slot, numbers) {
  const { data } = running.slots[slot];
  running.set(slot, typeof numbers === "number" ? new Array(data.length).fill(numbers) : numbers);
  wide = null;
  stamp++;
  if (step === 0) { step = view.steps.length - 1; update(); }
  soon();
  announce(slot);
  if (parent !== window) parent.postMessage({ adjoint: { slot, numbers: Array.from(data) } }, "*");
}

// A page that shows this one in a frame, such as a notebook, hears of every move and may move leaves itself.
window.addEventListener("message", ({ source, data }) => {
  if (source !== parent || parent === window || !data || !data.adjoint || !running) return;
  const { slot, numbers } = data.adjoint, leaf = graph.still[slot] === null ? running.slots[slot] : null;
  if (!leaf || !Array.isArray(numbers) || numbers.length !== leaf.data.length || numbers.some((x) => typeof x !== "number")) return;
  if (numbers.some((x, i) => Math.fround(x) !== Math.fround(leaf.data[i]))) moveTo(slot, numbers);
});

// A loop is written out with the turns that it took, and of Python's branches the one that was taken: where their conditions come out
// otherwise, the numbers aren't theirs.
const astray = element("p", { id: "astray", class: "red", role: "status" });
function writeAstray() {
  const other = ((running && running.data.decisions) || []).find(([slot, outcome]) => Boolean(running.number(slot)) !== outcome);
  write(astray, other ? `${other[2]}, and what is shown is no longer what Python gives.` : "");
}

function soon(numbers = true) { // once before the next frame: numbers that moved, or only what came into sight
  moved = moved || numbers;
  if (expected) return;
  expected = true;
  requestAnimationFrame(() => {
    const all = moved;
    expected = moved = false;
    if (all) refresh();
    else writeSeen();
  });
}

function putBack() {
  for (const [slot, numbers] of origin) running.slots[slot].data.set(numbers);
  for (const s of running.steps) if (s) s();
  wide = null;
  stamp++;
  update();
  for (const slot of origin.keys()) announce(slot);
}

// Controls: they are made once for each leaf and follow its slot -----------------------------------------------------------

const followers = new Set(); // functions to call with the slot that moved
function announce(slot) { for (const follow of followers) follow(slot); }

const reach = (x) => 2 * Math.max(1, Math.abs(x));
const typed = (x, digits = 6) => (Number.isFinite(x) ? String(Number(x.toPrecision(digits))) : "");  // a field takes no NaN

// A number that is typed, or dragged sideways; `get` and `put` are its place.
function numberField(label, get, put, span, digits) {
  const field = element("input", { type: "number", step: "any", "aria-label": label, class: "scrub" });
  const tell = () => { const x = get(); field.value = typed(x, digits); field.placeholder = Number.isFinite(x) ? "" : show(x); };
  tell();
  let from = null;
  field.addEventListener("input", () => { if (field.value !== "" && Number.isFinite(field.valueAsNumber)) put(field.valueAsNumber); });
  field.addEventListener("pointerdown", (event) => {
    if (document.activeElement === field) return;
    from = { x: event.clientX, value: get(), moved: false };
    field.setPointerCapture(event.pointerId);
  });
  field.addEventListener("pointermove", (event) => {
    if (!from || !event.buttons) return;
    const dx = event.clientX - from.x;
    if (Math.abs(dx) > 3) from.moved = true;
    if (from.moved) { event.preventDefault(); put(from.value + ((event.shiftKey ? 0.1 : 1) * dx * span) / 200); }
  });
  field.addEventListener("pointerup", () => { if (from && from.moved) field.blur(); from = null; });
  field.follow = () => { if (document.activeElement !== field || (from && from.moved)) tell(); }; // what is being typed stays
  return field;
}

function rangeField(id, label, get, put, center) {
  const span = reach(center);
  const field = element("input", { type: "range", id, step: "any", min: String(center - span), max: String(center + span), "aria-label": label });
  field.follow = () => {
    const x = get();
    if (x < Number(field.min)) field.min = String(x);
    if (x > Number(field.max)) field.max = String(x);
    if (Number.isFinite(x)) field.value = String(x);
    field.setAttribute("aria-valuetext", show(x));
  };
  field.addEventListener("input", () => put(field.valueAsNumber));
  field.follow();
  return field;
}

function following(slot, ...fields) { // lets fields follow a slot as long as they are in the page
  const follow = (moved) => {
    if (!fields[0].isConnected) followers.delete(follow);
    else if (moved === slot) fields.forEach((field) => field.follow());
  };
  followers.add(follow);
}

function oneControl(name, slot) {
  const get = () => running.slots[slot].data[0], put = (x) => moveTo(slot, x);
  const field = numberField(name, get, put, reach(origin.get(slot)[0])), range = rangeField(null, `move ${name}`, get, put, origin.get(slot)[0]);
  const made = element("div", { class: "leaf", "data-slot": slot }, element("label", { title: name }, shorten(name, 40)), field, range);
  following(slot, field, range);
  return made;
}

// A whole array: its elements, if they are few, and a slider along a direction.
function arrayControl(name, box, slot) {
  const { data } = running.slots[slot], { shape } = withPairs(running.slots[slot]), parts = [], fields = [];
  if (data.length <= MAX_ELEMENTS) {
    const columns = shape[shape.length - 1] || 1;
    const cells = Array.from(data, (_, i) => {
      const put = (x) => { const now = Array.from(data); now[i] = x; moveTo(slot, now); };
      return numberField(elementName(name, i, running.slots[slot]), () => data[i], put, reach(origin.get(slot)[i]), 5);
    });
    fields.push(...cells);
    const grid = element("div", { class: "cells" }, ...cells);
    let longest = 7; // characters; columns widen to the longest number that was shown, and stay so
    const widen = () => {
      longest = Math.max(longest, ...cells.map((cell) => cell.value.length));
      grid.style.gridTemplateColumns = `repeat(${data.length > columns ? Math.min(columns, 8) : "auto-fill"},minmax(calc(${longest - 1}ch + .75rem),1fr))`;
    };
    widen();
    fields.push({ follow: widen });
    parts.push(grid);
  }
  parts.push(...directionControl(name, box, slot, fields));
  following(slot, ...fields);
  return element("div", { class: "array-leaf", "data-slot": slot }, ...parts);
}

function directionControl(name, box, slot, fields) {
  const { data } = running.slots[slot];
  const choices = { "all elements alike": () => new Array(data.length).fill(1), "outwards": () => Array.from(data) };
  if (box.gradient && box.gradient.slot !== null) choices["along its gradient"] = () => unit(Array.from(running.slots[box.gradient.slot].data));
  let start = null, direction = null;
  const restart = () => { start = Array.from(data); direction = choices[choice.value](); range.value = "0"; };
  const choice = element("select", { "aria-label": `direction in which ${name} moves`, onchange: () => restart() }, ...Object.keys(choices).reverse().map((text) => element("option", {}, text)));
  const range = element("input", { type: "range", min: "-2", max: "2", step: "any", value: "0", "aria-label": `move the whole of ${name}` });
  range.addEventListener("pointerdown", restart);
  range.addEventListener("input", () => {
    if (!start) restart();
    moveTo(slot, start.map((x, i) => x + range.valueAsNumber * direction[i]));
  });
  range.addEventListener("change", () => { start = null; range.value = "0"; });
  range.follow = () => {};
  fields.push(range);
  return [element("div", { class: "leaf" }, element("label", {}, "whole"), choice, range)];
}

const unit = (vector) => { const length = Math.hypot(...vector) || 1; return vector.map((x) => x / length); };
// What an element of an array is called; of a complex one each number is two.
function elementName(name, i, { dtype, shape }) {
  if (!isComplex({ dtype })) return `${name}[${indexText(i, shape)}]`;
  return `${i % 2 ? "imaginary" : "real"} part of ${name}${shape.length ? `[${indexText(i >> 1, shape)}]` : ""}`;
}
function indexText(i, shape) {
  return stridesOf(shape).map((stride, axis) => Math.floor(i / stride) % shape[axis]).join(", ");
}

// The leaves of the page, those with the largest gradients first.
const MAX_LISTED = 8;
const HINTS = ["Click an array on the graph, to move its elements or the whole of it.", "Or drag a number on the graph, sideways; click any leaf, array or constant to move it here."];
const leaves = element("section", { id: "leaves" });
function listLeaves() {
  const strength = (box) => (box.gradient && box.gradient.slot !== null ? Math.max(0, ...Array.from(running.slots[box.gradient.slot].data, Math.abs)) : -1);
  const found = graph.boxes.filter((box) => movable(box) && box.kind !== "constant" && isOne(box.value.slot));
  const sorted = found.map((box) => [strength(box), box]).sort((a, b) => b[0] - a[0]).map(([, box]) => box);
  const still = graph.boxes.filter((box) => whyStill(box));
  if (!graph.boxes.some(movable)) { leaves.replaceChildren(...(still.length ? [p(`Nothing here can be moved: ${whyStill(still[0])}.`, "muted")] : [])); return; }
  leaves.replaceChildren(...[
    element("h2", {}, "Move a number"),
    ...sorted.slice(0, MAX_LISTED).map((box) => oneControl(nameOf(box), box.value.slot)),
    p(sorted.length > MAX_LISTED ? `${sorted.length - MAX_LISTED} more: click one on the graph, or drag it there.` : HINTS[sorted.length ? 1 : 0], "muted"),
    button("put-back", "put everything back", "all leaves as they were", putBack),
  ]);
}

// What a program beside the page may ask: a notebook, a test.
const api = {
  leaves: () => graph.boxes.filter(movable).map((box) => ({ key: box.key, name: box.name, slot: box.value.slot, shape: box.value.shape })),
  set: (slot, numbers) => { moveTo(slot, numbers); },
  read: (slot) => Array.from(running.slots[slot].data),
  boxes: () => [...view.boxes.values()].map((box) => ({ key: box.key, kind: box.kind, name: box.name })),
  placeOf: (name) => { // its key, and the middle of its box in the window
    const { key } = [...view.boxes.values()].find((box) => box.name === name), [x, y] = view.at.get(key), bounds = canvas.getBoundingClientRect();
    return [key, bounds.left + panX + scale * x, bounds.top + panY + scale * y];
  },
  select: (key) => { select(key); },
  arrows: (key) => view.uses.get(key).filter((edge) => edge.carried.length).map(amountOf),
  work: () => ({ ...work_ }),
  look: (factor) => { scale = factor; bringIntoView(view.root); },
};
Object.defineProperty(globalThis, "adjoint", { value: api });
