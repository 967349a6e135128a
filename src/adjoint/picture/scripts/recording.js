// Recording a formula as a graph, as the engine does: primitives with identity, explicit broadcasts, scopes of composites.

let RULES = null; // the engine's derivative rules, symbols and words, as Python wrote them into the page

const MAX_NUMBERS = 1000000; // of all arrays of a formula together

class TooLarge extends Error {}

class Graph {
  constructor() {
    this.nodes = [];
    this.groups = [];
    this.scope = []; // the composites around what is recorded now
    this.line = 0;
    this.numbers = 0;
  }

  node(op, inputs, attributes, shape, more = {}) {
    const tracked = op !== "stop_gradient" && inputs.some((x) => x.tracked);
    const made = { id: this.nodes.length, op, inputs, attributes, shape, dtype: RULES.bools.includes(op) ? "bool" : "float64", tracked, scope: this.scope, line: this.line, ...more };
    this.numbers += countOf(shape);
    if (this.numbers > MAX_NUMBERS) throw new TooLarge("the arrays of this formula are too large for a page");
    this.nodes.push(made);
    return made;
  }

  leaf(name, value, shape) { return this.node("value", [], value, shape, { name, tracked: true, leaf: true }); }
  full(x, shape = []) { return this.node("full", [], x, shape, { leaf: true }); }

  // A composite function: what it records lies in a scope of its name.
  inside(name, record) {
    const outer = this.scope, key = `g${this.groups.length}`;
    this.groups.push({ key, name, parent: outer.length ? outer[outer.length - 1] : null, place: `line ${this.line + 1}` });
    this.scope = [...outer, key];
    try { return record(); } finally { this.scope = outer; }
  }

  elementwise(op, ...operands) {
    const shape = operands.reduce((common, x) => broadcast(op, common, typeof x === "number" ? [] : x.shape), []);
    return this.node(op, operands.map((x) => this.fit(x, shape)), null, shape);
  }

  fit(x, shape) { // broadcast to a shape; a number takes it at once
    if (typeof x === "number") return this.full(x, shape);
    return sameShape(x.shape, shape) ? x : this.node("broadcast_to", [x], shape, shape, { plumbing: true, dtype: x.dtype });
  }

  reshape(x, shape) { return sameShape(x.shape, shape) ? x : this.node("reshape", [x], shape, shape, { plumbing: true, dtype: x.dtype }); }
  permute(x, axes) { return this.node("permute_dims", [x], axes, axes.map((a) => x.shape[a]), { dtype: x.dtype }); }

  power(x, y) {
    if (typeof y !== "number") return this.elementwise("power", x, y);
    return y === 1 ? x : this.node("power_constant", [x], y, x.shape);
  }

  reduce(op, x, axes = x.shape.map((_, i) => i)) {
    if (!axes.length) return x;
    return this.node(op, [x], axes, x.shape.filter((_, i) => !axes.includes(i)));
  }

  expand(x, axes, shape) { // the adjoint of a sum over axes
    return this.fit(this.reshape(x, shape.map((n, i) => (axes.includes(i) ? 1 : n))), shape);
  }

  reduceTo(x, shape) { // the adjoint of a broadcast
    const extra = x.shape.length - shape.length;
    const axes = x.shape.map((n, i) => i).filter((i) => i < extra || (shape[i - extra] === 1 && x.shape[i] !== 1));
    return this.reshape(this.reduce("sum", x, axes), shape);
  }

  matmul(a, b) {
    const left = a.shape.length === 1 ? this.reshape(a, [1, ...a.shape]) : a, right = b.shape.length === 1 ? this.reshape(b, [...b.shape, 1]) : b;
    if (left.shape.length !== 2 || right.shape.length !== 2) throw new Error(`@ takes vectors and matrices, not ${shapeText(a.shape)} and ${shapeText(b.shape)}`);
    if (left.shape[1] !== right.shape[0]) throw new Error(`@: the inner axes of ${shapeText(a.shape)} and ${shapeText(b.shape)} differ`);
    const product = this.node("matmul", [left, right], null, [left.shape[0], right.shape[1]]);
    return this.reshape(product, [...(a.shape.length === 1 ? [] : [left.shape[0]]), ...(b.shape.length === 1 ? [] : [right.shape[1]])]);
  }

  element(x, index) { // one element along the first axis
    const n = x.shape[0], i = index < 0 ? index + n : index;
    const slices = x.shape.map((m, axis) => (axis ? [0, m, 1] : [i, 1, 1]));
    return this.reshape(this.node("slice", [x], slices, [1, ...x.shape.slice(1)]), x.shape.slice(1));
  }
}

const sameShape = (a, b) => a.length === b.length && a.every((n, i) => n === b[i]);
const shapeText = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;

function broadcast(op, a, b) {
  const shape = [];
  for (let i = 1; i <= Math.max(a.length, b.length); i++) {
    const n = a[a.length - i] ?? 1, m = b[b.length - i] ?? 1;
    if (n !== m && n !== 1 && m !== 1) throw new Error(`${op}: shapes ${shapeText(a)} and ${shapeText(b)} don't fit`);
    shape.unshift(n === 1 ? m : n);
  }
  return shape;
}

// Functions of formulas -----------------------------------------------------------------------------------------------------

const lastAxis = (x, name) => { if (!x.shape.length) throw new Error(`${name} takes an array`); return [x.shape.length - 1]; };

const COMPOSITES = {
  softmax: (g, x) => {
    const axes = lastAxis(x, "softmax"), e = g.elementwise("exp", shifted(g, x, axes)), whole = g.reduce("sum", e, axes);
    return g.elementwise("divide", e, g.expand(whole, axes, x.shape));
  },
  log_softmax: (g, x) => {
    const axes = lastAxis(x, "log_softmax"), low = shifted(g, x, axes);
    const whole = g.elementwise("log", g.reduce("sum", g.elementwise("exp", low), axes));
    return g.elementwise("subtract", low, g.expand(whole, axes, x.shape));
  },
  mean: (g, x) => g.elementwise("divide", g.reduce("sum", x), countOf(x.shape)),
};
function shifted(g, x, axes) { // by the largest, so that no exponential overflows
  const top = g.node("stop_gradient", [g.reduce("max", x, axes)], null, x.shape.slice(0, -1));
  return g.elementwise("subtract", x, g.expand(top, axes, x.shape));
}

// Every elementwise operation is a function but those that only rules record, and those that are written with a sign.
const NO_FUNCTIONS = new Set(["scale", "safe_divide", "huber", "gaussian", "gelu_derivative", "silu_derivative", "negative", "add", "subtract", "multiply",
  "divide", "remainder", "floor_divide", "power", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]);
const ELEMENTWISE_NAMES = [UNARY, BINARY, TERNARY].flatMap(Object.keys).filter((name) => !NO_FUNCTIONS.has(name));
const FUNCTIONS = new Map([
  ...ELEMENTWISE_NAMES.map((name) => [name, { arity: () => RULES.rules[name].length, call: (g, ...xs) => g.elementwise(name, ...xs) }]),
  ...Object.entries(COMPOSITES).map(([name, call]) => [name, { arity: () => 1, call: (g, x) => g.inside(name, () => call(g, g.fit(x, x.shape || []))) }]),
  ...["sum", "max", "min"].map((name) => [name, { arity: () => 1, call: (g, x) => g.reduce(name, x) }]),
  ["square", { arity: () => 1, call: (g, x) => g.power(x, 2) }],
  ["transpose", { arity: () => 1, call: (g, x) => g.permute(x, x.shape.map((_, i) => i).reverse()) }],
]);
