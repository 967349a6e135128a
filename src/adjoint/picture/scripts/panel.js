// The panel: what the current step does, in words and numbers; and the selected box, with the sum over all paths.

const side = element("aside", { "aria-label": "details" });
const now = element("section", { id: "now", "aria-live": "polite" });
const details = element("section", { id: "details" });
const control = element("section", { id: "control" }), code = element("section", { id: "code" });
const help = element("section", { id: "help" });
side.append(astray, questions, now, control, details, code, comparing.section, leaves, direction, help);

function where(box) {
  return [box.source ? element("div", { class: "source" }, box.source) : null, box.place ? p(box.place, "muted") : null];
}

function written(box) { // the operation with its numbers put in
  const inputs = view.inputs.get(box.key).map((edge) => view.boxes.get(edge.source));
  const values = inputs.map((input) => (input.value ? shorten(input.value.text, 30) : nameOf(input)));
  const result = box.value ? ` = ${box.value.text}` : "";
  if (box.kind === "group") return `${box.symbol}(${values.join(", ")})${result}`;
  if (values.length === 2 && box.symbol.length < 3) return `${values[0]} ${box.symbol} ${values[1]}${result}`;
  if (box.symbol.startsWith("^")) return `${values[0]}${box.symbol}${result}`;
  return `${box.symbol}(${values.join(", ")})${result}`;
}

function explain({ phase, key }, known) {
  const box = key ? view.boxes.get(key) : null;
  const title = { given: "What is given", forward: "Forward: a value", seed: "Backward: the start", backward: "Backward: one rule", done: "Done" }[phase];
  const parts = [element("h2", {}, title)];
  if (phase === "given" && seed !== null) parts.push(p(`Forward mode asks how everything moves with ${nameOf(byKey.get(seed))}: its own tangent is 1, and each step computes a value and its tangent together.`));
  else if (phase === "given") parts.push(p("The variables and numbers that the computation starts from. Step on (→) to see each value computed, and then the gradient flow back."));
  if (phase === "forward") {
    parts.push(p(written(box), "big"));
    if (box.formula) parts.push(element("div", { class: "formula" }, seed === null ? box.formula : [box.formula, ...box.rules].join("\n")));
    if (seed !== null) parts.push(...tangentProducts(box));
    parts.push(...where(box));
  }
  if (phase === "seed") parts.push(p(`${box.derivative} = ${box.gradient ? box.gradient.text : 1}`, "big red"),
    p("The result changes as fast as itself. From here each rule multiplies what arrives by a slope, and passes it on to its inputs."));
  if (phase === "backward") {
    parts.push(p(`${box.symbol}${box.name ? " (" + box.name + ")" : ""} receives ${box.gradient ? box.gradient.text : "what flows in"}`, "big red"));
    if (box.formula) parts.push(element("div", { class: "formula" }, box.formula + "\n" + box.rules.join("\n")));
    parts.push(products(box, known), ...where(box));
  }
  if (phase === "done") parts.push(p("Everything that flowed back has been added up."), ...gradientLines());
  now.replaceChildren(...parts.filter(Boolean));
}

function products(box, known) { // what one rule sends to each input
  const rows = [];
  for (const edge of view.inputs.get(box.key)) {
    if (!edge.carried.length) continue;
    const amount = amountOf(edge).replace(/^\+/, "");
    const product = edge.local !== null && box.gradient && isNumber(box.gradient) ? `${box.gradient.text} × ${show(edge.local)} = ${amount}` : amount;
    const before = known.arrived.get(edge.source) || [];
    const upTo = before.slice(0, before.lastIndexOf(edge) + 1);
    const sum = total(upTo.flatMap((e) => e.carried)), terms = upTo.map((e) => amountOf(e));
    const adding = terms.length > 1 && sum && isNumber(sum) && terms.length < 9 ? added(terms) + " = " + sum.text : sum ? sum.text : amount;
    const slope = edge.local !== null ? show(edge.local) : box.kind === "group" ? "folded" : "see rule";
    rows.push(row([nameOf(view.boxes.get(edge.source)), slope, product, adding].map((text) => shorten(text, 160)), (i) => i > 1));
  }
  return table("products", ["to", "local derivative", "product", "sum so far"], rows);
}

const MAX_LINES = 12;
function gradientLines() { // the largest first
  const size = (box) => (isNumber(box.gradient) ? Math.abs(box.gradient.numbers) : box.gradient.numbers ? Math.max(0, ...[box.gradient.numbers].flat(9).map((x) => Math.abs(Number(x)))) : Infinity);
  const boxes = graph.boxes.filter((b) => b.kind === "variable" && b.gradient).map((b) => [size(b), b]);
  boxes.sort((a, b) => b[0] - a[0]);
  const lines = boxes.slice(0, MAX_LINES).map(([, b]) => p(`${b.derivative} = ${view.boxes.has(b.key) ? sumText(b) : b.gradient.text}`, "red"));
  const rest = boxes.slice(MAX_LINES), zeros = rest.filter(([s]) => s === 0).length;
  if (rest.length) lines.push(p(`${rest.length} more, none larger${zeros ? `; ${zeros} of them zero` : ""}`, "muted"));
  return lines;
}

function sumText(box) {
  const terms = view.uses.get(box.key).filter((edge) => edge.carried.length).map(amountOf);
  return terms.length > 1 && isNumber(box.gradient) && terms.length < 12 ? added(terms) + " = " + box.gradient.text : box.gradient.text;
}

// The selected box: what it is, what flows in, all ways to the result ------------------------------------------------------

const MAX_PATHS = 40;
// How many paths lead from a box to the result, and the largest of them in magnitude, the largest first. Each box knows the
// logarithm of the largest product from it to the result; a path follows the best edges, and each edge that it passes by waits
// with the largest product that leads through it. So each turn finds one path, however many there are and however
// their products are rounded.
function pathsFrom(start) {
  const uses = new Map(), ways = new Map([[graph.root, 1]]), best = new Map([[graph.root, 0]]);
  for (const edge of graph.edges) if (edge.carried.length) { if (!uses.has(edge.source)) uses.set(edge.source, []); uses.get(edge.source).push(edge); }
  const times = (a, b) => (a === -Infinity || b === -Infinity ? -Infinity : a + b); // of logarithms: nothing flows through a zero
  const size = ({ local }) => (local === null || Number.isNaN(+local) ? Infinity : Math.log(Math.abs(local)));
  const through = (edge) => Math.round(1e9 * times(size(edge), best.get(edge.target))) / 1e9; // equal products stay equal
  for (const key of graph.boxes.map((box) => box.key).reverse()) {
    if (key === graph.root) continue;
    const leading = (uses.get(key) || []).filter((edge) => ways.get(edge.target));
    uses.set(key, leading);
    ways.set(key, leading.reduce((sum, edge) => sum + ways.get(edge.target), 0));
    best.set(key, leading.reduce((most, edge) => Math.max(most, through(edge)), -Infinity));
  }
  const paths = [], waiting = ways.get(start) ? [{ bound: 0, taken: [], weight: 0 }] : [];
  while (waiting.length && paths.length < MAX_PATHS) {
    const at = waiting.reduce((most, one, i) => (one.bound > waiting[most].bound ? i : most), 0);
    const [{ taken, weight }] = waiting.splice(at, 1), path = [...taken];
    let key = path.length ? path[path.length - 1].target : start, sofar = weight;
    while (key !== graph.root) {
      const edges = uses.get(key), next = edges.reduce((most, edge) => (through(edge) > through(most) ? edge : most));
      for (const edge of edges) {
        if (edge !== next) waiting.push({ bound: times(sofar, through(edge)), taken: [...path, edge], weight: times(sofar, size(edge)) });
      }
      path.push(next);
      sofar = times(sofar, size(next));
      key = next.target;
    }
    paths.push(path);
  }
  const product = (path) => path.reduce((x, edge) => (x === 0 || edge.local === 0 ? 0 : x * edge.local), 1);
  const largest = paths.map((path) => [path, product(path)]).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]) || 0);
  return { paths: largest, ways: ways.get(start) || 0 };
}

function describe() {
  const box = selected === null ? null : view.boxes.get(selected);
  offerControl(box);
  offerComparison(box);
  if (!box) { describeCode(null); details.replaceChildren(p("Click a box, or select one with ↑ and ↓, to see what it is and where its gradient comes from.", "muted")); return; }
  const kind = box.kind === "group" ? "folded scope" : box.kind;
  const parts = [element("h2", {}, `${box.name || box.symbol}`), p([kind, box.kind === "operation" ? box.operation : "", box.detail, box.type].filter(Boolean).join(" · "), "muted")];
  if (box.value) parts.push(p(`value ${box.value.text}`, "big"));
  if (box.value) parts.push(elements(box.value, ""), heatFigure(box.value, "the values"));
  if (whyStill(box)) parts.push(p(`It stays still: ${whyStill(box)}.`, "muted"));
  if (box.formula) parts.push(element("div", { class: "formula" }, box.formula + (box.rules.length ? "\n" + box.rules.join("\n") : "")));
  parts.push(...where(box));
  parts.push(jacobianShapes(box), foldButton(box), turnsTable(box));
  if (box.gradient) {
    parts.push(p(`${box.derivative} = ${sumText(box)}`, "red big"));
    parts.push(elements(box.gradient, " red"), heatFigure(box.gradient, "the gradient"));
    const edges = view.uses.get(selected).filter((edge) => edge.carried.length);
    if (edges.length) parts.push(table("contributions", ["through", "amount"], edges.map((edge) => row([through(edge), shorten(amountOf(edge), 120)], (i) => i === 1))));
    if (byKey.has(selected) && isNumber(box.gradient)) sumOverPaths(parts, box);
    if (!comparable(box)) compare(parts);
  }
  details.replaceChildren(...parts.filter(Boolean));
  describeCode(box);
}

// What becomes of the selected box: its line, the step in the plan, the loop that computes it, the machine code. The texts stay
// as they are while numbers move, and stay open when another box is selected.
const STAGES = ["unit", "loops", "LLVM", "machine code"], opened = new Set(["step", "loops"]), WRAPPED = new Set(["line", "step"]);
let coded = null;
function describeCode(box) {
  const found = graph.code && box ? graph.code.boxes[box.key] : null;
  if (coded === found) return;
  coded = found;
  if (!found) { code.replaceChildren(); return; }
  const [step_, place_] = found, texts = place_ === null ? [] : graph.code.units[place_];
  const part = (name, title, text) => {
    const made = element("details", { class: "stage" }, element("summary", {}, title), element("pre", { tabindex: "0", "aria-label": title, class: WRAPPED.has(name) ? "wrapped" : null }, text));
    made.open = opened.has(name);
    made.addEventListener("toggle", () => { if (made.open) opened.add(name); else opened.delete(name); });
    return made;
  };
  code.replaceChildren(...[element("h2", {}, "How it is computed"), box.source ? part("line", "your line", `${box.place}\n${box.source}`) : null,
    part("step", "the step of the plan", step_), ...STAGES.map((name, i) => (texts[i] ? part(name, i ? name : "the unit: steps in one loop", texts[i]) : null)),
    texts.length ? null : p("No loop of its own: it is a view, or NumPy computes it.", "muted")].filter(Boolean));
}

const MAX_TURNS = 40;
function turnsTable(box) { // of a folded loop: what each turn gives on, and what comes back to it
  if (!groups.has(box.key) || !groups.get(box.key).turns) return null;
  const turns = graph.groups.filter((group) => group.parent === box.key), number = new Map(turns.map((group, i) => [group.key, i]));
  const turnOf = (b) => number.get(b.groups[b.groups.indexOf(box.key) + 1]), used = turns.map(() => new Set());
  for (const edge of graph.edges) {
    const from = byKey.get(edge.source), i = from.groups.includes(box.key) ? turnOf(from) : undefined;
    if (i !== undefined && turnOf(byKey.get(edge.target)) !== i) used[i].add(from);
  }
  for (const b of box.members) if (b.key === graph.root && turnOf(b) !== undefined) used[turnOf(b)].add(b);
  const texts = (boxes, of) => [...boxes].map((b) => (of(b) ? shorten(of(b).text, 40) : "")).join(", ");
  const rows = used.slice(0, MAX_TURNS).map((boxes, i) => row([String(i + 1), texts(boxes, (b) => b.value), texts(boxes, (b) => b.gradient)], (k) => k === 2));
  return element("div", {}, table("turns", ["turn", "values", "gradients"], rows), turns.length > MAX_TURNS ? p(`the first ${MAX_TURNS} of ${turns.length} turns`, "muted") : null);
}

function jacobianShapes(box) { // of an operation between arrays: the result's axes by the input's
  if (box.kind !== "operation" || !box.value) return null;
  const text = (shape) => (shape.length ? shape.join("·") : "1");
  const lines = view.inputs.get(box.key).map((edge) => view.boxes.get(edge.source)).filter((input) => input.value && input.value.shape.length + box.value.shape.length)
    .map((input) => `by ${nameOf(input)}: ${text(box.value.shape)} × ${text(input.value.shape)}`);
  return lines.length ? p(`Jacobian ${[...new Set(lines)].join("; ")}`, "muted") : null;
}

function elements(q, kind) { // all of a small array, where its text leaves some out
  if (!Array.isArray(q.numbers)) return null;
  const text = nested(q.numbers);
  return text === q.text ? null : element("div", { class: `source${kind}` }, shorten(text, 1200));
}

function foldButton(box) {
  if (groups.has(selected)) return button("unfold-selected", "unfold (Enter)", "unfold this scope", () => toggleFold(selected));
  const inner = box.groups[box.groups.length - 1];
  return inner ? button("fold-selected", `fold ${shorten(groups.get(inner).name, 30)} (Enter)`, "fold the scope around this box", () => toggleFold(inner)) : null;
}

function through(edge) {
  const target = view.boxes.get(edge.target);
  return shorten(`${target.symbol}${target.name ? " (" + target.name + ")" : target.value ? " = " + target.value.text : ""}`, 60);
}

function sumOverPaths(parts, box) {
  const { paths, ways } = pathsFrom(selected);
  if (!ways || selected === graph.root || !paths.every(([path]) => path.every((edge) => edge.local !== null))) return;
  parts.push(element("h2", {}, `Sum over ${ways.toLocaleString("en")} path${ways === 1 ? "" : "s"}`));
  let sum = 0;
  const rows = paths.map(([path, product]) => {
    sum += product;
    const way = path.map((edge) => { const b = byKey.get(edge.target); return b.name || b.symbol; }).join(" → ");
    return row([shorten(way, 120), shorten(path.map((edge) => show(edge.local)).join(" · "), 120), signed(product)], (i) => i === 2);
  });
  parts.push(table("paths", ["way to the result", "slopes", "="], rows));
  parts.push(ways > paths.length ? p(`the ${paths.length} largest of them, together ${show(sum)} of ${box.gradient.text}`, "muted") : element("p", { id: "path-sum", class: "red" }, `sum ${show(sum)}`));
}

// The control of the selected leaf stays where it is while its number moves.
let offered = null;
function offerControl(box) {
  const slot = box && view.boxes.has(box.key) && movable(box) ? box.value.slot : null;
  if (slot === offered) return;
  offered = slot;
  if (slot === null) control.replaceChildren();
  else control.replaceChildren(element("h2", {}, `Move ${nameOf(box)}`), isOne(slot) ? oneControl(nameOf(box), slot) : arrayControl(nameOf(box), box, slot));
}

// Where the page can't move the leaf, what Python found when it wrote the page.
function compare(parts) {
  const compared = comparisons.get(selected);
  if (!compared) return;
  parts.push(element("h2", {}, "Finite differences"), element("p", { id: "difference" }, `${compared.difference.text}, by the reverse pass ${compared.reverse.text}`),
    p(`largest difference ${Number(compared.error).toExponential(1)}; ${compared.how}`, "muted"));
}
