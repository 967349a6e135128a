// What is shown of the graph: folded scopes as one box, parallel edges into them joined; and the steps of the player.

let graph = null; // what the page was given
let byKey = new Map(), groups = new Map(), comparisons = new Map(), folded = new Set();
let view = null; // boxes and edges as they are shown now
let step = 0, selected = null, playing = null, query = "";

function viewOf() {
  const shownAs = whereShown(), members = new Map();
  for (const box of graph.boxes) {
    const key = shownAs.get(box.key);
    if (!members.has(key)) members.set(key, []);
    members.get(key).push(box);
  }
  for (const [key, own] of members) if (groups.has(key) && own.length === 1) shownAs.set(own[0].key, own[0].key);
  const outer = new Set([graph.root]);
  for (const edge of graph.edges) if (shownAs.get(edge.source) !== shownAs.get(edge.target)) outer.add(edge.source);
  const boxes = new Map();
  for (const box of graph.boxes) { // in topological order: a group comes where its last member does
    const key = shownAs.get(box.key);
    if (key === box.key) { boxes.set(key, { ...box, members: [box] }); continue; }
    boxes.delete(key);
    boxes.set(key, foldedBox(key, members.get(key), outer));
  }
  const edges = joinedEdges(shownAs);
  const result = { boxes, edges, uses: new Map(), inputs: new Map(), shownAs, root: shownAs.get(graph.root) };
  for (const key of boxes.keys()) { result.uses.set(key, []); result.inputs.set(key, []); }
  for (const edge of edges) { result.uses.get(edge.source).push(edge); result.inputs.get(edge.target).push(edge); }
  for (const list of result.inputs.values()) list.sort((a, b) => a.position - b.position);
  place(result);
  result.steps = stepsOf(result);
  return result;
}

function whereShown() { // each box's key, or that of the folded scope it is in
  const shownAs = new Map(), users = new Map();
  for (const box of graph.boxes) shownAs.set(box.key, box.groups.find((key) => folded.has(key)) || box.key);
  for (const edge of graph.edges) {
    if (!users.has(edge.source)) users.set(edge.source, new Set());
    users.get(edge.source).add(shownAs.get(edge.target));
  }
  for (const box of graph.boxes) { // a constant that only one scope uses belongs to it
    const only = users.get(box.key);
    if (box.kind === "constant" && only && only.size === 1 && groups.has([...only][0])) shownAs.set(box.key, [...only][0]);
  }
  return shownAs;
}

function foldedBox(key, own, outer) {
  const ends = own.filter((b) => outer.has(b.key)), end = ends.length === 1 ? ends[0] : null;
  const operations = own.filter((b) => b.kind === "operation" || b.kind === "group").length;
  return {
    key, kind: "group", name: end && end.name, symbol: groups.get(key).name, operation: "", detail: `${operations} operations`,
    type: end ? end.type : "", value: end && end.value, gradient: end && end.gradient, formula: "", rules: [], members: own,
    groups: own[0].groups.slice(0, Math.max(0, own[0].groups.indexOf(key))), place: groups.get(key).place,
    source: own[own.length - 1].source, derivative: end ? end.derivative : "gradient", size: [110, 62],
  };
}

function joinedEdges(shownAs) {
  const edges = new Map();
  for (const edge of graph.edges) {
    const source = shownAs.get(edge.source), target = shownAs.get(edge.target);
    if (source === target) continue;
    const joined = groups.has(target);
    const name = `${source} ${target} ${joined ? "" : edge.position}`;
    const old = edges.get(name);
    if (old) old.carried = old.carried.concat(edge.carried);
    else edges.set(name, { ...edge, name, source, target, get local() { return joined ? null : edge.local; } });
  }
  return [...edges.values()];
}

function place(result) {
  const exact = laidOut(result);
  result.curves = exact ? exact.curves : {};
  result.at = new Map();
  if (exact) {
    for (const key of result.boxes.keys()) result.at.set(key, exact.boxes[key]);
    return;
  }
  // No layout was made for this folding: a box stands where its members stood, and rows that became empty close up.
  const whole = graph.layouts[""].boxes, rows = new Map();
  for (const [key, box] of result.boxes) {
    const places = box.members.map((member) => whole[member.key]).filter(Boolean);
    const mean = (i) => places.reduce((sum, at) => sum + at[i], 0) / places.length;
    const single = key === box.members[0].key;
    const width = single ? places[0][2] : Math.max(90, 7.5 * Math.min(34, Math.max(box.symbol.length, box.value ? box.value.text.length : 0)) + 24);
    result.at.set(key, [mean(0), mean(1), width, single ? places[0][3] : 62 + heatHeight(box) + shapeRoom(box)[1]]);
  }
  const sorted = [...result.at.values()].sort((a, b) => a[1] - b[1]);
  let bottom = -Infinity, shift = 0;
  for (const at of sorted) {
    const top = at[1] - at[3] / 2;
    if (top - 70 > bottom && bottom > -Infinity) shift += top - 70 - bottom;
    bottom = Math.max(bottom, at[1] + at[3] / 2);
    rows.set(at, shift);
  }
  for (const [at, by] of rows) at[1] -= by;
}

// The player: given, forward operation by operation, the seed, backward operation by operation --------------------------

function stepsOf(result) {
  const operations = [...result.boxes.values()].filter((box) => result.inputs.get(box.key).length);
  const steps = [{ phase: "given" }];
  for (const box of operations) steps.push({ phase: "forward", key: box.key });
  if (seed !== null) return steps;
  if (graph.edges.some((edge) => edge.carried.length)) {
    steps.push({ phase: "seed", key: result.root });
    for (const box of operations.slice().reverse()) {
      if (result.inputs.get(box.key).some((edge) => edge.carried.length)) steps.push({ phase: "backward", key: box.key });
    }
    steps.push({ phase: "done" });
  }
  return steps;
}

// What is known after the current step.
function knowledge() {
  const known = new Set(), arrived = new Map();
  for (const key of view.boxes.keys()) if (!view.inputs.get(key).length) known.add(key);
  let seeded = false;
  for (const { phase, key } of view.steps.slice(0, step + 1)) {
    if (phase === "forward") known.add(key);
    if (phase === "seed") seeded = true;
    if (phase === "backward") {
      for (const edge of view.inputs.get(key)) {
        if (!edge.carried.length) continue;
        if (!arrived.has(edge.source)) arrived.set(edge.source, []);
        arrived.get(edge.source).push(edge);
      }
    }
  }
  return { known, arrived, seeded };
}

function gradientText(box, state) {
  if (box.key === view.root && state.seeded) return box.gradient ? box.gradient.text : "";
  const edges = state.arrived.get(box.key);
  if (!edges || (box.kind === "group" && !box.value)) return ""; // to several results of a scope: there is no sum of these
  const all = view.uses.get(box.key).filter((edge) => edge.carried.length).length;
  if (edges.length === all && box.gradient) return box.gradient.text;
  const sum = total(edges.flatMap((edge) => edge.carried));
  return sum ? sum.text : `${edges.length} of ${all} arrived`;
}
