// Learning in the page: tasks as formulas with data, and gradient descent with momentum on their weights.

function randomNumbers(state) { // uniform on [0, 1): the generator mulberry32 by T. Ettinger, enough for pictures
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
function normalNumbers(uniform) { // by G. Box and M. Muller, 1958
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
const column = (numbers) => ({ data: numbers, shape: [numbers.length, 1] });
const grid = (low, high, n) => Array.from({ length: n }, (_, i) => low + ((high - low) * i) / (n - 1));

function moons(n, normal) { // two half circles, each around an end of the other
  const x = [], t = [];
  for (let i = 0; i < n; i++) {
    const angle = (Math.PI * Math.floor(i / 2)) / (n / 2 - 1), first = i % 2 === 0;
    x.push((first ? Math.cos(angle) : 1 - Math.cos(angle)) - 0.5 + 0.1 * normal(), (first ? Math.sin(angle) : 0.5 - Math.sin(angle)) - 0.25 + 0.1 * normal());
    t.push(first ? 1 : 0);
  }
  return { x: { data: x, shape: [n, 2] }, t: column(t) };
}

// Each task: data, first weights, and formulas; `z` is the prediction, the last line the loss.
const TASKS = {
  weights: {
    title: "three weights: a·sin(b·xᶜ)", rate: -2, momentum: 0,
    data: () => { const x = grid(0.05, 1.35, 60); return { x: column(x), t: column(x.map((v) => 4 * Math.sin(v ** 4))) }; },
    weights: () => ({ a: { data: [2], shape: [] }, b: { data: [1.3], shape: [] }, c: { data: [3], shape: [] } }),
    lines: () => ["z = a * sin(b * x**c)", "loss = mean((z - t)**2)"],
  },
  line: {
    title: "a line", rate: -1.3, momentum: 0,
    data: (normal) => { const x = grid(-2, 2, 40); return { x: column(x), t: column(x.map((v) => 1.5 * v - 0.5 + 0.4 * normal())) }; },
    weights: () => ({ w: { data: [-0.5], shape: [] }, b: { data: [1], shape: [] } }),
    lines: () => ["z = w*x + b", "loss = mean((z - t)**2)"],
  },
  moons: {
    title: "two moons: a network", rate: -0.3, momentum: 0.9, network: true,
    data: (normal) => moons(80, normal),
    weights: (normal, { hidden, scale: spread }) => {
      const sizes = layerSizes(hidden), found = {};
      for (let i = 1; i < sizes.length; i++) {
        const draw = Array.from({ length: sizes[i - 1] * sizes[i] }, () => (spread * normal()) / Math.sqrt(sizes[i - 1]));
        found[`W${i}`] = { data: draw, shape: [sizes[i - 1], sizes[i]] };
        found[`b${i}`] = { data: new Array(sizes[i]).fill(0), shape: [sizes[i]] };
      }
      return found;
    },
    lines: ({ hidden, activation }) => {
      const layers_ = Array.from({ length: hidden }, (_, i) => `h${i + 1} = ${activation}(${i ? `h${i}` : "x"} @ W${i + 1} + b${i + 1})`);
      return [...layers_, `z = h${hidden} @ W${hidden + 1} + b${hidden + 1}`, "loss = mean(softplus(z) - t*z)"];
    },
  },
};
const layerSizes = (hidden) => [2, ...new Array(hidden).fill(8), 1];

// A formula of several lines over arrays that are given by name; only the weights are differentiated.
function recordedTask(lines, data, weights) {
  const g = new Graph(), names = new Map(), parser = new Parser(g, names, new Map());
  for (const [name, { data: numbers, shape }] of Object.entries(data)) names.set(name, Object.assign(g.leaf(name, numbers, shape), { tracked: false }));
  for (const [name, { data: numbers, shape }] of Object.entries(weights)) names.set(name, g.leaf(name, numbers, shape));
  let root = null;
  for (const line of lines) root = parser.line(line, 0);
  return { g, names, root };
}

class Learner {
  constructor(task, options, seed_ = 1) {
    const normal = normalNumbers(randomNumbers(seed_));
    this.normal = normal;
    this.task = task;
    this.options = options;
    this.data = task.data(normal);
    this.weights = task.weights(normal, options);
    this.lines = task.lines(options);
    const { g, names, root } = recordedTask(this.lines, this.data, this.weights), { cotangents } = flowOf(g, root);
    this.names = [...names.keys()].filter((name) => /^(z|h\d+)$/.test(name));
    const own = Object.keys(this.weights), written_ = writtenProgram(g, [root, ...own.flatMap((name) => [names.get(name), cotangents.get(names.get(name))]), ...this.names.map((name) => names.get(name))]);
    this.program = new Program(written_.program);
    const array = (node) => this.program.slots[written_.of.get(node)].data;
    this.loss = array(root);
    this.weight = Object.fromEntries(own.map((name) => [name, array(names.get(name))]));
    this.gradient = Object.fromEntries(own.map((name) => [name, array(cotangents.get(names.get(name)))]));
    this.value = Object.fromEntries(this.names.map((name) => [name, array(names.get(name))]));
    this.velocity = Object.fromEntries(own.map((name) => [name, new Float64Array(this.weight[name].length)]));
    this.history = [this.loss[0]];
  }

  step(rate, momentum, noise) {
    for (const [name, w] of Object.entries(this.weight)) {
      const g = this.gradient[name], v = this.velocity[name];
      for (let i = 0; i < w.length; i++) {
        v[i] = momentum * v[i] + g[i] + (noise ? noise * this.normal() : 0);
        w[i] -= rate * v[i];
      }
    }
    for (const next of this.program.steps) if (next) next();
    this.history.push(this.loss[0]);
  }

  // The prediction at other places, from the weights as they are now.
  predictor(x) {
    const { g, names } = recordedTask(this.lines.slice(0, -1), { x }, this.weights), z = names.get("z");
    const { of, program } = writtenProgram(g, [z, ...Object.keys(this.weights).map((name) => names.get(name))]), running_ = new Program(program);
    return () => {
      for (const [name, w] of Object.entries(this.weight)) running_.slots[of.get(names.get(name))].data.set(w);
      for (const next of running_.steps) if (next) next();
      return running_.slots[of.get(z)].data;
    };
  }
}

const norm = (numbers) => Math.hypot(...numbers);

// What there is to see, in a sentence that says why.
const EXPLODES = "The gradient explodes: each layer multiplies what flows back by weights larger than 1, and one step throws all weights away. Start with smaller weights.";
const DIVERGES = "It diverges: each step is so long that it lands higher on the other side of the valley, where the slope is steeper still. Take a smaller learning rate.";
const DEAD_LAYER = "A whole layer of relus is dead: every sum in it is negative for every point, so it gives 0 and passes nothing back. No step can bring it to life again.";

function diagnosis(learner) {
  const { history, gradient, task } = learner, loss = history[history.length - 1];
  const ofNetwork = task.network ? ofLayers(learner) : null;
  if (ofNetwork) return ofNetwork;
  if (!Number.isFinite(loss) || loss > 1e4 * (history[0] + 1)) return DIVERGES;
  if (norm(Object.values(gradient).map(norm)) < 1e-4) return "It stands still: the gradient is almost 0 everywhere.";
  if (history.length < 2) return "Press play, or take one step.";
  const before = history[Math.max(0, history.length - 20)];
  if (loss > 1.05 * before) return "The loss rises: the steps jump across the valley, or noise and momentum carry them out of it.";
  return loss < 0.999 * before ? "It learns: the loss falls." : "It goes on slowly.";
}

function ofLayers(learner) { // what goes wrong between layers, if something does
  const { gradient, options } = learner, first = norm(gradient.W1), last = norm(gradient[`W${options.hidden + 1}`]);
  learner.exploded = learner.exploded || first > 1e3 || (first > 30 * last && first > 10);
  if (learner.exploded) return EXPLODES;
  if (options.activation === "relu" && Number.isFinite(learner.loss[0])) {
    const dead = deadNeurons(learner), every = 8 * options.hidden;
    if (deadLayer(learner)) return DEAD_LAYER;
    if (dead > 2) return `${dead} of ${every} relus are dead: their sums are negative for every point, so their slope is 0 and their weights get no gradient.`;
  }
  if (!(first < 1e-3 * last)) return null;
  const why = options.activation === "sigmoid" ? ", which is at most ¼" : ", which is flat where its input is large";
  return `The gradient vanishes: in the first layer it is ${general(first / last, 2)} of the last layer's. Each layer multiplies what flows back by the slope of its ${options.activation}${why}.`;
}

function columnsOfZero(values, width) {
  let count_ = 0;
  for (let j = 0; j < width; j++) {
    let alive = false;
    for (let i = j; i < values.length; i += width) alive = alive || values[i] !== 0;
    if (!alive) count_++;
  }
  return count_;
}
const hiddenValues = ({ value, options }) => Array.from({ length: options.hidden }, (_, i) => value[`h${i + 1}`]);
const deadNeurons = (learner) => hiddenValues(learner).reduce((sum, values) => sum + columnsOfZero(values, 8), 0);
const deadLayer = (learner) => hiddenValues(learner).some((values) => columnsOfZero(values, 8) === 8);
