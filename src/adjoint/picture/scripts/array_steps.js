// The engine's other operations: each makes, once, the step that computes its slot from those of its inputs.

// Moving elements ---------------------------------------------------------------------------------------------------

function copying(out, x, table) {
  const to = out.data, from = x.data;
  return () => { for (let i = 0; i < table.length; i++) to[i] = from[table[i]]; };
}

function adding(out, x, table) { // the adjoint of `copying`: what several places took comes back summed
  const to = out.data, from = x.data;
  return () => {
    to.fill(0);
    for (let i = 0; i < table.length; i++) to[table[i]] += from[i];
  };
}

function addingOnto(out, x, value, table) {
  const to = out.data;
  return () => {
    for (let i = 0; i < to.length; i++) to[i] = x.data[i] + 0; // as where zeros are added: -0 becomes 0
    for (let i = 0; i < table.length; i++) to[table[i]] = x.data[table[i]] + value.data[i];
  };
}

function sliceTable(shape, slices) {
  const strides = stridesOf(shape);
  const offset = slices.reduce((sum, [start, size], i) => sum + (size ? start * strides[i] : 0), 0);
  return places(slices.map(([, size]) => size), slices.map(([, , step], i) => step * strides[i]), offset);
}

function windowTable(shape, [sizes, steps, dilations]) { // of a shape whose last axes windows slide over
  const rank = sizes.length, lead = shape.length - rank, strides = stridesOf(shape), own = strides.slice(lead);
  const counts = sizes.map((size, i) => Math.floor((shape[lead + i] - dilations[i] * (size - 1) - 1) / steps[i]) + 1);
  return places(
    [...shape.slice(0, lead), ...sizes, ...counts],
    [...strides.slice(0, lead), ...own.map((s, i) => s * dilations[i]), ...own.map((s, i) => s * steps[i])],
  );
}

function updating(out, x, value, table) {
  const to = out.data;
  return () => {
    to.set(x.data);
    for (let i = 0; i < table.length; i++) to[table[i]] = value.data[i];
  };
}

function concatenating(out, inputs, axis) {
  const [before, , after] = around(out.shape, axis), row = out.shape[axis] * after;
  const pieces = [];
  let start = 0;
  for (const x of inputs) {
    const width = x.shape[axis] * after;
    for (let i = 0; i < before; i++) pieces.push([x, i * width, (i + 1) * width, i * row + start]);
    start += width;
  }
  return () => { for (const [x, from, to, at] of pieces) out.data.set(x.data.subarray(from, to), at); };
}

// Integer positions -----------------------------------------------------------------------------------------------------

// Where each tuple of indices points, in blocks of the trailing axes; one that clips stands for the nearest place inside.
function positionsIn(shape, indices, clips) {
  const extents = shape.slice(0, indices.length), strides = stridesOf(extents), count = indices[0].data.length;
  return (j) => {
    let at = 0;
    for (let i = 0; i < indices.length; i++) {
      const index = indices[i].data[j];
      at += (clips ? Math.min(Math.max(index, 0), extents[i] - 1) : index < 0 ? index + extents[i] : index) * strides[i];
    }
    return at;
  };
}

function indexed(shape, indices, visit, clips = false) { // visit(place in the array, place among what is read or written)
  const block = countOf(shape.slice(indices.length)), at = positionsIn(shape, indices, clips), count = indices[0].data.length;
  return () => {
    for (let j = 0; j < count; j++) {
      const start = at(j) * block;
      for (let t = 0; t < block; t++) visit(start + t, j * block + t);
    }
  };
}

function scattering(out, indices, start, visit, clips = false) {
  const write = indexed(out.shape, indices, visit, clips);
  return () => { start(); write(); };
}

// Reductions, scans, order -------------------------------------------------------------------------------------------------

function reducing(out, x, axes, first, combine) {
  const kept = x.shape.map((_, i) => !axes.includes(i)), strides = stridesOf(out.shape);
  let next = 0;
  const table = places(x.shape, kept.map((is) => (is ? strides[next++] : 0))), to = out.data, from = x.data;
  return () => {
    to.fill(first);
    for (let i = 0; i < table.length; i++) to[table[i]] = combine(to[table[i]], from[i]);
  };
}

function summing(out, x, axes) { // in 64 bits, by halves as NumPy does, so that rounding grows with the logarithm alone
  if (axes.length === x.shape.length || out.data.length === 1) {
    const from = x.data;
    const part = (low, high) => {
      if (high - low > 8) return part(low, (low + high) >> 1) + part((low + high) >> 1, high);
      let sum = 0;
      for (let i = low; i < high; i++) sum += from[i];
      return sum;
    };
    return () => { out.data[0] = part(0, from.length); };
  }
  return reducing(out, x, axes, 0, (a, b) => a + b);
}

function alongAxis(shape, axis, visit) { // visit(first place, distance between places, which line)
  const [before, n, after] = around(shape, axis);
  return () => { for (let i = 0; i < before; i++) for (let k = 0; k < after; k++) visit(i * n * after + k, after, i * after + k); };
}

function firstExtreme(out, x, axis, better) {
  const n = x.shape[axis], from = x.data;
  return alongAxis(x.shape, axis, (start, step, line) => {
    let best = 0;
    for (let i = 0; i < n; i++) {
      const a = from[start + i * step], b = from[start + best * step];
      if (b !== b) break;
      if (a !== a || better(a, b)) best = i;
    }
    out.data[line] = best;
  });
}

function accumulating(out, x, axis, combine) {
  const n = x.shape[axis], to = out.data;
  return alongAxis(x.shape, axis, (start, step) => {
    for (let i = 0; i < n; i++) {
      const at = start + i * step;
      to[at] = i ? combine(to[at - step], x.data[at]) : x.data[at];
    }
  });
}

function runningExtreme(out, x, axis, better) { // where the first extreme so far is; the first NaN, from there on
  const n = x.shape[axis];
  return alongAxis(x.shape, axis, (start, step) => {
    let best = 0;
    for (let i = 0; i < n; i++) {
      const a = x.data[start + i * step], b = x.data[start + best * step];
      if (b === b && (a !== a || better(a, b))) best = i;
      out.data[start + i * step] = best;
    }
  });
}

// What the extreme of no number is: the last that any number replaces.
function beforeAll(dtype, largest) {
  if (dtype.startsWith("float")) return largest ? -Infinity : Infinity;
  const bits = Number(dtype.replace(/\D/g, "") || 1), signed_ = dtype.startsWith("int");
  return largest ? (signed_ ? -(2 ** (bits - 1)) : 0) : 2 ** (signed_ ? bits - 1 : bits) - 1;
}

function neighbouring(out, a, b) { // the next number of the dtype from a towards b: its bits, read as a whole number, move by one
  const [number, bits, one, sign] = out.dtype === "float32" ? [new Float32Array(1), Int32Array, 1, -(2 ** 31)] : [new Float64Array(1), BigInt64Array, 1n, -(2n ** 63n)];
  const whole = new bits(number.buffer);
  return () => {
    for (let i = 0; i < out.data.length; i++) {
      const from = a.data[i], to = b.data[i];
      number[0] = from !== from || to !== to ? NaN : from === to ? to : from;
      if (from === 0 && to && to === to) whole[0] = to > 0 ? one : sign + one;
      else if (from < to || from > to) whole[0] += (from < to) === (from > 0) ? one : -one;
      out.data[i] = number[0];
    }
  };
}

function recurring(out, a, b, axis) {
  const n = b.shape[axis], to = out.data;
  return alongAxis(b.shape, axis, (start, step) => {
    for (let i = 0; i < n; i++) {
      const at = start + i * step;
      to[at] = i ? a.data[at] * to[at - step] + b.data[at] : b.data[at];
    }
  });
}

function sorting(out, x, [axis, descending], values = false) { // stable either way; NaN comes last, or first if descending
  const n = x.shape[axis], sign = descending ? -1 : 1;
  return alongAxis(x.shape, axis, (start, step) => {
    const at = (i) => x.data[start + i * step];
    const order = Array.from({ length: n }, (_, i) => i).sort((i, j) => {
      const a = at(i), b = at(j);
      if (a !== a || b !== b) return sign * ((a !== a) - (b !== b));
      return sign * (a < b ? -1 : a > b ? 1 : 0);
    });
    const sorted = values && Array.from({ length: n }, (_, i) => at(i));
    order.forEach((i, place) => { out.data[start + place * step] = values ? sorted[i] : i; });
  });
}

function picked(out, x, axis, places, descending, values) { // of the sorted elements, or of their indices
  const whole = { shape: x.shape, data: new Float64Array(x.data.length) };
  const part = (shape, start) => sliceTable(shape, shape.map((n, i) => (i === axis ? [start, 1, 1] : [0, n, 1])));
  const order = sorting(whole, x, [axis, descending], values);
  const pairs = places.map((place, k) => [part(out.shape, k), part(x.shape, place)]);
  return () => {
    order();
    for (const [to, from] of pairs) for (let i = 0; i < to.length; i++) out.data[to[i]] = whole.data[from[i]];
  };
}

function searching(out, rows, values, side) { // by bisection; NaN is beyond all numbers
  const n = rows.shape[rows.shape.length - 1], each = rows.shape.length === 1 ? 0 : values.shape[values.shape.length - 1];
  const before = side === "left" ? (a, x) => a < x || (x !== x && a === a) : (a, x) => a <= x || x !== x;
  return () => {
    for (let i = 0; i < out.data.length; i++) {
      const start = each ? Math.floor(i / each) * n : 0;
      let [low, high] = [0, n];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (before(rows.data[start + middle], values.data[i])) low = middle + 1; else high = middle;
      }
      out.data[i] = low;
    }
  };
}

// Products ------------------------------------------------------------------------------------------------------------------

function multiplying(out, a, b) {
  const [n, k] = a.shape.slice(-2), m = b.shape[b.shape.length - 1], batches = countOf(a.shape.slice(0, -2)), to = out.data;
  const left = a.data, right = b.data;
  return () => {
    for (let batch = 0; batch < batches; batch++) {
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < m; j++) {
          let sum = 0;
          for (let l = 0, p = (batch * n + i) * k, q = batch * k * m + j; l < k; l++, p++, q += m) sum += left[p] * right[q];
          to[(batch * n + i) * m + j] = sum;
        }
      }
    }
  };
}

// For each axis the places [in the result, in the window, in the image] where a window's cell lies inside; and a walk over all axes,
// visit(place in the image, place in the window, place in the result), from such places of the arrays as a whole.
function cellsInside(counts, sizes, extents, strides, dilations, before) {
  return counts.map((count, axis) => {
    const found = [];
    for (let i = 0; i < count; i++) for (let a = 0; a < sizes[axis]; a++) {
      const y = i * strides[axis] + a * dilations[axis] - before[axis];
      if (y >= 0 && y < extents[axis]) found.push([i, a, y]);
    }
    return found;
  });
}
function overCells(cells, counts, sizes, extents, visit) {
  const walk = (axis, x, w, u) => {
    if (axis === cells.length) visit(x, w, u);
    else for (const [i, a, y] of cells[axis]) walk(axis + 1, x * extents[axis] + y, w * sizes[axis] + a, u * counts[axis] + i);
  };
  return (x, w, u) => walk(0, x, w, u);
}

// Every product of the trilinear form Σ u · w · x of a convolution, by its three places.
function convolving([strides, padding, dilations, groups], [images, channels, ...extents], [outputs, depth, ...sizes], [, , ...counts], visit) {
  const share = outputs / groups, cells = cellsInside(counts, sizes, extents, strides, dilations, padding.map(([before]) => before));
  const windows = overCells(cells, counts, sizes, extents, visit);
  return () => {
    for (let n = 0; n < images; n++) for (let o = 0; o < outputs; o++) for (let c = 0; c < depth; c++) {
      windows(n * channels + Math.floor(o / share) * depth + c, o * depth + c, n * outputs + o);
    }
  };
}

function convolutionStep(op, attributes, out, [first, second]) {
  const to = out.data, one = first.data, two = second.data;
  const geometry = op === "convolution" ? attributes : attributes[0];
  const walk = op === "convolution"
    ? convolving(geometry, first.shape, second.shape, out.shape, (x, w, u) => { to[u] += one[x] * two[w]; })
    : op === "convolution_input_gradient"
      ? convolving(geometry, out.shape, second.shape, first.shape, (x, w, u) => { to[x] += one[u] * two[w]; })
      : convolving(geometry, first.shape, out.shape, second.shape, (x, w, u) => { to[w] += one[x] * two[u]; });
  return () => { to.fill(0); walk(); };
}

// Every cell of every pooling window that lies inside: visit(place in the image, place of the window, number of the cell).
function pooling([sizes, strides, dilations, before, extents, counts], images, visit) {
  const windows = overCells(cellsInside(counts, sizes, extents, strides, dilations, before), counts, sizes, extents, (x, cell, window) => visit(x, window, cell));
  return () => { for (let n = 0; n < images; n++) windows(n, 0, n); };
}

function poolStep(op, pool, out, [x, positions]) {
  const to = out.data, from = x.data, images = countOf(x.shape.slice(0, -pool[0].length)), number = positions && positions.data;
  const best = op === "max_pool_positions" ? new Float64Array(to.length) : null;
  const [first, visit] = {
    max_pool: [-Infinity, (pixel, window) => { to[window] = larger(from[pixel], to[window]); }],
    max_pool_positions: [0, (pixel, window, cell) => {
      const old = best[window], now = from[pixel];
      if (now !== now || now > old) { best[window] = now; to[window] = cell; }
    }],
    pool_take: [0, (pixel, window, cell) => { if (number[window] === cell) to[window] = from[pixel]; }],
    pool_put: [0, (pixel, window, cell) => { if (number[window] === cell) to[pixel] += from[window]; }],
    pool_sum: [0, (pixel, window) => { to[window] += from[pixel]; }],
    pool_spread: [0, (pixel, window) => { to[pixel] += from[window]; }],
  }[op];
  const walk = pooling(pool, images, visit);
  return () => {
    to.fill(first);
    if (best) best.fill(-Infinity);
    walk();
  };
}

// The table ------------------------------------------------------------------------------------------------------------------

const convolutionOf = (op) => (attributes, out, inputs) => convolutionStep(op, attributes, out, inputs);
const poolOf = (op) => (pool, out, inputs) => poolStep(op, pool, out, inputs);

const ARRAY_STEPS = {
  permute_dims: (axes, out, [x]) => { const s = stridesOf(x.shape); return copying(out, x, places(out.shape, axes.map((a) => s[a]))); },
  broadcast_to: (_, out, [x]) => copying(out, x, places(out.shape, broadcastStrides(x.shape, out.shape))),
  slice: (slices, out, [x]) => copying(out, x, sliceTable(x.shape, slices)),
  embed: ([, slices], out, [x]) => adding(out, x, sliceTable(out.shape, slices)),
  index: ([slices], out, [x]) => copying(out, x, sliceTable(x.shape, slices)),
  put: ([, slices], out, [x]) => adding(out, x, sliceTable(out.shape, slices)),
  put_onto: ([, slices], out, [x, value]) => addingOnto(out, x, value, sliceTable(out.shape, slices)),
  update_slice: (slices, out, [x, value]) => updating(out, x, value, sliceTable(out.shape, slices)),
  concat: (axis, out, inputs) => concatenating(out, inputs, axis),
  windows: (attributes, out, [x]) => copying(out, x, windowTable(x.shape, attributes)),
  fold_windows: (attributes, out, [x]) => adding(out, x, windowTable(out.shape, attributes)),
  gather: (_, out, [x, ...indices]) => indexed(x.shape, indices, (at, i) => { out.data[i] = x.data[at]; }),
  scatter_add: (_, out, [u, ...indices]) => scattering(out, indices, () => out.data.fill(0), (at, i) => { out.data[at] += u.data[i]; }),
  scatter: (clips, out, [x, value, ...indices]) => scattering(out, indices, () => out.data.set(x.data), (at, i) => { out.data[at] = value.data[i]; }, clips),
  sum: (axes, out, [x]) => summing(out, x, axes),
  prod: (axes, out, [x]) => reducing(out, x, axes, 1, (a, b) => a * b),
  max: (axes, out, [x]) => reducing(out, x, axes, -Infinity, larger),
  min: (axes, out, [x]) => reducing(out, x, axes, Infinity, smaller),
  any: (axes, out, [x]) => reducing(out, x, axes, 0, (a, b) => a || b !== 0),
  all: (axes, out, [x]) => reducing(out, x, axes, 1, (a, b) => a && b !== 0),
  argmax: (axis, out, [x]) => firstExtreme(out, x, axis, (a, b) => a > b),
  argmin: (axis, out, [x]) => firstExtreme(out, x, axis, (a, b) => a < b),
  cumulative_sum: (axis, out, [x]) => accumulating(out, x, axis, (a, b) => a + b),
  cumulative_prod: (axis, out, [x]) => accumulating(out, x, axis, (a, b) => a * b),
  cumulative_max: (axis, out, [x]) => accumulating(out, x, axis, larger),
  cumulative_min: (axis, out, [x]) => accumulating(out, x, axis, smaller),
  cumulative_argmax: (axis, out, [x]) => runningExtreme(out, x, axis, (a, b) => a > b),
  cumulative_argmin: (axis, out, [x]) => runningExtreme(out, x, axis, (a, b) => a < b),
  logcumsumexp: (axis, out, [x]) => accumulating(out, x, axis, logaddexp),
  scatter_extreme: ([, largest], out, [u, ...indices]) => {
    const better = largest ? larger : smaller;
    return scattering(out, indices, () => out.data.fill(beforeAll(out.dtype, largest)), (at, i) => { out.data[at] = better(out.data[at], u.data[i]); });
  },
  nextafter: (_, out, [a, b]) => neighbouring(out, a, b),
  linear_recurrence: (axis, out, [a, b]) => recurring(out, a, b, axis),
  searchsorted: (side, out, [rows, values]) => searching(out, rows, values, side),
  argsort: (attributes, out, [x]) => sorting(out, x, attributes),
  sort: (attributes, out, [x]) => sorting(out, x, attributes, true),
  leading: ([count, axis, descending], out, [x]) => picked(out, x, axis, Array.from({ length: count }, (_, k) => k), descending, false),
  selected: ([places, axis], out, [x]) => picked(out, x, axis, places, false, true),
  matmul: (_, out, [a, b]) => multiplying(out, a, b),
  convolution: convolutionOf("convolution"),
  convolution_input_gradient: convolutionOf("convolution_input_gradient"),
  convolution_weight_gradient: convolutionOf("convolution_weight_gradient"),
  max_pool: poolOf("max_pool"), max_pool_positions: poolOf("max_pool_positions"), pool_take: poolOf("pool_take"),
  pool_put: poolOf("pool_put"), pool_sum: poolOf("pool_sum"), pool_spread: poolOf("pool_spread"),
};

// Operations whose result is their first input's elements, in the same order.
const SAME = new Set(["marker", "stop_gradient", "reshape", "after", "softmax", "standardized", "rms_normalized", "batch_normalized"]);
