// Forward mode beside reverse mode: tangents flow up from one leaf as cotangents flow down from the result, and both are
// counted in multiplications by slopes.

let seed = null; // the leaf whose tangent is 1, in forward mode; null in reverse mode

const direction = element("section", { id: "direction" });

// Whether every slope of the graph is a number, so that both directions multiply and add single numbers.
const isScalarGraph = () => graph.edges.some((edge) => edge.carried.length) && graph.edges.every((edge) => !edge.carried.length || edge.local !== null);

// The edges that a change of a leaf goes through, and the tangent of each box that it reaches.
function tangentsFrom(key) {
  const tangents = new Map([[key, 1]]), along = new Map();
  for (const box of graph.boxes) {
    for (const edge of inputsOf.get(box.key) || []) {
      if (!tangents.has(edge.source) || edge.local === null) continue;
      const t = tangents.get(edge.source), product = t === 0 || edge.local === 0 ? 0 : t * edge.local;
      along.set(edge, product);
      tangents.set(box.key, (tangents.get(box.key) || 0) + product);
    }
  }
  return { tangents, along };
}

let inputsOf = new Map(), shownTangents = null;
function prepareDirections() {
  seed = null;
  inputsOf = new Map();
  for (const edge of graph.edges) {
    if (!inputsOf.has(edge.target)) inputsOf.set(edge.target, []);
    inputsOf.get(edge.target).push(edge);
  }
  const sources = graph.boxes.filter((box) => box.kind === "variable" && box.gradient);
  if (!sources.length || graph.boxes.length > ALL_IN_SIGHT || !isScalarGraph()) { direction.replaceChildren(); return; }
  const choice = element("select", { id: "mode", "aria-label": "direction of the derivative", onchange: () => turn(choice.value || null) },
    element("option", { value: "" }, "reverse: all gradients"), ...sources.map((box) => element("option", { value: box.key }, `forward: from ${nameOf(box)}`)));
  const forward = sources.map((box) => tangentsFrom(box.key).along.size), reverse = graph.edges.filter((edge) => edge.carried.length).length;
  const all = forward.reduce((a, b) => a + b, 0);
  direction.replaceChildren(element("h2", {}, "Two directions"), choice, p(sources.length > 1
    ? `Multiplications by a slope: reverse mode ${reverse} for all ${sources.length} leaves; forward mode ${forward.join(" + ")} = ${all}, a sweep for each leaf.`
    : `Multiplications by a slope: reverse mode ${reverse}, forward mode ${all}. With one leaf and one result neither is ahead.`, "muted"));
}

function turn(key) {
  seed = key;
  step = 0;
  foldAll(false);
}

// What is known of the tangents after the current step, by the boxes and edges that are shown.
function tangentText(box) {
  if (!state.known.has(box.key) || !shownTangents) return "";
  const t = shownTangents.tangents.get(box.key);
  return t === undefined ? "" : `${dotted(box)} = ${show(t)}`;
}
const dotted = (box) => (box.name ? `∂${box.name}/∂${nameOf(byKey.get(seed))}` : "tangent");

function tangentAlong(edge) {
  if (!shownTangents || !state.known.has(edge.target)) return null;
  for (const [own, amount] of shownTangents.along) if (own.source === edge.source && own.target === edge.target && own.position === edge.position) return amount;
  return null;
}

// One rule of the forward pass: each input's tangent times its slope, added up.
function tangentProducts(box) {
  const rows = [];
  for (const edge of inputsOf.get(box.key) || []) {
    if (!shownTangents.along.has(edge)) continue;
    const t = shownTangents.tangents.get(edge.source);
    rows.push(row([nameOf(byKey.get(edge.source)), show(edge.local), `${show(t)} × ${show(edge.local)} = ${show(shownTangents.along.get(edge))}`], () => false));
  }
  return rows.length ? [table("tangents", ["from", "local derivative", "product"], rows), p(tangentText(box), "tangent big")] : [p(`it doesn't depend on ${nameOf(byKey.get(seed))}: its tangent is 0`, "muted")];
}
