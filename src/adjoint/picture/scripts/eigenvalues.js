// Complex eigenvalues and eigenvectors of general matrices. They stand where the closest of those before the move stood, at first
// where Python's stand; vectors keep their phases likewise.

const minusOf = ([a, b], [c, d]) => [a - c, b - d];
const plusOf = ([a, b], [c, d]) => [a + c, b + d];
const scaledBy = (x, [a, b]) => [x * a, x * b];
const conjOf = ([a, b]) => [a, -b];
const sizeOfPair = ([a, b]) => Math.hypot(a, b);

// The rotation of two rows, or columns, that makes y beside x zero: [c, s].
function rotationOf(x, y) {
  const size = Math.hypot(...x, ...y), a = sizeOfPair(x);
  if (size === 0) return [1, [0, 0]];
  return a === 0 ? [0, scaledBy(1 / size, conjOf(y))] : [a / size, scaledBy(1 / a / size, timesOf(x, conjOf(y)))];
}
function rotateRows(t, n, p, q, [c, s], first) {
  for (let j = first; j < n; j++) {
    const x = t[p * n + j], y = t[q * n + j];
    t[p * n + j] = plusOf(scaledBy(c, x), timesOf(s, y));
    t[q * n + j] = minusOf(scaledBy(c, y), timesOf(conjOf(s), x));
  }
}
function rotateColumns(t, n, p, q, [c, s], count) {
  for (let i = 0; i < count; i++) {
    const x = t[i * n + p], y = t[i * n + q];
    t[i * n + p] = plusOf(scaledBy(c, x), timesOf(conjOf(s), y));
    t[i * n + q] = minusOf(scaledBy(c, y), timesOf(s, x));
  }
}

// Unitary Q and upper triangular T with A = Q T Qᴴ: A with zeros below its second diagonal, then the shifted QR iteration of
// J. Francis and V. Kublanovskaya with J. Wilkinson's shifts (G. Golub and C. Van Loan, "Matrix Computations", chapter 7).
function triangularForm(a, n) {
  const t = a.slice(), q = Array.from({ length: n * n }, (_, i) => [i % (n + 1) ? 0 : 1, 0]);
  for (let j = 0; j + 2 < n; j++) for (let i = n - 1; i > j + 1; i--) {
    const turn = rotationOf(t[(i - 1) * n + j], t[i * n + j]);
    rotateRows(t, n, i - 1, i, turn, j);
    rotateColumns(t, n, i - 1, i, turn, n);
    rotateColumns(q, n, i - 1, i, turn, n);
    t[i * n + j] = [0, 0];
  }
  const at = (i, j) => t[i * n + j];
  for (let high = n - 1, turns = 0; high > 0 && turns < 100; ) {
    let low = high;
    while (low > 0 && sizeOfPair(at(low, low - 1)) > 1e-16 * (sizeOfPair(at(low, low)) + sizeOfPair(at(low - 1, low - 1)))) low--;
    if (low > 0) t[low * n + low - 1] = [0, 0];
    if (low === high) { high--; turns = 0; continue; }
    turns++;
    const half = scaledBy(0.5, minusOf(at(high - 1, high - 1), at(high, high)));
    const root = rootOfPair(plusOf(timesOf(half, half), timesOf(at(high - 1, high), at(high, high - 1))));
    const [near, far] = [minusOf(half, root), plusOf(half, root)].sort((x, y) => sizeOfPair(x) - sizeOfPair(y));
    const shift = turns % 10 ? plusOf(at(high, high), near) : plusOf(at(high, high), far);
    const move = (sign) => { for (let i = low; i <= high; i++) t[i * n + i] = plusOf(at(i, i), scaledBy(sign, shift)); };
    move(-1);
    const rotations = [];
    for (let k = low; k < high; k++) {
      rotations.push(rotationOf(at(k, k), at(k + 1, k)));
      rotateRows(t, n, k, k + 1, rotations[k - low], k);
    }
    rotations.forEach((turn, i) => {
      rotateColumns(t, n, low + i, low + i + 1, turn, Math.min(low + i + 2, high) + 1);
      rotateColumns(q, n, low + i, low + i + 1, turn, n);
    });
    move(1);
  }
  return [q, t];
}

// The eigenvalues of a real matrix are real, or stand beside their conjugates: rounding is taken off what the iteration finds.
function inTwins(values) {
  const found = values.slice(), open_ = new Set(values.keys());
  for (const i of open_) {
    open_.delete(i);
    const twin = [...open_].reduce((best, j) => { const away = sizeOfPair(minusOf(values[j], conjOf(values[i]))); return away < best[0] ? [away, j] : best; }, [2 * Math.abs(values[i][1]), i])[1];
    if (twin === i) { found[i] = [values[i][0], 0]; continue; }
    open_.delete(twin);
    found[i] = scaledBy(0.5, plusOf(values[i], conjOf(values[twin])));
    found[twin] = conjOf(found[i]);
  }
  return found;
}

// The vectors of length one, by substitution; of eigenvalues that coincide to rounding, ones that differ by as much.
function eigenvectors([q, t], values, n) {
  const largest = t.reduce((most, x) => Math.max(most, sizeOfPair(x)), 0) || 1;
  return values.map((value, k) => {
    const y = Array.from({ length: n }, (_, i) => [i === k ? 1 : 0, 0]);
    for (let i = k - 1; i >= 0; i--) {
      let sum = [0, 0];
      for (let j = i + 1; j <= k; j++) sum = plusOf(sum, timesOf(t[i * n + j], y[j]));
      const gap = minusOf(value, t[i * n + i]);
      y[i] = quotientOf(sum, sizeOfPair(gap) > 1e-16 * largest ? gap : [1e-16 * largest, 0]);
    }
    const v = Array.from({ length: n }, (_, i) => y.reduce((sum, x, j) => plusOf(sum, timesOf(q[i * n + j], x)), [0, 0]));
    const length = Math.hypot(...v.map(sizeOfPair));
    return v.map((x) => scaledBy(1 / length, x));
  });
}

// The places of new numbers beside those before: the closest two first.
function placed(values, before) {
  const near = before.flatMap((x, i) => values.map((y, j) => [sizeOfPair(minusOf(x, y)), i, j])).sort((a, b) => a[0] - b[0]), order = [], used = new Set();
  for (const [, i, j] of near) if (order[i] === undefined && !used.has(j)) { order[i] = j; used.add(j); }
  return order;
}

function inPhase(vector, before) {
  const beside = vector.reduce((sum, x, i) => plusOf(sum, timesOf(conjOf(x), before[i])), [0, 0]), size = sizeOfPair(beside);
  return size > 0 ? vector.map((x) => timesOf(scaledBy(1 / size, beside), x)) : vector;
}

function eigenStep(a, w, v, payload) {
  const n = a.shape[a.shape.length - 1], memory = payload.map((one, i) => { const slot = withPairs(i ? v : w), data = new Float64Array(slot.data.length); fill(data, one); return { ...slot, data }; });
  const own = (slot, which, rank) => ownPart(withPairs(slot), which, isComplex(slot) ? rank + 1 : rank);
  return eachOf(a.shape, 2, (which) => {
    const given = own(a, which, 2), all = isComplex(a) ? pairsOf(given) : Array.from(given, (x) => [x, 0]);
    const before = pairsOf(ownPart(memory[0], which, 2));
    if (!all.every(isFinitePair)) { own(w, which, 1).fill(NaN); if (v) own(v, which, 2).fill(NaN); return; }
    const form = triangularForm(all, n), raw = Array.from({ length: n }, (_, i) => form[1][i * (n + 1)]), values = isComplex(a) ? raw : inTwins(raw);
    const order = placed(values, before);
    own(w, which, 1).set(order.flatMap((j) => values[j]));
    ownPart(memory[0], which, 2).set(own(w, which, 1));
    if (!v) return;
    const vectors = eigenvectors(form, raw, n), old = pairsOf(ownPart(memory[1], which, 3)), to = own(v, which, 2);
    order.forEach((j, column) => {
      inPhase(vectors[j], Array.from({ length: n }, (_, i) => old[i * n + column])).forEach(([re, im], i) => { to[2 * (i * n + column)] = re; to[2 * (i * n + column) + 1] = im; });
    });
    ownPart(memory[1], which, 3).set(to);
  });
}

function gapsOf(w, n, to, at) { // 1 / (w_j - w_i) of the pairs w, 0 where that gap is rounding
  const cut = 4 * n * 2 ** -52 * w.reduce((most, x) => Math.max(most, sizeOfPair(x)), 0);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
    const [re, im] = minusOf(w[j], w[i]), square = re * re + im * im, apart = Math.hypot(re, im) > cut;
    to[2 * (at + i * n + j)] = apart ? re / square : 0;
    to[2 * (at + i * n + j) + 1] = apart ? -im / square : 0;
  }
}

Object.assign(ARRAY_STEPS, {
  eig: (payload, { parts: [w, v] }, [a]) => eigenStep(a, w, v, payload),
  eigvals: (payload, out, [a]) => eigenStep(a, out, null, payload),
});
COMPLEX_STEPS.eig = ARRAY_STEPS.eig;
COMPLEX_STEPS.eigvals = ARRAY_STEPS.eigvals;
COMPLEX_STEPS.conditioned = (_, out, [a]) => () => out.data.set(a.data);
COMPLEX_STEPS.inverse_gaps = (_, out, [w]) => () => {
  const n = w.shape[w.shape.length - 1];
  for (let first = 0; first < w.data.length / 2; first += n) {
    gapsOf(Array.from({ length: n }, (_, i) => [w.data[2 * (first + i)], w.data[2 * (first + i) + 1]]), n, out.data, first * n);
  }
};
