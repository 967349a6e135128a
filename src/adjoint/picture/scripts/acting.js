// The page's header, player and keys; panning, zooming and dragging; what starts the page.

const search = element("input", { type: "search", id: "search", placeholder: "Search", "aria-label": "search boxes" });
const found = element("span", { id: "found", class: "muted", role: "status" });
const slider = element("input", { type: "range", id: "slider", min: "0", value: "0", "aria-label": "step" });
const count = element("span", { id: "count" });
const playButton = button("play", "▶ play", "play or pause (space)", () => toggle());
const note = element("div", { id: "note" });
const heading = element("h1");

function darkOrLight() {
  const chosen = document.documentElement.dataset.theme;
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  if (view) update();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (view) update(); });

const header = element("header", {}, heading, search, found,
  button("fold-all", "fold all", "fold every scope", () => foldAll(true)),
  button("unfold-all", "unfold all", "unfold every scope", () => foldAll(false)),
  button("fit", "fit", "show the whole graph (0)", () => fit()),
  button("theme", "◐", "dark or light", darkOrLight));
const area = element("main", { id: "graph-area" }, overview, canvas, note);
const player = element("div", { id: "player", role: "region", "aria-label": "player" },
  button("first", "|◀", "to the beginning (Home)", () => go(0)), button("back", "◀", "one step back (←)", () => go(step - 1)),
  playButton, button("forward", "▶", "one step on (→)", () => go(step + 1)),
  button("last", "▶|", "to the end (End)", () => go(view.steps.length - 1)), slider, count);
document.body.append(header, area, player, side);

const KEYS = [["← →", "step back, step on"], ["Home End", "first, last step"], ["space", "play, pause"], ["↑ ↓", "select a box"],
  ["Enter", "fold or unfold the selected box"], ["/", "search"], ["+ − 0", "zoom in, out, fit"], ["Shift arrows", "move the view"], ["Esc", "select nothing"]];
help.append(element("h2", {}, "Keys"), ...KEYS.map(([keys, what]) => element("p", { class: "muted" }, element("kbd", {}, keys), " ", what)));

// Acting ---------------------------------------------------------------------------------------------------------------

function go(to) {
  const next = Math.max(0, Math.min(view.steps.length - 1, to));
  if (next !== step) { step = next; update(); follow(view.steps[step].key); }
  if (next === view.steps.length - 1) stopPlaying();
}
function toggle() {
  if (playing) { stopPlaying(); return; }
  if (step === view.steps.length - 1) go(0);
  playing = setInterval(() => go(step + 1), 900);
  playButton.textContent = "❚❚ pause";
}
function stopPlaying() {
  clearInterval(playing);
  playing = null;
  playButton.textContent = "▶ play";
}
function select(key, reveal = false) {
  selected = key;
  update();
  if (key !== null && reveal) { bringIntoView(key); writeSeen(); boxElements.get(key).made.focus({ preventScroll: true }); }
}
function toggleFold(key) {
  if (folded.has(key)) folded.delete(key);
  else folded.add(key);
  rebuild();
  if (view.at.has(key)) bringIntoView(key);
  else showTop([...view.boxes.values()].filter((box) => box.groups.includes(key)).map((box) => box.key));
}
function showTop(keys) { // of what was folded, unless some of it is in sight
  const [left, top, right, bottom] = sight(), inSight = ([x, y]) => x > left && x < right && y > top && y < bottom;
  if (keys.some((key) => inSight(view.at.get(key)))) return;
  const first = keys.reduce((best, key) => (view.at.get(key)[1] < view.at.get(best)[1] ? key : best), keys[0]), { width } = measured;
  const [x, y, , h] = view.at.get(first);
  scale = Math.min(scale, 1);
  move(width / 2 - scale * x, 80 - scale * (y - h / 2));
}
function foldAll(all) {
  folded.clear();
  if (all) for (const group of graph.groups) if (group.parent === null) folded.add(group.key);
  rebuild();
  home();
}
const matching = (box) => [box.name, box.symbol, box.operation, box.source, box.type].some((text) => text && text.toLowerCase().includes(query));

// Pointers: a leaf that is one number is dragged, everything else moves the view ------------------------------------------

canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const bounds = canvas.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - bounds.left, event.clientY - bounds.top);
}, { passive: false });

function boxUnder(event) {
  const bounds = canvas.getBoundingClientRect();
  return boxAt(event.clientX - bounds.left, event.clientY - bounds.top);
}

let drag = null;
const touches = new Map(); // where each finger, or the mouse's pressed button, is; two of them zoom
canvas.addEventListener("pointerdown", (event) => {
  touches.set(event.pointerId, [event.clientX, event.clientY]);
  if (touches.size > 1) { drag = { moved: true, pinched: true }; return; }
  drag = { x: event.clientX, y: event.clientY, panX, panY, moved: false, slot: null };
  const box = event.target.closest("g.box.movable");
  const slot = box && slotOfLeaf(view.boxes.get(box.dataset.key));
  if (box && isOne(slot)) Object.assign(drag, { slot, value: running.slots[slot].data[0], span: reach(origin.get(slot)[0]) });
});
function pinch(event) {
  const [a, b] = touches.keys(), [from, other] = event.pointerId === a ? [a, b] : [b, a], [x, y] = touches.get(from), [X, Y] = touches.get(other), bounds = canvas.getBoundingClientRect();
  const before = Math.hypot(x - X, y - Y), after = Math.hypot(event.clientX - X, event.clientY - Y);
  if (before > 0) zoom(after / before, X - bounds.left, Y - bounds.top); // the finger that rests stays on its place
}
window.addEventListener("pointermove", (event) => {
  if (touches.size === 2 && touches.has(event.pointerId)) pinch(event);
  if (touches.has(event.pointerId)) touches.set(event.pointerId, [event.clientX, event.clientY]);
  if (!drag || drag.pinched) return;
  const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
  if (Math.abs(dx) + Math.abs(dy) > 4 && !drag.moved) { drag.moved = true; canvas.classList.add(drag.slot === null ? "dragging" : "scrubbing"); }
  if (!drag.moved) return;
  if (drag.slot !== null) moveTo(drag.slot, drag.value + ((event.shiftKey ? 0.1 : 1) * dx * drag.span) / 200);
  else move(drag.panX + dx, drag.panY + dy);
});
for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, (event) => { touches.delete(event.pointerId); });
window.addEventListener("pointerup", () => { canvas.classList.remove("dragging", "scrubbing"); setTimeout(() => { drag = null; }); });
window.addEventListener("pointercancel", () => { canvas.classList.remove("dragging", "scrubbing"); drag = null; });
canvas.addEventListener("click", (event) => {
  if (drag && drag.moved) return;
  const box = event.target.closest("g.box"), key = box ? box.dataset.key : isFarther() ? boxUnder(event) : null;
  if (key !== null) select(key);
  else if (!event.target.closest(".frame")) select(null);
});
canvas.addEventListener("dblclick", (event) => {
  const box = event.target.closest("g.box"), key = box ? box.dataset.key : isFarther() ? boxUnder(event) : null;
  if (groups.has(key)) toggleFold(key);
});
slider.addEventListener("input", () => go(Number(slider.value)));

let nextMatch = 0;
search.addEventListener("input", () => {
  query = search.value.trim().toLowerCase();
  nextMatch = 0;
  update();
  found.textContent = query ? `${[...view.boxes.values()].filter(matching).length} found` : "";
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    const matches = [...view.boxes.values()].filter(matching);
    if (query && matches.length) {
      const box = matches[nextMatch++ % matches.length];
      selected = box.key;
      update();
      bringIntoView(box.key);
    }
    event.preventDefault();
  }
  if (event.key === "Escape") { search.value = ""; query = ""; found.textContent = ""; update(); search.blur(); }
  event.stopPropagation();
});

function selectNext(by) {
  const keys = [...view.boxes.keys()], at = selected === null ? (by < 0 ? -1 : keys.length) : keys.indexOf(selected);
  select(keys[Math.max(0, Math.min(keys.length - 1, at - by))], true);
}
function foldOrUnfold() {
  const around = view.boxes.get(selected).groups;
  if (groups.has(selected)) toggleFold(selected);
  else if (around.length) toggleFold(around[around.length - 1]);
}
const isTyping = (target) => target instanceof Element && target.matches("input:not(#slider), select, textarea");
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const onSlider = event.target === slider, onButton = event.target.tagName === "BUTTON";
  const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  if (event.shiftKey && moves[event.key]) move(panX + moves[event.key][0], panY + moves[event.key][1]);
  else if (event.key === "ArrowRight" && !onSlider) go(step + 1);
  else if (event.key === "ArrowLeft" && !onSlider) go(step - 1);
  else if (event.key === "Home" && !onSlider) go(0);
  else if (event.key === "End" && !onSlider) go(view.steps.length - 1);
  else if (event.key === " " && !onButton) toggle();
  else if (event.key === "ArrowUp" && !onSlider) selectNext(-1);
  else if (event.key === "ArrowDown" && !onSlider) selectNext(1);
  else if (event.key === "Enter" && !onButton && selected !== null) foldOrUnfold();
  else if (event.key === "/") search.focus();
  else if (event.key === "+" || event.key === "=") zoom(1.25);
  else if (event.key === "-") zoom(0.8);
  else if (event.key === "0") fit();
  else if (event.key === "Escape") select(null);
  else return;
  event.preventDefault();
});
// The room for the graph changes with the window and with what stands around it. What nobody has moved stays whole.
new ResizeObserver(() => {
  if (!view || !canvas.clientWidth) return;
  measure();
  if (innerWidth <= NARROW !== laidNarrow) rebuild();
  if (untouched) home();
  else fitIfLost();
}).observe(canvas);

function open(data) { // show a graph from its beginning
  load(data);
  heading.textContent = graph.title + ": how it was computed";
  note.textContent = graph.notes.join(" · ");
  for (const id of ["fold-all", "unfold-all"]) document.getElementById(id).hidden = !graph.groups.length;
  step = 0;
  selected = null;
  listLeaves();
  measure();
  rebuild();
  home();
}
