// The graph as a program: slots in order, each given or computed by one of the engine's operations from earlier ones.
// The reverse pass is part of it: Python applied the engine's own rules, so that the page needs kernels alone.

const OPERATIONS = new Set([...Object.keys(UNARY), ...Object.keys(BINARY), ...Object.keys(TERNARY), ...Object.keys(ARRAY_STEPS),
  ...Object.keys(OF_ATTRIBUTES), ...SAME, "select_output", "custom", "checkpoint", "full"]);

const WIDER = { float32: "float64", complex64: "complex128" };

class Program {
  // data: {types: [[dtype, shape]], slots: [[operation, inputs, attributes, type or types]]}; wide: floats in 64 bits.
  constructor(data, wide = false) {
    const types = data.types.map(([dtype, shape]) => [(wide && WIDER[dtype]) || dtype, shape]);
    this.data = data;
    this.slots = [];
    this.steps = [];
    this.inputs = data.slots.map((slot) => slot[1]);
    this.users = data.slots.map(() => []);
    this.inputs.forEach((inputs, i) => inputs.forEach((x) => this.users[x].push(i)));
    this.reached = new Map();
    for (const [op, inputs, attributes, type] of data.slots) this.add(op, inputs, attributes, type, types);
  }

  add(op, inputs, attributes, type, types) {
    const from = inputs.map((i) => this.slots[i]);
    let slot, step = null;
    if (op === "custom" || op === "checkpoint") slot = Array.isArray(type) ? { parts: from.slice(0, attributes) } : from[0];
    else if (op === "select_output") slot = from[0].parts[attributes];
    else if (SAME.has(op)) slot = { dtype: from[0].dtype, shape: types[type][1], data: from[0].data };
    else if (Array.isArray(type)) {
      slot = { parts: type.map((one) => slotOf(...types[one])) };
      step = ARRAY_STEPS[op](attributes, slot, from);
      step();
    } else {
      slot = slotOf(...types[type]);
      if (op === "value") fill(slot.data, attributes);
      else if (op === "full") fillAlike(slot.data, attributes);
      else {
        step = [slot, ...from].some(isComplex) ? COMPLEX_STEPS[op](attributes, slot, from)
          : elementwiseStep(op, attributes, slot, from) || ARRAY_STEPS[op](attributes, slot, from);
        step();
      }
    }
    this.slots.push(slot);
    this.steps.push(step);
  }

  // The steps that depend on a slot, in order; of these, those that `target` needs.
  after(slot, target = null) {
    const name = target === null ? slot : `${slot} ${target}`;
    let found = this.reached.get(name);
    if (!found) {
      const seen = new Set([slot]), needed = target === null ? null : this.below(target);
      found = [];
      for (let i = slot; i < this.slots.length; i++) {
        if (!seen.has(i)) continue;
        if (this.steps[i] && i !== slot && (!needed || needed.has(i))) found.push(this.steps[i]);
        for (const user of this.users[i]) seen.add(user);
      }
      this.reached.set(name, found);
    }
    return found;
  }

  // The slots that a slot is computed from, itself among them.
  below(slot) {
    const found = new Set([slot]);
    for (let i = slot; i >= 0; i--) if (found.has(i)) for (const x of this.inputs[i]) found.add(x);
    return found;
  }

  // New elements for a slot that is given, and everything that follows from them, or only what `target` needs of it.
  set(slot, numbers, target = null) {
    this.slots[slot].data.set(numbers);
    for (const step of this.after(slot, target)) step();
  }

  number(slot) { return this.slots[slot].data[0]; }
}
