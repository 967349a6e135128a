// Reading formulas: lines of `name = expression`, with errors at the character. Nothing that is typed is ever executed.

class FormulaError extends Error {
  constructor(message, at, length = 1) { super(message); this.at = at; this.length = length; }
}

const TOKEN = /\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\*\*|\/\/|<=|>=|==|!=|[-+*/@%()[\],.=<>])|(\S))/uy;
const WRITTEN = new Map(Object.entries({ "^": "a power is written **", "²": "a power is written **", "³": "a power is written **", "×": "a product is written *",
  "·": "a product is written *", "÷": "a quotient is written /", "−": "minus is written -", "√": "a root is written sqrt(…)", "π": "π is written pi", "|": "a magnitude is written abs(…)" }));
const MAX_OPERATIONS = 2000; // that pages compute and draw at 60 frames a second
const MAX_LENGTH = 20000; // characters of a formula

function tokens(line, offset) {
  const found = [];
  TOKEN.lastIndex = 0;
  const text = line.replace(/#.*/, (comment) => " ".repeat(comment.length));
  while (text.slice(TOKEN.lastIndex).trim()) {
    const match = TOKEN.exec(text), [whole, number, name, sign, odd] = match, length = (number ?? name ?? sign ?? odd).length;
    const at = offset + match.index + whole.length - length;
    if (odd) throw new FormulaError(WRITTEN.get(odd) ?? `${odd} means nothing here`, at, length);
    found.push({ kind: number ? "number" : name ? "name" : "sign", text: number ?? name ?? sign, at, length });
  }
  return found;
}

const BINARY_SIGNS = [[["<", "less"], ["<=", "less_equal"], [">", "greater"], [">=", "greater_equal"], ["==", "equal"], ["!=", "not_equal"]],
  [["+", "add"], ["-", "subtract"]], [["*", "multiply"], ["/", "divide"], ["@", "matmul"], ["%", "remainder"], ["//", "floor_divide"]]].map((level) => new Map(level));
const CONSTANTS = new Map([["pi", Math.PI], ["e", Math.E]]);
// Words of Python that would otherwise be read as names, each with the value 1.
const RESERVED = new Set("True False None inf Inf infinity Infinity nan NaN and or not if else is in for while lambda def return import from".split(" "));
const MAX_DEPTH = 200, MAX_AXES = 8;

class Parser {
  constructor(graph, names, defaults) {
    Object.assign(this, { graph, names, defaults, literals: new Map() });
  }

  line(text, offset) {
    this.tokens = tokens(text, offset);
    this.next = 0;
    this.end = offset + text.length;
    this.depth = 0;
    if (!this.tokens.length) return null;
    const [first, second] = this.tokens;
    let name = null;
    if (first.kind === "name" && second && second.text === "=") { name = first.text; this.next = 2; this.allowed(first); }
    const literal = this.literal();
    if (literal && name) return this.assigned(name, this.givenLeaf(name, literal));
    if (literal) this.next = 0;
    let value = this.guarded(first, () => this.expression());
    const rest = this.peek();
    if (rest) throw this.unexpected(rest);
    if (typeof value === "number") value = this.graph.full(value);
    return name ? this.assigned(name, value) : value;
  }

  unexpected(rest) {
    const before = this.tokens[this.next - 1], joined = before && before.at + before.length === rest.at && (rest.kind === "name" || rest.text === "(");
    if (rest.text === "=") return this.error("only a name can stand before =", rest);
    return this.error(joined ? `a product is written ${shortName(before.text)}*${shortName(rest.text)}` : `${shortName(rest.text)} wasn't expected here`, rest);
  }

  allowed({ text, at, length }) {
    if (FUNCTIONS.has(text) || CONSTANTS.has(text)) throw new FormulaError(`${text} is the name of a ${FUNCTIONS.has(text) ? "function" : "constant"}; call it something else`, at, length);
    this.unreserved({ text, at, length });
  }

  unreserved({ text, at, length }) { if (RESERVED.has(text)) throw new FormulaError(`${text} means nothing here`, at, length); }

  assigned(name, value) {
    if (!value.name && !value.leaf) value.name = name;
    this.names.set(name, value);
    return value;
  }

  givenLeaf(name, { data, shape, at, length }) {
    const node = this.graph.leaf(name, data, shape);
    this.literals.set(name, { at, length, shape, node });
    return node;
  }

  // A number or a nested list of them, if that is all that is left of the line.
  literal() {
    const start = this.next, first = this.peek();
    try {
      const found = this.list();
      if (this.peek()) { this.next = start; return null; }
      const last = this.tokens[this.tokens.length - 1];
      return { ...found, at: first.at, length: last.at + last.length - first.at };
    } catch (error) {
      if (first && first.text === "[") throw error;
      this.next = start;
      return null;
    }
  }

  list(depth = 0) {
    const open_ = this.peek();
    if (this.accept("[")) {
      if (depth === MAX_AXES) throw this.error(`a list has at most ${MAX_AXES} axes`, open_);
      const items = [this.list(depth + 1)];
      while (this.accept(",")) items.push(this.list(depth + 1));
      this.expect("]", "a list ends with ]");
      if (items.some((item) => !sameShape(item.shape, items[0].shape))) throw this.error("the rows of a list are equally long");
      return { data: items.flatMap((item) => item.data), shape: [items.length, ...items[0].shape] };
    }
    const minus = this.accept("-");
    if (!minus) this.accept("+");
    const token = this.take();
    if (!token || token.kind !== "number") throw this.error("a list holds numbers", token);
    return { data: [(minus ? -1 : 1) * Number(token.text)], shape: [] };
  }

  expression(level = 0) {
    if (level === BINARY_SIGNS.length) return this.unary();
    let left = this.expression(level + 1);
    for (;;) {
      const token = this.peek(), op = token && token.kind === "sign" && BINARY_SIGNS[level].get(token.text);
      if (!op) return left;
      this.next++;
      const right = this.expression(level + 1), a = left, next = level ? null : this.peek();
      if (next && BINARY_SIGNS[0].has(next.text)) throw this.error("comparisons aren't chained: multiply two of them", next);
      left = this.guarded(token, () => this.combined(op, a, right));
    }
  }

  combined(op, a, b) {
    if (typeof a === "number" && typeof b === "number") {
      if (op === "matmul") throw new Error("@ takes vectors and matrices");
      return Number(BINARY[op](a, b));
    }
    if (op === "matmul") return this.graph.matmul(this.graph.fit(a, a.shape || []), this.graph.fit(b, b.shape || []));
    return this.graph.elementwise(op, a, b);
  }

  unary() {
    if (++this.depth > MAX_DEPTH) throw this.error("too deeply nested", this.peek());
    try {
      const sign = this.peek();
      if (this.accept("-")) { const x = this.unary(); return typeof x === "number" ? -x : this.guarded(sign, () => this.graph.elementwise("negative", x)); }
      if (this.accept("+")) return this.unary();
      return this.power();
    } finally { this.depth--; }
  }

  power() {
    const base = this.postfix(), sign = this.peek();
    if (!this.accept("**")) return base;
    const exponent = this.unary();
    if (typeof base === "number" && typeof exponent === "number") return power(base, exponent);
    return this.guarded(sign, () => (typeof base === "number" ? this.graph.elementwise("power", base, exponent) : this.graph.power(base, exponent)));
  }

  postfix() {
    let x = this.primary();
    for (;;) {
      const token = this.peek();
      if (this.accept(".")) {
        const word = this.take();
        if (!word || word.text !== "T") throw this.error("only .T, the transpose, can stand here", word);
        x = this.guarded(word, () => { if (typeof x === "number" || x.shape.length < 2) throw new Error(".T takes a matrix"); return this.graph.permute(x, x.shape.map((_, i) => i).reverse()); });
      } else if (token && token.text === "[") {
        this.next++;
        const minus = this.accept("-"), index = this.take();
        if (!index || index.kind !== "number" || !/^\d+$/.test(index.text)) throw this.error("an index is a whole number", index);
        this.expect("]", "an index ends with ]");
        const i = (minus ? -1 : 1) * Number(index.text), array = x;
        x = this.guarded(index, () => {
          if (typeof array === "number" || !array.shape.length || i >= array.shape[0] || i < -array.shape[0]) throw new Error(`there is no element ${i}`);
          return this.graph.element(array, i);
        });
      } else return x;
    }
  }

  primary() {
    const token = this.take();
    if (!token) throw this.error("something is missing here");
    if (token.kind === "number") return Number(token.text);
    if (token.text === "(") {
      const x = this.expression();
      if (this.peek() && this.peek().text === ",") throw this.error("a list is written [1, 2]", this.peek());
      this.expect(")", "a ( has no )");
      return x;
    }
    if (token.text === "[") {
      this.next--;
      const { data, shape } = this.list();
      return this.graph.node("value", [], data, shape, { leaf: true });
    }
    if (token.kind !== "name") throw this.error(`${token.text} wasn't expected here`, token);
    if (this.peek() && this.peek().text === "(") return this.call(token);
    if (FUNCTIONS.has(token.text)) throw this.error(`${token.text} is a function: ${token.text}(…)`, token);
    if (CONSTANTS.has(token.text)) return CONSTANTS.get(token.text);
    this.unreserved(token);
    return this.named(token.text);
  }

  named(name) { // what has no value yet is a number to drag
    if (!this.names.has(name)) this.names.set(name, this.graph.leaf(name, [this.defaults.get(name) ?? 1], []));
    return this.names.get(name);
  }

  call(token) {
    const known = FUNCTIONS.get(token.text);
    if (!known && (this.names.has(token.text) || CONSTANTS.has(token.text))) throw this.error(`${shortName(token.text)} is no function; a product is written ${shortName(token.text)}*(…)`, token);
    if (!known) throw this.error(`there is no function ${shortName(token.text)}${closest(token.text)}`, token);
    this.next++;
    const values = [];
    if (!this.accept(")")) {
      do values.push(this.expression()); while (this.accept(","));
      this.expect(")", `${token.text}( has no )`);
    }
    const arity = known.arity();
    if (values.length !== arity) throw this.error(`${token.text} takes ${arity} argument${arity === 1 ? "" : "s"}, got ${values.length}`, token);
    const nodes = values.every((x) => typeof x === "number") ? values.map((x) => this.graph.full(x)) : values;
    return this.guarded(token, () => known.call(this.graph, ...(arity === 1 ? nodes.map((x) => (typeof x === "number" ? this.graph.full(x) : x)) : nodes)));
  }

  guarded(token, record) { // what recording refuses is told at the sign or name that asked for it
    try { return record(); } catch (error) {
      throw error instanceof FormulaError ? error : new FormulaError(error.message, token.at, token.length);
    }
  }

  peek() { return this.tokens[this.next]; }
  take() { return this.tokens[this.next++]; }
  accept(text) { if (this.peek() && this.peek().text === text && this.peek().kind === "sign") { this.next++; return true; } return false; }
  expect(text, message) { if (!this.accept(text)) throw this.error(message, this.peek()); }
  error(message, token = null) { return new FormulaError(message, token ? token.at : this.end, token ? token.length : 1); }
}

const shortName = (text) => (text.length > 40 ? `${text.slice(0, 39)}…` : text); // in messages

function closest(name) { // a known function that is spelt almost so
  const far = (known) => distance(known, name.toLowerCase()) + Math.abs(known.length - name.length) / 10;
  const most = Math.min(2, name.length / 2); // letters that may differ
  const near = [...FUNCTIONS.keys()].filter((known) => Math.abs(known.length - name.length) <= most && distance(known, name.toLowerCase()) <= most).sort((a, b) => far(a) - far(b));
  const aliases = new Map([["ln", "log"], ["arcsin", "asin"], ["arccos", "acos"], ["arctan", "atan"], ["pow", "**"], ["exponential", "exp"]]);
  const found = aliases.get(name) || near[0];
  return found ? `; there is ${found}` : "";
}

function distance(a, b) { // letters missing, too many, changed, or exchanged with the next (F. Damerau, 1964)
  let before = null, above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const here = [i];
    for (let j = 1; j <= b.length; j++) {
      here.push(Math.min(above[j] + 1, here[j - 1] + 1, above[j - 1] + (a[i - 1] !== b[j - 1])));
      if (before && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) here[j] = Math.min(here[j], before[j - 2] + 1);
    }
    [before, above] = [above, here];
  }
  return above[b.length];
}

// A formula: its graph, its root, and where the numbers of its leaves stand in the text. Throws FormulaError.
function parse(text, defaults = new Map()) {
  const graph_ = new Graph(), names = new Map(), parser = new Parser(graph_, names, defaults);
  let offset = 0, root = null, last = 0;
  if (text.length > MAX_LENGTH) throw new FormulaError(`a formula has at most ${MAX_LENGTH.toLocaleString("en")} characters`, MAX_LENGTH);
  text.split("\n").forEach((line, i) => {
    graph_.line = i;
    const value = parser.line(line, offset);
    if (value) { root = value; last = offset; }
    if (graph_.nodes.length > MAX_OPERATIONS) throw new FormulaError(`the formula has more than ${MAX_OPERATIONS.toLocaleString("en")} operations`, last, line.length);
    offset += line.length + 1;
  });
  if (!root) throw new FormulaError("write a formula, such as y = tanh(w*x + b)", 0);
  if (!root.name) root.name = "y";
  return { graph: graph_, root, names, literals: parser.literals };
}
