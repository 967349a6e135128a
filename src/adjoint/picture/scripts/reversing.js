// The reverse pass of a recorded formula, with each edge's contribution kept apart: the engine's rules, applied here once more.

function instantiated(g, steps, u, out) {
  const made = [];
  const operand = (x) => {
    if (x === "u") return u;
    if (x === "r") return out;
    if (typeof x === "number") return out.inputs[x];
    return x[0] === "step" ? made[x[1]] : g.full(decoded(x[1]), out.shape);
  };
  for (const [op, operands, attributes] of steps) {
    const inputs = operands.map(operand);
    made.push(op === "marker" ? inputs[0] : g.node(op, inputs, attributes, out.shape));
  }
  return made[made.length - 1];
}

const inverse = (axes) => axes.map((_, i) => axes.indexOf(i));
const extremeRule = (g, u, out) => { // ties share evenly
  const [x] = out.inputs, axes = out.attributes;
  const chosen = g.elementwise("equal", x, g.expand(out, axes, x.shape));
  const share = g.elementwise("safe_divide", u, g.reduce("sum", g.node("astype", [chosen], "float64", x.shape), axes));
  return g.elementwise("where", chosen, g.expand(share, axes, x.shape), 0);
};

const STRUCTURAL = {
  reshape: [(g, u, out) => g.reshape(u, out.inputs[0].shape)],
  broadcast_to: [(g, u, out) => g.reduceTo(u, out.inputs[0].shape)],
  permute_dims: [(g, u, out) => g.permute(u, inverse(out.attributes))],
  sum: [(g, u, out) => g.expand(u, out.attributes, out.inputs[0].shape)],
  max: [extremeRule], min: [extremeRule],
  slice: [(g, u, out) => g.node("embed", [u], [out.inputs[0].shape, out.attributes], out.inputs[0].shape)],
  matmul: [
    (g, u, out) => g.node("matmul", [u, g.permute(out.inputs[1], [1, 0])], null, out.inputs[0].shape),
    (g, u, out) => g.node("matmul", [g.permute(out.inputs[0], [1, 0]), u], null, out.inputs[1].shape),
  ],
  power_constant: [(g, u, out) => {
    const [x] = out.inputs, n = out.attributes;
    return n === 0 ? null : g.elementwise("scale", g.elementwise("scale", u, n), g.power(x, n - 1));
  }],
};

function pulledBack(g, node, u, i) { // the cotangent of one input
  if (!node.inputs[i].tracked || node.inputs[i].dtype === "bool") return null;
  if (STRUCTURAL[node.op]) return STRUCTURAL[node.op][i](g, u, node);
  const steps = RULES.rules[node.op] && RULES.rules[node.op][i];
  return steps ? instantiated(g, steps, u, node) : null;
}

// The nodes below a root, inputs first and the first input first, as one reads the formula.
function readingOrder(root) {
  const order = [], seen = new Set(), stack = [root];
  while (stack.length) {
    const node = stack.pop();
    if (seen.has(node)) continue;
    const missing = node.inputs.filter((x) => !seen.has(x));
    if (missing.length) stack.push(node, ...missing.reverse());
    else { seen.add(node); order.push(node); }
  }
  return order;
}

// What a picture shows: nodes, for each use where it comes from, what it carries back and its slope, and all cotangents.
function flowOf(g, root) {
  const every = readingOrder(root), order = every.filter((node) => !node.plumbing || node === root);
  const uses = []; // {node, position, source, passed, carried, local}
  const of = new Map(order.map((node) => [node, []]));
  for (const node of order) {
    node.inputs.forEach((x, position) => {
      const passed = [];
      while (x.plumbing) { passed.push(x); [x] = x.inputs; }
      const use = { node, position, source: x, passed, carried: null, local: null };
      uses.push(use);
      of.get(node).push(use);
    });
  }
  const cotangents = new Map();
  if (root.tracked && root.dtype !== "bool" && countOf(root.shape) === 1) {
    cotangents.set(root, g.full(1, root.shape));
    for (const node of order.slice().reverse()) {
      const u = cotangents.get(node);
      if (!u || node.leaf) continue;
      const isNumber_ = !node.shape.length, one = isNumber_ ? g.full(1) : null;
      for (const use of of.get(node)) {
        use.carried = brought(g, use, u);
        if (use.carried && isNumber_ && !use.source.shape.length) use.local = brought(g, use, one);
        const old = cotangents.get(use.source);
        if (use.carried) cotangents.set(use.source, old ? g.elementwise("add", old, use.carried) : use.carried);
      }
    }
  }
  return { order, uses, cotangents };
}

function brought(g, { node, position, passed }, u) { // through the use itself, then down through what is hidden
  let v = pulledBack(g, node, u, position);
  for (const hidden of passed) v = v && pulledBack(g, hidden, v, 0);
  return v;
}

// A formula as the explorer's data ------------------------------------------------------------------------------------------

function pictured({ graph: g, root }) {
  g.scope = [];
  const { order, uses, cotangents } = flowOf(g, root);
  const slots = writtenProgram(g, [...order, ...cotangents.values(), ...uses.flatMap((use) => [use.carried, use.local])].filter(Boolean));
  const keys = new Map(order.map((node, i) => [node, `n${i}`]));
  const quantity = (node) => (node ? { text: "", shape: node.shape, dtype: node.dtype, numbers: null, slot: slots.of.get(node) } : null);
  const boxes = order.map((node) => boxOf(node, keys.get(node), quantity(node), quantity(cotangents.get(node)), root.name));
  const edges = uses.map((use) => ({
    source: keys.get(use.source), target: keys.get(use.node), position: use.position, local: null, amount: "",
    localSlot: use.local ? slots.of.get(use.local) : null, carried: use.carried ? [quantity(use.carried)] : [],
  }));
  const notes = !root.tracked ? ["no gradients: this depends on no variable"]
    : countOf(root.shape) !== 1 ? [`no gradients: the result has shape ${shapeText(root.shape)}; take its sum`] : [];
  const still = {};
  for (const box of boxes) if (box.movable) still[box.value.slot] = null;
  const inside = new Set(boxes.flatMap((box) => box.groups));
  const scopes = g.groups.filter((group) => inside.has(group.key));
  return { title: root.name, root: keys.get(root), notes, boxes, edges, groups: scopes, folded: scopes.map((group) => group.key), layouts: {}, comparisons: [], program: slots.program, still };
}

const typeText = (node) => `${node.dtype}[${node.shape.join(", ")}]`;

function boxOf(node, key, value, gradient, title) {
  const kind = node.leaf ? (node.tracked ? "variable" : "constant") : "operation";
  const exponent = node.op === "power_constant" ? show(node.attributes) : "";
  const symbol = exponent ? `^${exponent}` : node.op === "permute_dims" ? "ᵀ" : RULES.symbols[node.op] || node.op;
  let [formula, rules] = RULES.formulas[node.op] || ["", []];
  if (exponent) { formula = `r = a^${exponent}`; rules = [`∂r/∂a = ${exponent} · a^(${exponent} − 1)`]; }
  return {
    key, kind, name: node.name || null, symbol: node.leaf ? "variable" : symbol, operation: node.op, detail: "", type: typeText(node), value, gradient,
    groups: node.leaf ? [] : node.scope, place: `line ${node.line + 1}`, source: "", size: [52, 30], formula: node.leaf ? "" : formula, rules: node.leaf ? [] : rules,
    derivative: node.name ? `∂${title}/∂${node.name}` : "gradient", movable: node.leaf && node.dtype !== "bool",
  };
}

function writtenProgram(g, asked) { // in the order of recording, which has inputs first
  const needed = new Set(asked), types = new Map(), of = new Map(), written = [];
  for (const node of g.nodes.slice().reverse()) if (needed.has(node)) for (const x of node.inputs) needed.add(x);
  for (const node of g.nodes) {
    if (!needed.has(node)) continue;
    const type = JSON.stringify([node.dtype, node.shape]);
    if (!types.has(type)) types.set(type, types.size);
    of.set(node, written.length);
    written.push([node.op, node.inputs.map((x) => of.get(x)), node.attributes, types.get(type)]);
  }
  return { of, program: { types: [...types.keys()].map((type) => JSON.parse(type)), slots: written } };
}
