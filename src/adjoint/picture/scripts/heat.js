// Arrays in colours: what is positive in one, what is negative in another, the stronger the larger.

const MIN_HEAT = 5, MAX_HEAT = [24, 8]; // as page.py leaves room for

// How the elements of a shape are laid out in a box: the last axis across, everything else down.
function heatOf(shape, most = MAX_HEAT) {
  if (!shape.length || countOf(shape) < MIN_HEAT) return null;
  const across = shape[shape.length - 1], down = countOf(shape.slice(0, -1));
  const columns = Math.min(across, most[0]), rows = Math.min(down, most[1]);
  return { across, down, columns, rows, cell: Math.max(3, Math.min(10, Math.floor(96 / columns))) };
}

const heatHeight = (box) => { const heat = box.value && heatOf(box.value.shape); return heat ? heat.cell * heat.rows + 6 : 0; };

// Room for an array's shape, as page.py leaves it: on either side of its colours, or a line of its own where it has none.
const shapeOf = (box) => (box.value && box.value.shape.length ? `[${box.value.shape.join(", ")}]` : "");
function shapeRoom(box) {
  const wide = 6.2 * shapeOf(box).length;
  if (!wide) return [0, 0];
  return heatOf(box.value.shape) ? [wide, 0] : [Math.max(0, wide / 2 - 10), 13];
}

// A quantity's elements, if the page has them; of complex ones the sizes.
function elementsOf(q) {
  if (running && q.slot !== null && q.slot !== undefined && running.slots[q.slot].data) {
    const { data, dtype } = running.slots[q.slot];
    return isComplex({ dtype }) ? complexOf(data).map(({ re, im }) => Math.hypot(re, im)) : data;
  }
  return Array.isArray(q.numbers) ? q.numbers.flat(9).map((x) => (typeof x === "string" ? decoded(x) : Number(x))) : null;
}

// For each cell the strongest of the elements that it stands for.
function pooled(data, { across, down, columns, rows }) {
  const cells = new Float64Array(columns * rows);
  for (let i = 0; i < down; i++) {
    for (let j = 0; j < across; j++) {
      const at = Math.floor((i * rows) / down) * columns + Math.floor((j * columns) / across), x = data[i * across + j];
      if (!(Math.abs(x) <= Math.abs(cells[at]))) cells[at] = x;
    }
  }
  return cells;
}

function drawnHeat(box, h) {
  const shape = heatOf(box.value.shape), width = shape.cell * shape.columns, height = shape.cell * shape.rows;
  const made = drawn("g", { class: "heat", transform: `translate(${-width / 2},${h / 2 - height - 7})` }), cells = [];
  for (let i = 0; i < shape.rows; i++) {
    for (let j = 0; j < shape.columns; j++) cells.push(drawn("rect", { x: j * shape.cell, y: i * shape.cell, width: shape.cell, height: shape.cell }));
  }
  made.append(drawn("title", {}, "the values in colours; the gradient while the pointer is here"), ...cells,
    drawn("rect", { class: "around", x: 0, y: 0, width, height }));
  return { made, cells, shape, height, reversed: false, shown: false, arrived: false };
}

function writeHeat(heat, box) {
  const reversed = heat.reversed && heat.arrived && box.gradient;
  const data = (heat.shown || reversed) && elementsOf(reversed ? box.gradient : box.value);
  set(heat.made, "class", `heat${reversed ? " reversed" : ""}${data ? "" : " empty"}`);
  if (!data) return;
  const values = pooled(data, heat.shape), most = values.reduce((m, x) => Math.max(m, Math.abs(x) || 0), 0) || 1;
  heat.cells.forEach((cell, i) => {
    set(cell, "class", values[i] !== values[i] ? "odd" : values[i] < 0 ? "negative" : "positive");
    set(cell, "fill-opacity", String(Math.min(1, Math.abs(values[i]) / most || 0).toFixed(2)));
  });
}

// The same for the panel, larger, with the numbers that the strongest colours mean.
function heatFigure(q, what) {
  const shape = heatOf(q.shape, [64, 48]), data = shape && elementsOf(q);
  if (!data) return null;
  const values = pooled(data, shape), most = values.reduce((m, x) => Math.max(m, Math.abs(x) || 0), 0);
  const surface = element("canvas", { width: shape.columns, height: shape.rows, class: "heat", role: "img", "aria-label": `${what} in colours, up to ${show(most)}` });
  surface.style.aspectRatio = `${shape.columns} / ${shape.rows}`;
  surface.style.width = `min(100%, ${shape.columns * 24}px)`;
  const colors = getComputedStyle(document.documentElement), pen = surface.getContext("2d");
  values.forEach((x, i) => {
    pen.globalAlpha = Math.min(1, Math.abs(x) / (most || 1) || 0);
    pen.fillStyle = colors.getPropertyValue(x < 0 ? "--negative" : "--positive");
    pen.fillRect(i % shape.columns, Math.floor(i / shape.columns), 1, 1);
  });
  return element("figure", {}, surface, element("figcaption", { class: "muted" }, `${what}: `, element("span", { class: "positive" }, `■ up to ${show(most)}`), " ", element("span", { class: "negative" }, `■ down to −${show(most)}`)));
}
