// The derivative beside the slope of two evaluations, with a step that is dragged; and the curve with its tangent.

const comparing = { slot: null, element: 0, exponent: -5.2, second: false, section: element("section", { id: "comparing" }) };
const MAX_CURVE = 3000; // steps of a program up to which curves are drawn, which take many evaluations

// The same program with 64 bits for every number, its leaves where they are now.
function widened() {
  if (!wide) {
    wide = new Program(graph.program, true);
    for (const slot of origin.keys()) wide.slots[slot].data.set(running.slots[slot].data);
    for (const next of wide.steps) if (next) next();
  }
  return wide;
}

// What a slot of the program holds, by default the result, as a function of a change of one element of a leaf.
function alongLeaf(slot, index, target = byKey.get(graph.root).value.slot, read = (data) => data[0]) {
  const program = widened(), { data } = program.slots[slot], all = isWritten(slot), from = data[index];
  const numbers = Array.from(data);
  const at = (x) => {
    if (all) numbers.fill(x);
    else numbers[index] = x;
    program.set(slot, numbers, target);
    return read(program.slots[target].data);
  };
  return (change) => {
    const found = at(from + change);
    at(from);
    return found;
  };
}

const isWritten = (slot) => running.data.slots[slot][0] === "full"; // a number in the formula, whatever shape it takes there

function comparable(box) {
  const root = byKey.get(graph.root);
  return running && movable(box) && box.gradient && isSlot(box.gradient) && isSlot(root.value) && running.slots[root.value.slot].data.length === 1;
}
const isSlot = (q) => q && q.slot !== null && q.slot !== undefined;

// What the reverse pass says about the element that is moved, in 64 bits; and that as a function of its change.
const ownSlope = (box) => (data) => (isWritten(box.value.slot) ? data.reduce((sum, x) => sum + x, 0) : data[comparing.element]);
const reverseSlope = (box) => ownSlope(box)(widened().slots[box.gradient.slot].data);
const slopeAlong = (box, slot) => alongLeaf(slot, comparing.element, box.gradient.slot, ownSlope(box));

function offerComparison(box) {
  const slot = box && comparable(box) ? box.value.slot : null;
  if (slot !== comparing.slot) {
    Object.assign(comparing, { slot, element: 0 });
    comparing.section.replaceChildren();
    if (slot !== null) comparing.section.append(...comparisonParts(box, slot));
  }
  if (slot !== null) writeComparison(box, slot);
}

function comparisonParts(box, slot) {
  const { data } = running.slots[slot];
  const stepField = element("input", { type: "range", id: "difference-step", min: "-15", max: "0", step: "0.1", value: String(comparing.exponent), "aria-label": "step of the two evaluations, as a power of ten" });
  stepField.addEventListener("input", () => { comparing.exponent = stepField.valueAsNumber; refresh(); });
  const parts = [element("h2", {}, "The slope by two evaluations")];
  if (data.length > 1 && !isWritten(slot)) {
    const choice = element("select", { id: "difference-element", "aria-label": "element that is moved", onchange: () => { comparing.element = Number(choice.value); refresh(); } },
      ...Array.from({ length: Math.min(data.length, 200) }, (_, i) => element("option", { value: String(i) }, elementName(nameOf(box), i, running.slots[slot]))));
    parts.push(choice);
  }
  const bent = element("input", { type: "checkbox", id: "second" });
  bent.checked = comparing.second;
  bent.addEventListener("change", () => { comparing.second = bent.checked; refresh(); });
  parts.push(element("div", { class: "leaf" }, element("label", {}, "step h"), element("output", { id: "difference-h" }), stepField),
    element("p", { id: "difference" }), p("", "muted"), element("figure", { id: "error-curve" }), element("figure", { id: "tangent" }),
    element("label", { id: "second-asked" }, bent, " plot the second derivative"), element("figure", { id: "bend" }));
  return parts;
}

const slopeAt = (f, h) => (f(h) - f(-h)) / (2 * h);

function writeComparison(box, slot) {
  const reverse = reverseSlope(box), f = alongLeaf(slot, comparing.element), h = 10 ** comparing.exponent;
  const found = slopeAt(f, h), error = Math.abs(found - reverse), line = comparing.section.querySelector("#difference");
  write(comparing.section.querySelector("#difference-h"), h.toExponential(0));
  write(line, `${show(found)}, by the reverse pass ${show(reverse)}`);
  write(line.nextSibling, error !== error || error === Infinity ? "no difference to speak of: one of the numbers isn't finite" : error === 0 ? "no difference" : `difference ${error.toExponential(1)}: ${becauseOf(comparing.exponent)}`);
  if (wide.after(slot, byKey.get(graph.root).value.slot).length > MAX_CURVE) return;
  drawErrors(f, reverse);
  const slope = slopeAlong(box, slot);
  drawTangent(f, box, reverse, slope);
  drawBend(slope, box);
}

function becauseOf(exponent) {
  if (exponent < -8) return "the two values agree in most digits, and rounding is what is left of their difference";
  if (exponent > -2) return "over so long a step the curve bends";
  return "neither rounding nor the curve's bend says much";
}

// Small figures ---------------------------------------------------------------------------------------------------------

const FIGURE = { width: 320, height: 150, left: 62, bottom: 22, top: 8, right: 8 };

// A frame with axes for x and y between these bounds: [svg, x → place, y → place].
function framed(label, [x0, x1], [y0, y1], xText, yText) {
  const { width, height, left, bottom, top, right } = FIGURE;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "figure" });
  const X = (x) => left + ((x - x0) / (x1 - x0 || 1)) * (width - left - right), Y = (y) => height - bottom - ((y - y0) / (y1 - y0 || 1)) * (height - top - bottom);
  svg.append(drawn("path", { d: `M${left} ${top}V${height - bottom}H${width - right}`, class: "axis" }));
  for (const [x, anchor] of [[x0, "start"], [x1, "end"]]) svg.append(drawn("text", { x: X(x), y: height - 7, "text-anchor": anchor }, xText(x)));
  for (const y of yText(y0) === yText(y1) ? [y0] : [y0, y1]) svg.append(drawn("text", { x: left - 4, y: Y(y) + (y === y0 ? 0 : 8), "text-anchor": "end" }, yText(y)));
  return [svg, X, Y];
}

function curveThrough(points, X, Y, kind) {
  let path = "", broken = true;
  for (const [x, y] of points) {
    if (!Number.isFinite(y)) { broken = true; continue; }
    path += `${broken ? "M" : "L"}${X(x).toFixed(1)} ${Y(y).toFixed(1)}`;
    broken = false;
  }
  return drawn("path", { d: path || "M0 0", class: kind });
}

// The error against the step, both as powers of ten: rounding falls towards the right, curvature rises.
function drawErrors(f, reverse) {
  const least = -16, points = [];
  for (let e = -15; e <= 0; e += 0.25) points.push([e, Math.max(least, Math.log10(Math.abs(slopeAt(f, 10 ** e) - reverse)))]);
  const high = Math.max(least + 1, ...points.map(([, y]) => (Number.isFinite(y) ? y : least)));
  const [svg, X, Y] = framed("difference of the two slopes against the step, both on logarithmic axes", [-15, 0], [least, Math.ceil(high)], (x) => `h = 1e${x}`, (y) => `1e${y}`);
  svg.append(curveThrough(points, X, Y, "curve"), drawn("path", { d: `M${X(comparing.exponent)} ${FIGURE.top}V${FIGURE.height - FIGURE.bottom}`, class: "mark" }));
  comparing.section.querySelector("#error-curve").replaceChildren(svg, element("figcaption", { class: "muted" }, "difference against h: rounding wins on the left, curvature on the right"));
}

// The result against the leaf, and the tangent with the gradient as its slope.
function drawTangent(f, box, reverse, slope) {
  const at = running.slots[comparing.slot].data[comparing.element], span = Math.max(1, Math.abs(at)), here = f(0);
  const points = [];
  for (let i = -40; i <= 40; i++) points.push([at + (i / 40) * span, f((i / 40) * span)]);
  const finite = points.map(([, y]) => y).filter(Number.isFinite);
  if (!finite.length) { comparing.section.querySelector("#tangent").replaceChildren(); return; }
  const low = Math.min(...finite), high = Math.max(...finite), bend = slopeAt(slope, BEND * span);
  const [svg, X, Y] = framed(`the result against ${nameOf(box)}, with its tangent`, [at - span, at + span], [low, high === low ? low + 1 : high], show, (y) => general(y, 3));
  const inside = (y) => (y >= low && y <= high ? y : NaN);
  const tangent = points.map(([x]) => [x, inside(here + (x - at) * reverse)]);
  svg.append(curveThrough(points, X, Y, "curve"), curveThrough(tangent, X, Y, "tangent"));
  if (Number.isFinite(Y(here))) svg.append(drawn("circle", { cx: X(at), cy: Y(here), r: 4, class: "point" }));
  comparing.section.querySelector("#tangent").replaceChildren(svg,
    element("figcaption", { class: "muted" }, `the result against ${nameOf(box)}; the tangent's slope is ${show(reverse)}, the second derivative about ${general(bend, 3)}`));
}

// The second derivative against the leaf, where it is asked for: the slope of the reverse pass's own gradient.
const BEND = 1e-5; // the step of that slope, beside the width of the curve
function drawBend(slope, box) {
  const figure = comparing.section.querySelector("#bend");
  if (!comparing.second) { figure.replaceChildren(); return; }
  const at = running.slots[comparing.slot].data[comparing.element], span = Math.max(1, Math.abs(at)), h = BEND * span, points = [];
  for (let i = -40; i <= 40; i++) {
    const change = (i / 40) * span;
    points.push([at + change, (slope(change + h) - slope(change - h)) / (2 * h)]);
  }
  const finite = points.map(([, y]) => y).filter(Number.isFinite);
  if (!finite.length) { figure.replaceChildren(p("It isn't finite anywhere here.", "muted")); return; }
  const high = Math.max(...finite), small = 1e-6 * Math.max(1, Math.abs(slope(0))), low = Math.min(...finite);
  const bounds = high - low > small ? [low, high] : [(low + high) / 2 - 1, (low + high) / 2 + 1]; // a constant's rounding isn't a curve
  const [svg, X, Y] = framed(`the second derivative against ${nameOf(box)}`, [at - span, at + span], bounds, show, (y) => general(y, 3));
  svg.append(curveThrough(points, X, Y, "bend"));
  const here = points[40][1];
  if (Number.isFinite(here)) svg.append(drawn("circle", { cx: X(at), cy: Y(here), r: 4, class: "point" }));
  figure.replaceChildren(svg, element("figcaption", { class: "muted" }, `the second derivative against ${nameOf(box)}; here it is ${general(here, 4)}`));
}
