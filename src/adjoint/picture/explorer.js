"use strict";
(() => {
  const graph = JSON.parse(document.getElementById("graph").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const byKey = new Map(graph.boxes.map((box) => [box.key, box]));
  const groups = new Map(graph.groups.map((group) => [group.key, group]));
  const comparisons = new Map(graph.comparisons.map((c) => [c.key, c]));
  const folded = new Set(graph.folded);
  let view = null; // boxes and edges as they are shown now
  let step = 0;
  let selected = null;
  let playing = null;
  let query = "";

  // Elements: text only ever goes in as text.
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }
  function drawn(tag, attributes = {}, text = null) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== null) made.textContent = text;
    return made;
  }
  const shorten = (text, limit) => (text.length > limit ? text.slice(0, limit - 1) + "…" : text);

  // Numbers ------------------------------------------------------------------------------------------------------
  function show(x) {
    if (typeof x !== "number") return String(x);
    if (Number.isInteger(x) && Math.abs(x) < 1e9) return String(x === 0 ? 0 : x);
    return String(Number(x.toPrecision(5)));
  }
  const signed = (x) => (typeof x === "number" && x < 0 ? "−" + show(-x) : "+" + show(x));
  const isNumber = (q) => q !== null && q.shape.length === 0 && typeof q.numbers === "number";
  function plus(a, b) {
    if (Array.isArray(a) && Array.isArray(b)) return a.map((x, i) => plus(x, b[i]));
    return typeof a === "number" && typeof b === "number" ? a + b : null;
  }
  function nested(x) {
    return Array.isArray(x) ? "[" + x.map(nested).join(", ") + "]" : typeof x === "number" ? String(Number(x.toPrecision(4))) : String(x);
  }
  function total(quantities) {
    if (quantities.length === 1) return quantities[0];
    if (!quantities.length || quantities.some((q) => q.numbers === null)) return null;
    const numbers = quantities.map((q) => q.numbers).reduce(plus);
    const text = Array.isArray(numbers) ? shorten(nested(numbers), 60) : show(numbers);
    return { text, numbers, shape: quantities[0].shape, dtype: quantities[0].dtype };
  }
  const added = (terms) => terms.map((term, i) => (i ? " " + term[0] + " " : term[0] === "+" ? "" : term[0]) + term.slice(1)).join("");
  const amountOf = (edge) => {
    const sum = total(edge.carried);
    return sum === null ? (edge.carried.length ? `${edge.carried.length} flows` : "") : isNumber(sum) ? signed(sum.numbers) : sum.text;
  };
  const nameOf = (box) => box.name || (box.kind === "constant" && box.value ? box.value.text : box.symbol);

  // What is shown: folded scopes as one box, parallel edges into them joined --------------------------------------
  function viewOf() {
    const shownAs = new Map();
    for (const box of graph.boxes) shownAs.set(box.key, box.groups.find((key) => folded.has(key)) || box.key);
    const users = new Map();
    for (const edge of graph.edges) {
      if (!users.has(edge.source)) users.set(edge.source, new Set());
      users.get(edge.source).add(shownAs.get(edge.target));
    }
    for (const box of graph.boxes) {
      const only = users.get(box.key);
      if (box.kind === "constant" && only && only.size === 1 && groups.has([...only][0])) shownAs.set(box.key, [...only][0]);
    }
    const members = new Map();
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
      const own = members.get(key);
      const ends = own.filter((b) => outer.has(b.key));
      const end = ends.length === 1 ? ends[0] : null;
      const operations = own.filter((b) => b.kind === "operation" || b.kind === "group").length;
      boxes.delete(key);
      boxes.set(key, {
        key, kind: "group", name: end && end.name, symbol: groups.get(key).name, operation: "", detail: `${operations} operations`,
        type: end ? end.type : "", value: end && end.value, gradient: end && end.gradient, formula: "", rules: [], members: own,
        groups: own[0].groups.slice(0, Math.max(0, own[0].groups.indexOf(key))), place: groups.get(key).place,
        source: own[own.length - 1].source, derivative: end ? end.derivative : "gradient", size: [110, 62],
      });
    }
    const edges = new Map();
    for (const edge of graph.edges) {
      const source = shownAs.get(edge.source), target = shownAs.get(edge.target);
      if (source === target) continue;
      const joined = groups.has(target);
      const name = `${source} ${target} ${joined ? "" : edge.position}`;
      const old = edges.get(name);
      if (old) old.carried = old.carried.concat(edge.carried);
      else edges.set(name, { ...edge, name, source, target, local: joined ? null : edge.local });
    }
    const result = { boxes, edges: [...edges.values()], uses: new Map(), inputs: new Map(), shownAs, root: shownAs.get(graph.root) };
    for (const key of boxes.keys()) { result.uses.set(key, []); result.inputs.set(key, []); }
    for (const edge of result.edges) { result.uses.get(edge.source).push(edge); result.inputs.get(edge.target).push(edge); }
    for (const list of result.inputs.values()) list.sort((a, b) => a.position - b.position);
    place(result);
    result.steps = stepsOf(result);
    return result;
  }

  function place(result) {
    const name = [...folded].sort().join(",");
    const exact = graph.layouts[name];
    result.curves = exact ? exact.curves : {};
    result.at = new Map();
    if (exact) {
      for (const key of result.boxes.keys()) result.at.set(key, exact.boxes[key]);
      return;
    }
    // No layout was made for this folding: a box stands where its members stood, and rows that became empty close up.
    const whole = graph.layouts[""].boxes;
    const rows = new Map();
    for (const [key, box] of result.boxes) {
      const places = box.members.map((member) => whole[member.key]).filter(Boolean);
      const mean = (i) => places.reduce((sum, p) => sum + p[i], 0) / places.length;
      const single = key === box.members[0].key;
      const width = single ? places[0][2] : Math.max(90, 7.5 * Math.min(34, Math.max(box.symbol.length, box.value ? box.value.text.length : 0)) + 24);
      result.at.set(key, [mean(0), mean(1), width, single ? places[0][3] : 62]);
    }
    const sorted = [...result.at.values()].sort((a, b) => a[1] - b[1]);
    let bottom = -Infinity, shift = 0;
    for (const p of sorted) {
      const top = p[1] - p[3] / 2;
      if (top - 70 > bottom && bottom > -Infinity) shift += top - 70 - bottom;
      bottom = Math.max(bottom, p[1] + p[3] / 2);
      rows.set(p, shift);
    }
    for (const [p, by] of rows) p[1] -= by;
  }

  // The player: given, forward operation by operation, the seed, backward operation by operation -------------------
  function stepsOf(result) {
    const order = [...result.boxes.values()];
    const operations = order.filter((box) => result.inputs.get(box.key).length);
    const steps = [{ phase: "given" }];
    for (const box of operations) steps.push({ phase: "forward", key: box.key });
    const flowing = result.edges.some((edge) => edge.carried.length);
    if (flowing) {
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
    if (!edges) return "";
    const sum = total(edges.flatMap((edge) => edge.carried));
    const all = view.uses.get(box.key).filter((edge) => edge.carried.length).length;
    if (edges.length === all && box.gradient) return box.gradient.text;
    return sum ? sum.text : `${edges.length} of ${all} arrived`;
  }

  // Page ---------------------------------------------------------------------------------------------------------
  const canvas = drawn("svg", { id: "canvas", role: "group", "aria-label": "the graph", tabindex: "-1" });
  const definitions = drawn("defs");
  for (const [id, color] of [["up", "var(--flow)"], ["down", "var(--gradient)"]]) {
    const marker = drawn("marker", { id, viewBox: "0 0 8 8", refX: id === "up" ? 7 : 1, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" });
    marker.append(drawn("path", { d: id === "up" ? "M0 0L8 4L0 8z" : "M8 0L0 4L8 8z", style: `fill:${color}` }));
    definitions.append(marker);
  }
  const world = drawn("g", { id: "world" });
  canvas.append(definitions, world);
  const search = element("input", { type: "search", id: "search", placeholder: "Search ( / )", "aria-label": "search boxes" });
  const found = element("span", { id: "found", class: "muted", role: "status" });
  const slider = element("input", { type: "range", id: "slider", min: "0", value: "0", "aria-label": "step" });
  const count = element("span", { id: "count" });
  const side = element("aside", { "aria-label": "details" });
  const now = element("section", { id: "now", "aria-live": "polite" });
  const details = element("section", { id: "details" });
  const help = element("section", { id: "help" });
  const button = (id, text, label, action) => element("button", { id, type: "button", title: label, "aria-label": label, onclick: action }, text);
  const playButton = button("play", "▶ play", "play or pause (space)", () => toggle());
  document.body.append(
    element("header", {}, element("h1", {}, graph.title + ": how it was computed"), search, found,
      button("fold-all", "fold all", "fold every scope", () => foldAll(true)),
      button("unfold-all", "unfold all", "unfold every scope", () => foldAll(false)),
      button("fit", "fit", "show the whole graph (0)", () => fit()),
      button("theme", "◐", "dark or light", () => {
        const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
        document.documentElement.dataset.theme = dark ? "light" : "dark";
      })),
    element("main", { id: "graph-area" }, canvas, element("div", { id: "note" }, graph.notes.join(" · "))),
    element("div", { id: "player", role: "toolbar", "aria-label": "player" },
      button("first", "|◀", "to the beginning (Home)", () => go(0)), button("back", "◀", "one step back (←)", () => go(step - 1)),
      playButton, button("forward", "▶", "one step on (→)", () => go(step + 1)),
      button("last", "▶|", "to the end (End)", () => go(view.steps.length - 1)), slider, count),
    side);
  side.append(now, details, help);
  if (!graph.groups.length) for (const id of ["fold-all", "unfold-all"]) document.getElementById(id).hidden = true;
  help.append(element("h2", {}, "Keys"), ...[["← →", "step back, step on"], ["Home End", "first, last step"], ["space", "play, pause"], ["↑ ↓", "select a box"],
    ["Enter", "fold or unfold the selected box"], ["/", "search"], ["+ − 0", "zoom in, out, fit"], ["Shift arrows", "move the view"], ["Esc", "select nothing"]]
    .map(([keys, what]) => element("p", { class: "muted" }, element("kbd", {}, keys), " ", what)));

  // Drawing ------------------------------------------------------------------------------------------------------
  let boxElements = new Map(), edgeElements = new Map();
  function rebuild() {
    stopPlaying();
    const before = view && view.steps[step];
    view = viewOf();
    const at = before ? view.steps.findIndex((s) => s.phase === before.phase && s.key === (before.key && (view.shownAs.get(before.key) || before.key))) : -1;
    step = at >= 0 ? at : Math.min(step, view.steps.length - 1);
    slider.max = String(view.steps.length - 1);
    const layers = [drawn("g", { class: "frames" }), drawn("g", { class: "edges" }), drawn("g", { class: "boxes" })];
    boxElements = new Map(); edgeElements = new Map();
    drawFrames(layers[0]);
    for (const edge of view.edges) {
      const [path, middle] = curveOf(edge);
      const made = drawn("g", { class: "edge" });
      made.append(drawn("path", { d: path, "marker-end": "url(#up)" }));
      const label = drawn("text", { x: middle[0], y: middle[1] });
      made.append(label);
      edgeElements.set(edge.name, { made, label, middle });
      layers[1].append(made);
    }
    spread();
    for (const [key, box] of view.boxes) {
      const [x, y, w, h] = view.at.get(key);
      const made = drawn("g", { class: `box ${box.kind}${key === view.root ? " root" : ""}`, transform: `translate(${x},${y})`, role: "button", tabindex: "-1", "data-key": key });
      made.append(drawn("rect", { x: -w / 2, y: -h / 2, width: w, height: h, rx: 9 }));
      const symbol = drawn("text", { class: "symbol" }), value = drawn("text", { class: "value" }), gradient = drawn("text", { class: "gradient" });
      made.append(symbol, value, gradient);
      boxElements.set(key, { made, symbol, value, gradient, h });
      layers[2].append(made);
    }
    world.replaceChildren(...layers);
    if (selected !== null && !view.boxes.has(selected)) selected = view.shownAs.get(selected) || null;
    update();
  }

  function curveOf(edge) {
    const given = view.curves[edge.name];
    if (given) {
      const points = [];
      for (let i = 0; i < given.length; i += 2) points.push([given[i], given[i + 1]]);
      let path = `M${points[0]}`;
      for (let i = 1; i + 2 < points.length; i += 3) path += `C${points[i]} ${points[i + 1]} ${points[i + 2]}`;
      const k = Math.floor((points.length - 1) / 3 / 2) * 3;
      const [a, b, c, d] = points.slice(k, k + 4);
      return [path, d ? [(a[0] + 3 * b[0] + 3 * c[0] + d[0]) / 8, (a[1] + 3 * b[1] + 3 * c[1] + d[1]) / 8] : a];
    }
    const s = view.at.get(edge.source), t = view.at.get(edge.target);
    const many = view.inputs.get(edge.target), i = many.indexOf(edge);
    const x0 = s[0], y0 = s[1] - s[3] / 2, x1 = t[0] + ((i + 1) / (many.length + 1) - 0.5) * t[2] * 0.7, y1 = t[1] + t[3] / 2;
    const m = (y0 + y1) / 2;
    return [`M${x0} ${y0}C${x0} ${m} ${x1} ${m} ${x1} ${y1}`, [(x0 + x1) / 2, m]];
  }

  // Labels of parallel edges stand next to each other instead of on top of each other.
  function spread() {
    const taken = [];
    for (const edge of view.edges) {
      const { label, middle } = edgeElements.get(edge.name);
      if (view.edges.length <= 400 && edge.carried.length) {
        const half = 4 + 3.4 * Math.min(30, amountOf(edge).length);
        for (let tries = 0; tries < 8 && taken.some(([x, y, w]) => Math.abs(x - middle[0]) < w + half && Math.abs(y - middle[1]) < 14); tries++) middle[1] += 14;
        taken.push([...middle, half]);
      }
      label.setAttribute("y", middle[1]);
    }
  }

  function drawFrames(layer) {
    const bounds = new Map();
    for (const [key, box] of view.boxes) {
      const [x, y, w, h] = view.at.get(key);
      box.groups.forEach((group, depth) => {
        if (folded.has(group)) return;
        const pad = 10 + 9 * (box.groups.length - depth);
        const old = bounds.get(group) || [Infinity, Infinity, -Infinity, -Infinity];
        bounds.set(group, [Math.min(old[0], x - w / 2 - pad), Math.min(old[1], y - h / 2 - pad - 8), Math.max(old[2], x + w / 2 + pad), Math.max(old[3], y + h / 2 + pad)]);
      });
    }
    for (const [key, [left, top, right, bottom]] of bounds) {
      const made = drawn("g", { class: "frame", "data-group": key });
      made.append(drawn("rect", { x: left, y: top, width: right - left, height: bottom - top, rx: 12 }));
      const label = drawn("text", { x: left + 10, y: top + 15 }, "▾ " + shorten(groups.get(key).name, 40));
      label.addEventListener("click", () => toggleFold(key));
      made.append(label);
      layer.append(made);
    }
  }

  function set(node, name, value) { if (node.getAttribute(name) !== value) node.setAttribute(name, value); }
  function write(node, text) { if (node.textContent !== text) node.textContent = text; }

  function update() {
    const state = knowledge();
    const current = view.steps[step];
    const touched = new Set();
    if (current.key) {
      touched.add(current.key);
      if (current.phase === "backward") for (const edge of view.inputs.get(current.key)) if (edge.carried.length) touched.add(edge.source);
    }
    for (const [key, box] of view.boxes) {
      const parts = boxElements.get(key);
      const isOperation = box.kind === "operation" || box.kind === "group";
      const value = state.known.has(key) && box.value ? box.value.text : "";
      const top = isOperation ? box.symbol : box.name ? box.name + (value ? " = " + value : "") : value || box.symbol;
      const middle = isOperation ? (box.name ? box.name + (value ? " = " + value : "") : value) : "";
      const gradient = gradientText(box, state);
      write(parts.symbol, shorten(top, 34)); write(parts.value, shorten(middle, 34));
      write(parts.gradient, gradient ? shorten(`${box.derivative} = ${gradient}`, 40) : "");
      const lines = [parts.symbol, parts.value, parts.gradient].filter((line) => line.textContent);
      lines.forEach((line, i) => set(line, "y", String(5 + (i - (lines.length - 1) / 2) * 17)));
      const matches = !query || matching(box);
      set(parts.made, "class", `box ${box.kind}${key === view.root ? " root" : ""}${key === current.key || (current.phase === "backward" && touched.has(key)) ? " now" : ""}${key === selected ? " selected" : ""}${matches ? "" : " dim"}`);
      set(parts.made, "tabindex", key === (selected || view.root) ? "0" : "-1");
      set(parts.made, "aria-label", `${nameOf(box)}${value ? ", value " + value : ""}${gradient ? ", gradient " + gradient : ""}`);
    }
    const flowing = new Set([...state.arrived.values()].flat().map((edge) => edge.name));
    for (const edge of view.edges) {
      const { made, label } = edgeElements.get(edge.name);
      const flows = flowing.has(edge.name), fresh = current.key === edge.target && (current.phase === "forward" || (current.phase === "backward" && flows));
      set(made, "class", `edge${flows ? " flowing" : ""}${fresh ? " now" : ""}${query ? " dim" : ""}`);
      const path = made.firstChild;
      if (flows) { path.removeAttribute("marker-end"); set(path, "marker-start", "url(#down)"); }
      else { path.removeAttribute("marker-start"); set(path, "marker-end", "url(#up)"); }
      write(label, flows ? shorten(amountOf(edge), 30) : "");
    }
    slider.value = String(step);
    write(count, `step ${step} of ${view.steps.length - 1}`);
    explain(current, state);
    describe();
  }

  // What the current step does, in words and numbers ----------------------------------------------------------------
  const p = (text, kind = "") => element("p", { class: kind }, text);
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
  function explain({ phase, key }, state) {
    const box = key ? view.boxes.get(key) : null;
    const title = { given: "What is given", forward: "Forward: a value", seed: "Backward: the start", backward: "Backward: one rule", done: "Done" }[phase];
    const parts = [element("h2", {}, title)];
    if (phase === "given") parts.push(p("The variables and numbers that the computation starts from. Step on (→) to see each value computed, and then the gradient flow back."));
    if (phase === "forward") {
      parts.push(p(written(box), "big"));
      if (box.formula) parts.push(element("div", { class: "formula" }, box.formula));
      parts.push(...where(box));
    }
    if (phase === "seed") parts.push(p(`${box.derivative} = ${box.gradient ? box.gradient.text : 1}`, "big red"),
      p("The result changes as fast as itself. From here each rule multiplies what arrives by a slope, and passes it on to its inputs."));
    if (phase === "backward") {
      parts.push(p(`${box.symbol}${box.name ? " (" + box.name + ")" : ""} receives ${box.gradient ? box.gradient.text : "what flows in"}`, "big red"));
      if (box.formula) parts.push(element("div", { class: "formula" }, box.formula + "\n" + box.rules.join("\n")));
      const rows = [element("tr", {}, ...["to", "local derivative", "product", "sum so far"].map((text) => element("th", {}, text)))];
      const seen = new Map();
      for (const edge of view.inputs.get(key)) {
        if (!edge.carried.length) continue;
        const source = view.boxes.get(edge.source);
        const amount = amountOf(edge).replace(/^\+/, "");
        const product = edge.local !== null && box.gradient && isNumber(box.gradient) ? `${box.gradient.text} × ${show(edge.local)} = ${amount}` : amount;
        const before = (state.arrived.get(edge.source) || []);
        const upTo = before.slice(0, before.lastIndexOf(edge) + 1);
        const sum = total(upTo.flatMap((e) => e.carried));
        const terms = upTo.map((e) => amountOf(e));
        const adding = terms.length > 1 && sum && isNumber(sum) && terms.length < 9 ? added(terms) + " = " + sum.text : sum ? sum.text : amount;
        seen.set(edge.source, adding);
        rows.push(element("tr", {}, ...[nameOf(source), edge.local !== null ? show(edge.local) : box.kind === "group" ? "folded" : "see rule", product, adding].map((text, i) => element("td", i > 1 ? { class: "red" } : {}, shorten(text, 160)))));
      }
      parts.push(element("table", { id: "products" }, ...rows), ...where(box));
    }
    if (phase === "done") {
      parts.push(p("Everything that flowed back has been added up."));
      for (const b of view.boxes.values()) if (b.kind === "variable" && b.gradient) parts.push(p(`${b.derivative} = ${sumText(b)}`, "red"));
    }
    now.replaceChildren(...parts.filter(Boolean));
  }
  function sumText(box) {
    const terms = view.uses.get(box.key).filter((edge) => edge.carried.length).map(amountOf);
    return terms.length > 1 && isNumber(box.gradient) && terms.length < 12 ? added(terms) + " = " + box.gradient.text : box.gradient.text;
  }

  // The selected box: what it is, what flows in, all ways to the result --------------------------------------------
  const MAX_PATHS = 40;
  function pathsFrom(start) {
    const uses = new Map();
    for (const edge of graph.edges) if (edge.carried.length) { if (!uses.has(edge.source)) uses.set(edge.source, []); uses.get(edge.source).push(edge); }
    const order = graph.boxes.map((box) => box.key).reverse();
    const ways = new Map([[graph.root, 1]]);
    for (const key of order) if (key !== graph.root) ways.set(key, (uses.get(key) || []).reduce((sum, edge) => sum + (ways.get(edge.target) || 0), 0));
    const paths = [];
    const stack = [[start, []]];
    while (stack.length && paths.length < MAX_PATHS) {
      const [key, taken] = stack.pop();
      if (key === graph.root) { paths.push(taken); continue; }
      for (const edge of (uses.get(key) || []).slice().reverse()) if (ways.get(edge.target)) stack.push([edge.target, [...taken, edge]]);
    }
    return { paths, ways: ways.get(start) || 0 };
  }
  function describe() {
    if (selected === null) { details.replaceChildren(p("Click a box, or select one with ↑ and ↓, to see what it is and where its gradient comes from.", "muted")); return; }
    const box = view.boxes.get(selected);
    const parts = [element("h2", {}, `${box.name || box.symbol}`), p([box.kind === "group" ? "folded scope" : box.kind, box.kind === "operation" ? box.operation : "", box.detail, box.type].filter(Boolean).join(" · "), "muted")];
    if (box.value) parts.push(p("value " + box.value.text));
    if (box.formula) parts.push(element("div", { class: "formula" }, [box.formula, ...box.rules].join("\n")));
    parts.push(...where(box));
    if (groups.has(selected)) parts.push(button("unfold-selected", "unfold (Enter)", "unfold this scope", () => toggleFold(selected)));
    else if (box.groups.length) parts.push(button("fold-selected", `fold ${shorten(groups.get(box.groups[box.groups.length - 1]).name, 30)} (Enter)`, "fold the scope around this box", () => toggleFold(box.groups[box.groups.length - 1])));
    if (box.gradient) {
      parts.push(p(`${box.derivative} = ${sumText(box)}`, "red big"));
      const edges = view.uses.get(selected).filter((edge) => edge.carried.length);
      if (edges.length) {
        parts.push(element("table", { id: "contributions" }, element("tr", {}, element("th", {}, "through"), element("th", {}, "amount")), ...edges.map((edge) => {
          const target = view.boxes.get(edge.target);
          return element("tr", {}, element("td", {}, shorten(`${target.symbol}${target.name ? " (" + target.name + ")" : target.value ? " = " + target.value.text : ""}`, 60)), element("td", { class: "red" }, shorten(amountOf(edge), 120)));
        })));
      }
      if (byKey.has(selected) && isNumber(box.gradient)) sumOverPaths(parts, box);
      const compared = comparisons.get(selected);
      if (compared) {
        parts.push(element("h2", {}, "Finite differences"), element("p", { id: "difference" }, `${compared.difference.text}, by the reverse pass ${compared.reverse.text}`),
          p(`largest difference ${Number(compared.error).toExponential(1)}; ${compared.how}`, "muted"));
      }
    }
    details.replaceChildren(...parts.filter(Boolean));
  }
  function sumOverPaths(parts, box) {
    const { paths, ways } = pathsFrom(selected);
    if (!ways || selected === graph.root || !paths.every((path) => path.every((edge) => edge.local !== null))) return;
    parts.push(element("h2", {}, `Sum over ${ways.toLocaleString("en")} path${ways === 1 ? "" : "s"}`));
    let sum = 0;
    const rows = paths.map((path) => {
      const product = path.reduce((x, edge) => x * edge.local, 1);
      sum += product;
      const way = path.map((edge) => { const b = byKey.get(edge.target); return b.name || b.symbol; }).join(" → ");
      return element("tr", {}, element("td", {}, shorten(way, 120)), element("td", {}, shorten(path.map((edge) => show(edge.local)).join(" · "), 120)), element("td", { class: "red" }, signed(product)));
    });
    parts.push(element("table", { id: "paths" }, element("tr", {}, ...["way to the result", "slopes", "="].map((text) => element("th", {}, text))), ...rows));
    parts.push(ways > paths.length ? p(`the first ${paths.length} of them`, "muted") : element("p", { id: "path-sum", class: "red" }, `sum ${show(sum)}`));
  }

  // Acting -------------------------------------------------------------------------------------------------------
  function go(to) { const next = Math.max(0, Math.min(view.steps.length - 1, to)); if (next !== step) { step = next; update(); } if (next === view.steps.length - 1) stopPlaying(); }
  function toggle() { if (playing) stopPlaying(); else { if (step === view.steps.length - 1) go(0); playing = setInterval(() => go(step + 1), 900); playButton.textContent = "❚❚ pause"; } }
  function stopPlaying() { clearInterval(playing); playing = null; playButton.textContent = "▶ play"; }
  function select(key, reveal = false) { selected = key; update(); if (key !== null && reveal) { bringIntoView(key); boxElements.get(key).made.focus({ preventScroll: true }); } }
  function toggleFold(key) { if (folded.has(key)) folded.delete(key); else folded.add(key); rebuild(); fitIfLost(); }
  function foldAll(all) { folded.clear(); if (all) for (const group of graph.groups) if (group.parent === null) folded.add(group.key); rebuild(); fit(); }
  const matching = (box) => [box.name, box.symbol, box.operation, box.source, box.type].some((text) => text && text.toLowerCase().includes(query));

  let scale = 1, panX = 0, panY = 0;
  function transform() { set(world, "transform", `translate(${panX},${panY}) scale(${scale})`); set(world, "class", scale < 0.22 ? "far farther" : scale < 0.45 ? "far" : ""); }
  function extent() { let l = Infinity, t = Infinity, r = -Infinity, b = -Infinity; for (const [x, y, w, h] of view.at.values()) { l = Math.min(l, x - w / 2); r = Math.max(r, x + w / 2); t = Math.min(t, y - h / 2); b = Math.max(b, y + h / 2); } return [l - 30, t - 30, r + 30, b + 30]; }
  function fit() {
    const [l, t, r, b] = extent(), width = canvas.clientWidth || 800, height = canvas.clientHeight || 600;
    scale = Math.min(width / (r - l), height / (b - t), 1.6);
    panX = width / 2 - scale * (l + r) / 2; panY = height / 2 - scale * (t + b) / 2;
    transform();
  }
  function home() { fit(); if (scale < 0.3) { scale = 0.8; const [x, y] = view.at.get(view.root); panX = canvas.clientWidth / 2 - scale * x; panY = 60 - scale * y; transform(); } }
  function fitIfLost() { const [l, t, r, b] = extent(); if (panX + scale * r < 50 || panY + scale * b < 50 || panX + scale * l > canvas.clientWidth - 50 || panY + scale * t > canvas.clientHeight - 50) fit(); }
  function zoom(by, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) { const next = Math.max(0.01, Math.min(6, scale * by)); panX = x - (x - panX) * next / scale; panY = y - (y - panY) * next / scale; scale = next; transform(); }
  function bringIntoView(key) { const [x, y] = view.at.get(key); if (scale < 0.5) scale = 0.9; panX = canvas.clientWidth / 2 - scale * x; panY = canvas.clientHeight / 2 - scale * y; transform(); }

  canvas.addEventListener("wheel", (event) => { event.preventDefault(); const area = canvas.getBoundingClientRect(); zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - area.left, event.clientY - area.top); }, { passive: false });
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, panX, panY, moved: false }; });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (Math.abs(dx) + Math.abs(dy) > 4) { drag.moved = true; canvas.classList.add("dragging"); }
    if (drag.moved) { panX = drag.panX + dx; panY = drag.panY + dy; transform(); }
  });
  window.addEventListener("pointerup", () => { canvas.classList.remove("dragging"); setTimeout(() => { drag = null; }); });
  canvas.addEventListener("click", (event) => { if (drag && drag.moved) return; const box = event.target.closest(".box"); if (box) select(box.dataset.key); else if (!event.target.closest(".frame")) select(null); });
  canvas.addEventListener("dblclick", (event) => { const box = event.target.closest(".box"); if (box && groups.has(box.dataset.key)) toggleFold(box.dataset.key); });
  slider.addEventListener("input", () => go(Number(slider.value)));
  let nextMatch = 0;
  search.addEventListener("input", () => { query = search.value.trim().toLowerCase(); nextMatch = 0; update(); found.textContent = query ? `${[...view.boxes.values()].filter(matching).length} found` : ""; });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { const matches = [...view.boxes.values()].filter(matching); if (query && matches.length) { const box = matches[nextMatch++ % matches.length]; selected = box.key; update(); bringIntoView(box.key); } event.preventDefault(); }
    if (event.key === "Escape") { search.value = ""; query = ""; found.textContent = ""; update(); search.blur(); }
    event.stopPropagation();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const onSlider = event.target === slider, onButton = event.target.tagName === "BUTTON";
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.shiftKey && moves[event.key]) { panX += moves[event.key][0]; panY += moves[event.key][1]; transform(); }
    else if (event.key === "ArrowRight" && !onSlider) go(step + 1);
    else if (event.key === "ArrowLeft" && !onSlider) go(step - 1);
    else if (event.key === "Home" && !onSlider) go(0);
    else if (event.key === "End" && !onSlider) go(view.steps.length - 1);
    else if (event.key === " " && !onButton) toggle();
    else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && !onSlider) {
      const keys = [...view.boxes.keys()], at = selected === null ? (event.key === "ArrowUp" ? -1 : keys.length) : keys.indexOf(selected);
      select(keys[Math.max(0, Math.min(keys.length - 1, at + (event.key === "ArrowUp" ? 1 : -1)))], true);
    } else if (event.key === "Enter" && !onButton && selected !== null) {
      const around = view.boxes.get(selected).groups;
      if (groups.has(selected)) toggleFold(selected); else if (around.length) toggleFold(around[around.length - 1]);
    } else if (event.key === "/") search.focus();
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else if (event.key === "Escape") select(null);
    else return;
    event.preventDefault();
  });
  window.addEventListener("resize", fitIfLost);
  rebuild();
  home();
})();
